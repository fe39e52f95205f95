"""What each cluster's users got and gave: every number that a store has for each participant."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.jones_2005.names import ALONE
from schedfarm.analysis.papers.jones_2005.turnaround import BY_ORIGIN, CELL
from schedfarm.analysis.papers.spread import BAND, STANDING, spread
from schedfarm.analysis.store import Store, open_summary, open_trace

PREFIX = "origin_"
"""Begins the names of arrays with a number for each participant."""

WHOLE = (
    "response",
    "wait",
    "utilisation",
    "migrated_share",
    "coallocated_share",
    "unfairness_isolation",
    "unfair_share_isolation",
)
"""Figures of a store's summary that are told of whole cells, as far as it has them."""


def participants_table(store: Store) -> pd.DataFrame:
    """Return all that the store says of each participant, with bands.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataFrame
        Indexed by (trace, load, policy, origin, measure), `origin` being the cluster's name:
        `BAND`, `STANDING` and ``units``. Measures are the store's arrays without `PREFIX`, and
        ``net_given``, given - received.
    """
    traces = [str(name) for name in open_summary(store)["trace"].values]
    parts = {trace: _of_trace(open_trace(store, trace)) for trace in traces}
    frame = pd.concat(parts, names=["trace"])
    return frame.reorder_levels([*CELL, "origin", "measure"])


def _of_trace(group: xr.Dataset) -> pd.DataFrame:
    net = group["origin_given"].load() - group["origin_received"].load()
    group = group.assign(origin_net_given=net.assign_attrs(group["origin_given"].attrs))
    parts = {
        str(name).removeprefix(PREFIX): _bands(array.load(), list(BY_ORIGIN[1:]))
        for name, array in group.items()
        if set(array.dims) == set(BY_ORIGIN)
    }
    return pd.concat(parts, names=["measure"])


def _bands(values: xr.DataArray, order: list[str]) -> pd.DataFrame:
    frame = spread(values.drop_attrs()).to_dataframe(dim_order=order)[[*BAND, *STANDING]]
    return frame.assign(units=values.attrs["units"])


def cells_table(store: Store) -> pd.DataFrame:
    """Return of whole cells the figures of `WHOLE`, with bands.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataFrame
        Indexed by (trace, load, policy, measure): `BAND`, `STANDING` and ``units``.
    """
    summary = open_summary(store)
    parts = {name: _bands(summary[name].load(), list(CELL)) for name in WHOLE if name in summary}
    return pd.concat(parts, names=["measure"]).reorder_levels([*CELL, "measure"])


def against_isolation(store: Store, trace: str) -> xr.DataArray:
    """Return how many times as long as alone the jobs of each participant are in the system.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    trace : str
        A label of the store's trace axis.

    Returns
    -------
    DataArray
        Mean turnaround / that under No Share in the same sample, on (resample, load, policy,
        origin), of the other policies.
    """
    mean = open_trace(store, trace)["origin_response"].load()
    alone = mean.sel(policy=ALONE, drop=True)
    ratio: xr.DataArray = mean.drop_sel(policy=ALONE) / alone
    return ratio.transpose(*BY_ORIGIN)
