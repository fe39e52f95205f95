"""The auditor over clusters: it passes what our simulators make, and names who is to blame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

from schedfarm.core.audit import Verdict, audit
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.logs.schedules import LoggedSchedule
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload
from tests.support.strategies import grid_of, policies, workloads


def placed(
    clusters: tuple[int, ...], rows: list[tuple[int, ...]], starts: list[int], places: list[int]
) -> Schedule:
    """Build a schedule of jobs (submit, run, estimate, procs) that nobody simulated."""
    submit, run, estimate, procs = zip(*rows, strict=True)
    work = Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, platform=grid_of(*clusters)
    )
    start, place = np.array(starts, np.int64), np.array(places, np.int64)
    return Schedule(work, "", start, np.zeros(len(work), np.bool_), place=place)


def moved(schedule: Schedule, *, start: np.ndarray | None = None, place: np.ndarray) -> Schedule:
    """Return a schedule with other starts and places."""
    times = schedule.start if start is None else start
    return Schedule(schedule.workload, "", times, schedule.backfilled, place=place)


def blamed(verdict: Verdict) -> tuple[str | None, int | None, int | None]:
    assert not verdict.ok
    return verdict.rule, verdict.job, verdict.instant


def test_two_clusters_over_their_sizes__though_the_sum_is_not() -> None:
    """Each cluster is held to its own processors."""
    rows = [(0, 9, 9, 3), (0, 9, 9, 2), (0, 9, 9, 1)]
    good = placed((4, 2), rows, [0, 0, 0], [0, 1, 0])
    assert audit(good, "fcfs+easy").ok
    bad = placed((4, 2), rows, [0, 0, 0], [0, 0, 1])
    verdict = audit(bad, "fcfs+easy")
    assert blamed(verdict) == ("capacity", 1, 0)
    assert verdict.why == (
        "job 2 (2 processors) started at 0 s, when the running jobs on c0 need 5 of 4 processors"
    )


def test_what_holds_on_a_pool_holds_on_a_grid() -> None:
    """Every job starts, none before its submission, and none runs past its estimate."""
    good = placed((4, 2), [(5, 9, 9, 3), (6, 9, 9, 2)], [5, 6], [0, 1])
    none = np.zeros(2, np.int64)
    for start, overrun, fault in (
        ([5, -1], [0, 0], ("start", 1, 6)),
        ([4, 6], [0, 0], ("submit", 0, 4)),
        ([5, 6], [0, 3], ("kills", 1, 15)),
    ):
        logged = LoggedSchedule(
            good.workload, "", np.array(start), none > 0, overrun=np.array(overrun)
        )
        bad = replace(logged, given={"place": good.place})
        assert blamed(audit(bad, "fcfs+aggressive")) == fault


def test_a_job_wider_than_its_cluster() -> None:
    """A job runs inside one cluster."""
    verdict = audit(placed((4, 2), [(0, 9, 9, 3)], [0], [1]), "fcfs+none")
    assert blamed(verdict) == ("place", 0, 0)
    assert verdict.why == "job 1 (3 processors) started at 0 s on c1, which has 2"


def test_a_place_that_there_is_not() -> None:
    """Places are counted from 0 to one less than there are clusters."""
    verdict = audit(placed((4, 2), [(0, 9, 9, 2)], [0], [2]), "fcfs+none")
    assert blamed(verdict) == ("place", 0, 0)
    assert verdict.why == (
        "job 1 (2 processors) started at 0 s on place 2; the platform has places 0 to 1"
    )


def test_a_job_on_the_second_cluster_where_the_first_had_room() -> None:
    """The first cluster in declared order on which a job fits is its place."""
    verdict = audit(placed((4, 2), [(0, 9, 9, 2)], [0], [1]), "fcfs+aggressive")
    assert blamed(verdict) == ("fcfs+aggressive", 0, 0)
    assert verdict.why == (
        "at 0 s job 1 (2 processors) started on c1, but its place is c0: it needs 2 processors "
        "and 4 are free on c0"
    )


def test_the_one_who_took_the_place_is_to_blame() -> None:
    """The fifth job may start nowhere; for want of its place the sixth went elsewhere."""
    rows = [(0, 8, 8, 2), (0, 8, 8, 2), (1, 2, 2, 3), (1, 2, 2, 3), (1, 9, 9, 1), (1, 2, 2, 1)]
    good = placed((3, 3), rows, [0, 0, 8, 8, 10, 1], [0, 1, 0, 1, 0, 0])
    assert audit(good, "fcfs+conservative").ok
    bad = placed((3, 3), rows, [0, 0, 10, 8, 1, 1], [0, 1, 0, 1, 0, 1])
    verdict = audit(bad, "fcfs+conservative")
    assert blamed(verdict) == ("fcfs+conservative", 4, 1)
    assert "is 10 on c0" in verdict.why


def test_a_backfill_past_the_shadow_of_the_reserved_cluster() -> None:
    """The head is reserved on the second cluster: on the first, backfills may last."""
    rows = [(0, 8, 8, 4), (0, 3, 3, 1), (1, 2, 2, 6), (1, 10, 10, 1), (1, 8, 8, 2)]
    good = placed((2, 6), rows, [0, 0, 8, 1, 10], [1, 0, 1, 0, 1])
    assert audit(good, "fcfs+easy").ok
    verdict = audit(placed((2, 6), rows, [0, 0, 9, 1, 1], [1, 0, 1, 0, 1]), "fcfs+easy")
    assert blamed(verdict) == ("fcfs+easy", 4, 1)
    assert verdict.why == (
        "at 1 s job 5 (2 processors) started, but by its estimate it ends at 9, past the shadow "
        "time 8 of the head, job 3 (6 processors), and it needs 2 processors where 0 are to "
        "spare on c1"
    )


def test_a_second_too_late() -> None:
    """The job had the right to start on the second cluster, where it fits."""
    rows = [(0, 9, 9, 4), (2, 5, 5, 2)]
    verdict = audit(placed((4, 2), rows, [0, 3], [0, 1]), "fcfs+conservative")
    assert blamed(verdict) == ("fcfs+conservative", 1, 2)
    assert verdict.why == (
        "at 2 s job 2 (2 processors) was left waiting, but its reservation is this instant on c1"
    )


def test_without_places__is_refused() -> None:
    """No place is made up: nothing says that the jobs ran on the first cluster."""
    good = placed((4, 2), [(0, 9, 9, 2)], [0], [0])
    with pytest.raises(InputError, match=r"does not give the place of each job"):
        audit(Schedule(good.workload, "", good.start, good.backfilled), "fcfs+none")


@given(work=workloads().filter(len), policy=policies(rule="planned"))
def test_a_plan_on_one_cluster__is_that_of_a_pool(work: Workload, policy: Policy) -> None:
    """Its schedules pass on the one cluster, and fail by a second as they do in the pool."""
    assume(policy.events == "instant")
    good = simulate(work, policy)
    alone = replace(work, platform=grid_of(work.processors))
    for start in (good.start, good.start + (np.arange(len(work)) == len(work) - 1)):
        here = Schedule(alone, "", start, good.backfilled, place=np.zeros(len(work), np.int64))
        there, verdict = audit(replace(good, start=start), policy), audit(here, policy)
        assert (verdict.ok, verdict.instant) == (there.ok, there.instant)


PLAN = [(0, 8, 8, 4), (0, 5, 5, 2), (1, 4, 4, 2), (1, 3, 3, 1)]
"""On clusters of 2 and 4: the third job is promised the first at 5 s, the fourth the second at
8 s, since the first is taken from 5 to 9 s."""


def test_a_plan_over_clusters() -> None:
    """Reservations are kept, on the cluster on which each begins first."""
    good = placed((2, 4), PLAN, [0, 0, 5, 8], [1, 0, 0, 1])
    assert audit(good, "fcfs+planned").ok, audit(good, "fcfs+planned").why
    for start, place, job, instant in (
        ([0, 0, 5, 9], [1, 0, 0, 0], 3, 8),
        ([0, 0, 8, 8], [1, 0, 1, 1], 2, 5),
        ([0, 0, 6, 8], [1, 0, 0, 1], 2, 5),
    ):
        verdict = audit(placed((2, 4), PLAN, start, place), "fcfs+planned")
        assert blamed(verdict) == ("fcfs+planned", job, instant)


def test_a_compression_moves_a_job_to_another_cluster() -> None:
    """The first job ends at 2 s: both start on the second cluster, earlier than promised."""
    rows = [(0, 2, 8, 4), *PLAN[1:]]
    good = placed((2, 4), rows, [0, 0, 2, 2], [1, 0, 1, 1])
    assert audit(good, "fcfs+planned").ok, audit(good, "fcfs+planned").why
    verdict = audit(placed((2, 4), rows, [0, 0, 5, 2], [1, 0, 0, 1]), "fcfs+planned")
    assert blamed(verdict) == ("fcfs+planned", 2, 2)
    assert verdict.why == (
        "at 2 s job 3 (2 processors) was left waiting, but its reservation is 2 on c1"
    )
