"""The numbers of Klusacek and Rudova (JSSPP 2012, section 2) from a store, algorithm by algorithm.

Figures over users are of those with at least two jobs, as section 5.1 has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.papers.klusacek_2012.names import by_paper
from schedfarm.analysis.store import Store, check_known, open_summary, open_trace
from schedfarm.core.metrics.counted import LEAST_JOBS

MOST = 10.0
"""Where the paper's CDFs end."""

STEPS = np.arange(201) / 20
"""Normalised user wait times at which the CDFs are told, 1 / processor: 0 to `MOST`."""

AREA, SD, HIGH = "nuwt_up_to_10", "nuwt_sd", "users_above_10"


Naming = Callable[[xr.Dataset], xr.Dataset]
"""Puts other dimensions in the place of `policy`."""


class Measure(NamedTuple):
    """A row of `MEASURES`: what stands on an axis, and the unit of the numbers."""

    meaning: str
    units: str


_PER_PROCESSOR = "1 / processor"

MEASURES = {
    "wait": Measure("Mean wait", "s"),
    "response": Measure("Mean response time", "s"),
    "bounded_slowdown": Measure("Mean bounded slowdown", "1"),
    "nuwt_mean": Measure("Mean of normalised user wait times", _PER_PROCESSOR),
    SD: Measure("Their standard deviation", _PER_PROCESSOR),
    AREA: Measure("Mean of normalised user wait times, 10 at most", _PER_PROCESSOR),
    HIGH: Measure("Users whose normalised wait time is above 10", "1"),
}
"""What is told of each algorithm. `AREA` is the area above the CDF up to 10: the steeper the curve
rises, the smaller."""

SUMMARISED = ("wait", "response", "bounded_slowdown", "nuwt_mean", "nuwt_spread", "users")
"""Figures of a store's summary that the measures are made of."""


def measures(store: Store, named: Naming = by_paper) -> xr.Dataset:
    """Return the paper's numbers of each cell.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    named : callable
        Gives the dimensions that stand for `policy`: `names.by_paper`, or `names.by_search` for
        those that search, with their seeds.

    Returns
    -------
    Dataset
        `MEASURES` and ``users``, how many those of users are over, on (trace, resample, load,
        algorithm) or what else `named` gives; resample 0 is the log itself. NaN where a cell is not
        done. The standard deviation is that of all the users, not of a sample of users.

    Raises
    ------
    StoreError
        If the store lacks an algorithm of the paper.
    """
    summary = open_summary(store)
    for name in SUMMARISED:
        check_known(name, "metric", sorted(str(v) for v in summary))
    found = named(summary[list(SUMMARISED)].load())
    # F is the sum of squares, so that F / users is the variance.
    deviation = np.sqrt(found["nuwt_spread"] / found["users"].where(found["users"] > 0))
    found = found.drop_vars("nuwt_spread").assign({SD: deviation})
    parts = {
        AREA: _of_users(store, lambda nuwt: nuwt.clip(max=MOST).mean("user"), named),
        HIGH: _of_users(store, _above, named),
    }
    return found.assign({name: of.transpose(*found["wait"].dims) for name, of in parts.items()})


def nuwt_cdf(store: Store) -> xr.DataArray:
    """Return the share of users whose normalised wait time is at most so much (Figure 2).

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataArray
        On (trace, resample, load, algorithm, nuwt), the last from 0 to `MOST`; NaN where a cell
        is not done or its log knows no user.

    Raises
    ------
    StoreError
        As `measures`.
    """
    shares = _of_users(store, _shares)
    return shares.transpose("trace", "resample", "load", "algorithm", "nuwt")


def user_groups(store: Store) -> dict[str, xr.Dataset]:
    """Return the arrays of each trace whose log knows its users, of one at least.

    Raises
    ------
    StoreError
        If there is none.
    """
    traces = [str(name) for name in open_summary(store)["trace"].values]
    groups = {trace: open_trace(store, trace) for trace in traces}
    found = {trace: group for trace, group in groups.items() if "user_nuwt" in group}
    if not found:
        raise StoreError(f"no log of the store knows its users: {', '.join(traces)}")
    return found


def compared(users: xr.Dataset) -> xr.DataArray:
    """Return the normalised wait times of a trace's users, NaN of those that are left out."""
    return users["user_nuwt"].where(users["user_jobs"] >= LEAST_JOBS)


def _of_users(
    store: Store,
    reduce: Callable[[xr.DataArray], xr.DataArray],
    named: Naming = by_paper,
) -> xr.DataArray:
    parts = {
        trace: reduce(compared(named(group[["user_nuwt", "user_jobs"]].load())))
        for trace, group in user_groups(store).items()
    }
    joined: xr.DataArray = xr.concat(parts.values(), pd.Index(list(parts), name="trace"))
    return joined.reindex(trace=open_summary(store)["trace"].values)


def _above(nuwt: xr.DataArray) -> xr.DataArray:
    counted = (nuwt > MOST).sum("user")
    return counted.where(nuwt.notnull().any("user"))


def _shares(nuwt: xr.DataArray) -> xr.DataArray:
    users = nuwt.notnull().sum("user")
    at_most = [(nuwt <= step).sum("user") for step in STEPS]
    joined: xr.DataArray = xr.concat(at_most, pd.Index(STEPS, name="nuwt"))
    return joined / users.where(users > 0)
