"""Lost capacity: idle processors while jobs wait for processors."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Float64, Int64, fixed
from schedfarm.core.schedule import Schedule


def lost_capacity(schedule: Schedule, bounds: Int64) -> Float64:
    """Return the integral of min(idle processors, requested processors of waiting jobs).

    The requested processors of a job are the processors that it holds later, 0 for a job that never
    runs. A job with an advance reservation requests no processors before its reserved start.
    Processors of nodes that are down count as idle.

    Parameters
    ----------
    schedule : Schedule
        Schedule of n jobs.
    bounds : int64[b]
        Times, s, ascending.

    Returns
    -------
    float64[b - 1]
        Lost capacity of each interval between bounds, processor s; exact below 2**53.

    References
    ----------
    D. G. Feitelson, L. Rudolph, Metrics and benchmarking for parallel job scheduling, JSSPP 1998;
    Y. Zhang, H. Franke, J. Moreira, A. Sivasubramaniam, An integrated approach to parallel
    scheduling using gang-scheduling, backfilling, and migration, JSSPP 2001.

    Examples
    --------
    Two of three processors are idle for the 5 s that a job of three waits.

    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0], run=[5, 2], estimate=[5, 2], procs=[1, 3],
    ...                           processors=3)
    >>> lost_capacity(simulate(w, "fcfs+none"), np.array([0, 4, 7])).tolist()
    [8.0, 2.0]
    """
    from schedfarm.core.metrics.kernels.idle import KIND, idle_while_asked

    jobs, start, end = schedule.workload, schedule.start, schedule.end
    submit, taken = jobs.submit, schedule.taken
    if not schedule.is_as_asked:
        ran = taken > 0
        submit = np.where(jobs.reserved < 0, submit, start)[ran]
        start, end, taken = start[ran], end[ran], taken[ran]
    width = int(taken.max(initial=0)).bit_length()
    bits = int(bounds[-1] - bounds[0]).bit_length()
    if width + bits + KIND > 63:
        return _of_wide(submit, start, end, taken, jobs.processors, bounds)
    submit, start, end, taken = map(fixed, (submit, start, end, taken))
    return idle_while_asked(submit, start, end, taken, jobs.processors, bounds, width, bits)


def _of_wide(
    submit: Int64, start: Int64, end: Int64, taken: Int64, processors: int, bounds: Int64
) -> Float64:
    """Return the lost capacity if a time and a number of processors do not fit in one integer."""
    none = np.zeros(bounds.size, np.int64)
    instants = np.clip(np.concatenate((bounds, submit, start, end)), bounds[0], bounds[-1])
    order = np.argsort(instants, kind="stable")
    asked = np.concatenate((none, taken, -taken, 0 * taken))[order].cumsum()
    idle = np.concatenate((none, 0 * taken, -taken, taken))[order].cumsum() + processors
    instants = instants[order]
    lost = np.minimum(idle, asked)[:-1].astype(np.float64) * np.diff(instants)
    # A step at a bound belongs to the interval after the bound.
    span = np.searchsorted(bounds, instants[:-1], side="right") - 1
    return np.asarray(np.bincount(span, lost, bounds.size)[:-1], np.float64)
