"""Bounded slowdown of jobs, and bounded slowdown per processor.

Definitions are those of docs/semantics.md, section Metrics.
"""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.checks import positive
from schedfarm.core.schedule import Schedule

TAU = 10
"""Lower bound of run times in a bounded slowdown, s (Feitelson et al. 1997)."""

SECOND_TAU = 60
"""Second lower bound of run times in a bounded slowdown, s."""


def bounded_slowdown(schedule: Schedule, tau: float = TAU) -> Float64:
    """Return max((end - submit) / max(run, tau), 1) of each job.

    Parameters
    ----------
    schedule : Schedule
        Starts of n jobs.
    tau : float
        Lower bound of run times, s, above 0.

    Returns
    -------
    float64[n]
        Slowdowns in the order of the workload.

    Raises
    ------
    InputError
        If `tau` is not a finite number above 0.

    References
    ----------
    D. G. Feitelson et al., Theory and practice in parallel job scheduling, JSSPP 1997.

    Examples
    --------
    >>> from schedfarm.core import Workload
    >>> w = Workload.from_columns(submit=[0, 0], run=[40, 2], estimate=[40, 2], procs=[2, 2],
    ...                           processors=2)
    >>> s = Schedule(w, "fcfs+none", np.array([0, 40]), np.zeros(2, bool))
    >>> bounded_slowdown(s).tolist()
    [1.0, 4.2]
    """
    return slowdowns(schedule.end - schedule.workload.submit, schedule.workload.run, tau)


def pp_bounded_slowdown(schedule: Schedule, tau: float = TAU) -> Float64:
    """Return max((end - submit) / (procs x max(time held, tau)), 1) of each job.

    Processors and time are those that the job held: by default the requested processors for the run
    time.

    Parameters
    ----------
    schedule : Schedule
        Starts of n jobs.
    tau : float
        Lower bound of held times, s, above 0.

    Returns
    -------
    float64[n]
        Slowdowns in the order of the workload.

    Raises
    ------
    InputError
        If `tau` is not a finite number above 0.

    References
    ----------
    D. Zotkin, P. J. Keleher, Job-length estimation and performance in backfilling schedulers,
    HPDC 1999.

    Examples
    --------
    >>> from schedfarm.core import Workload
    >>> w = Workload.from_columns(submit=[0, 0], run=[40, 2], estimate=[40, 2], procs=[2, 2],
    ...                           processors=2)
    >>> s = Schedule(w, "fcfs+none", np.array([0, 40]), np.zeros(2, bool))
    >>> pp_bounded_slowdown(s).tolist()
    [1.0, 2.1]
    """
    jobs = schedule.workload
    procs = np.where(schedule.taken > 0, schedule.taken, jobs.procs)
    return slowdowns(schedule.end - jobs.submit, schedule.held, tau, procs)


def slowdowns(response: Int64, run: Int64, tau: float, procs: Int64 | int = 1) -> Float64:
    """Return max(response / (procs x max(run, tau)), 1) of each element."""
    checked_tau(tau)
    ratio: Float64 = response / (procs * np.maximum(run, tau))
    return np.maximum(ratio, 1.0, out=ratio)


def checked_tau(tau: float) -> float:
    """Return a valid tau of a slowdown, s."""
    return positive("tau", tau, unit="s")
