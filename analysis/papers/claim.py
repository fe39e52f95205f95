"""A paper's conclusions as rows, and the number of a store's cells in which each holds.

A cell is a log or a sample, at a load, under one pair of policies. It has a ratio or a verdict. A
ratio is, for example, the mean wait under one policy divided by that under the other. A verdict is
1 if the conclusion holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

ABOVE, BELOW, EITHER, SOME_BELOW = "above 1", "below 1", "either side of 1", "below 1 in some"
"""Ranges of ratios in the paper's conclusions."""

HOLDS = "holds"
"""Expectation for a verdict."""

EXPECTED: dict[Any, Callable[[Any], Any]] = {
    ABOVE: lambda ratio: ratio > 1,
    BELOW: lambda ratio: ratio < 1,
    SOME_BELOW: lambda ratio: ratio < 1,
    EITHER: lambda ratio: ratio == ratio,
    HOLDS: lambda verdict: verdict == 1,
}
"""Function of each expectation: whether a cell agrees; a cell without a ratio never agrees."""

ALL, MOST, OFTEN, ONCE = "all", "most", "often", "there"
"""Share of cells in which the paper finds its conclusion."""

EVERY = "all"
"""Label for all traces, loads or policies in a row."""

COUNTED = ("cells", "as_expected", "above_1", "workloads", "wholly", "median", "least", "most")
"""Columns of `count`."""


@dataclass(frozen=True)
class Claim:
    """Hold a conclusion of a paper, and its number in each cell."""

    label: str
    """The conclusion in a table: a text, or the two sides of a ratio."""

    cells: Callable[[Any], Any]
    """Returns ratios or verdicts over cells, as a Series or DataArray. For a printed number,
    returns our value and its labels."""

    expected: Any = HOLDS
    """A key of `EXPECTED`, or the printed number."""

    extent: str = ALL
    """Share of the cells that the paper claims, or the policy of a printed number."""

    measure: str = ""
    """The number that is compared."""

    quote: str = ""
    """The sentence of the paper."""

    where: str = ""
    """The section of the paper."""

    policies: tuple[str, ...] = ()
    """The compared policies, by the paper's names."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Key of the conclusion's row in a table of claims: `KEY`."""
        return self.label, self.measure, str(self.expected), self.extent


KEY = ("claim", "measure", "expects", "extent")
"""Names of the levels of `Claim.key`."""


def in_part(claims: Iterable[Claim], numbers: Any) -> pd.DataFrame:
    """Return the ratio of each cell of each claim, and its agreement, indexed by `KEY`."""
    parts, agree = {}, []
    for claim in claims:
        cells = claim.cells(numbers)
        series = cells.to_series() if isinstance(cells, xr.DataArray) else cells
        parts[claim.key] = series.astype(float)
        agree.append(EXPECTED[claim.expected](parts[claim.key].to_numpy()))
    # The frames are joined at the end: a frame for each claim took three times as long.
    ratio = pd.concat(parts, names=list(KEY))
    return pd.DataFrame({"ratio": ratio, "as_expected": np.concatenate(agree)})


def count(parts: pd.DataFrame, by: Sequence[str] = KEY, within: Sequence[str] = ()) -> pd.DataFrame:
    """Return `COUNTED` for each group `by` of the cells; cells without a ratio are left out.

    A workload is identified by the index without the levels `within`. A workload agrees wholly if
    all its cells agree.

    Examples
    --------
    >>> cells = [("TS / BF, BF-EASY", "wait", BELOW, ALL, "KTH", other) for other in ("BF", "EASY")]
    >>> index = pd.MultiIndex.from_tuples(cells, names=[*KEY, "trace", "other"])
    >>> parts = pd.DataFrame({"ratio": [0.5, 1.5], "as_expected": [True, False]}, index)
    >>> count(parts, within=["other"]).iloc[0].tolist()
    [2.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.5, 1.5]
    """
    known = parts[parts["ratio"].notna()]
    known = known.assign(above=known["ratio"] > 1)
    cells = known.groupby(level=list(by), sort=False)
    whole = [level for level in parts.index.names if level not in within]
    each = known["as_expected"].groupby(level=whole, sort=False).all()
    workloads = each.groupby(level=list(by), sort=False)
    ratio = cells["ratio"]
    found = {
        "cells": cells.size(),
        "as_expected": cells["as_expected"].sum(),
        "above_1": cells["above"].sum(),
        "workloads": workloads.size(),
        "wholly": workloads.sum(),
        "median": ratio.median(),
        "least": ratio.min(),
        "most": ratio.max(),
    }
    return pd.DataFrame(found)[list(COUNTED)]
