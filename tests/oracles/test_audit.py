"""The auditor: it passes what our simulators make, and names who is to blame in what is not."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import schedfarm.core.audit
from schedfarm.core.audit import Verdict, audit, read_schedule
from schedfarm.core.audit.orders import FORMULAS, Jobs, ranks
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.logs.read import read_swf
from schedfarm.core.logs.schedules import LoggedSchedule
from schedfarm.core.logs.swf import write_swf
from schedfarm.core.policy.multifactor import NAME
from schedfarm.core.policy.orders import ORDERS
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import jobs_of
from schedfarm.core.reference.orders import KEYS
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload
from tests.support.strategies import LOGARITHMIC, policies, workloads


def placed(rows: list[tuple[int, int, int, int]], processors: int, starts: list[int]) -> Schedule:
    """Build a schedule of jobs (submit, run, estimate, procs) that nobody simulated."""
    submit, run, estimate, procs = zip(*rows, strict=True)
    work = Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, processors=processors
    )
    n = len(work)
    start, none = np.array(starts, np.int64), np.zeros(n, np.int64)
    # Only what a log tells may hold a job that never started.
    return LoggedSchedule(work, "", start, np.zeros(n, np.bool_), overrun=none)


def blamed(verdict: Verdict) -> tuple[str | None, int | None, int | None]:
    assert not verdict.ok
    return verdict.rule, verdict.job, verdict.instant


def test_it_shares_nothing_with_the_simulators() -> None:
    """The auditor of pools and grids imports shared types, the reader, and users' own orders.

    Where the kinds of platform meet, the reference replays the schedules of the others.
    """
    names, of_policies = set(), set()
    for path in Path(schedfarm.core.audit.__file__).parent.glob("*.py"):
        if path.stem == "kinds":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                names.add(node.module)
                if (node.module or "").startswith("schedfarm.core.policy."):
                    of_policies |= {alias.name for alias in node.names}
    # Readers of a policy's text and their results, and the test for one order; no formula.
    readers = {"Limit", "Multifactor", "Policy", "is_multifactor", "read_limits"}
    assert of_policies == {*readers, "read_multifactor", "order_function"}
    ours = {
        n
        for n in names
        if n and n.startswith("schedfarm.core.") and not n.startswith("schedfarm.core.audit")
    }
    assert ours == {
        "schedfarm.core.arrays",
        "schedfarm.core.durations",
        "schedfarm.core.errors",
        "schedfarm.core.logs.read",
        "schedfarm.core.logs.schedules",
        "schedfarm.core.policy.limits",
        "schedfarm.core.policy.multifactor",
        "schedfarm.core.policy.orders",
        "schedfarm.core.policy.policy",
        "schedfarm.core.schedule",
        "schedfarm.core.workload.workload",
    }


def test_every_order_has_a_formula() -> None:
    """The auditor takes none from the rows of the orders."""
    assert {*FORMULAS, NAME} == {*ORDERS}


@given(work=workloads().filter(len), data=st.data())
def test_formulas_are_those_of_the_reference(work: Workload, data: st.DataObject) -> None:
    """Two programs, written apart from the same text, put any jobs into one order."""
    now = int(work.submit[-1]) + data.draw(st.integers(0, 30))
    none = np.zeros(len(work), np.int64)
    jobs = Jobs(work.submit, work.estimate, work.procs, now, none, none)
    for order, key in KEYS.items():
        found = ranks(FORMULAS[order].value(jobs))
        keys = [key(job, now) for job in jobs_of(work)]
        expected = np.unique(np.array(keys, object), return_inverse=True)[1]
        if FORMULAS[order].largest_first:
            found = found.max() - found
        assert found.tolist() == expected.tolist() or order in LOGARITHMIC, order


def test_an_order_without_a_formula_is_unaudited(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that stands in its row alone is taken as it is; the verdict says so."""
    schedule = placed(EASY, 4, [0, 10, 2])
    assert audit(schedule, "saf+easy").unaudited == ()
    monkeypatch.delitem(FORMULAS, "saf")
    verdict = audit(schedule, "saf+easy")
    assert (verdict.ok, verdict.unaudited) == (True, ("order saf",))
    assert verdict.why.endswith("saf+easy; no formula of the auditor's own checks order saf")
    late = audit(placed(EASY, 4, [0, 10, 15]), "fcfs+easy,backfill=saf")
    assert (late.job, late.unaudited) == (2, ("order saf",))
    own = "tests.support.strategies:by_share"
    assert audit(schedule, f"{own}+easy").unaudited == (f"order {own}",)
    assert audit(schedule, "fcfs+tabu").unaudited == ("rule tabu",)


