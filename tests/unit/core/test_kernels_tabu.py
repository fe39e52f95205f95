"""Plans on clusters, their searches, and what a search thinks of a plan, against plain ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core.audit import audit
from schedfarm.core.engine.profile import HEAD, TAIL
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.search import plan as plans
from schedfarm.core.engine.search.clusters import advance_all, untake
from schedfarm.core.engine.search.draws import M1, SIZE, draw
from schedfarm.core.engine.search.plan import (
    COUNT,
    Plan,
    begin_walk,
    commit,
    empty_plan,
    enter,
    make_free,
)
from schedfarm.core.engine.search.score import (
    CRITERIA,
    Counts,
    count_jobs,
    count_users,
    empty_past,
    empty_score,
    is_better,
)
from schedfarm.core.engine.search.search import (
    Search,
    change_plan,
    empty_search,
    try_move,
    try_order,
)
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.workload.workload import Workload

END = 400
"""No reservation of these tests lasts longer, s."""


def test_draws_are_those_of_the_published_generator() -> None:
    """Of the seeds 12345 it gives 0.127011122, 0.318527565, 0.309186015, ... (RngStreams)."""
    stream = np.full(SIZE, 12345, np.int64)
    drawn = [draw(stream, M1) / (M1 + 1) for _ in range(3)]
    assert drawn == pytest.approx([0.1270111225, 0.3185275653, 0.3091860155], abs=1e-9)


def test_the_audit_of_a_searched_schedule_finds_who_is_too_much() -> None:
    """Though nobody can tell what a search drew."""
    work = Workload.from_columns(
        submit=[0, 0, 1], run=[9, 9, 4], estimate=[9, 9, 4], procs=[2, 2, 1], processors=3
    )
    good = simulate(work, "fcfs+tabu")
    bad = replace(good, start=np.minimum(good.start, 8))
    assert audit(good, "fcfs+tabu").ok
    assert (audit(bad, "fcfs+tabu").rule, audit(bad, "fcfs+tabu").instant) == ("capacity", 8)


@dataclass
class Slow:
    """A plan as one number a second: who runs or is to run, from when, until when, and where."""

    sizes: list[int]
    need: dict[int, int] = field(default_factory=dict)
    length: dict[int, int] = field(default_factory=dict)
    at: dict[int, int] = field(default_factory=dict)
    place: dict[int, int] = field(default_factory=dict)
    running: dict[int, tuple[int, int, int]] = field(default_factory=dict)

    def free(self, c: int, without: int | None = None) -> list[int]:
        free = [self.sizes[c]] * END
        held = [
            (self.at[j], self.length[j], self.need[j], self.place[j])
            for j in self.at
            if j != without
        ]
        held += [(0, end, self.need[j], where) for j, (end, where, _) in self.running.items()]
        for begin, length, need, where in held:
            if where == c:
                for t in range(begin, begin + length):
                    free[t] -= need
        return free

    def earliest(self, j: int, now: int) -> tuple[int, int]:
        found = []
        for c, size in enumerate(self.sizes):
            if self.need[j] <= size:
                free, span = self.free(c, j), max(self.length[j], 1)
                fits = (t for t in range(now, END) if min(free[t : t + span]) >= self.need[j])
                found.append((next(fits), c))
        return min(found)

    def order(self) -> list[int]:
        return sorted(self.at, key=lambda j: (self.at[j], j))

    def compress(self, now: int, without: int | None = None) -> None:
        for j in self.order():
            if j != without:
                t, c = self.earliest(j, now)
                if t < self.at[j]:
                    self.at[j], self.place[j] = t, c

    def put(self, j: int, now: int) -> None:
        self.at[j], self.place[j] = self.earliest(j, now)

    def move(self, j: int, now: int) -> None:
        del self.at[j]
        self.compress(now)
        self.put(j, now)


def as_slow(plan: Plan) -> tuple[dict[int, int], dict[int, int]]:
    book = plan.book
    waiting = range(book.state[COUNT])
    return (
        {int(book.job[i]): int(book.at[i]) for i in waiting},
        {int(book.job[i]): int(book.place[i]) for i in waiting},
    )


def laid_out(plan: Plan, c: int, now: int) -> list[int]:
    times, free, mark = plan.clusters.times[c], plan.clusters.free[c], plan.clusters.mark[c]
    steps = range(mark[HEAD], mark[TAIL])
    return [int(free[max(i for i in steps if times[i] <= t)]) for t in range(now, END)]


@given(st.data())
def test_a_plan_agrees_with_a_slow_one_through_any_events(data: st.DataObject) -> None:
    """Arrivals, early ends, moves kept and moves dropped: never over capacity, never another."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    n, now = 12, 0
    plan, slow = empty_plan(np.array(sizes, np.int64), n), Slow(sizes)
    search = empty_search(np.array(sizes, np.int64), n, 0, np.full(SIZE, 7, np.int64))
    submit, run, estimate, procs = (np.zeros(n, np.int64) for _ in range(4))
    start, leave = np.full(n, -1, np.int64), np.zeros(1, np.int64)
    jobs = Jobs(submit, run, estimate, procs, start, np.zeros(n, np.bool_), leave)
    counts, users = Counts(False, False, False), np.arange(n) % 3
    arrived = 0
    for _ in range(data.draw(st.integers(4, 16))):
        what = data.draw(st.sampled_from(("arrive", "arrive", "end", "move", "anew", "wait")))
        if what == "arrive" and arrived < n:
            j, arrived = arrived, arrived + 1
            jobs.submit[j], jobs.estimate[j] = now, data.draw(st.integers(0, 8))
            jobs.procs[j] = data.draw(st.integers(1, max(sizes)))
            slow.need[j], slow.length[j] = int(jobs.procs[j]), int(jobs.estimate[j])
            slow.put(j, now)
            enter(plan, j, jobs.procs[j], jobs.estimate[j], now)
            change_plan(search)
        elif what == "wait":
            now = run_on(plan, slow, search, now)
        elif what == "end" and slow.running:
            j = data.draw(st.sampled_from(sorted(slow.running)))
            end, c, _ = slow.running.pop(j)
            slow.compress(now)
            begin_walk(plan, now)
            if end > now:
                step = untake(plan.clusters, c, now, end - now, jobs.procs[j])
                make_free(plan, c, step, now, end, now, 0)
            plans.walk(plan, now, -1)
            commit(plan)
            change_plan(search)
        elif what in ("move", "anew") and slow.at:
            score = empty_score(users, 3, np.array([1.0, 1.0, 1.0, 1.0]))
            count_jobs(score, empty_past(3), counts, plan.book, jobs)
            count_users(score, counts)
            if what == "anew":
                try_order(search, plan, score, counts, jobs, now)
                slow.at, slow.place = as_slow(plan)
            else:
                i = data.draw(st.integers(0, len(slow.at) - 1))
                before = dict(slow.at), dict(slow.place)
                slow.move(int(plan.book.job[i]), now)
                if not try_move(search, plan, score, counts, jobs, now, i):
                    slow.at, slow.place = before
                assert_score_is_fresh(score, plan, jobs, counts)
        assert as_slow(plan) == (slow.at, slow.place), what
        for c in range(len(sizes)):
            free = slow.free(c)[now:]
            assert laid_out(plan, c, now) == free
            assert min(free) >= 0


