"""The users with the longest normalised wait times, who decide mean and standard deviation.

"there are typically several users with very high (unfair)" ones, as Klusacek and Rudova say of
backfilling without fair share (JSSPP 2012, section 5.2).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.klusacek_2012.measures import compared, user_groups
from schedfarm.analysis.papers.klusacek_2012.names import by_paper
from schedfarm.analysis.store import Store, of_log

RANKS = 5
"""Users that are named of each log and algorithm."""

LONGEST = ("user", "jobs", "work", "nuwt", "mean_without", "sd_without")
"""What is told of each."""


def longest(store: Store) -> pd.DataFrame:
    """Return the users of the logs who wait longest for what they get.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataFrame
        Indexed by (trace, load, algorithm, rank), the rank from 1 to `RANKS`: the ``user``'s
        number in the log, how many ``jobs`` and how much ``work`` (processor s) he has, his
        ``nuwt`` (1 / processor), and mean and standard deviation over the users without him and
        those before him.

    Raises
    ------
    StoreError
        If the store lacks the log itself, or an algorithm of the paper.
    """
    parts = {
        (trace, load, algorithm): _longest(users.sel(load=load, algorithm=algorithm))
        for trace, group in user_groups(store).items()
        for users in [by_paper(of_log(group[["user_nuwt", "user_jobs", "user_work"]]).load())]
        for load in users["load"].values.tolist()
        for algorithm in users["algorithm"].values.tolist()
    }
    return pd.concat(parts, names=["trace", "load", "algorithm", "rank"])


def _longest(users: xr.Dataset) -> pd.DataFrame:
    nuwt = compared(users).to_series().dropna()
    # Ties by number, so that the table is the same everywhere.
    order = nuwt.sort_values(ascending=False, kind="stable").index
    first = min(RANKS, len(order))
    said = users[["user_jobs", "user_work"]].sel(user=order[:first].to_numpy())
    without = [nuwt[order[i + 1 :]].to_numpy() for i in range(first)]
    rows = {
        "user": order[:first],
        "jobs": said["user_jobs"].values,
        "work": said["user_work"].values,
        "nuwt": nuwt[order[:first]].to_numpy(),
        "mean_without": [of.mean() if of.size else np.nan for of in without],
        "sd_without": [of.std() if of.size else np.nan for of in without],
    }
    return pd.DataFrame(rows, index=range(1, first + 1))[list(LONGEST)]