EASY = [(0, 10, 10, 3), (1, 5, 5, 4), (2, 8, 8, 1)]
"""A machine of 4 is blocked until 10, when the second job starts; the third fits before it."""


def test_a_backfill_that_ends_one_second_past_the_shadow() -> None:
    """With no processors to spare the third job had no right to start at 2."""
    rows = [*EASY[:2], (2, 9, 9, 1)]
    verdict = audit(placed(rows, 4, [0, 11, 2]), "fcfs+easy")
    assert blamed(verdict) == ("fcfs+easy", 2, 2)
    assert verdict.why == (
        "at 2 s job 3 (1 processors) started, but by its estimate it ends at 11, past the shadow "
        "time 10 of the head, job 2 (4 processors), and it needs 1 processors where 0 are to spare"
    )


def test_a_job_with_the_right_to_backfill_that_was_left() -> None:
    """The third job could have started at 2."""
    verdict = audit(placed(EASY, 4, [0, 10, 15]), "fcfs+easy")
    assert blamed(verdict) == ("fcfs+easy", 2, 2)
    assert verdict.why == (
        "at 2 s job 3 (1 processors) was left waiting, but it needs 1 processors and 1 are free"
    )


def test_a_job_started_one_second_early() -> None:
    """Nothing happened at 9, and the machine was not free."""
    verdict = audit(placed(EASY, 4, [0, 9, 2]), "fcfs+easy")
    assert blamed(verdict) == ("capacity", 1, 9)
    assert verdict.why == (
        "job 2 (4 processors) started at 9 s, when the running jobs need 8 of 4 processors"
    )


def test_a_job_that_never_started() -> None:
    """Of such a schedule nothing else is said, whatever the rule."""
    for policy in ("fcfs+easy", "fcfs+planned", "lxf+none"):
        verdict = audit(placed(EASY, 4, [0, 12, -1]), policy)
        assert blamed(verdict) == ("start", 2, 2)
        assert verdict.why == "job 3 (1 processors) never started after its submission at 2 s"


def test_a_job_started_before_its_submission() -> None:
    """The start is 1 s too early."""
    verdict = audit(placed([(5, 1, 1, 1)], 4, [4]), "fcfs+none")
    assert blamed(verdict) == ("submit", 0, 4)
    assert verdict.why == "job 1 started at 4 s, before its submission at 5"


def test_capacity_exceeded_by_one_for_one_second() -> None:
    """The third job ends when the second starts, but for a second: 4 + 1 processors of 4."""
    rows = [*EASY[:2], (2, 9, 9, 1)]
    verdict = audit(placed(rows, 4, [0, 10, 2]), "fcfs+aggressive")
    assert blamed(verdict) == ("capacity", 1, 10)
    assert verdict.why.endswith("when the running jobs need 5 of 4 processors")


CONSERVATIVE = [(0, 10, 10, 3), (1, 5, 5, 4), (2, 3, 3, 4), (3, 4, 4, 1)]
"""The second and third job hold reservations at 10 and 15; the fourth has 7 s before them."""


