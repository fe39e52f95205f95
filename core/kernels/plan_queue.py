"""The queue of a plan: where an arriving job goes, who starves, and orders that change."""

from __future__ import annotations

from core.arrays import Int64
from core.kernels.jit import verb
from core.kernels.machine import Jobs
from core.kernels.plan import COUNT, POINTS, STARVING, Plan, cut
from core.kernels.queue import precedes
from core.kernels.ranking import Ranking, goes_before
from core.kernels.words import slide


@verb
def insert(plan: Plan, jobs: Jobs, j: int, place: int) -> None:
    """Put job j into the queue at this place."""
    job, need, length, state = plan.job, plan.need, plan.length, plan.state
    for column in (job, need, length):
        slide(column, place, state[COUNT], 1)
    job[place], need[place], length[place] = j, jobs.procs[j], jobs.estimate[j]
    state[COUNT] += 1
    state[POINTS] += jobs.estimate[j] == 0
    cut(plan, place)


@verb
def place_by_key(plan: Plan, key: Int64, j: int) -> int:
    """Return where job j goes by its key, behind the jobs that starve."""
    low, high = plan.state[STARVING], plan.state[COUNT]
    if high > low and precedes(key, plan.job[high - 1], j):
        return int(high)
    while low < high:
        middle = (low + high) >> 1
        if precedes(key, plan.job[middle], j):
            low = middle + 1
        else:
            high = middle
    return int(low)


@verb
def move(plan: Plan, source: int, target: int) -> None:
    """Move the job at one place forward to another."""
    job, need, length = plan.job, plan.need, plan.length
    j, p, e = job[source], need[source], length[source]
    for column in (job, need, length):
        slide(column, target, source, 1)
    job[target], need[target], length[target] = j, p, e


@verb
def starve(plan: Plan, jobs: Jobs, known: int, limit: int) -> tuple[int, int]:
    """Move the jobs submitted before `limit` to the front, first come first served.

    Jobs before `known` were seen to starve, or have started. Returns the new `known`, and the
    first place that changed.
    """
    changed = plan.state[COUNT]
    while known < jobs.submit.size and jobs.submit[known] < limit:
        if jobs.start[known] < 0:
            target = plan.state[STARVING]
            source = target
            while plan.job[source] != known:
                source += 1
            plan.state[STARVING] += 1
            if source > target:
                move(plan, source, target)
                changed = min(changed, target)
        known += 1
    cut(plan, changed)
    return known, changed


@verb
def resort(plan: Plan, jobs: Jobs, ranking: Ranking, now: int, limit: int) -> int:
    """Sort the queue by an order that changes with time; return the first place that changed.

    By insertion: the last pass left the queue almost sorted.
    """
    changed = plan.state[COUNT]
    for i in range(1, plan.state[COUNT]):
        k = i
        while k > 0 and goes_before(ranking, jobs, now, limit, plan.job[i], plan.job[k - 1]):
            k -= 1
        if k < i:
            move(plan, i, k)
            changed = min(changed, k)
    cut(plan, changed)
    return int(changed)
