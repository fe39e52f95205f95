"""Unfairness of Sabin and Sadayappan (JSSPP 2005) from a store: of all jobs, by width, of each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.sabin_2005.names import KINDS, READINGS, by_paper
from schedfarm.analysis.store import Store, check_known, of_log, open_summary, open_trace
from schedfarm.core.metrics.widths import WIDTHS, mean_by_width, width_classes


def mean_unfairness(store: Store, kind: str) -> xr.DataArray:
    """Return the mean unfairness over all jobs of the log (figures 7, 8, 11, 12, 15 and 16).

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    kind : {"strict", "relaxed", "resource"}
        Which fairness.

    Returns
    -------
    DataArray
        On (trace, load, order, rule), by the paper's names; s, or processor-seconds for
        resource equality.

    Raises
    ------
    StoreError
        If the store lacks the log itself, a policy of the paper, or this kind of fairness.
    """
    return by_paper(of_log(_summary(store, kind)))


def sample_unfairness(store: Store, kind: str) -> xr.DataArray:
    """Return the mean unfairness over all jobs of each sample, and of the log where it is there.

    Parameters
    ----------
    store, kind
        As for `mean_unfairness`.

    Returns
    -------
    DataArray
        On (trace, resample, load, order, rule); resample 0 is the log itself.

    Raises
    ------
    StoreError
        If the store lacks a policy of the paper, or this kind of fairness.
    """
    return by_paper(_summary(store, kind))


def unfairness_by_width(store: Store, kind: str) -> xr.DataArray:
    """Return the mean unfairness over the jobs of each width (figures 9, 10, 13, 14, 17, 18).

    Parameters
    ----------
    store, kind
        As for `mean_unfairness`.

    Returns
    -------
    DataArray
        On (trace, load, order, width, rule); NaN where no job has the width.

    Raises
    ------
    StoreError
        As for `mean_unfairness`.
    """
    parts = {}
    for trace in _traces(store):
        unfair = job_unfairness(store, trace, kind)
        means = xr.apply_ufunc(
            mean_by_width,
            _procs(store, trace),
            unfair,
            input_core_dims=[["job"], ["job"]],
            output_core_dims=[["width"]],
            vectorize=True,
        )
        parts[trace] = means.assign_coords(width=list(WIDTHS)).assign_attrs(unfair.attrs)
    joined: xr.DataArray = xr.concat(parts.values(), pd.Index(list(parts), name="trace"))
    return joined.transpose("trace", "load", "order", "width", "rule")


def job_unfairness(store: Store, trace: str, kind: str) -> xr.DataArray:
    """Return how unfairly each job of a log is treated.

    Parameters
    ----------
    store, kind
        As for `mean_unfairness`.
    trace : str
        A label of the store's trace axis.

    Returns
    -------
    DataArray
        On (load, job, order, rule), at least 0: start - fair start time, s, or equal share -
        work, processor-seconds; NaN where a cell is not done. The jobs are those of the log in
        the order of arrival.

    Raises
    ------
    StoreError
        As for `mean_unfairness`.
    """
    data, row = open_trace(store, trace), READINGS[kind]
    check_known(row.due, "variable", [str(name) for name in data])
    data = of_log(data[sorted({row.due, *row.got, "start", "procs"})]).load()
    due = data[row.due]
    unfair = xr.apply_ufunc(row.unfairness, due, *(data[name] for name in row.got))
    # A job is there under every load and policy, or the cell is not done and has no mean.
    done = unfair.where((data["start"] >= 0) & (due >= 0)).astype(np.float64)
    jobs: xr.DataArray = done.isel(job=np.flatnonzero((data["procs"] > 0).any("load")))
    return by_paper(jobs).assign_attrs(kind=kind, units=row.stated_units(due))


def jobs_by_width(store: Store) -> pd.DataFrame:
    """Return the number of jobs of each width (Table 1).

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataFrame
        A row a trace, a column a width.

    Raises
    ------
    StoreError
        If the store lacks the log itself.
    """
    counts = {
        trace: np.bincount(width_classes(_procs(store, trace)), minlength=len(WIDTHS))
        for trace in _traces(store)
    }
    return pd.DataFrame.from_dict(counts, orient="index", columns=list(WIDTHS)).rename_axis("trace")


def _summary(store: Store, kind: str) -> xr.DataArray:
    summary, name = open_summary(store), f"unfairness_{kind}"
    check_known(name, "metric", sorted(str(v) for v in summary))
    values = summary[name].load()
    return values.assign_attrs(kind=kind, units=KINDS[kind].stated_units(values))


def _traces(store: Store) -> list[str]:
    return [str(trace) for trace in open_summary(store)["trace"].values]


def _procs(store: Store, trace: str) -> xr.DataArray:
    procs = of_log(open_trace(store, trace)[["procs"]])["procs"].max("load")
    return procs[procs.values > 0]
