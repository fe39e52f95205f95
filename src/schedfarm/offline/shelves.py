"""DEMT with shelves of doubling length, which a knapsack fills; the result is compacted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import whole
from schedfarm.core.philox import philox
from schedfarm.offline.instance import Instance
from schedfarm.offline.knapsack import knapsack
from schedfarm.offline.list_schedules import by_ratio, listed
from schedfarm.offline.plan import Plan

SHUFFLES = 10
"""Default number of random orders within the shelves."""


@dataclass(frozen=True)
class Item:
    """Hold an item of a shelf: one job on some processors, or a stack of jobs on one processor."""

    jobs: tuple[int, ...]
    procs: int
    weight: int


def lengths(instance: Instance, estimate: int) -> list[int]:
    """Return the lengths of the first shelves, s: an estimate of the makespan, halved repeatedly.

    The last length is the estimate. It must be at least the longest job's time on the whole
    machine, and at most twice the time of all jobs on one processor. The first length still holds
    some job.

    Examples
    --------
    >>> lengths(Instance([[12, 7, 5], [1, 1, 1]]), 7)
    [1, 3, 7]
    """
    times = instance.times
    least, most = int(times[:, -1].max()), 2 * int(times[:, 0].sum())
    longest = whole("estimate", estimate, least=least, most=most)
    halvings = (longest // int(times[:, -1].min())).bit_length() - 1
    return [longest >> k for k in range(halvings, -1, -1)]


def shelves(instance: Instance, estimate: int, *, seed: int = 0, shuffles: int = SHUFFLES) -> Plan:
    """Fill the shelves one after the other with the greatest weight, then start jobs early.

    In a shelf, each job has the fewest processors with which it completes within the shelf. Jobs
    that would take at most half the shelf's length on one processor are stacked, the heaviest
    first. A knapsack of the machine's size selects jobs and stacks. Candidates for the plan are the
    shelves one after the other, compacted, and list schedules by shelf. Within a shelf, a list is
    sorted by weight over area, or at random. The plan with the least weighted sum of ends is
    returned, ties broken by makespan.

    References
    ----------
    P.-F. Dutot, L. Eyraud, G. Mounie, D. Trystram, Bi-criteria algorithm for scheduling jobs on
    cluster platforms, SPAA 2004.

    Examples
    --------
    >>> plan = shelves(Instance([[12, 7, 5], [4, 4, 4], [2, 2, 2]], [3, 1, 9]), 7)
    >>> plan.start.tolist(), plan.procs.tolist()
    ([0, 2, 0], [2, 1, 1])
    """
    tried = whole("shuffles", shuffles, least=0)
    filled = _filled(instance, estimate)
    plans = [_one_after_the_other(instance, filled)]
    procs, orders = _listed_by_shelf(instance, filled)
    random = np.random.Generator(philox("shelves", whole("seed", seed)))
    plans.append(listed(instance, procs, np.concatenate(orders)))
    for _ in range(tried):
        shuffled = np.concatenate([random.permutation(order) for order in orders])
        plans.append(listed(instance, procs, shuffled))
    return min(plans, key=lambda plan: (plan.minsum, plan.makespan))


def _filled(instance: Instance, estimate: int) -> list[tuple[Item, ...]]:
    """Return the items of each non-empty shelf."""
    planned = lengths(instance, estimate)
    waiting, length = np.ones(instance.jobs, np.bool_), planned[0]
    filled = []
    while waiting.any():
        items = _items(instance, length, waiting)
        sizes, weights = (
            np.array(column, np.int64).reshape(-1)
            for column in ([i.procs for i in items], [i.weight for i in items])
        )
        chosen = knapsack(sizes, weights, instance.processors)
        selected = tuple(items[k] for k in np.flatnonzero(chosen).tolist())
        for item in selected:
            waiting[list(item.jobs)] = False
        if selected:
            filled.append(selected)
        planned = planned[1:]
        length = planned[0] if planned else 2 * length
    return filled


def _items(instance: Instance, length: int, waiting: np.ndarray) -> list[Item]:
    """Return the candidates for a shelf: jobs on their fewest processors, and stacks of jobs."""
    fewest = instance.fewest(length)
    small = waiting & (instance.times[:, 0] <= length // 2)
    wide = np.flatnonzero(waiting & ~small & (fewest <= instance.processors))
    weights = instance.weights
    items = [Item((job,), int(fewest[job]), int(weights[job])) for job in wide.tolist()]
    stack: list[int] = []
    room = length
    # The order is by decreasing weight; ties are broken by time.
    some = np.flatnonzero(small)
    order = some[np.lexsort((instance.times[some, 0], -weights[some]))]
    for job in order.tolist():
        time = int(instance.times[job, 0])
        if time > room:
            items.append(_stacked(stack, weights))
            stack, room = [], length
        stack.append(job)
        room -= time
    return [*items, _stacked(stack, weights)] if stack else items


def _stacked(stack: list[int], weights: Int64) -> Item:
    return Item(tuple(stack), 1, int(weights[stack].sum()))


def _one_after_the_other(instance: Instance, filled: list[tuple[Item, ...]]) -> Plan:
    """Start the items of each shelf on the processors that are free first, shelf by shelf."""
    free = np.zeros(instance.processors, np.int64)
    start, procs = np.zeros(instance.jobs, np.int64), np.ones(instance.jobs, np.int64)
    for item in (item for shelf in filled for item in shelf):
        at = int(free[item.procs - 1])
        for job in item.jobs:
            procs[job], start[job] = item.procs, at
            at += int(instance.times[job, item.procs - 1])
        free[: item.procs] = at
        free.sort()
    return Plan(instance, start, procs)


def _listed_by_shelf(
    instance: Instance, filled: list[tuple[Item, ...]]
) -> tuple[Int64, list[Int64]]:
    """Return each job's processors, and the jobs of each shelf by weight over area."""
    procs, shelf_of = np.ones(instance.jobs, np.int64), np.zeros(instance.jobs, np.int64)
    for number, shelf in enumerate(filled):
        for item in shelf:
            procs[list(item.jobs)], shelf_of[list(item.jobs)] = item.procs, number
    order = by_ratio(instance, procs * instance.time(procs))
    return procs, [order[shelf_of[order] == number] for number in range(len(filled))]
