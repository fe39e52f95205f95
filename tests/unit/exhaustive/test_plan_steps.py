"""A searched plan through any events, step by step, against one number a second."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from schedfarm.core.engine.leaving import STAYING
from schedfarm.core.engine.profile import HEAD, TAIL
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.search import plan as plans
from schedfarm.core.engine.search.clusters import advance_all, untake
from schedfarm.core.engine.search.draws import SIZE
from schedfarm.core.engine.search.plan import (
    Plan,
    begin_walk,
    commit,
    empty_plan,
    enter,
    make_free,
)
from schedfarm.core.engine.search.score import (
    Counts,
    count_jobs,
    count_users,
    empty_past,
    empty_score,
)
from schedfarm.core.engine.search.search import (
    Search,
    change_plan,
    empty_search,
    try_move,
    try_order,
)

END = 400
"""No reservation of these tests lasts longer, s."""


@dataclass
class Slow:
    """A plan as one number a second: who runs or is to run, from when, until when, and where."""

    sizes: list[int]
    need: dict[int, int] = field(default_factory=dict)
    length: dict[int, int] = field(default_factory=dict)
    at: dict[int, int] = field(default_factory=dict)
    place: dict[int, int] = field(default_factory=dict)
    running: dict[int, tuple[int, int, int]] = field(default_factory=dict)

    def free(self, c: int, without: int | None = None) -> npt.NDArray[np.int64]:
        free = np.full(END, self.sizes[c], np.int64)
        held = [
            (self.at[j], self.length[j], self.need[j], self.place[j])
            for j in self.at
            if j != without
        ]
        held += [(0, end, self.need[j], where) for j, (end, where, _) in self.running.items()]
        for begin, length, need, where in held:
            if where == c:
                free[begin : begin + length] -= need
        return free

    def earliest(self, j: int, now: int) -> tuple[int, int]:
        found = []
        for c, size in enumerate(self.sizes):
            if self.need[j] <= size:
                free, span = self.free(c, j)[now:], max(self.length[j], 1)
                fits = sliding_window_view(free, span).min(axis=1) >= self.need[j]
                found.append((now + int(np.flatnonzero(fits)[0]), c))
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
    waiting = range(book.state[0].waiting)
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
    jobs = Jobs(submit, run, estimate, procs, start, np.zeros(n, np.bool_), leave, STAYING)
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
            free = slow.free(c)[now:].tolist()
            assert laid_out(plan, c, now) == free
            assert min(free) >= 0


def run_on(plan: Plan, slow: Slow, search: Search, now: int) -> int:
    """Start whoever is due, and go to the next second."""
    for j in [j for j in slow.order() if slow.at[j] <= now]:
        slow.running[j] = (slow.at[j] + slow.length[j], slow.place.pop(j), slow.at.pop(j))
        plans.leave(
            plan.book, int(np.flatnonzero(plan.book.job[: plan.book.state[0].waiting] == j)[0])
        )
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
