"""Mean turnaround of groups of jobs (figures 4 to 6 of Jones and Ligon 2005) and participants."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.jones_2005.printed import (
    ALONE,
    DIFFERENCES,
    FIXED,
    GRID,
    OTHERS,
)
from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.papers.tables import BAND, STANDING, band_table
from schedfarm.analysis.store import of_samples, open_trace

CELL = ["trace", "load", "policy"]
"""Index of most tables."""

BY_ORIGIN = ("resample", "load", "policy", "origin")
"""Dimensions of arrays with a number for the jobs of each cluster."""

PREFIX = "origin_"
"""Prefix of the names of arrays by cluster."""

WHOLE = (
    "response",
    "wait",
    "utilisation",
    "migrated_share",
    "coallocated_share",
    "unfairness_isolation",
    "unfair_share_isolation",
)
"""Numbers of whole cells in a store's summary; a store may lack some of these."""


def turnaround(of: Numbers) -> xr.DataArray:
    """Return the mean turnaround of each group of jobs, s.

    The values are on (trace, resample, load, policy, group). They are NaN if a cell is not done, or
    has no job of the group.
    """
    parts = [_of_trace(open_trace(of.tree, trace)) for trace in of.traces]
    found: xr.DataArray = xr.concat(parts, pd.Index(of.traces, name="trace"))
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
    """Return the bands of all groups and policies, s, and the settings of each trace."""
    return band_table(values, [*CELL, "group"]).join(traces, on="trace")


def differences(values: xr.DataArray) -> xr.Dataset:
    """Return `DIFFERENCES` in each sample, in ``seconds`` and as ``part`` of the second value."""
    seconds, parts = [], []
    for policy, base, group in DIFFERENCES.values():
        here = values.sel(group=group, drop=True)
        one, other = (here.sel(policy=name, drop=True) for name in (policy, base))
        seconds.append(one - other)
        parts.append(one / other - 1)
    labels = pd.Index(list(DIFFERENCES), name="difference")
    return xr.Dataset({"seconds": xr.concat(seconds, labels), "part": xr.concat(parts, labels)})


def difference_table(values: xr.DataArray) -> pd.DataFrame:
    """Return the bands of the differences, paired by sample.

    ``part_`` columns are shares of the turnaround under the second policy. ``later`` is the number
    of samples with a difference above 0.
    """
    found = differences(values)
    order = ["trace", "load", "difference"]
    part = band_table(found["part"], order, BAND).add_prefix("part_")
    later = (of_samples(found["seconds"]) > 0).sum("resample")
    frame = band_table(found["seconds"], order, [*BAND, "later", *STANDING], later=later)
    return frame.join(part)[[*BAND, *part, "later", *STANDING]]


def participants_table(of: Numbers) -> pd.DataFrame:
    """Return the bands of every number of each participant, and of given minus received."""
    parts = {trace: _participants(open_trace(of.tree, trace)) for trace in of.traces}
    frame = pd.concat(parts, names=["trace"])
    return frame.reorder_levels([*CELL, "origin", "measure"])


def _participants(group: xr.Dataset) -> pd.DataFrame:
    net = group["origin_given"].load() - group["origin_received"].load()
    group = group.assign(origin_net_given=net.assign_attrs(group["origin_given"].attrs))
    # The arrays are sorted by name, since a store has no order of arrays.
    parts = {
        str(name).removeprefix(PREFIX): _bands(array.load(), list(BY_ORIGIN[1:]))
        for name, array in sorted(group.items(), key=lambda item: str(item[0]))
        if set(array.dims) == set(BY_ORIGIN)
    }
    return pd.concat(parts, names=["measure"])


def _bands(values: xr.DataArray, order: list[str]) -> pd.DataFrame:
    return band_table(values.drop_attrs(), order).assign(units=values.attrs["units"])


def cells_table(of: Numbers) -> pd.DataFrame:
    """Return the bands of the numbers in `WHOLE`."""
    there = [name for name in WHOLE if name in of.summary]
    parts = {name: _bands(of.summary[name].load(), CELL) for name in there}
    return pd.concat(parts, names=["measure"]).reorder_levels([*CELL, "measure"])


def against_isolation(of: Numbers, trace: str) -> xr.DataArray:
    """Return each participant's mean turnaround, divided by that under No Share in the same sample.

    The values are on (resample, load, policy, origin), without the policy No Share.
    """
    mean = open_trace(of.tree, trace)["origin_response"].load()
    alone = mean.sel(policy=ALONE, drop=True)
    ratio: xr.DataArray = mean.drop_sel(policy=ALONE) / alone
    return ratio.transpose(*BY_ORIGIN)
