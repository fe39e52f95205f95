"""What Klusacek and Rudova (JSSPP 2012) call the policies of a store, and what they need of one."""

from __future__ import annotations

from typing import TypeVar

import xarray as xr

from analysis.papers.needs import Needs
from analysis.store import check_known

ALGORITHMS = {
    "fcfs+none": "FCFS",
    "fcfs+aggressive": "BF",
    "fcfs+easy": "BF-EASY",
    "fcfs+planned": "BF-CONS",
    "fair-share+aggressive": "BF-FAIR",
    "fcfs+tabu": "TS",
}
"""The paper's algorithms, section 5.1, by their policies."""

FCFS, BF, EASY, CONS, FAIR, TABU = ALGORITHMS.values()

FAIR_WAIT = "BF-FAIR-WAIT"
"""The other reading of BF-FAIR: the paper calls a user's normalised wait time the priority, and
does not say whether a large or a small one goes first."""

BESIDE = {"fair-wait+aggressive": FAIR_WAIT}
"""Policies that stand beside the paper's, where a store has them."""

PROMISING = (CONS, TABU)
"""Those that tell each job at its arrival when it will start."""

READINGS = (FAIR, FAIR_WAIT)
"""What BF-FAIR may mean."""

NEEDS = Needs(policies=tuple(ALGORITHMS), fairness=("promise",), keep="jobs")
"""What a store must have: the paper's six algorithms, and the starts that plans promised."""

Data = TypeVar("Data", xr.Dataset, xr.DataArray)


def by_paper(values: Data) -> Data:
    """Name the policies of a dataset or array as the paper does.

    Returns
    -------
    Dataset or DataArray
        With `algorithm` for `policy`: those of `ALGORITHMS`, before TS those of `BESIDE` that are
        there.

    Raises
    ------
    StoreError
        If one of the paper's is missing.

    Examples
    --------
    >>> there = xr.DataArray(range(6), {"policy": list(ALGORITHMS)})
    >>> int(by_paper(there).sel(algorithm="BF-CONS"))
    3
    """
    there: list[str] = values["policy"].values.tolist()
    for policy in ALGORITHMS:
        check_known(policy, "policy", there)
    *first, last = ALGORITHMS
    labels = [*first, *(policy for policy in BESIDE if policy in there), last]
    known = ALGORITHMS | BESIDE
    chosen = values.sel(policy=labels).rename(policy="algorithm")
    return chosen.assign_coords(algorithm=[known[label] for label in labels])
