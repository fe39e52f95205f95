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
    """Return the metrics of a schedule with one value per week, by name.

    Weeks are counted from the first submission. A job that ends at the beginning of a week belongs
    to this week.

    Parameters
    ----------
    schedule : Schedule
        Starts of all jobs.
    tau : float
        Lower bound of run times in slowdowns, s, above 0.
    weeks : int, optional
        Length of the series, at least 1; jobs that end later count in the last week. By default the
        series ends with the week of the last end.
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
