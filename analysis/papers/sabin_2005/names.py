"""What Sabin and Sadayappan (JSSPP 2005) call the policies and metrics of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr

from schedfarm.analysis.store import check_known
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.metrics.fairness import discrimination_of, lateness_of, unserved

ORDERS = {"fcfs": "FCFS", "spf": "SJF", "lxf": "LXF"}
"""Queue orders of a store, and what the paper calls them."""

RULES = {
    "aggressive": "no guarantee",
    "easy": "aggressive",
    "planned,walk=queue": "conservative",
}
"""Backfill rules of a store, and what the paper calls them: its conservative backfilling keeps a
reservation once it is made."""

REPLANNING, NO_BACKFILLING = "re-planning", "no backfilling"

BESIDE = {"conservative": REPLANNING, "none": NO_BACKFILLING}
"""Rules that the paper did not simulate, and what they are called beside its own."""


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


def _size(deserved: Float64, held: Int64, procs: Int64) -> Float64:
    return abs(discrimination_of(deserved, held, procs))


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


BY_SIZE = "resource |D|"
"""Resource equality with the size of D for max(D, 0)."""

READINGS = KINDS | {
    BY_SIZE: KINDS["resource"]._replace(measure="Mean size of discrimination", unfairness=_size)
}
"""The kinds, and what else a kind may mean. Over all jobs `BY_SIZE` is twice ``resource``, since
D sums to 0, so a summary need not have it."""


def by_paper(values: xr.DataArray) -> xr.DataArray:
    """Split the dimension policy into the paper's order and rule, both in the paper's names.

    Returns
    -------
    DataArray
        With `order` and `rule` for `policy`: the rules of `RULES`, then those of `BESIDE` that
        are there under every order.

    Raises
    ------
    StoreError
        If one of the paper's nine policies is missing.

    Examples
    --------
    >>> names = [f"{order}+{rule}" for order in ORDERS for rule in RULES]
    >>> split = by_paper(xr.DataArray(range(9), {"policy": names}))
    >>> int(split.sel(order="SJF", rule="no guarantee"))
    3
    """
    there = values["policy"].values.tolist()
    for name in _policies(RULES):
        check_known(name, "policy", there)
    rules = RULES | {rule: BESIDE[rule] for rule in BESIDE if set(_policies([rule])) <= set(there)}
    pairs = pd.MultiIndex.from_product([ORDERS.values(), rules.values()], names=["order", "rule"])
    chosen = values.sel(policy=_policies(rules)).drop_vars("policy")
    index = xr.Coordinates.from_pandas_multiindex(pairs, "policy")
    split = chosen.assign_coords(index).unstack("policy")
    return split.sel(order=list(ORDERS.values()), rule=list(rules.values()))


def _policies(rules: Iterable[str]) -> list[str]:
    return [f"{order}+{rule}" for order in ORDERS for rule in rules]
