"""Demands of jobs on the links of a network."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.machines.network.platform import THOUSAND
from schedfarm.core.metrics.window import Window
from schedfarm.core.schedule import Schedule


def cut_pairs(procs: Int64, first: Int64, count: Int64) -> Int64:
    """Return the number of pairs of neighbours in a mesh that a run of processors separates.

    The mesh has rows of ceil(sqrt(procs)) processors, filled row by row; the last row may be short.

    Parameters
    ----------
    procs, first, count : int64[k]
        Processors of the mesh, at least 1; first processor of the run, from 0; length of the run.

    Returns
    -------
    int64[k]
        Pairs with one processor in the run and one outside.

    References
    ----------
    W. M. Jones and W. B. Ligon, Ensuring fairness among participating clusters during multi-site
    parallel job scheduling, 2005, section 2.2.

    Examples
    --------
    In a mesh of 2 x 2: the upper row, and the second and third processors. In a mesh of 5
    processors, with rows of 3 and 2: the last processor.

    >>> cut_pairs(np.array([4, 4, 5]), np.array([0, 1, 4]), np.array([2, 2, 1])).tolist()
    [2, 4, 2]
    """
    last, row = first + count, _row(procs)
    beside = (first > 0) & (first % row != 0)
    beyond = (last < procs) & (last % row != 0)
    # A processor's lower neighbour follows one row later.
    below = np.minimum(last, procs - row) - np.maximum(first, last - row)
    above = np.minimum(last, first + row) - np.maximum(first, row)
    pairs: Int64 = beside.astype(np.int64) + beyond + np.maximum(below, 0) + np.maximum(above, 0)
    return pairs


def link_demands(schedule: Schedule) -> Int64:
    """Return the demand of each part of a job on its cluster's link, in each direction.

    Returns
    -------
    int64[k]
        Demands, kbit/s, exact, in the order of the segments; 0 for a job inside one cluster.

    Examples
    --------
    Four processors on two clusters; each sends its 100 kbit/s equally to all other processors.

    >>> from schedfarm.core import Workload
    >>> from schedfarm.core.machines.network.platform import Network
    >>> from schedfarm.core.schedule import Segments
    >>> w = Workload.from_columns(submit=[0], run=[9], estimate=[9], procs=[4], bandwidth=[100],
    ...                           alltoall=[1000], platform=Network([3, 3], ["a", "b"]))
    >>> parts = Segments(np.array([0, 0]), np.array([0, 1]), np.array([3, 1]))
    >>> link_demands(Schedule(w, "fcfs+ics", w.submit, w.killed, segments=parts)).tolist()
    [100, 100]
    """
    jobs, parts = schedule.workload, schedule.segments
    if parts is None:
        return np.zeros(0, np.int64)
    whole, first = schedule.taken[parts.job], _counted_off(schedule)
    found = np.zeros(parts.job.size, np.int64)
    over = parts.procs < whole
    job, n, k = parts.job[over], whole[over], parts.procs[over]
    alltoall, bandwidth = jobs.alltoall[job], jobs.bandwidth[job]
    # All terms have a common denominator, so that the demand is rounded once. The bound of
    # bandwidth x procs^2 in workloads makes the products fit 64 bits.
    everywhere = 4 * alltoall * k * (n - k)
    beside = (THOUSAND - alltoall) * cut_pairs(n, first[over], k) * (n - 1)
    found[over] = -(-bandwidth * (everywhere + beside) // (4 * THOUSAND * (n - 1)))
    return found


def link_loads(schedule: Schedule, demands: Int64, window: Window) -> Float64:
    """Return the mean demand on each link over a window, as a share of its capacity.

    Parameters
    ----------
    schedule : Schedule
        Schedule on a network with link capacities.
    demands : int64[k]
        Demands of the schedule's parts, from `link_demands`.
    window : Window
        Interval of the mean.

    Returns
    -------
    float64[places]
        Mean demand / capacity. It may exceed 1 if links are ignored, since demands and not shares
        count. NaN for a window without duration, or without capacities.
    """
    links, parts = _capacities(schedule), schedule.segments
    if parts is None or not links.size or window.end == window.begin:
        return np.full(len(schedule.workload.platform.places), np.nan)
    lasting = window.inside(schedule.start, schedule.end)[parts.job].astype(np.float64)
    asked = np.bincount(parts.place, demands * lasting, minlength=links.size)
    loads: Float64 = asked / (links * float(window.end - window.begin))
    return loads


def link_peaks(schedule: Schedule, demands: Int64, window: Window) -> Float64:
    """Return the largest demand on each link within a window, as a share of its capacity.

    Parameters and results are as for `link_loads`.
    """
    links, parts = _capacities(schedule), schedule.segments
    if parts is None or not links.size or window.end == window.begin:
        return np.full(len(schedule.workload.platform.places), np.nan)
    begins = np.maximum(schedule.start, window.begin)[parts.job]
    ends = np.minimum(schedule.end, window.end)[parts.job]
    some = (demands > 0) & (begins < ends)
    most = [
        _most(begins[here], ends[here], demands[here])
        for place in range(links.size)
        for here in [some & (parts.place == place)]
    ]
    peaks: Float64 = np.array(most, np.float64) / links
    return peaks


def _capacities(schedule: Schedule) -> Float64:
    """Return the capacity of each link, kbit/s; empty if unlimited."""
    return np.array(getattr(schedule.workload.platform, "links", ()), np.float64)


def _most(begins: Int64, ends: Int64, demand: Int64) -> int:
    """Return the largest sum of simultaneous demands."""
    # Ends precede starts at the same instant.
    signs, instants = np.concatenate((-demand, demand)), np.concatenate((ends, begins))
    order = np.argsort(instants, kind="stable")
    return int(np.cumsum(signs[order]).max(initial=0))


def _counted_off(schedule: Schedule) -> Int64:
    """Return the processors of the earlier parts of the same job, for each part, int64[k]."""
    parts = schedule.segments
    assert parts is not None, "called with segments only"
    order = np.lexsort((parts.place, parts.job))
    job, procs = parts.job[order], parts.procs[order]
    before = np.cumsum(procs) - procs
    leads = np.searchsorted(job, job)
    found = np.empty(job.size, np.int64)
    found[order] = before - before[leads]
    return found


def _row(procs: Int64) -> Int64:
    """Return ceil(sqrt(procs)), exactly."""
    row = np.ceil(np.sqrt(procs.astype(np.float64))).astype(np.int64)
    row += row * row < procs
    row -= (row - 1) * (row - 1) >= procs
    return row
