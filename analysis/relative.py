"""The relative gain of one policy over another."""

from __future__ import annotations

from typing import TypeVar

import pandas as pd
import xarray as xr

Values = TypeVar("Values", pd.Series, xr.DataArray)


def relative_gain(values: Values, base: Values, *, larger: bool) -> Values:
    """Return the share by which values are better than those of a baseline; NaN if those are 0.

    Examples
    --------
    >>> relative_gain(pd.Series([6.0, 5.0]), pd.Series([8.0, 0.0]), larger=False).tolist()
    [0.25, nan]
    """
    better_by = values - base if larger else base - values
    return better_by / base.where(base != 0)
