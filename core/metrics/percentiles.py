"""Percentiles without interpolation, which are always values of jobs."""

from __future__ import annotations

from typing import Any

import numpy as np

from schedfarm.core.arrays import Float64, Int64

PERCENTILES = (50, 90, 99)
"""Percentages in a summary; a percentile is the least value that this percentage of jobs does not
exceed."""

FEW = 512
"""Number of values up to which a sort takes less time than a selection with tables."""


def percentiles(values: Int64 | Float64) -> dict[int, Any]:
    """Return the least value that each percentage of `PERCENTILES` does not exceed.

    Parameters
    ----------
    values : int64[n] or float64[n]
        Nonnegative numbers.

    Examples
    --------
    >>> [int(value) for value in percentiles(np.arange(1, 201)).values()]
    [100, 180, 198]
    """
    from schedfarm.core.metrics.kernels.ranks import ranked

    n = len(values)
    if not n:
        return dict.fromkeys(PERCENTILES, np.nan)
    places = np.array([-(-p * n // 100) - 1 for p in PERCENTILES])
    if n <= FEW:
        return dict(zip(PERCENTILES, np.sort(values)[places], strict=True))
    # The bits of nonnegative floats, as integers, have the order of the floats.
    keys = values.view(np.int64)
    least, most = int(keys.min()), int(keys.max())
    found = ranked(keys, least, (most - least).bit_length(), places).view(values.dtype)
    return dict(zip(PERCENTILES, found, strict=True))
