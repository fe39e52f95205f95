"""Numbers of Sabin and Sadayappan (JSSPP 2005): unfairness overall, by width, and ranked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from analysis.errors import StoreError
from analysis.store import Store, known, open_summary, open_trace

Data = TypeVar("Data", xr.Dataset, xr.DataArray)

Floats = npt.NDArray[np.float64]

ORDERS = {"fcfs": "FCFS", "spf": "SJF", "lxf": "LXF"}
"""Queue orders of a store, and what the paper calls them."""

RULES = {"aggressive": "no guarantee", "easy": "aggressive", "conservative": "conservative"}
"""Backfill rules of a store, and what the paper calls them."""

SHARES = {"strict": "fst_strict", "relaxed": "fst_relaxed", "resource": "resource_share"}
"""The array of a trace's group that says what a job was due, by kind of fairness."""

WIDTHS = {
    "1": 1,
    "2": 2,
    "3-4": 3,
    "5-8": 5,
    "9-16": 9,
    "17-32": 17,
    "33-64": 33,
    "65-128": 65,
    "> 128": 129,
}
"""Width classes of the paper's Table 1, and the fewest processors of each."""

SUBSETS = 10
"""Parts into which the paper's Table 2 divides a trace."""

DIVISIONS = ("every tenth", "tenths in a row", "random")
"""Readings of "random subsets, based solely on the arrival order": dealt out one by one, cut
into ten runs, or drawn at random."""

SEED = 2005  # of the random division

LOG = 0  # the resample that is the log itself


def overall(store: Store, kind: str) -> xr.DataArray:
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
    return on_policies(of_log(_unfairness(store, kind)))


def of_samples(store: Store, kind: str) -> xr.DataArray:
    """Return the mean unfairness over all jobs of each sample.

    Parameters
    ----------
    store, kind
        As for `overall`.

    Returns
    -------
    DataArray
        On (trace, resample, load, order, rule), without the log itself.

    Raises
    ------
    StoreError
        If the store lacks a policy of the paper, or this kind of fairness.
    """
    values = _unfairness(store, kind)
    return on_policies(values.isel(resample=np.flatnonzero(values["resample"].values > LOG)))


def by_width(store: Store, kind: str, order: str = "FCFS") -> xr.DataArray:
    """Return the mean unfairness over the jobs of each width (figures 9, 10, 13, 14, 17, 18).

    Parameters
    ----------
    store, kind
        As for `overall`.
    order : {"FCFS", "SJF", "LXF"}
        The queue order; the paper shows FCFS.

    Returns
    -------
    DataArray
        On (trace, load, width, rule); NaN where no job has the width.

    Raises
    ------
    StoreError
        As for `overall`.
    """
    traces = _traces(store)
    parts = []
    for trace in traces:
        late = lateness(store, trace, kind).sel(order=order, drop=True)
        width = _width(store, trace)
        means = [late.isel(job=width == i).mean("job") for i in range(len(WIDTHS))]
        parts.append(xr.concat(means, pd.Index(list(WIDTHS), name="width")))
    joined = xr.concat(parts, pd.Index(traces, name="trace"))
    return joined.transpose("trace", "load", "width", "rule").assign_attrs(_attrs(kind))


def lateness(store: Store, trace: str, kind: str) -> xr.DataArray:
    """Return how unfairly each job of a log is treated.

    Parameters
    ----------
    store, kind
        As for `overall`.
    trace : str
        A label of the store's trace axis.

    Returns
    -------
    DataArray
        On (load, job, order, rule), at least 0: start - fair start time, s, or equal share -
        work, processor-seconds. The jobs are those of the log in the order of arrival.

    Raises
    ------
    StoreError
        As for `overall`.
    """
    data = open_trace(store, trace)
    known(SHARES[kind], "variable", [str(name) for name in data])
    data = of_log(data[[SHARES[kind], "start", "run", "procs"]]).load()
    if kind == "resource":
        late = data[SHARES[kind]] - data["run"] * data["procs"]
    else:
        late = data["start"] - data[SHARES[kind]]
    # A job is there under every load and policy, or the cell is not done and has no mean.
    here = data["start"] >= 0
    late = late.clip(min=0).where(here).isel(job=np.flatnonzero((data["procs"] > 0).any("load")))
    return on_policies(late.astype(np.float64))


