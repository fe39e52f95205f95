"""Baseline schedules: gang schedules, sequential jobs, and list schedules."""

from __future__ import annotations

import heapq
from fractions import Fraction

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.offline.instance import Instance
from schedfarm.offline.plan import Plan


def gang(instance: Instance) -> Plan:
    """Give each job the whole machine, one after the other, by weight over time.

    The order minimises the weighted sum of completion times of such schedules (W. E. Smith, Various
    optimizers for single-stage production, 1956).

    Examples
    --------
    >>> gang(Instance([[12, 7], [4, 4]], [1, 2])).start.tolist()
    [4, 0]
    """
    procs = np.full(instance.jobs, instance.processors)
    return listed(instance, procs, by_ratio(instance, instance.time(procs)))


def sequential(instance: Instance) -> Plan:
    """Give each job one processor, the longest first.

    In this order, the makespan is at most (4 - 1/m)/3 of the best such makespan on m processors (R.
    L. Graham, Bounds on multiprocessing timing anomalies, 1969).

    Examples
    --------
    >>> sequential(Instance([[4, 4], [12, 7], [7, 4]])).start.tolist()
    [7, 0, 0]
    """
    order = np.argsort(-instance.times[:, 0], kind="stable")
    return listed(instance, np.ones(instance.jobs, np.int64), order)


def smallest_first(instance: Instance, procs: Int64) -> Plan:
    """Return the list schedule for given numbers of processors, smallest area first.

    Examples
    --------
    >>> smallest_first(Instance([[12, 7], [4, 4], [5, 5]]), np.array([2, 1, 1])).start.tolist()
    [5, 0, 0]
    """
    area = procs * instance.time(procs)
    return listed(instance, procs, np.argsort(area, kind="stable"))


def heaviest_first(instance: Instance, procs: Int64) -> Plan:
    """Return the list schedule for given numbers of processors, greatest weight over area first.

    Examples
    --------
    >>> jobs = Instance([[12, 7], [4, 4], [5, 5]], [9, 1, 1])
    >>> heaviest_first(jobs, np.array([2, 1, 1])).start.tolist()
    [0, 7, 7]
    """
    return listed(instance, procs, by_ratio(instance, procs * instance.time(procs)))


def by_ratio(instance: Instance, size: Int64) -> Int64:
    """Return the jobs by their weight over a given size, greatest first."""
    pairs = zip(size.tolist(), instance.weights.tolist(), strict=True)
    ratio = [Fraction(one, weight) for one, weight in pairs]
    return np.array(sorted(range(instance.jobs), key=lambda job: ratio[job]), np.int64)


def listed(instance: Instance, procs: Int64, order: Int64) -> Plan:
    """Start the first job of a list that fits, at each instant and as long as a job fits.

    No processor is idle while a waiting job needs at most the idle processors.

    References
    ----------
    R. L. Graham, Bounds on multiprocessing timing anomalies, 1969. For jobs of several processors:
    M. R. Garey and R. L. Graham, Bounds for multiprocessor scheduling with resource constraints,
    1975.

    Examples
    --------
    >>> jobs = Instance([[12, 7], [4, 4], [5, 5]])
    >>> listed(jobs, np.array([2, 1, 1]), np.array([1, 0, 2])).start.tolist()
    [5, 0, 0]
    """
    need, time = procs[order], instance.time(procs)
    gone = instance.processors + 1
    start = np.zeros(instance.jobs, np.int64)
    ends: list[tuple[int, int]] = []
    now, free, left = 0, instance.processors, instance.jobs
    while left:
        at = 0
        while free:
            fits = need[at:] <= free
            first = int(fits.argmax())
            if not fits[first]:
                break
            at += first
            job = int(order[at])
            start[job] = now
            heapq.heappush(ends, (now + int(time[job]), int(need[at])))
            free -= int(need[at])
            need[at] = gone
            left -= 1
        now = ends[0][0]
        while ends and ends[0][0] == now:
            free += heapq.heappop(ends)[1]
    return Plan(instance, start, procs)
