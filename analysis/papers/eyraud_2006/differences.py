"""Differences of start times from FCFS: table 1 of Eyraud 2006, and more."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.drawing import HOUR
from schedfarm.analysis.papers.eyraud_2006.printed import DEMT, FCFS, MACHINE, TABLE_1
from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.papers.tables import BAND, STANDING, Measure, band_table
from schedfarm.analysis.store import (
    campaign_traces,
    check_known,
    of_log,
    of_samples,
    open_trace,
)
from schedfarm.core.arrays import Float64

CELL = ["trace", "load", "policy"]
"""Index of most tables."""

Cell = tuple[str, str]
"""A trace and a load."""

QUARTILES = {"first_quartile": 25, "median": 50, "third_quartile": 75}
"""The dotted lines of figure 2, in percent."""

COUNTS = ("jobs", "refused_by_fcfs", "refused", "identical", "earlier", "later")
"""Numbers of jobs of a cell: all jobs; jobs refused by FCFS and by the policy; jobs started at the
same instant under both, earlier, and later."""

SEARCHES = ("selections", "given_up")
"""Numbers in a store's summary: selections of jobs for a shelf, and greedy selections among them,
for which the exact search exceeded its limit."""

REQUESTS = {"with_properties": "properties", "in_advance": "reserved"}
"""Numbers of jobs that request a set of nodes, or their start, with the array of the request."""

SHARES = ("properties", "reservations")
"""Keys of a trace's table `nodes` that are shares of the jobs."""

BINS = 20
"""Number of bars of a histogram; the paper does not print it."""


MEASURES = {
    "mean": Measure("Mean difference of start times that differ", "h"),
    "mean_of_all": Measure("Mean difference of all start times", "h"),
    "sd": Measure("Standard deviation of those that differ", "h"),
    "share_identical": Measure("Part of the jobs with the same start time", "1"),
    "refused_more": Measure("Part of the jobs refused beyond those that FCFS refuses", "1"),
}
"""Measures with a band over samples."""


def differences(of: Numbers, trace: str) -> xr.DataArray:
    """Return the number of hours by which each job starts earlier than under FCFS, by policy.

    The values are on (resample, load, policy, job). They are NaN for padding, and for a job that
    one of the two policies refused.
    """
    start = open_trace(of.tree, trace)["start"].load()
    check_known(FCFS, "policy", start["policy"].values.tolist())
    base = start.sel(policy=FCFS, drop=True)
    others = start.drop_sel(policy=FCFS)
    # Refused jobs and padding have the start -1.
    hours = ((base - others) / HOUR).where((base >= 0) & (others >= 0))
    return hours.transpose("resample", "load", "policy", "job")


def measured(of: Numbers) -> xr.Dataset:
    """Return the numbers of table 1 and further ones, on (trace, resample, load, policy).

    These are `COUNTS`, `REQUESTS` and `SEARCHES`; ``total``, ``mean``, ``sd`` and `QUARTILES` over
    the jobs whose starts differ, in hours; ``mean_of_all`` over all jobs; and the shares of the
    jobs ``share_identical`` and ``refused_more``. The standard deviation is that of a population,
    not of a sample. Values are NaN if a cell is not done.
    """
    parts = [_of_trace(of, trace) for trace in of.traces]
    found: xr.Dataset = xr.concat(parts, pd.Index(of.traces, name="trace"), join="outer")
    searches = of.summary[[name for name in SEARCHES if name in of.summary]].load()
    return found.assign(searches.sel(policy=found["policy"].values).data_vars)


def _of_trace(of: Numbers, trace: str) -> xr.Dataset:
    hours = differences(of, trace)
    group = open_trace(of.tree, trace)
    start, submit = group["start"].load(), group["submit"].load()
    done = (start >= 0).any("job")
    refused = ((submit >= 0) & (start < 0)).sum("job").where(done)
    jobs = (submit >= 0).sum("job")
    moved = hours.where(hours != 0)
    compared = hours.notnull().sum("job")
    both = done.sel(policy=FCFS, drop=True) & done.drop_sel(policy=FCFS)
    counts = {
        "jobs": jobs.broadcast_like(compared),
        "refused_by_fcfs": refused.sel(policy=FCFS, drop=True).broadcast_like(compared),
        "refused": refused.drop_sel(policy=FCFS),
        "identical": (hours == 0).sum("job"),
        "earlier": (hours > 0).sum("job"),
        "later": (hours < 0).sum("job"),
    }
    requests = {
        name: ((submit >= 0) & (group[array].load() >= 0)).sum("job").broadcast_like(compared)
        for name, array in REQUESTS.items()
        if array in group
    }
    numbers = {
        "total": moved.sum("job"),
        "mean": _each(moved, np.mean),
        "sd": _each(moved, np.std),
        **{n: _each(moved, partial(np.percentile, q=part)) for n, part in QUARTILES.items()},
        "mean_of_all": _each(hours, np.mean),
        "share_identical": counts["identical"] / compared.where(compared > 0),
        "refused_more": (counts["refused"] - counts["refused_by_fcfs"]) / jobs.where(jobs > 0),
    }
    return xr.Dataset({**counts, **requests, **numbers}).where(both)


