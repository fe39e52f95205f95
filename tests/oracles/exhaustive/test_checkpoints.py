"""Simulations that continue from a checkpoint: the same starts as without the interruption."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest

from schedfarm.core import Workload, fair_start_times, simulate
from schedfarm.core.arrays import Int64
from schedfarm.core.engine.checkpoint import FAIR, Checkpoints
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.models.lublin import lublin
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.load import scale_load

SEARCHED = [f"fcfs+tabu,every=4h,search={one}" for one in ("tabu", "gap", "random")]

PLANS = [
    *(("pool", one) for one in SEARCHED),
    *(("grid", one) for one in [*SEARCHED, "fcfs+planned"]),
]

FAIR_STARTS = (
    ("fcfs+easy", "strict"),
    ("fcfs+easy", "relaxed"),
    ("fcfs+none", "strict"),
    ("spf+easy", "strict"),
    ("lxf+easy", "relaxed"),
    ("fcfs+conservative", "strict"),
    ("lxf+conservative", "relaxed"),
    ("fcfs+planned", "strict"),
    ("fcfs+tabu", "strict"),
)


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture(scope="module")
def jobs() -> Workload:
    """Jobs with a queue."""
    return scale_load(lublin(64, jobs=60, seed=3, index=1), 1.5)


def grid_of(jobs: Workload) -> Workload:
    """Return the jobs that fit the wider of two clusters, on both."""
    return Workload.from_columns(
        submit=jobs.submit,
        run=jobs.run,
        estimate=jobs.estimate,
        procs=np.minimum(jobs.procs, 40),
        user=jobs.user,
        platform=Grid([40, 24], ["a", "b"]),
    )


MACHINES: dict[str, Callable[[Workload], Workload]] = {"pool": lambda jobs: jobs, "grid": grid_of}


def stopped(
    jobs: Workload, policy: str, found: bytes | None, instants: int
) -> tuple[Schedule | None, list[bytes]]:
    """Simulate with a checkpoint after each instant; die after some of them.

    Returns the schedule, None after a death, and all checkpoints.
    """
    kept: list[bytes] = []

    def write(data: bytes) -> None:
        kept.append(data)
        if len(kept) == instants:
            raise Killed
        checkpoints.due[0] = 1

    with Checkpoints(str, write, found) as checkpoints:
        checkpoints.due[0] = 1
        with suppress(Killed):
            return simulate(jobs, policy), kept
    return None, kept


def assert_same(one: Schedule | None, other: Schedule) -> None:
    assert one is not None
    np.testing.assert_array_equal(one.start, other.start)
    np.testing.assert_array_equal(one.backfilled, other.backfilled)
    if other.place is not None:
        np.testing.assert_array_equal(one.place, other.place)


@pytest.mark.parametrize(("machine", "policy"), PLANS)
def test_plan_killed_twice__same_schedule(jobs: Workload, machine: str, policy: str) -> None:
    """No instant is simulated again: the three processes have those of one, and one each."""
    work = MACHINES[machine](jobs)
    whole, instants = stopped(work, policy, None, -1)
    assert_same(whole, simulate(work, policy))
    third = len(instants) // 3
    assert third > 20
    _, first = stopped(work, policy, None, third)
    _, second = stopped(work, policy, first[-1], third)
    resumed, rest = stopped(work, policy, second[-1], -1)
    assert len(rest) == len(instants) - 2 * third
    assert_same(resumed, simulate(work, policy))


def known_before(jobs: Workload, policy: str, kind: str, fst: Int64) -> bytes:
    """Return the checkpoint of these fair starts, -1 where unknown."""
    kept: list[bytes] = []
    what = f"{kind} fair starts by arrival"
    with (
        Checkpoints(str, kept.append) as checkpoints,
        checkpoints.of(jobs, Policy.parse(policy), what, {FAIR: fst}, live=True),
    ):
        checkpoints.save()
    return kept[-1]


@pytest.mark.parametrize(("policy", "kind"), FAIR_STARTS)
def test_fair_starts_of_which_some_are_known__same_fair_starts(
    jobs: Workload, policy: str, kind: str
) -> None:
    work = jobs.take(slice(30)) if "tabu" in policy else jobs
    whole = fair_start_times(work, policy, kind)
    random = np.random.default_rng(1)
    for share in (0.1, 0.5, 0.95, 1.0):
        some = np.where(random.random(len(work)) < share, whole, -1)
        found = known_before(work, policy, kind, some)
        with Checkpoints(str, lambda _: None, found):
            resumed = fair_start_times(work, policy, kind)
        np.testing.assert_array_equal(resumed, whole)


def test_known_fair_starts_are_not_computed_again(jobs: Workload) -> None:
    """A value that no simulation gives shows it; only requested jobs are returned."""
    some = np.full(len(jobs), -1)
    some[[3, 30, 45]] = 77
    found = known_before(jobs, "spf+easy", "strict", some)
    with Checkpoints(str, lambda _: None, found):
        resumed = fair_start_times(jobs, "spf+easy", jobs=slice(25, 50))
    expected = fair_start_times(jobs, "spf+easy", jobs=slice(25, 50))
    expected[[30, 45]] = 77
    np.testing.assert_array_equal(resumed, expected)


OTHERS: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "policy": ("fcfs+tabu,seed=2", lambda data: data, "of another program, workload or policy"),
    "shorter": ("fcfs+tabu", lambda data: data[: len(data) // 2], "torn"),
    "empty": ("fcfs+tabu", lambda data: b"", "torn"),
    "altered": (
        "fcfs+tabu",
        lambda data: bytes([*data[:2000], data[2000] ^ 1, *data[2001:]]),
        "torn",
    ),
}


@pytest.mark.parametrize("other", OTHERS)
def test_checkpoint_of_something_else__starts_over(jobs: Workload, other: str) -> None:
    policy, change, why = OTHERS[other]
    _, kept = stopped(jobs, "fcfs+tabu", None, 40)
    with pytest.warns(RuntimeWarning, match=f"a checkpoint is {why}; its simulation starts over"):
        resumed, _ = stopped(jobs, policy, change(kept[-1]), -1)
    assert_same(resumed, simulate(jobs, policy))


@pytest.mark.parametrize("other", ["program", "workload"])
def test_checkpoint_of_another_program_or_workload__starts_over(jobs: Workload, other: str) -> None:
    work = jobs.take(slice(50)) if other == "workload" else jobs
    program = "another" if other == "program" else ""
    _, kept = stopped(jobs, "fcfs+tabu", None, 40)
    with (
        pytest.warns(RuntimeWarning, match="is of another program"),
        Checkpoints(lambda: program, lambda _: None, kept[-1]),
    ):
        resumed = simulate(work, "fcfs+tabu")
    assert_same(resumed, simulate(work, "fcfs+tabu"))


def test_full_disk__costs_the_checkpoint_only(jobs: Workload) -> None:
    def write(_: bytes) -> None:
        raise OSError(28, "No space left on device")

    with Checkpoints(str, write) as checkpoints:
        checkpoints.due[0] = 1
        with pytest.warns(RuntimeWarning, match="No space left on device"):
            found = simulate(jobs, "fcfs+tabu")
    assert_same(found, simulate(jobs, "fcfs+tabu"))


def test_short_simulations_write_none(jobs: Workload) -> None:
    kept: list[bytes] = []
    with Checkpoints(str, kept.append):
        simulate(jobs, "fcfs+tabu")
        fair_start_times(jobs, "spf+easy")
    assert kept == []
