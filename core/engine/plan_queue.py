"""The queue of a plan: insertion, starvation, and orders that change."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.lanes import WORD, below, first_places, lowest, slide
from schedfarm.core.engine.plan import Plan, columns_of, cut
from schedfarm.core.engine.queue import precedes
from schedfarm.core.engine.ranking import Ranking, climbers, goes_before
from schedfarm.core.engine.running import Jobs


@verb
def insert(plan: Plan, jobs: Jobs, j: int, place: int) -> None:
    """Insert job j at this place of the queue."""
    state, first, cell = plan.state, plan.front[0], plan.front[0] + place
    stop = first + state[0].waiting
    if first > 0 and 2 * place < state[0].waiting:
        plan.front[0], cell = first - 1, cell - 1
        slide(columns_of(plan), first, cell + 1, -1)
    else:
        slide(columns_of(plan), cell, stop, 1)
    plan.job[cell], plan.submit[cell] = j, jobs.submit[j]
    plan.need[cell], plan.length[cell] = jobs.procs[j], jobs.estimate[j]
    state[0].waiting += 1
    state[0].points += jobs.estimate[j] == 0
    cut(plan, place)


@verb
def place_by_key(plan: Plan, key: Int64, j: int) -> int:
    """Return the place of job j by its key, after the starving jobs."""
    low, high = plan.state[0].starving, plan.state[0].waiting
    if high > low and precedes(key, plan.job[plan.front[0] + high - 1], j):
        return int(high)
    while low < high:
        middle = (low + high) >> 1
        if precedes(key, plan.job[plan.front[0] + middle], j):
            low = middle + 1
        else:
            high = middle
    return int(low)


@verb
def move(plan: Plan, source: int, target: int) -> None:
    """Move the job at one place forward to another."""
    first = plan.front[0]
    for column in columns_of(plan):
        moved = column[first + source]
        slide((column,), first + target, first + source, 1)
        column[first + target] = moved


@verb
def starve(plan: Plan, jobs: Jobs, known: int, limit: int) -> tuple[int, int]:
    """Move the jobs submitted before `limit` to the front, first come first served.

    Jobs before `known` starve already, or have started. Returns the new `known`, and the first
    place that changed.
    """
    changed = plan.state[0].waiting
    while known < jobs.submit.size and jobs.submit[known] < limit:
        if jobs.start[known] < 0:
            target = plan.state[0].starving
            source = target
            while plan.job[plan.front[0] + source] != known:
                source += 1
            plan.state[0].starving += 1
            if source > target:
                move(plan, source, target)
                changed = min(changed, target)
        known += 1
    cut(plan, changed)
    return known, changed


@verb
def resort(plan: Plan, jobs: Jobs, ranking: Ranking, now: int, limit: int) -> int:
    """Sort the queue by an order that changes with time; return the first place that changed.

    The sort is by insertion, since the last pass left the queue almost sorted. The invariant is
    that of `core.engine.planned.arrange`.
    """
    front, count = plan.front[0], plan.state[0].waiting
    changed = count
    for first in range(1, count, WORD):
        word = climbers(ranking, plan.submit, plan.length, front + first, now)
        word = (word | below(plan.submit, front + first, limit)) & first_places(count - first)
        while word != 0:
            i = first + lowest(word)
            word &= word - 1
            k, j = i, plan.job[front + i]
            while k > 0 and goes_before(ranking, jobs, now, limit, j, plan.job[front + k - 1]):
                k -= 1
            if k < i:
                move(plan, i, k)
                changed = min(changed, k)
                # The next place has another predecessor now.
                word |= 2 << (i - first) & first_places(count - first)
    cut(plan, changed)
    return int(changed)
