"""What became of the starts that plans promised: the caveat of Klusacek and Rudova's section 6.

"the optimization technique can delay particular jobs with respect to their initial reservations".
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.klusacek_2012.names import PROMISING, by_paper
from schedfarm.analysis.papers.spread import BAND, STANDING, spread
from schedfarm.analysis.store import Store, check_known, of_log, open_summary, open_trace
from schedfarm.core.arrays import Int64

LATE, LATENESS = "unfair_share_promise", "unfairness_promise"
"""Figures of a store's summary."""

DELAYS = ("promised", "late", "late_share", "mean_delay", "median_late", "p90_late", "most_late")
"""What is told of the jobs of a log under an algorithm."""


def delays(store: Store) -> pd.DataFrame:
    """Return how many jobs of the logs start later than promised, and by how much.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataFrame
        Indexed by (trace, load, algorithm), of the algorithms `PROMISING`: how many jobs were
        ``promised`` a start, how many of them are ``late``, their share, the mean delay of all that
        were promised one, s; and of the late ones alone median, 90th percentile and most, s, NaN
        where none is.

    Raises
    ------
    StoreError
        If the store lacks the log itself, an algorithm of the paper, or the promised starts.
    """
    rows = {}
    for trace in open_summary(store)["trace"].values.tolist():
        group = open_trace(store, trace)
        check_known("promised", "variable", [str(name) for name in group])
        jobs = by_paper(of_log(group[["promised", "start"]]).load())
        for load in jobs["load"].values.tolist():
            for algorithm in PROMISING:
                cell = jobs.sel(load=load, algorithm=algorithm)
                found = _delays(cell["promised"].values, cell["start"].values)
                rows[str(trace), str(load), algorithm] = found
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(DELAYS))
    frame.index = pd.MultiIndex.from_tuples(rows, names=["trace", "load", "algorithm"])
    return frame.astype({"promised": np.int64, "late": np.int64})


def _delays(promised: Int64, start: Int64) -> list[float]:
    """Return the `DELAYS` of a cell."""
    there = (promised >= 0) & (start >= 0)
    delay = np.maximum(start - promised, 0)[there]
    late = np.sort(delay[delay > 0])
    # The least value that so many percent do not exceed, as everywhere in a store.
    ends = [late[-(-p * late.size // 100) - 1] if late.size else np.nan for p in (50, 90, 100)]
    of_all = [late.size / delay.size, delay.mean()] if delay.size else [np.nan, np.nan]
    return [delay.size, late.size, *map(float, (*of_all, *ends))]


def delays_of_samples(store: Store) -> pd.DataFrame:
    """Return the same of samples: what share of all jobs is late, and the mean delay of all.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataFrame
        Indexed by (measure, trace, load, algorithm), of the algorithms `PROMISING`: `BAND` and
        `STANDING`.

    Raises
    ------
    StoreError
        If the store lacks samples, an algorithm of the paper, or the promised starts.
    """
    summary = open_summary(store)
    for name in (LATE, LATENESS):
        check_known(name, "metric", sorted(str(v) for v in summary))
    values = by_paper(summary[[LATE, LATENESS]].load()).sel(algorithm=list(PROMISING))
    parts = {name: _band(values[name]) for name in (LATE, LATENESS)}
    return pd.concat(parts, names=["measure"])


def _band(values: xr.DataArray) -> pd.DataFrame:
    frame = spread(values).to_dataframe(dim_order=["trace", "load", "algorithm"])
    return frame[[*BAND, *STANDING]]
