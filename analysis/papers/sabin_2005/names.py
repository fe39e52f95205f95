"""What Sabin and Sadayappan (JSSPP 2005) call the policies and metrics of a store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr

from analysis.store import check_known
from core.metrics.fairness import lateness_of, unserved

ORDERS = {"fcfs": "FCFS", "spf": "SJF", "lxf": "LXF"}
"""Queue orders of a store, and what the paper calls them."""

RULES = {"aggressive": "no guarantee", "easy": "aggressive", "conservative": "conservative"}
"""Backfill rules of a store, and what the paper calls them."""


class Fairness(NamedTuple):
    """A row of `KINDS`.

    Parameters
    ----------
    measure : str
        What the mean over jobs is, for an axis.
    due : str
        The array of a trace's group that says what a job was due.
    got : tuple of str
        The arrays that say what it got.
    unfairness : callable
        From the arrays of `due` and `got` to by how much each job got less than it was due.
    units : str
        Of the unfairness.
    marker : str
        Where the kinds stand side by side in a figure.
    """

    measure: str
    due: str
    got: tuple[str, ...]
    unfairness: Callable[..., Any]
    units: str
    marker: str

    def stated_units(self, values: xr.DataArray) -> str:
        """Return the units of a store's array of this fairness.

        Those that its attributes say, except that stores before version 4 give processor-seconds
        as s.

        Examples
        --------
        >>> KINDS["resource"].stated_units(xr.DataArray(1.0, attrs={"units": "s"}))
        'processor-s'
        """
        stated = str(values.attrs.get("units", "s"))
        return self.units if stated == "s" else stated


def _late(fst: Any, start: Any) -> Any:
    return lateness_of(start, fst)


KINDS = {
    "strict": Fairness(
        "Mean time after strict fair start", "fst_strict", ("start",), _late, "s", "o"
    ),
    "relaxed": Fairness(
        "Mean time after relaxed fair start", "fst_relaxed", ("start",), _late, "s", "s"
    ),
    "resource": Fairness(
        "Mean unfairness by resource equality",
        "resource_share",
        ("run", "procs"),
        unserved,
        "processor-s",
        "^",
    ),
}
"""The kinds of fairness, by the names that a store gives them."""


def by_paper(values: xr.DataArray) -> xr.DataArray:
    """Split the dimension policy into the paper's order and rule, both in the paper's names.

    Raises
    ------
    StoreError
        If one of the nine policies is missing.

    Examples
    --------
    >>> names = [f"{order}+{rule}" for order in ORDERS for rule in RULES]
    >>> split = by_paper(xr.DataArray(range(9), {"policy": names}))
    >>> int(split.sel(order="SJF", rule="no guarantee"))
    3
    """
    there = values["policy"].values.tolist()
    names = [f"{order}+{rule}" for order in ORDERS for rule in RULES]
    for name in names:
        check_known(name, "policy", there)
    pairs = pd.MultiIndex.from_product([ORDERS.values(), RULES.values()], names=["order", "rule"])
    chosen = values.sel(policy=names).drop_vars("policy")
    index = xr.Coordinates.from_pandas_multiindex(pairs, "policy")
    split = chosen.assign_coords(index).unstack("policy")
    return split.sel(order=list(ORDERS.values()), rule=list(RULES.values()))
