"""By how much jobs start earlier than under FCFS: the numbers of table 1 of Eyraud 2006."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.drawing import HOUR
from schedfarm.analysis.papers.eyraud_2006.printed import FCFS, MACHINE, TABLE_1
from schedfarm.analysis.store import Store, check_known, of_log, open_summary, open_trace
from schedfarm.core.arrays import Float64

CELL = ("trace", "load", "policy")
"""What tells one row of table 1 from another."""

QUARTILES = {"first_quartile": 25, "median": 50, "third_quartile": 75}
"""The dotted lines of figure 2."""

COUNTS = ("jobs", "refused_by_fcfs", "refused", "identical", "earlier", "later")
"""How many jobs of a cell there are; how many FCFS, and how many the policy refused; and of those
that started under both how many at the same instant, earlier, and later than under FCFS."""

SEARCHES = ("selections", "given_up")
"""Figures of a store's summary: selections of jobs for a shelf, and how many of these were made
greedily since the exact search was given up."""

ASKED = {"with_properties": "properties", "in_advance": "reserved"}
"""How many jobs ask for a set of nodes, or for their start, by the array that says it."""


class Measure(NamedTuple):
    """A row of `MEASURES`: what stands on an axis, and the unit of the numbers."""

    meaning: str
    units: str


MEASURES = {
    "mean": Measure("Mean difference of start times that differ", "h"),
    "mean_of_all": Measure("Mean difference of all start times", "h"),
    "sd": Measure("Standard deviation of those that differ", "h"),
    "share_identical": Measure("Part of the jobs with the same start time", "1"),
    "refused_more": Measure("Part of the jobs refused beyond those that FCFS refuses", "1"),
}
"""What is told of samples."""


def differences(store: Store, trace: str) -> xr.DataArray:
    """Return by how much each job starts earlier under each other policy than under FCFS.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    trace : str
        A label of the store's trace axis.

    Returns
    -------
    DataArray
        Hours, positive for a job that starts earlier, on (resample, load, policy, job); NaN where
        a job was refused by either, and beyond the jobs of a sample.

    Raises
    ------
    StoreError
        If the store lacks FCFS.
    """
    start = open_trace(store, trace)["start"].load()
    check_known(FCFS, "policy", start["policy"].values.tolist())
    base = start.sel(policy=FCFS, drop=True)
    others = start.drop_sel(policy=FCFS)
    # A refused job has the start -1, and so has padding.
    hours = ((base - others) / HOUR).where((base >= 0) & (others >= 0))
    return hours.transpose("resample", "load", "policy", "job")


def measured(store: Store) -> xr.Dataset:
    """Return the numbers of table 1, and more, of each cell.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    Dataset
        `COUNTS`, the keys of `ASKED` and `SEARCHES` as far as the store has them; ``total``,
        ``mean``, ``sd`` and `QUARTILES` of the differences of jobs that do not start at the same
        instant, in hours; ``mean_of_all`` also of those that do; ``share_identical`` and
        ``refused_more``, of which parts of the jobs; on (trace, resample, load, policy). The
        standard deviation is that of all these jobs, not of a sample of them. NaN where a cell is
        not done.

    Raises
    ------
    StoreError
        If the store lacks FCFS.
    """
    summary = open_summary(store)
    traces = [str(name) for name in summary["trace"].values]
    parts = [_of_trace(store, trace) for trace in traces]
    found: xr.Dataset = xr.concat(parts, pd.Index(traces, name="trace"), join="outer")
    others = found["policy"].values
    searched = {n: summary[n].load().sel(policy=others) for n in SEARCHES if n in summary}
    return found.assign(searched)


def _of_trace(store: Store, trace: str) -> xr.Dataset:
    hours = differences(store, trace)
    group = open_trace(store, trace)
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
    asked = {
        name: ((submit >= 0) & (group[array].load() >= 0)).sum("job").broadcast_like(compared)
        for name, array in ASKED.items()
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
    return xr.Dataset({**counts, **asked, **numbers}).where(both)


def _each(hours: xr.DataArray, reduce: Callable[[Float64], Any]) -> xr.DataArray:
    """Return a number of the jobs of each cell that have a difference, NaN where none has."""

    def of(values: Float64) -> float:
        there = values[np.isfinite(values)]
        return float(reduce(there)) if there.size else np.nan

    found: xr.DataArray = xr.apply_ufunc(of, hours, input_core_dims=[["job"]], vectorize=True)
    return found


def table_1(values: xr.Dataset) -> pd.DataFrame:
    """Return table 1 of the logs themselves, and below it the printed one.

    Parameters
    ----------
    values : Dataset
        As `measured` returns it.

    Returns
    -------
    DataFrame
        Indexed by (of, trace, load, policy), `of` being "here" or "printed".

    Raises
    ------
    StoreError
        If the store lacks the logs themselves.
    """
    ours = of_log(values).to_dataframe(dim_order=list(CELL))
    columns = [*COUNTS, *ASKED, *SEARCHES, "total", "mean", "sd", *QUARTILES]
    ours = ours[[name for name in columns if name in ours]]
    rows = {(MACHINE + " " + name, "original", "DEMT"): row for name, row in TABLE_1.items()}
    printed = pd.DataFrame([row._asdict() for row in rows.values()])
    printed.index = pd.MultiIndex.from_tuples(list(rows), names=list(CELL))
    table = pd.concat({"here": ours, "printed": printed}, names=["of"])
    whole = [name for name in (*COUNTS, *ASKED, *SEARCHES) if name in table]
    return table.astype(dict.fromkeys(whole, "Int64"))


def cells(hours: xr.DataArray) -> Iterator[tuple[tuple[str, str], Float64]]:
    """Yield the differences of a trace's log that are not 0, by load and policy."""
    own = of_log(hours)
    for load in own["load"].values.tolist():
        for policy in own["policy"].values.tolist():
            values = own.sel(load=load, policy=policy).values
            yield (str(load), str(policy)), values[np.isfinite(values) & (values != 0)]
