"""Capacity that a schedule loses: processors that stand idle while jobs wait for them."""

from __future__ import annotations

import numpy as np

from core.arrays import HORIZON, Float64, Int64
from core.schedule import Schedule


def lost_capacity(schedule: Schedule, bounds: Int64) -> Float64:
    """Return the integral of min(idle processors, processors that waiting jobs ask for).

    A job asks for what it came to hold; one that never held any asks for none, and so does, until
    its instant, one that is reserved in advance. Processors of nodes that are down are idle.

    Parameters
    ----------
    schedule : Schedule
        Of n jobs.
    bounds : int64[b]
        Instants, s, ascending.

    Returns
    -------
    float64[b - 1]
        Between each bound and the next, processor s; exact below 2**53.

    References
    ----------
    D. G. Feitelson, L. Rudolph, Metrics and benchmarking for parallel job scheduling, JSSPP 1998;
    Y. Zhang, H. Franke, J. Moreira, A. Sivasubramaniam, An integrated approach to parallel
    scheduling using gang-scheduling, backfilling, and migration, JSSPP 2001.

    Examples
    --------
    Two of three processors are idle for the 5 s that a job of three waits.

    >>> from core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0], run=[5, 2], estimate=[5, 2], procs=[1, 3],
    ...                           processors=3)
    >>> lost_capacity(simulate(w, "fcfs+none"), np.array([0, 4, 7])).tolist()
    [8.0, 2.0]
    """
    from core.kernels.idle import idle_while_asked

    jobs, start, end = schedule.workload, schedule.start, schedule.end
    submitted = jobs.submit, jobs.procs
    taken = schedule.taken
    if not schedule.is_as_asked:
        ran = taken > 0
        start, end, taken = start[ran], end[ran], taken[ran]
        submitted = _ascending(np.where(jobs.reserved < 0, jobs.submit, schedule.start)[ran], taken)
    started, ended = _ascending(start, taken), _ascending(end, taken)
    return idle_while_asked(*submitted, *started, *ended, jobs.processors, bounds)


def _ascending(instants: Int64, procs: Int64) -> tuple[Int64, Int64]:
    first, bits = int(instants.min(initial=HORIZON)), int(procs.max(initial=0)).bit_length()
    if int(instants.max(initial=0) - first).bit_length() + bits < 64:
        # Both in one number: 77,000 numbers sort in 0.6 ms, their places in 1.6 to 3.7.
        packed = (instants - first) << bits | procs
        packed.sort()
        return (packed >> bits) + first, packed & (1 << bits) - 1
    order = np.argsort(instants)
    return instants[order], procs[order]
