"""Pools with several resources: without other requests, and planted faults."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedfarm.core.audit import audit
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.platform import platform_from_dict
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.on_resources import OnResources, put_on_resources
from schedfarm.core.workload.workload import Workload
from tests.oracles import cases_resources
from tests.oracles.case import workload
from tests.oracles.cases_resources import MACHINE


def jobs(*rows: tuple[int, int, int, int, int]) -> Workload:
    """Return jobs of (submit, run, procs, gpus, licences), whose estimates are their run times."""
    submit, run, procs, gpus, licences = zip(*rows, strict=True)
    return Workload.from_columns(
        submit=submit, run=run, estimate=run, procs=procs, gpus=gpus, licences=licences,
        platform=MACHINE,
    )  # fmt: skip


EXTRA = workload(MACHINE, cases_resources.EXTRA)


def test_without_other_requests_it_is_a_pool() -> None:
    """Unknown requests count as 0."""
    pool = Workload.from_columns(
        submit=[0, 0, 1, 2], run=[5, 9, 4, 3], estimate=[9, 9, 4, 3], procs=[2, 2, 3, 1],
        processors=4,
    )  # fmt: skip
    here = put_on_resources(pool, OnResources(gpus=1))
    for rule in ("none", "aggressive", "easy", "depth(2)", "conservative"):
        policy = f"lxf+{rule}"
        assert simulate(here, policy).start.tolist() == simulate(pool, policy).start.tolist()


def moved(schedule: Schedule, job: int, start: int) -> Schedule:
    """Return a schedule with another start of one job."""
    starts = schedule.start.copy()
    starts[job] = start
    return replace(schedule, start=starts)


@pytest.mark.parametrize(
    ("job", "start", "rule", "why"),
    [
        (2, 0, "submit", "job 3 started at 0 s, before its submission at 1"),
        (4, 1, "fcfs+easy", "started, but only 0 processors are free and 0 GPUs are free"),
        (5, 21, "fcfs+easy", "was left waiting, but it fits and would end by the start of job 3"),
        (4, 10, "fcfs+easy", "started, but it would delay job 3, which is reserved for 20 s"),
        (3, 2, "fcfs+easy", "was left waiting, but it fits next to"),
    ],
)
def test_planted_faults_are_found(job: int, start: int, rule: str, why: str) -> None:
    """A job starts before its time, or waits without a reason."""
    good = simulate(EXTRA, "fcfs+easy")
    assert audit(good, "fcfs+easy").ok
    verdict = audit(moved(good, job, start), "fcfs+easy")
    assert (verdict.ok, verdict.rule) == (False, rule), verdict.why
    assert why in verdict.why


@pytest.mark.parametrize(
    ("row", "rule", "why"),
    [
        ((0, 9, 3, 0, 0), "capacity", "need 6 of 4 processors"),
        ((0, 9, 1, 2, 0), "resources", "need 4 of 2 GPUs"),
        ((0, 9, 1, 0, 1), "resources", "need 2 of 1 licences"),
    ],
)
def test_too_much_of_a_resource_is_found(
    row: tuple[int, int, int, int, int], rule: str, why: str
) -> None:
    """Of processors, or of another resource while processors are free."""
    good = simulate(jobs(row, row), "fcfs+conservative")
    assert good.start.tolist() == [0, 9]
    verdict = audit(moved(good, 1, 5), "fcfs+conservative")
    assert verdict.rule == rule
    assert why in verdict.why


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "empty table"),
        ({"gpu": 2}, "did you mean 'gpus'"),
        ({"gpus": -1}, "give a whole number of GPUs from 0"),
        ({"memory": "2 TiBs"}, "or a text in B, KB"),
        ({"watts": "0.0001 kW"}, "give a whole number of W"),
    ],
)
def test_wrong_amounts_are_refused(given: dict[str, object], why: str) -> None:
    """In one sentence with the value."""
    with pytest.raises(InputError, match=why):
        OnResources.from_dict(given)


def test_requests_count_in_the_digest_only_here() -> None:
    """A pool's digest does not change because a log has GPUs."""
    pool = Workload.from_columns(submit=[0], run=[1], estimate=[1], procs=[1], processors=4)
    gpus = np.ones(1, np.int64)
    gpus.flags.writeable = False
    with_gpus = replace(pool, gpus=gpus)
    assert pool.digest() == with_gpus.digest()
    one, other = (put_on_resources(work, OnResources(gpus=2)) for work in (pool, with_gpus))
    assert one.digest() != other.digest()


WINDOW = {"from": 5, "until": 8, "processors": 2}


