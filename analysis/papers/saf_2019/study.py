"""What of a store Carastan-Santos et al. 2019 is about: one load, and the policies they compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd
import xarray as xr

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.papers.needs import Needs
from schedfarm.analysis.papers.saf_2019.printed import POLICIES
from schedfarm.analysis.papers.spread import RULE
from schedfarm.analysis.store import Store, of_log, of_samples, open_summary

THRESHOLD = ",threshold="
"""What the label of a policy with a threshold holds."""


NEEDS = Needs(
    orders=tuple(name.lower() for name in POLICIES), samples=RULE.need, log=True, keep="jobs"
)
"""What a store must have: a policy of each order, bands, and the logs for Tables II and III."""


@dataclass(frozen=True, eq=False)
class Study:
    """One load of a store, and a policy for each of the paper's orders.

    Parameters
    ----------
    store : path or DataTree
        Where the rest is.
    summary : Dataset
        On (trace, resample, policy), with the paper's names of the policies.
    traces : list of str
        Labels.
    load : str
        The load that is looked at: the store's first.
    policies : dict of str to str
        The store's label of each of the paper's policies.
    """

    store: Store
    summary: xr.Dataset
    traces: list[str]
    load: str
    policies: dict[str, str]
    _made: dict[Callable[[Study], pd.DataFrame], pd.DataFrame] = field(default_factory=dict)

    def once(self, make: Callable[[Study], pd.DataFrame]) -> pd.DataFrame:
        """Return a table of the study, which several others take from and none changes."""
        if make not in self._made:
            self._made[make] = make(self)
        return self._made[make]

    @property
    def threshold(self) -> bool:
        """Whether the policies have a threshold."""
        return any(THRESHOLD in label for label in self.policies.values())

    @cached_property
    def samples(self) -> xr.Dataset:
        """The summary without the log itself."""
        return of_samples(self.summary)

    @cached_property
    def log(self) -> xr.Dataset:
        """The summary of the log itself, which Tables II and III are of."""
        return of_log(self.summary)

    def by_paper(self, values: xr.Dataset) -> xr.Dataset:
        """Choose the paper's policies of a dataset, and name them as the paper does."""
        chosen = values.sel(policy=list(self.policies.values()))
        return chosen.assign_coords(policy=list(self.policies))


def studies(store: Store) -> list[Study]:
    """Find the paper's policies in a store: with its threshold, and without where both are there.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    list of Study
        The first is of policies with a threshold where the store has such; FCFS needs none.

    Raises
    ------
    StoreError
        If one of them is missing.
    """
    summary = open_summary(store)
    labels = [str(x) for x in summary["policy"].values]
    chosen = {name: _label(name, labels) for name in POLICIES}
    plain = {name: _without(label) for name, label in chosen.items()}
    sets = (
        [chosen] if plain == chosen or not set(plain.values()) <= set(labels) else [chosen, plain]
    )
    load = str(summary["load"].values[0])
    traces = [str(x) for x in summary["trace"].values]
    at_load = summary.sel(load=load)
    found = (Study(store, summary, traces, load, policies) for policies in sets)
    return [replace(one, summary=one.by_paper(at_load).load(), _made={}) for one in found]


def study(store: Store) -> Study:
    """Return the first of `studies`."""
    return studies(store)[0]


def _label(name: str, labels: list[str]) -> str:
    of_order = [label for label in labels if label.partition("+")[0].upper() == name]
    if not of_order:
        raise StoreError(
            f"the store has no policy of order {name.lower()!r}, which the paper compares; "
            f"it has {', '.join(labels)}"
        )
    return next((label for label in of_order if THRESHOLD in label), of_order[0])


def _without(label: str) -> str:
    policy, *options = label.split(",")
    return ",".join([policy, *(x for x in options if not f",{x}".startswith(THRESHOLD))])
