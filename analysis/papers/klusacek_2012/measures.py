"""Measures of Klusacek and Rudova (JSSPP 2012, section 2) from a store, by algorithm.

Measures of users include only users with at least two jobs, as in section 5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.papers.klusacek_2012.printed import ALGORITHMS, MOST, PROMISING, TABU
from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.papers.tables import Measure, band_table
from schedfarm.analysis.store import check_known, of_log, open_trace
from schedfarm.core.arrays import Int64
from schedfarm.core.metrics.counted import LEAST_JOBS

CELL = ["trace", "load", "algorithm"]
"""Index of most tables."""

STEPS = np.arange(201) / 20
"""Normalised user wait times, 1 / processor, of the points of the CDFs: 0 to `MOST`."""

AREA, SD, HIGH = "nuwt_up_to_10", "nuwt_sd", "users_above_10"

WITHOUT_F = "TS-NO-F"
"""Name of TS with a search that ignores the fairness of users."""

SEARCHES = {"fcfs+tabu": TABU, "fcfs+tabu,weights=1:1:1:0": WITHOUT_F}
"""Policies that search a plan, without seeds; a store may have several seeds of each."""

SEED = "seed="
"""Prefix of the policy option with the seed of random numbers, by default 0."""

Data = TypeVar("Data", xr.Dataset, xr.DataArray)

Naming = Callable[[xr.Dataset], xr.Dataset]
"""Function that replaces the dimension `policy` by other dimensions."""


_PER_PROCESSOR = "1 / processor"

MEASURES = {
    "wait": Measure("Mean wait", "s"),
    "response": Measure("Mean response time", "s"),
    "bounded_slowdown": Measure("Mean bounded slowdown", "1"),
    "nuwt_mean": Measure("Mean of normalised user wait times", _PER_PROCESSOR),
    SD: Measure("Their standard deviation", _PER_PROCESSOR),
    AREA: Measure("Mean of normalised user wait times, 10 at most", _PER_PROCESSOR),
    HIGH: Measure("Users whose normalised wait time is above 10", "1"),
}
"""Measures of each algorithm. `AREA` is the area above the CDF up to 10: it is smaller for steeper
curves."""

SUMMARISED = ("wait", "response", "bounded_slowdown", "nuwt_mean", "nuwt_spread", "users")
"""Numbers in a store's summary that the measures need."""


def by_paper(values: Data) -> Data:
    """Replace policy by algorithm, with the paper's names; `StoreError` for a missing algorithm.

    Examples
    --------
    >>> there = xr.DataArray(range(6), {"policy": list(ALGORITHMS)})
    >>> int(by_paper(there).sel(algorithm="BF-CONS"))
    3
    """
    there: list[str] = values["policy"].values.tolist()
    for policy in ALGORITHMS:
        check_known(policy, "policy", there)
    chosen = values.sel(policy=list(ALGORITHMS)).rename(policy="algorithm")
    return chosen.assign_coords(algorithm=list(ALGORITHMS.values()))


def seeds_of(policies: Iterable[str]) -> dict[str, dict[int, str]]:
    """Return the policies of each search by their seeds, in ascending order.

    Examples
    --------
    >>> seeds_of(["fcfs+tabu,seed=7", "fcfs+tabu", "saf+easy"])
    {'TS': {0: 'fcfs+tabu', 7: 'fcfs+tabu,seed=7'}}
    """
    found: dict[str, dict[int, str]] = {name: {} for name in SEARCHES.values()}
    for policy in policies:
        parts = policy.split(",")
        seeds = [part for part in parts if part.startswith(SEED)]
        search = SEARCHES.get(",".join(part for part in parts if part not in seeds))
        if search is not None:
            found[search][int(seeds[0].removeprefix(SEED)) if seeds else 0] = policy
    return {name: dict(sorted(seeds.items())) for name, seeds in found.items() if seeds}