def run_on(plan: Plan, slow: Slow, search: Search, now: int) -> int:
    """Start whoever is due, and go to the next second."""
    for j in [j for j in slow.order() if slow.at[j] <= now]:
        slow.running[j] = (slow.at[j] + slow.length[j], slow.place.pop(j), slow.at.pop(j))
        plans.leave(plan.book, int(np.flatnonzero(plan.book.job[: plan.book.state[COUNT]] == j)[0]))
    now += 1
    slow.running = {j: held for j, held in slow.running.items() if held[0] > now}
    advance_all(plan.clusters, now)
    change_plan(search)
    return now


def assert_score_is_fresh(score: object, plan: Plan, jobs: Jobs, counts: Counts) -> None:
    """Whatever was added up move by move is what a count of the whole plan finds."""
    fresh = empty_score(score.user, 3, score.weights)  # type: ignore[attr-defined]
    count_jobs(fresh, empty_past(3), counts, plan.book, jobs)
    count_users(fresh, counts)
    assert score.value.tolist() == pytest.approx(fresh.value.tolist(), abs=1e-9)  # type: ignore[attr-defined]
    assert score.waited.tolist() == fresh.waited.tolist()  # type: ignore[attr-defined]


def plainly_better(one: list[int], other: list[int], weights: list[int]) -> bool:
    """Algorithm 1, in fractions."""
    total = Fraction(0)
    for a, b, weight in zip(one, other, weights, strict=True):
        total += weight * (Fraction(a - b, a) if a else Fraction(-1 if b else 0))
    return total > Fraction(1, 10**12)


@given(st.data())
def test_select_better_is_the_sum_of_relative_gains(data: st.DataObject) -> None:
    """Of values that whole plans may have, also of criteria that are 0 in either."""
    values = st.lists(
        st.sampled_from((0, 1, 2, 3, 5, 40, 10**6)), min_size=CRITERIA, max_size=CRITERIA
    )
    one, other, weights = (data.draw(values) for _ in range(3))
    change = np.array(other, np.float64) - np.array(one, np.float64)
    answer = is_better(np.array(one, np.float64), change, np.array(weights, np.float64))
    assert answer == plainly_better(one, other, weights)


def test_the_search_is_no_worse_than_the_plan_by_its_own_measure() -> None:
    """A search keeps what it began with unless it has found better; so another seed may differ."""
    random = np.random.default_rng(4)
    estimate = random.integers(1, 60, 80)
    work = Workload.from_columns(
        submit=np.sort(random.integers(0, 200, 80)),
        run=estimate,
        estimate=estimate,
        procs=random.integers(1, 9, 80),
        user=random.integers(0, 5, 80),
        processors=8,
    )
    waits = {
        policy: int(simulate(work, policy).wait.sum())
        for policy in ("fcfs+planned", "fcfs+tabu,every=5s", "fcfs+tabu,every=5s,seed=1")
    }
    plain, *searched = waits.values()
    assert max(searched) < plain
    assert searched[0] == int(simulate(work, "fcfs+tabu,every=5s").wait.sum())
