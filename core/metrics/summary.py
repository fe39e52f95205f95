"""Metrics of a whole schedule, by name."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy.typing as npt

from schedfarm.core.metrics.counted import Counted
from schedfarm.core.metrics.declared import find_metric, metrics_over
from schedfarm.core.metrics.metric import CELL, ORIGIN
from schedfarm.core.metrics.slowdown import TAU
from schedfarm.core.metrics.window import NO_WARMUP
from schedfarm.core.schedule import Schedule


def summarise(
    schedule: Schedule,
    tau: float = TAU,
    warmup: float | str = NO_WARMUP,
    cooldown: bool = False,
    names: Collection[str] | None = None,
) -> dict[str, float]:
    """Return the metrics of a schedule with a single value, by name.

    Parameters
    ----------
    schedule : Schedule
        Starts of all jobs.
    tau : float
        Lower bound of run times in slowdowns, s, above 0.
    warmup, cooldown
        Excluded ends of the schedule. `warmup` is a share of the jobs or a duration such as ``2w``.
        `cooldown` is whether to exclude jobs that end after the last submission. Number of jobs,
        makespan and offered load are those of the whole schedule; utilisation and queue length are
        those of the window.
    names : collection of str, optional
        Metrics to compute, by default all. Metrics that do not exist on the platform are omitted.

    Returns
    -------
    dict of str to float
        Values by name; NaN for a mean over no jobs or a share of no time.

    Raises
    ------
    InputError
        If `tau` is not above 0, `warmup` is neither a share nor a duration, or one of `names` is
        unknown.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0], run=[40, 2], estimate=[40, 2], procs=[2, 2],
    ...                           processors=2)
    >>> m = summarise(simulate(w, "fcfs+none"))
    >>> m["wait"], m["makespan"], m["utilisation"], m["bounded_slowdown"]
    (20.0, 42.0, 1.0, 2.6)
    >>> summarise(simulate(w, "fcfs+none"), names=["makespan"])
    {'makespan': 42.0}
    """
    counted = Counted(schedule, tau, warmup, cooldown)
    rows = metrics_over(CELL, schedule.workload.platform)
    asked = None if names is None else {find_metric(name).name for name in names}
    return {
        metric.name: float(metric.value(counted))
        for metric in rows
        if asked is None or metric.name in asked
    }


def by_origin(
    schedule: Schedule,
    tau: float = TAU,
    warmup: float | str = NO_WARMUP,
    cooldown: bool = False,
) -> dict[str, npt.NDArray[Any]]:
    """Return the metrics of a schedule with one value per participant, by name.

    Parameters
    ----------
    schedule, tau, warmup, cooldown
        As for `summarise`.

    Returns
    -------
    dict of str to array, shape (participants,)
        Values in the order of `Platform.participants`; empty if the platform has no participants.

    Raises
    ------
    InputError
        As `summarise`.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0], run=[40], estimate=[40], procs=[2], processors=2)
    >>> by_origin(simulate(w, "fcfs+none"))
    {}
    """
    counted = Counted(schedule, tau, warmup, cooldown)
    rows = metrics_over(ORIGIN, schedule.workload.platform)
    return {metric.name: metric.value(counted) for metric in rows}