def by_search(values: Data) -> Data:
    """Replace policy by algorithm and seed of the searches; NaN if a search lacks a seed."""
    searches = seeds_of(values["policy"].values.tolist())
    parts = [
        values.sel(policy=list(seeds.values()))
        .rename(policy="seed")
        .assign_coords(seed=list(seeds))
        for seeds in searches.values()
    ]
    joined: Data = xr.concat(parts, "algorithm", join="outer")
    return joined.assign_coords(algorithm=list(searches))


def measures(of: Numbers, named: Naming = by_paper) -> xr.Dataset:
    """Return `MEASURES`, and the number of ``users``, on (trace, resample, load, algorithm).

    Resample 0 is the log itself. Values are NaN if a cell is not done. The standard deviation is
    that of a population, not of a sample. With `named` = `by_search`, values are those of the
    searches by seed.
    """
    for name in SUMMARISED:
        check_known(name, "metric", sorted(str(v) for v in of.summary))
    found = named(of.summary[list(SUMMARISED)].load())
    # F is the sum of squares, so that F / users is the variance.
    deviation = np.sqrt(found["nuwt_spread"] / found["users"].where(found["users"] > 0))
    found = found.drop_vars("nuwt_spread").assign({SD: deviation})
    parts = {
        AREA: _of_users(of, lambda nuwt: nuwt.clip(max=MOST).mean("user"), named),
        HIGH: _of_users(of, _above, named),
    }
    return found.assign({name: of.transpose(*found["wait"].dims) for name, of in parts.items()})


def nuwt_cdf(of: Numbers) -> xr.DataArray:
    """Return the share of users whose normalised wait time is at most nuwt (figure 2).

    The values are on (trace, resample, load, algorithm, nuwt), with nuwt from 0 to `MOST`. They are
    NaN if a cell is not done or its log has no users.
    """
    return _of_users(of, _shares).transpose("trace", "resample", "load", "algorithm", "nuwt")


def user_groups(of: Numbers) -> dict[str, xr.Dataset]:
    """Return the arrays of each trace whose log has users; `StoreError` if no log has users."""
    groups = {trace: open_trace(of.tree, trace) for trace in of.traces}
    found = {trace: group for trace, group in groups.items() if "user_nuwt" in group}
    if not found:
        raise StoreError(f"no log of the store has users: {', '.join(of.traces)}")
    return found


def compared(users: xr.Dataset) -> xr.DataArray:
    """Return the normalised wait times of a trace's users; NaN for users that are left out."""
    return users["user_nuwt"].where(users["user_jobs"] >= LEAST_JOBS)


def _of_users(
    of: Numbers,
    reduce: Callable[[xr.DataArray], xr.DataArray],
    named: Naming = by_paper,
) -> xr.DataArray:
    parts = {
        trace: reduce(compared(named(group[["user_nuwt", "user_jobs"]].load())))
        for trace, group in user_groups(of).items()
    }
    joined: xr.DataArray = xr.concat(parts.values(), pd.Index(list(parts), name="trace"))
    return joined.reindex(trace=of.traces)


def _above(nuwt: xr.DataArray) -> xr.DataArray:
    counted = (nuwt > MOST).sum("user")
    return counted.where(nuwt.notnull().any("user"))


def _shares(nuwt: xr.DataArray) -> xr.DataArray:
    users = nuwt.notnull().sum("user")
    at_most = [(nuwt <= step).sum("user") for step in STEPS]
    joined: xr.DataArray = xr.concat(at_most, pd.Index(STEPS, name="nuwt"))
    return joined / users.where(users > 0)


RANKS = 5
"""Number of users in the table of longest normalised wait times, per log and algorithm."""


