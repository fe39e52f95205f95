"""Work of each whole week, for comparisons of resampling methods."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Float64
from schedfarm.core.workload.resample_weeks import WEEK


def weekly_work(
    submit: npt.ArrayLike, run: npt.ArrayLike, procs: npt.ArrayLike, *, begin: int, weeks: int
) -> Float64:
    """Return the work that is submitted in each week.

    Examples
    --------
    >>> weekly_work([5, 604_804, 604_805], [10, 20, 30], [1, 2, 4], begin=5, weeks=2).tolist()
    [50.0, 120.0]
    """
    week = (np.asarray(submit) - begin) // WEEK
    here = (week >= 0) & (week < weeks)
    work = np.asarray(run, np.float64) * np.asarray(procs)
    return np.bincount(week[here], work[here], weeks).astype(np.float64)


def spread(values: Float64) -> float:
    """Return the coefficient of variation, standard deviation / mean; NaN for n < 2 values.

    The standard deviation of values x is the root of sum (x - mean)^2 / (n - 1).

    Examples
    --------
    >>> spread(np.array([1.0, 3.0])) == 2**0.5 / 2
    True
    """
    if values.size < 2 or not values.mean():
        return float("nan")
    return float(values.std(ddof=1) / values.mean())