@pytest.mark.parametrize(
    ("start", "rule", "why"),
    [
        (6, "windows", "runs at 6 s, when windows and the running jobs need 5 of 4 processors"),
        (2, "fcfs+easy", "started, but a window begins before its predicted end"),
        (9, "fcfs+easy", "was left waiting"),
    ],
)
def test_a_job_in_a_window_is_found(start: int, rule: str, why: str) -> None:
    """A job is moved into a window, in front of it, or too far behind it."""
    work = Workload.from_columns(
        submit=[0, 0], run=[5, 4], estimate=[5, 4], procs=[1, 3],
        platform=Resources(4, {}, windows=[WINDOW]),
    )  # fmt: skip
    good = simulate(work, "fcfs+easy")
    assert good.start.tolist() == [0, 0]
    late = simulate(replace(work, submit=np.array([0, 2])), "fcfs+easy")
    assert late.start.tolist() == [0, 8]
    verdict = audit(moved(late, 1, start), "fcfs+easy")
    assert (verdict.ok, verdict.rule) == (False, rule), verdict.why
    assert why in verdict.why


@pytest.mark.parametrize(
    ("windows", "why"),
    [
        ({"from": 0}, "give a list of tables"),
        ([5], r"windows\[0\] is 5; give a table"),
        ([{"from": 5, "until": 5}], "until must be later than from"),
        ([{"from": 5}], "has until = None; give seconds"),
        ([{"from": "soon", "until": 5}], "has from = 'soon'; give seconds"),
        ([{"from": -1, "until": 5}], "has from = -1"),
        ([{"from": 0, "until": 5, "procs": 1}], "did you mean 'processors'"),
        ([{"from": 0, "until": 5, "memory": 1}], "has 'memory'; known: from, until"),
        ([{"from": 0, "until": 5, "processors": 9}], "at least 1 and at most the machine's 4"),
        ([{"from": 0, "until": 5, "gpus": 0}], "withholds gpus = 0"),
        ([{"from": 0, "until": 5, "every": 4, "times": 2}], "longer than its period"),
        ([{"from": 0, "until": 5, "every": 9}], "has every alone; give both"),
        ([{"from": 0, "until": 5, "times": 2}], "has times alone; give both"),
        ([{"from": 0, "until": 5, "every": 9, "times": 0}], "has times = 0"),
        ([{"from": 0, "until": 5, "every": 2**61, "times": 2}], "ends beyond 2\\^62"),
        ([WINDOW, {"from": 7, "until": 9}], "from 7 s on, they withhold more processors in total"),
        ([WINDOW, {"from": 0, "until": 9, "every": 9, "times": 10**4}], "more than 10,000"),
    ],
)
def test_wrong_windows_are_refused(windows: object, why: str) -> None:
    """The message names the window, the key and the value."""
    with pytest.raises(InputError, match=why):
        Resources(4, {"gpus": 2}, windows=windows)  # type: ignore[arg-type]


def test_windows_have_a_plain_form() -> None:
    """The platform of a store is that of the campaign."""
    machine = Resources(4, {"gpus": 2}, windows=[{"from": "1h", "until": "2h", "gpus": 1}, WINDOW])
    assert platform_from_dict(machine.to_dict()) == machine
    assert replace(machine, processors=5).windows == machine.windows


def test_windows_of_a_log() -> None:
    """Amounts have units; the log gives the processors, which a window may exceed."""
    pool = Workload.from_columns(
        submit=[0], run=[5], estimate=[5], procs=[1], memory=[9], processors=4
    )
    here = OnResources.from_dict(
        {"memory": "2 KiB", "windows": [{"from": 3, "until": 9, "memory": "2040 B"}]}
    )
    assert OnResources.from_dict(here.to_dict()) == here
    assert simulate(put_on_resources(pool, here), "fcfs+easy").start.tolist() == [9]
    wide = OnResources.from_dict({"windows": [{"from": 3, "until": 9, "processors": 8}]})
    with pytest.raises(InputError, match="processors = 8; give a whole number, at least 1 and at"):
        put_on_resources(pool, wide)


def test_jobs_leave_a_queue_that_a_window_holds_up() -> None:
    """The first job would wait for 5 s; the second starts after the window."""
    work = Workload.from_columns(
        submit=[0, 0], run=[0, 2], estimate=[5, 2], procs=[1, 1], leave=[3, -1],
        platform=Resources(4, {}, windows=[{"from": 0, "until": 5}]),
    )  # fmt: skip
    for policy in ("fcfs+none", "fcfs+easy", "fcfs+conservative"):
        assert simulate(work, policy).start.tolist() == [-1, 5]
