"""Mean turnaround of the fixed cluster, of the others and of all: figures 4 to 6 in numbers."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.jones_2005.names import DIFFERENCES, FIXED, GRID, OTHERS
from schedfarm.analysis.papers.spread import BAND, STANDING, spread
from schedfarm.analysis.store import Store, of_samples, open_summary, open_trace

CELL = ("trace", "load", "policy")
"""What tells one cell from another, but for the sample."""

BY_ORIGIN = ("resample", "load", "policy", "origin")
"""Dimensions of arrays with a number for the jobs of each cluster."""


def turnaround(store: Store) -> xr.DataArray:
    """Return the mean turnaround of each group of jobs.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataArray
        s, on (trace, resample, load, policy, group); groups are those of
        `analysis.papers.jones_2005.names`. NaN where a cell is not done, or has no such job.
    """
    traces = [str(name) for name in open_summary(store)["trace"].values]
    parts = [_of_trace(open_trace(store, trace)) for trace in traces]
    found: xr.DataArray = xr.concat(parts, pd.Index(traces, name="trace"))
    return found


def _of_trace(group: xr.Dataset) -> xr.DataArray:
    jobs = group["origin_jobs"].load()
    mean = group["origin_response"].load()
    parts = {FIXED: slice(-1, None), OTHERS: slice(None, -1), GRID: slice(None)}
    means = [
        mean.isel(origin=part).weighted(jobs.isel(origin=part)).mean("origin")
        for part in parts.values()
    ]
    return xr.concat(means, pd.Index(list(parts), name="group"))


def turnaround_table(values: xr.DataArray, traces: pd.DataFrame) -> pd.DataFrame:
    """Return every point of the figures, and of other policies and groups, with its band.

    Parameters
    ----------
    values : DataArray
        As `turnaround` returns it.
    traces : DataFrame
        As `analysis.papers.jones_2005.settings.settings` returns it.

    Returns
    -------
    DataFrame
        Indexed by (trace, load, policy, group): `BAND` in s, `STANDING`, and what the trace sets.
    """
    frame = spread(values).to_dataframe(dim_order=[*CELL, "group"])[[*BAND, *STANDING]]
    return frame.join(traces, on="trace")


def differences(values: xr.DataArray) -> xr.Dataset:
    """Return by how much one policy is later than another, in each sample.

    Parameters
    ----------
    values : DataArray
        As `turnaround` returns it.

    Returns
    -------
    Dataset
        ``seconds``, and ``part``, that is seconds / the turnaround of the other policy, on (trace,
        resample, load, difference); differences are the keys of
        `analysis.papers.jones_2005.names.DIFFERENCES`.
    """
    seconds, parts = [], []
    for policy, base, group in DIFFERENCES.values():
        here = values.sel(group=group, drop=True)
        one, other = (here.sel(policy=name, drop=True) for name in (policy, base))
        seconds.append(one - other)
        parts.append(one / other - 1)
    labels = pd.Index(list(DIFFERENCES), name="difference")
    return xr.Dataset({"seconds": xr.concat(seconds, labels), "part": xr.concat(parts, labels)})


def difference_table(values: xr.DataArray, traces: pd.DataFrame) -> pd.DataFrame:
    """Return the differences, paired by sample, with their bands.

    Parameters
    ----------
    values, traces
        As for `turnaround_table`.

    Returns
    -------
    DataFrame
        Indexed by (trace, load, difference): `BAND` in s, ``part_low``, ``part_median`` and
        ``part_high`` as parts of the other policy's turnaround, ``later``, in how many samples the
        difference is above 0, `STANDING`, and what the trace sets.
    """
    found = differences(values)
    order = ["trace", "load", "difference"]
    seconds = spread(found["seconds"]).assign(
        later=(of_samples(found["seconds"]) > 0).sum("resample")
    )
    part = spread(found["part"]).to_dataframe(dim_order=order)[list(BAND)].add_prefix("part_")
    frame = seconds.to_dataframe(dim_order=order)[[*BAND, "later", *STANDING]]
    frame = frame.join(part)[[*BAND, *part, "later", *STANDING]]
    return frame.join(traces, on="trace")
