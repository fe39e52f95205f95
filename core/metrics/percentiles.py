"""Percentiles of numbers of jobs: values that jobs have, not ones between two of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from schedfarm.core.arrays import Float64, Int64

PERCENTILES = (50, 90, 99)
"""The percentiles of jobs in a summary: the least value that so many percent do not exceed."""


def percentiles(values: Int64 | Float64) -> dict[int, Any]:
    """Return, for each of `PERCENTILES`, the least value that so many percent do not exceed.

    Parameters
    ----------
    values : int64[n] or float64[n]
        Numbers from 0 on.

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
    # The bits of floats from 0 on have the floats' order.
    keys = values.view(np.int64)
    least, most = int(keys.min()), int(keys.max())
    found = ranked(keys, least, (most - least).bit_length(), places).view(values.dtype)
    return dict(zip(PERCENTILES, found, strict=True))