def width_counts(store: Store) -> pd.DataFrame:
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
    counts = {t: np.bincount(_width(store, t), minlength=len(WIDTHS)) for t in _traces(store)}
    return pd.DataFrame.from_dict(counts, orient="index", columns=list(WIDTHS)).rename_axis("trace")


def rank_correlations(store: Store, kinds: Iterable[str] = SHARES) -> pd.DataFrame:
    """Return Spearman's correlation of each subset of the jobs with the whole (Table 2).

    The simulations of a trace, all loads and policies, are ranked by the mean unfairness over
    a tenth of its jobs and by that over all.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    kinds : iterable of str
        Kinds of fairness.

    Returns
    -------
    DataFrame
        Indexed by (division, subset), a column for each (trace, kind); the divisions are the
        `DIVISIONS`. NaN where no simulation differs from another.

    Raises
    ------
    StoreError
        As for `overall`.
    """
    columns = {}
    for trace in _traces(store):
        for kind in kinds:
            late = lateness(store, trace, kind).transpose("job", ...)
            columns[trace, kind] = _correlations(late.values.reshape(late.sizes["job"], -1))
    index = pd.MultiIndex.from_product([DIVISIONS, range(SUBSETS)], names=["division", "subset"])
    frame = pd.DataFrame(columns, index=index)
    return frame.rename_axis(columns=["trace", "kind"])


def _correlations(late: Floats) -> list[float]:
    from scipy.stats import spearmanr

    whole = late.mean(axis=0)
    parts = [part for name in DIVISIONS for part in _divide(len(late), name)]
    means = [late[part].mean(axis=0) for part in parts]
    # Simulations that are all alike have no ranks.
    return [
        float(spearmanr(mean, whole).statistic) if np.ptp(mean) and np.ptp(whole) else np.nan
        for mean in means
    ]


def _divide(jobs: int, division: str) -> list[npt.NDArray[np.int64]]:
    places = np.arange(jobs)
    if division == "every tenth":
        return [places[i::SUBSETS] for i in range(SUBSETS)]
    if division == "random":
        places = np.random.default_rng(SEED).permutation(places)
    return list(np.array_split(places, SUBSETS))


def of_log(data: Data) -> Data:
    """Return the part of a dataset or an array that is the log itself.

    Raises
    ------
    StoreError
        If there is none.
    """
    if LOG not in data["resample"].values:
        raise StoreError("the store lacks the log itself; run the campaign with log = true")
    return data.sel(resample=LOG, drop=True)


def on_policies(values: xr.DataArray) -> xr.DataArray:
    """Split the dimension policy into the paper's order and rule, both in the paper's names.

    Raises
    ------
    StoreError
        If one of the nine policies is missing.

    Examples
    --------
    >>> names = [f"{order}+{rule}" for order in ORDERS for rule in RULES]
    >>> split = on_policies(xr.DataArray(range(9), {"policy": names}))
    >>> int(split.sel(order="SJF", rule="no guarantee"))
    3
    """
    there = values["policy"].values.tolist()
    names = [f"{order}+{rule}" for order in ORDERS for rule in RULES]
    for name in names:
        known(name, "policy", there)
    pairs = pd.MultiIndex.from_product([ORDERS.values(), RULES.values()], names=["order", "rule"])
    chosen = values.sel(policy=names).drop_vars("policy")
    index = xr.Coordinates.from_pandas_multiindex(pairs, "policy")
    split = chosen.assign_coords(index).unstack("policy")
    return split.sel(order=list(ORDERS.values()), rule=list(RULES.values()))


def _unfairness(store: Store, kind: str) -> xr.DataArray:
    summary, name = open_summary(store), f"unfairness_{kind}"
    known(name, "metric", sorted(str(v) for v in summary))
    return summary[name].load().assign_attrs(_attrs(kind))


def _attrs(kind: str) -> dict[str, str]:
    return {"kind": kind, "units": "processor-s" if kind == "resource" else "s"}


def _traces(store: Store) -> list[str]:
    return [str(trace) for trace in open_summary(store)["trace"].values]


def _width(store: Store, trace: str) -> npt.NDArray[np.int64]:
    procs = of_log(open_trace(store, trace)[["procs"]])["procs"].max("load").values
    least = list(WIDTHS.values())
    return np.asarray(np.searchsorted(least, procs[procs > 0], side="right") - 1)
