"""How well a tenth of the jobs ranks the simulations of Sabin and Sadayappan: their Table 2."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from schedfarm.analysis.papers.sabin_2005.names import READINGS, RULES
from schedfarm.analysis.papers.sabin_2005.unfairness import job_unfairness
from schedfarm.analysis.store import Store, open_summary
from schedfarm.core.arrays import Float64, Int64

SUBSETS = 10
"""Parts into which the paper's Table 2 divides a trace."""

DIVISIONS = ("every tenth", "tenths in a row", "random")
"""Readings of "random subsets, based solely on the arrival order": dealt out one by one, cut
into ten runs, or drawn at random."""

SEED = 2005  # of the random division


def rank_correlations(store: Store, kinds: Iterable[str] = READINGS) -> pd.DataFrame:
    """Return Spearman's correlation of each subset of the jobs with the whole (Table 2).

    The paper's simulations of a trace, all loads and its nine policies, are ranked by the mean
    unfairness over a tenth of its jobs and by that over all.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    kinds : iterable of str
        Readings of kinds of fairness, of `names.READINGS`.

    Returns
    -------
    DataFrame
        Indexed by (division, subset), a column for each (trace, kind); the divisions are the
        `DIVISIONS`. NaN where no simulation differs from another.

    Raises
    ------
    StoreError
        As for `job_unfairness`.
    """
    columns = {}
    for trace in open_summary(store)["trace"].values.tolist():
        for kind in kinds:
            unfair = job_unfairness(store, trace, kind).sel(rule=list(RULES.values()))
            unfair = unfair.transpose("job", ...)
            columns[trace, kind] = _correlations(unfair.values.reshape(unfair.sizes["job"], -1))
    index = pd.MultiIndex.from_product([DIVISIONS, range(SUBSETS)], names=["division", "subset"])
    frame = pd.DataFrame(columns, index=index)
    return frame.rename_axis(columns=["trace", "kind"])


def _correlations(unfair: Float64) -> list[float]:
    """Return the correlation of each division's parts with the whole, of jobs x simulations."""
    parts = [part for name in DIVISIONS for part in _divide(len(unfair), name)]
    means = np.array([unfair.mean(axis=0), *(unfair[part].mean(axis=0) for part in parts)])
    ranks = pd.DataFrame(means).rank(axis=1).to_numpy()
    off = ranks - ranks.mean(axis=1, keepdims=True)
    spread = np.sqrt((off * off).sum(axis=1))
    # Simulations that are all alike have no ranks.
    with np.errstate(invalid="ignore"):
        found: list[float] = (off[1:] @ off[0] / (spread[1:] * spread[0])).tolist()
    return found


def _divide(jobs: int, division: str) -> list[Int64]:
    places = np.arange(jobs)
    if division == "every tenth":
        return [places[i::SUBSETS] for i in range(SUBSETS)]
    if division == "random":
        places = np.random.default_rng(SEED).permutation(places)
    return list(np.array_split(places, SUBSETS))
