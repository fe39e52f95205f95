"""What Klusacek and Rudova (JSSPP 2012) call the policies of a store, and what they need of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import xarray as xr

from schedfarm.analysis.papers.needs import Needs
from schedfarm.analysis.store import check_known

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

WITHOUT_F = "TS-NO-F"
"""TS whose search does not weigh the fairness of users."""

SEARCHES = {"fcfs+tabu": TABU, "fcfs+tabu,weights=1:1:1:0": WITHOUT_F}
"""Policies that search a plan; under each of them a store may have several seeds."""

SEED = "seed="
"""Begins the option of a policy that says the seed of its draws; by default that is 0."""

PROMISING = (CONS, TABU)
"""Those that tell each job at its arrival when it will start."""

NEEDS = Needs(policies=tuple(ALGORITHMS), fairness=("promise",), keep="jobs")
"""What a store must have: the paper's six algorithms, and the starts that plans promised."""

Data = TypeVar("Data", xr.Dataset, xr.DataArray)


def by_paper(values: Data) -> Data:
    """Name the policies of a dataset or array as the paper does.

    Returns
    -------
    Dataset or DataArray
        With `algorithm` for `policy`: those of `ALGORITHMS`.

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
    chosen = values.sel(policy=list(ALGORITHMS)).rename(policy="algorithm")
    return chosen.assign_coords(algorithm=list(ALGORITHMS.values()))


def seeds_of(policies: Iterable[str]) -> dict[str, dict[int, str]]:
    """Return the policies of each search by their seeds, ascending.

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
    """Sort the policies that search by what they search for and by their seeds.

    Returns
    -------
    Dataset or DataArray
        With `algorithm` and `seed` for `policy`; NaN where an algorithm lacks a seed that another
        has.
    """
    searches = seeds_of(values["policy"].values.tolist())
    parts = [
        values.sel(policy=list(seeds.values()))
        .rename(policy="seed")
        .assign_coords(seed=list(seeds))
        for seeds in searches.values()
    ]
    joined: Data = xr.concat(parts, "algorithm", join="outer")
    return joined.assign_coords(algorithm=list(searches))