def test_a_conservative_job_that_could_have_started_earlier() -> None:
    """The fourth job delays no reservation at 3."""
    assert audit(placed(CONSERVATIVE, 4, [0, 10, 15, 3]), "fcfs+conservative").ok
    verdict = audit(placed(CONSERVATIVE, 4, [0, 10, 15, 10 + 8]), "fcfs+conservative")
    assert blamed(verdict) == ("fcfs+conservative", 3, 3)
    assert verdict.why == (
        "at 3 s job 4 (1 processors) was left waiting, but its reservation is this instant"
    )


def test_a_conservative_job_that_delays_a_reservation() -> None:
    """Under easy the fourth job may run beside the second; but the third's start is promised."""
    rows = [(0, 10, 10, 3), (1, 5, 5, 3), (2, 3, 3, 4), (3, 13, 13, 1)]
    assert audit(placed(rows, 4, [0, 10, 16, 3]), "fcfs+easy").ok
    verdict = audit(placed(rows, 4, [0, 10, 16, 3]), "fcfs+conservative")
    assert blamed(verdict) == ("fcfs+conservative", 3, 3)
    assert "is 18" in verdict.why


def test_strict_order() -> None:
    """Under none nobody overtakes, whether he would delay the head or not."""
    verdict = audit(placed(EASY, 4, [0, 10, 2]), "fcfs+none")
    assert blamed(verdict) == ("fcfs+none", 2, 2)
    assert verdict.why == (
        "at 2 s job 3 (1 processors) started, but job 2 (4 processors), before it in the queue, "
        "waits"
    )


def test_the_queue_order_is_audited() -> None:
    """Both of two jobs fit, but not together: the shorter goes first under spf, not under fcfs."""
    rows = [(0, 10, 10, 4), (1, 5, 5, 4), (2, 3, 3, 4)]
    schedule = placed(rows, 4, [0, 13, 10])
    assert audit(schedule, "spf+aggressive").ok
    assert blamed(audit(schedule, "fcfs+aggressive")) == ("fcfs+aggressive", 2, 10)


def test_the_threshold_is_strict() -> None:
    """At a wait of 9 s the second job does not yet go first; with a threshold of 8 s it does."""
    rows = [(0, 10, 10, 4), (1, 5, 5, 4), (2, 3, 3, 4)]
    schedule = placed(rows, 4, [0, 13, 10])
    assert audit(schedule, "spf+easy,threshold=9s").ok
    assert blamed(audit(schedule, "spf+easy,threshold=8s"))[1] == 2


@pytest.mark.parametrize(
    ("threshold", "kept", "wrong"),
    [
        # At 10 the second has waited 9 s, at 15 the others 13 and 12 s.
        ("8s", [0, 10, 15, 18], (3, 10)),
        # At 12 the second has waited 11 s, more than the largest estimate; at 10 none has.
        ("1x", [0, 12, 17, 10], (2, 12)),
    ],
)
def test_the_threshold_is_the_auditors_own(
    monkeypatch: pytest.MonkeyPatch, threshold: str, kept: list[int], wrong: tuple[int, int]
) -> None:
    """Without the threshold in seconds that the simulators share, the auditor judges as before."""
    rows = [(0, 10, 10, 4), (1, 5, 5, 4), (2, 3, 3, 4), (3, 2, 2, 4)]
    policy = f"spf+easy,threshold={threshold}"
    monkeypatch.setattr(Policy, "threshold_seconds", lambda policy, largest: None)
    assert audit(placed(rows, 4, kept), policy).ok
    assert blamed(audit(placed(rows, 4, [0, 15, 12, 10]), policy)) == (policy, *wrong)


def test_a_plan_is_kept() -> None:
    """At 4 two jobs end early: by start the fourth moves first and makes room for the second."""
    rows = [(0, 4, 6, 1), (0, 3, 4, 2), (1, 3, 4, 1), (3, 1, 1, 1)]
    assert audit(placed(rows, 2, [0, 5, 1, 4]), "fcfs+planned").ok
    assert audit(placed(rows, 2, [0, 6, 1, 4]), "fcfs+planned,walk=arrival").ok
    verdict = audit(placed(rows, 2, [0, 6, 1, 4]), "fcfs+planned")
    assert blamed(verdict) == ("fcfs+planned", 1, 5)
    assert verdict.why.endswith("job 2 (2 processors) was left waiting, but its reservation is 5")


