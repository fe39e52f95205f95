"""Moldable jobs for tests: random monotone instances, and the best schedules of tiny ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from schedfarm.offline.bounds import makespan_bound
from schedfarm.offline.dual import approximate, dual
from schedfarm.offline.instance import Instance

STYLES = (
    lambda u: u,
    lambda u: u**4,
    lambda u: np.round(u),
    lambda u: np.zeros_like(u),
)
"""How far between perfect speedup, 0, and none, 1, each further processor lies."""


def random_instances(
    seed: int, count: int, *, jobs: int = 24, processors: int = 15
) -> Iterator[Instance]:
    """Yield instances of every monotone shape; times of a few seconds make rounding matter."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        n, m = int(random.integers(1, jobs + 1)), int(random.integers(1, processors + 1))
        longest = int(random.choice([4, 12, 40, 200]))
        shortest = int(random.choice([1, max(1, longest // 2)]))
        style = STYLES[int(random.integers(len(STYLES)))]
        times = random.integers(shortest, longest + 1, (n, 1))
        for k in range(2, m + 1):
            before = times[:, -1]
            least = -(-before * (k - 1) // k)
            more = np.floor(style(random.random(n)) * (before - least + 1)).astype(np.int64)
            times = np.column_stack([times, np.minimum(least + more, before)])
        yield Instance(times, random.integers(1, 11, n))


@st.composite
def instances(draw: st.DrawFn, jobs: int = 8, processors: int = 8) -> Instance:
    """Draw any monotone instance of short times."""
    n, m = draw(st.integers(1, jobs)), draw(st.integers(1, processors))
    rows = []
    for _ in range(n):
        row = [draw(st.integers(1, 30))]
        for k in range(2, m + 1):
            row.append(draw(st.integers(-(-row[-1] * (k - 1) // k), row[-1])))
        rows.append(row)
    weights = draw(st.lists(st.integers(1, 10), min_size=n, max_size=n))
    return Instance(np.array(rows), np.array(weights))


def optima(instance: Instance) -> tuple[int, int]:
    """Return the least makespan and the least weighted sum of ends of all schedules.

    Begun in the order of its starts, each on the processors that are free first, every schedule
    ends no later: all orders and all numbers of processors are tried.
    """
    times, weights = instance.times.tolist(), instance.weights.tolist()
    best = [2**62, 2**62]

    def go_on(left: tuple[int, ...], free: tuple[int, ...], end: int, cost: int) -> None:
        if end >= best[0] and cost >= best[1]:
            return
        if not left:
            best[:] = min(best[0], end), min(best[1], cost)
        for job in left:
            others = tuple(other for other in left if other != job)
            for procs, time in enumerate(times[job], 1):
                ends = free[procs - 1] + time
                then = tuple(sorted((ends,) * procs + free[procs:]))
                go_on(others, then, max(end, ends), cost + weights[job] * ends)

    go_on(tuple(range(instance.jobs)), (0,) * instance.processors, 0, 0)
    return best[0], best[1]


def hold(jobs: Instance, guess: int) -> bool:
    """Check the guarantee of an accepted guess, and return whether it was accepted."""
    plan = dual(jobs, guess)
    if plan is None:
        return False
    plan.check()
    assert 2 * plan.makespan <= 3 * guess
    return True


def first_guesses_taken(count: int) -> int:
    """Check the first six guesses from the bound on; return the number of accepted ones."""
    taken = 0
    for jobs in random_instances(1, count):
        least = makespan_bound(jobs)
        taken += sum(hold(jobs, guess) for guess in range(least, least + 6))
    return taken


def hold_feasible_guesses(count: int) -> None:
    """Assert that no guess from the length of the best schedule on is rejected, on tiny
    instances."""
    for jobs in random_instances(2, count, jobs=4, processors=4):
        best = optima(jobs)[0]
        for guess in range(best, best + 8):
            assert hold(jobs, guess)
        found = approximate(jobs, precision=0)
        assert found.bound == found.guess <= best
        assert 2 * found.plan.makespan <= 3 * found.guess


def hold_every_guess(jobs: Instance) -> None:
    """Check guesses from 0 on, up to all jobs one after the other, which is accepted."""
    longest = int(jobs.times[:, 0].sum())
    taken = [hold(jobs, guess) for guess in range(min(longest, 120))]
    assert not any(taken[: makespan_bound(jobs)])
    assert hold(jobs, longest)
    assert hold(jobs, 10**30)
