"""Weekly metrics of a schedule, for the jobs that end in each week."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from schedfarm.core.metrics.counted import Counted
from schedfarm.core.metrics.declared import metrics_over
from schedfarm.core.metrics.metric import WEEK
from schedfarm.core.metrics.slowdown import TAU
from schedfarm.core.metrics.window import NO_WARMUP
from schedfarm.core.schedule import Schedule


def weekly(
    schedule: Schedule,
    tau: float = TAU,
    weeks: int | None = None,
    warmup: float | str = NO_WARMUP,
    cooldown: bool = False,
) -> dict[str, npt.NDArray[Any]]:
    """Return the metrics of a schedule that have one value per week, by name.

    Weeks count from the first submission; a job that ends at the beginning of a week belongs to
    that week.

    Parameters
    ----------
    schedule : Schedule
        Starts of all jobs.
    tau : float
        Run times below this count as this in slowdowns, s, above 0.
    weeks : int, optional
        Length of the series, at least 1; jobs that end later count in the last week. By default
        up to the week of the last end.
    warmup, cooldown
        Excluded ends, as for `window_of`.

    Returns
    -------
    dict of str to array, shape (weeks,)
        ``week_jobs`` is int64; the means are float64, NaN in a week without ending jobs.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0], run=[40, 2], estimate=[40, 2], procs=[2, 2],
    ...                           processors=2)
    >>> weekly(simulate(w, "fcfs+none"))["week_wait"].tolist()
    [20.0]
    """
    counted = Counted(schedule, tau, warmup, cooldown, weeks=weeks)
    return {metric.name: metric.value(counted) for metric in metrics_over(WEEK)}