@pytest.mark.parametrize("policy", ["fcfs+easy", "lxf+easy,threshold=12h", "spf+conservative"])
def test_real_logs_pass_and_a_second_does_not(traces: Path, policy: str) -> None:
    """Of the first jobs of a log each start is right, and none may come a second later."""
    work = read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz", jobs=1500)
    good = simulate(work, policy)
    assert audit(good, policy).ok
    late = good.start.copy()
    late[1000] += 1
    assert blamed(audit(replace(good, start=late), policy)) == (policy, 1000, late[1000] - 1)


def log(path: Path, rows: list[tuple[int, int, int, int, int]]) -> Path:
    """Write (submit, wait, run, procs, request) as a log for a machine of 4."""
    lines = [
        f"{number} {submit} {wait} {run} {procs} -1 -1 {procs} {request} -1 1 1" + 6 * " -1"
        for number, (submit, wait, run, procs, request) in enumerate(rows, 1)
    ]
    path.write_text("\n".join(["; MaxProcs: 4", *lines]))
    return path


@given(work=workloads().filter(len), data=st.data())
def test_a_schedule_survives_its_log(
    tmp_path_factory: pytest.TempPathFactory, work: Workload, data: st.DataObject
) -> None:
    """What is written as SWF reads as the same schedule and passes the same audit."""
    policy = data.draw(policies(order="saf"))
    schedule = simulate(work, policy)
    path = tmp_path_factory.mktemp("log") / "schedule.swf"
    write_swf(work, path, schedule)
    read = read_schedule(path)
    assert read.start.tolist() == schedule.start.tolist()
    assert read.end.tolist() == schedule.end.tolist()
    assert read.overrun.tolist() == [0] * len(work)


def test_rows_that_cannot_be_placed_are_reported(tmp_path: Path) -> None:
    """Each counts under one reason, and a machine given by hand goes before the header's."""
    rows = [(0, 3, 5, 2, 9), (0, -1, 5, 2, 9), (7, 0, -1, 2, 9), (1, 0, 5, 4, 9), (1, -1, -1, 1, 1)]
    path = log(tmp_path / "log.swf", rows)
    schedule = read_schedule(path)
    assert schedule.start.tolist() == [3, 1]
    assert dict(schedule.workload.dropped) == {"no wait": 2, "no run": 1}
    assert dict(read_schedule(path, 3).workload.dropped) == {
        "no wait": 2,
        "too wide": 1,
        "no run": 1,
    }


def test_a_job_that_outlives_its_estimate_breaks_the_kill(tmp_path: Path) -> None:
    """One second is how a killed job is written; two are too many."""
    path = log(tmp_path / "log.swf", [(0, 0, 10, 1, 9), (0, 0, 12, 1, 10)])
    verdict = audit(read_schedule(path), "fcfs+easy")
    assert blamed(verdict) == ("kills", 1, 10)
    assert verdict.why == "job 2 ran 1 s longer than its estimate of 10 s, which ended at 10 s"


@pytest.mark.parametrize(
    ("rows", "processors", "message"),
    [
        ([(0, -1, 5, 2, 9)], None, "no job can be placed"),
        ([(0, 0, 5, 2, 9)], 0, "processors"),
    ],
)
def test_a_log_without_a_schedule_is_refused(
    tmp_path: Path, rows: list[tuple[int, int, int, int, int]], processors: int, message: str
) -> None:
    """A log without wait times, and a machine without processors."""
    with pytest.raises(InputError, match=message):
        read_schedule(log(tmp_path / "log.swf", rows), processors)
