"""The reference of grids: by hand, and by what must hold whatever the jobs."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from core.errors import InputError
from core.platform.grid import Grid
from core.policy.policy import Policy
from core.reference.fair_start import fair_start_reference
from core.reference.simulation import promises_reference, simulate_reference
from core.schedule import Schedule
from core.workload.workload import Workload
from tests.core import compare_grid, compare_tabu
from tests.core.reference_cases import Case

Rows = list[tuple[int, int, int, int]]
"""Jobs as (submit, run, estimate, procs)."""


def schedule(rows: Rows, clusters: list[int], policy: str) -> Schedule:
    submit, run, estimate, procs = zip(*rows, strict=True)
    grid = Grid(clusters, [f"c{i}" for i in range(len(clusters))])
    work = Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, platform=grid
    )
    return simulate_reference(work, policy)


def told(rows: Rows, clusters: list[int], policy: str) -> list[tuple[int, int]]:
    """Return start and cluster of each job."""
    found = schedule(rows, clusters, policy)
    return list(zip(found.start.tolist(), found.place.tolist(), strict=True))


@pytest.mark.parametrize("rule", ["none", "aggressive", "easy", "depth(2)", "conservative"])
def test_the_first_declared_of_clusters_as_good(rule: str) -> None:
    """Two jobs go to the first cluster while they fit, the third to the second."""
    rows: Rows = [(0, 5, 5, 1), (0, 5, 5, 1), (0, 5, 5, 1)]
    assert told(rows, [2, 2], f"fcfs+{rule}") == [(0, 0), (0, 0), (0, 1)]


def test_processors_of_two_clusters_are_no_one_cluster() -> None:
    """At 1 one processor is free in each: a job of two waits until 4, when the second is empty."""
    rows: Rows = [(0, 9, 9, 1), (0, 4, 4, 2), (1, 3, 3, 2)]
    assert told(rows, [2, 3], "fcfs+none") == [(0, 0), (0, 1), (4, 1)]


SHADOWED: Rows = [(0, 9, 9, 2), (0, 5, 5, 2), (1, 4, 4, 2), (2, 6, 6, 1), (2, 6, 6, 1)]
"""On clusters of 2 and 3 the third job is due at 5 in the second, and one of 3 stays over there."""


def test_easy_reserves_where_the_shadow_is_earliest() -> None:
    """The fourth job takes the one extra processor of the second cluster, the fifth waits."""
    found = told(SHADOWED, [2, 3], "fcfs+easy")
    assert found == [(0, 0), (0, 1), (5, 1), (2, 1), (8, 1)]


def test_easy_lets_others_pass_in_a_cluster_that_is_not_reserved() -> None:
    """The wide job is due in the wide cluster at 5; the long one starts at once in the narrow."""
    rows: Rows = [(0, 5, 5, 3), (1, 4, 4, 4), (2, 30, 30, 1)]
    assert told(rows, [1, 4], "fcfs+easy") == [(0, 1), (5, 1), (2, 0)]
    assert told(rows, [4, 1], "fcfs+easy") == [(0, 0), (5, 0), (2, 1)]


def test_equal_shadows_go_to_the_first_declared() -> None:
    """Both clusters are free at 5; the head holds the first, so the long job passes there not."""
    rows: Rows = [(0, 5, 5, 2), (0, 5, 5, 2), (1, 4, 4, 3), (2, 9, 9, 1)]
    assert told(rows, [3, 3], "fcfs+easy") == [(0, 0), (0, 1), (5, 0), (2, 1)]


def test_a_compression_moves_a_reservation_to_another_cluster() -> None:
    """Promised 8 in the first cluster, the third job starts at 3, where a job ended early."""
    rows: Rows = [(0, 8, 8, 2), (0, 3, 9, 2), (1, 4, 4, 2)]
    assert told(rows, [2, 2], "fcfs+planned") == [(0, 0), (0, 1), (3, 1)]
    work = schedule(rows, [2, 2], "fcfs+planned").workload
    assert promises_reference(work, "fcfs+planned").tolist() == [0, 0, 8]


def test_a_reservation_that_is_no_earlier_elsewhere_stays() -> None:
    """From 3 on the last job could start at 5 in the first cluster, too; it keeps the second."""
    rows: Rows = [(0, 5, 5, 1), (0, 3, 9, 1), (0, 5, 5, 2), (1, 2, 2, 2)]
    assert told(rows, [2, 2], "fcfs+planned") == [(0, 0), (0, 0), (0, 1), (5, 1)]


def test_a_grid_has_one_clock() -> None:
    """The clock of the pyss family is for pools."""
    with pytest.raises(InputError, match="events=per-event is for pools only"):
        schedule([(0, 1, 1, 1)], [1], "fcfs+easy,events=per-event")


# Whatever the jobs.


def cases(count: int, seed: int) -> Iterator[Case]:
    random = Random(seed)
    for i in range(count):
        yield compare_tabu.draw(random, grid=True) if i % 4 == 0 else compare_grid.draw(random)


def used(schedule: Schedule, instant: int, place: int) -> int:
    here = (schedule.place == place) & (schedule.start <= instant) & (instant < schedule.end)
    total: int = schedule.workload.procs[here].sum()
    return total


def test_no_cluster_holds_more_than_it_has() -> None:
    """Every job starts, not before its submission, and in a cluster that has the processors."""
    for case in cases(200, 2):
        found = simulate_reference(case.workload(), case.policy)
        assert (found.start >= found.workload.submit).all(), case
        for instant in found.start.tolist():
            for place, size in enumerate(case.clusters):
                assert used(found, instant, place) <= size, case


def test_a_grid_of_one_cluster_is_a_pool() -> None:
    """Under every rule: the same starts, flags and promises."""
    for case in cases(200, 3):
        one = case._replace(processors=case.widest, clusters=(case.widest,))
        grid, pool = one.workload(), one._replace(clusters=()).workload()
        there, here = (simulate_reference(work, case.policy) for work in (grid, pool))
        assert there.start.tolist() == here.start.tolist(), one
        assert there.backfilled.tolist() == here.backfilled.tolist(), one
        promised = [promises_reference(work, case.policy).tolist() for work in (grid, pool)]
        assert promised[0] == promised[1], one
        assert there.place.tolist() == [0] * len(there.place)


def test_easy_is_depth_one_where_no_estimate_is_0() -> None:
    """The cluster with the earliest shadow is that of the one reservation."""
    random = Random(4)
    for _ in range(300):
        case = compare_grid.draw(random)
        rows = tuple(row for row in case.rows if row[2] > 0)
        if rows:
            work = case._replace(rows=rows).workload()
            easy, one = (simulate_reference(work, f"fcfs+{r}") for r in ("easy", "depth(1)"))
            assert easy.start.tolist() == one.start.tolist(), case
            assert easy.place.tolist() == one.place.tolist(), case


def exact(case: Case) -> Case:
    """Return the case with run times and estimates that agree, none 0."""
    rows = tuple((s, max(e, 1), max(e, 1), p, u) for s, _, e, p, u in case.rows)
    return case._replace(rows=rows)


@pytest.mark.parametrize("clustered", [False, True], ids=["pool", "grid"])
def test_with_exact_estimates_planned_is_conservative(clustered: bool) -> None:
    """Nothing ends early, so no reservation moves and nobody starts after its promise."""
    for case in map(exact, cases(300, 5)):
        work = (case if clustered else case._replace(clusters=())).workload()
        planned, anew = (simulate_reference(work, f"fcfs+{r}") for r in ("planned", "conservative"))
        assert planned.start.tolist() == anew.start.tolist(), case
        assert planned.place.tolist() == anew.place.tolist(), case
        assert planned.start.tolist() == promises_reference(work, "fcfs+planned").tolist(), case


def test_planned_keeps_its_promises_on_a_grid() -> None:
    """Also where jobs end early, but for jobs with estimate 0, which reserve nothing."""
    for case in cases(300, 6):
        work = case.workload()
        planned = simulate_reference(work, "fcfs+planned")
        late = planned.start > promises_reference(work, "fcfs+planned")
        assert not np.any(late & (work.estimate > 0)), case


@pytest.mark.parametrize("clustered", [False, True], ids=["pool", "grid"])
def test_a_fair_start_is_that_of_the_trace_cut_behind_the_job(clustered: bool) -> None:
    """Also under a searched plan: nobody who comes later has a part in a number drawn before."""
    for case in cases(40, 7):
        rows = case.rows[:8]
        case = case._replace(rows=rows, clusters=case.clusters if clustered else ())
        work, policy = case.workload(), Policy.parse(case.policy)
        fair = fair_start_reference(work, policy, False, range(len(rows)), np.arange(len(rows)))
        for i in range(len(rows)):
            cut = work.take(slice(i + 1), max_estimate=work.max_estimate)
            assert simulate_reference(cut, policy).start[i] == fair[i], case