def longest(of: Numbers) -> pd.DataFrame:
    """Return the users of the logs with the longest normalised wait times, by rank from 1.

    These users decide mean and standard deviation: "there are typically several users with very
    high (unfair)" times (section 5.2). Columns are the user's jobs, work (processor s) and nuwt,
    and the mean and standard deviation over the users of higher rank numbers.
    """
    parts = {
        (trace, load, algorithm): _longest(users.sel(load=load, algorithm=algorithm))
        for trace, group in user_groups(of).items()
        for users in [by_paper(of_log(group[["user_nuwt", "user_jobs", "user_work"]]).load())]
        for load in users["load"].values.tolist()
        for algorithm in users["algorithm"].values.tolist()
    }
    return pd.concat(parts, names=[*CELL, "rank"])


def _longest(users: xr.Dataset) -> pd.DataFrame:
    nuwt = compared(users).to_series().dropna()
    # Ties are broken by number, so that the table is reproducible.
    order = nuwt.sort_values(ascending=False, kind="stable").index
    first = min(RANKS, len(order))
    counts = users[["user_jobs", "user_work"]].sel(user=order[:first].to_numpy())
    without = [nuwt[order[i + 1 :]].to_numpy() for i in range(first)]
    rows = {
        "user": order[:first],
        "jobs": counts["user_jobs"].values,
        "work": counts["user_work"].values,
        "nuwt": nuwt[order[:first]].to_numpy(),
        "mean_without": [of.mean() if of.size else np.nan for of in without],
        "sd_without": [of.std() if of.size else np.nan for of in without],
    }
    return pd.DataFrame(rows, index=range(1, first + 1))


LATE, LATENESS = "unfair_share_promise", "unfairness_promise"
"""Names of these numbers in a store's summary."""

DELAYS = ("promised", "late", "late_share", "mean_delay", "median_late", "p90_late", "most_late")
"""Columns of `delays`."""


def delays(of: Numbers) -> pd.DataFrame:
    """Return the number of the logs' jobs that start later than promised, and their delays, s.

    This is the caveat of section 6: "the optimization technique can delay particular jobs with
    respect to their initial reservations". The mean is over all jobs with a promise. The median,
    90th percentile and maximum are over the late jobs, and NaN without late jobs.
    """
    rows = {}
    for trace in of.traces:
        group = open_trace(of.tree, trace)
        check_known("promised", "variable", [str(name) for name in group])
        jobs = by_paper(of_log(group[["promised", "start"]]).load())
        for load in jobs["load"].values.tolist():
            for algorithm in PROMISING:
                cell = jobs.sel(load=load, algorithm=algorithm)
                found = _delays(cell["promised"].values, cell["start"].values)
                rows[trace, str(load), algorithm] = found
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(DELAYS))
    frame.index = pd.MultiIndex.from_tuples(rows, names=CELL)
    return frame.astype({"promised": np.int64, "late": np.int64})


def _delays(promised: Int64, start: Int64) -> list[float]:
    """Return the `DELAYS` of a cell."""
    there = (promised >= 0) & (start >= 0)
    delay = np.maximum(start - promised, 0)[there]
    late = np.sort(delay[delay > 0])
    # A percentile is the least value that this percentage does not exceed, as everywhere in a
    # store.
    ends = [late[-(-p * late.size // 100) - 1] if late.size else np.nan for p in (50, 90, 100)]
    of_all = [late.size / delay.size, delay.mean()] if delay.size else [np.nan, np.nan]
    return [delay.size, late.size, *map(float, (*of_all, *ends))]


def delays_of_samples(of: Numbers) -> pd.DataFrame:
    """Return bands over samples: of the share of late jobs, and of the mean delay of all jobs."""
    for name in (LATE, LATENESS):
        check_known(name, "metric", sorted(str(v) for v in of.summary))
    values = by_paper(of.summary[[LATE, LATENESS]].load()).sel(algorithm=list(PROMISING))
    parts = {name: band_table(values[name], CELL) for name in (LATE, LATENESS)}
    return pd.concat(parts, names=["measure"])


by_seed = partial(measures, named=by_search)
"""Return the measures of the searches by seed."""