def _each(hours: xr.DataArray, reduce: Callable[[Float64], Any]) -> xr.DataArray:
    """Return a number for each cell from its jobs' differences; NaN without a difference."""

    def number(values: Float64) -> float:
        there = values[np.isfinite(values)]
        return float(reduce(there)) if there.size else np.nan

    found: xr.DataArray = xr.apply_ufunc(number, hours, input_core_dims=[["job"]], vectorize=True)
    return found


def table_1(of: Numbers) -> pd.DataFrame:
    """Return table 1 of the logs themselves, followed by the printed table."""
    ours = of_log(of.once(measured)).to_dataframe(dim_order=CELL)
    columns = [*COUNTS, *REQUESTS, *SEARCHES, "total", "mean", "sd", *QUARTILES]
    ours = ours[[name for name in columns if name in ours]]
    rows = {(MACHINE + " " + name, "original", "DEMT"): row for name, row in TABLE_1.items()}
    printed = pd.DataFrame([row._asdict() for row in rows.values()])
    printed.index = pd.MultiIndex.from_tuples(list(rows), names=CELL)
    table = pd.concat({"here": ours, "printed": printed}, names=["of"])
    whole = [name for name in (*COUNTS, *REQUESTS, *SEARCHES) if name in table]
    return table.astype(dict.fromkeys(whole, "Int64"))


def hours_of(of: Numbers) -> dict[Cell, Float64]:
    """Return the nonzero differences of each log and load under the shelves."""
    found = {}
    for trace in of.traces:
        own = of_log(differences(of, trace)).sel(policy=DEMT)
        for load in own["load"].values.tolist():
            values = own.sel(load=load).values
            found[trace, str(load)] = values[np.isfinite(values) & (values != 0)]
    return found


def histograms(of: Numbers) -> pd.DataFrame:
    """Return the bars of figure 2: edges in hours, and numbers of jobs."""
    rows = []
    for (trace, load), values in of.once(hours_of).items():
        counts, edges = np.histogram(values, BINS) if values.size else (np.zeros(0), np.zeros(1))
        rows += [
            {"trace": trace, "load": load, "from": low, "to": high, "jobs": int(count)}
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        ]
    frame = pd.DataFrame(rows, columns=["trace", "load", "from", "to", "jobs"])
    return frame.set_index(["trace", "load"]).round(9)


def bands_of(values: xr.DataArray) -> pd.DataFrame:
    """Return the bands of a measure; ``better`` is the number of samples above 0."""
    better = (of_samples(values) > 0).sum("resample")
    return band_table(values, CELL, [*BAND, "better", *STANDING], better=better)


def samples_table(of: Numbers) -> pd.DataFrame:
    """Return the bands of `MEASURES`."""
    values = of.once(measured)
    parts = {name: bands_of(values[name]).assign(units=row.units) for name, row in MEASURES.items()}
    return pd.concat(parts, names=["measure"])


def shares_of(of: Numbers) -> pd.DataFrame:
    """Return the shares of jobs with properties and with reservations for each trace.

    ``source`` is the log or model. Traces are left out if their source has the same shares in all
    traces.
    """
    rows = {}
    for name, keys in campaign_traces(of.place).items():
        if "nodes" in keys:
            source = keys.get("log") or keys.get("file") or keys.get("model")
            rows[name] = [str(source), *(float(keys["nodes"][share]) for share in SHARES)]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["source", *SHARES])
    several = frame.groupby("source")[list(SHARES)].transform("nunique").max(axis=1) > 1
    frame.index.name = "trace"
    return frame[several.reindex(frame.index, fill_value=False).astype(bool)]


def shares_table(values: xr.DataArray, shares: pd.DataFrame) -> pd.DataFrame:
    """Return the bands of the mean difference of all start times next to the shares."""
    frame = bands_of(values.sel(trace=shares.index.tolist()))
    joined: pd.DataFrame = shares.join(frame, how="right")
    return joined.sort_values(["source", *SHARES], kind="stable")
