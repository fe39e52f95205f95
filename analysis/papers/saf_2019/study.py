"""What of a store Carastan-Santos et al. 2019 is about: one load, and the policies they compare."""

from __future__ import annotations

from typing import NamedTuple

import xarray as xr

from analysis.errors import StoreError
from analysis.papers.saf_2019.printed import POLICIES
from analysis.store import Store, of_log, of_samples, open_summary


class Study(NamedTuple):
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

    @property
    def samples(self) -> xr.Dataset:
        """The summary without the log itself."""
        return of_samples(self.summary)

    @property
    def log(self) -> xr.Dataset:
        """The summary of the log itself, which Tables II and III are of."""
        return of_log(self.summary)

    def by_paper(self, values: xr.Dataset) -> xr.Dataset:
        """Choose the paper's policies of a dataset, and name them as the paper does."""
        chosen = values.sel(policy=list(self.policies.values()))
        return chosen.assign_coords(policy=list(self.policies))


def study(store: Store) -> Study:
    """Find the paper's policies in a store.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Raises
    ------
    StoreError
        If one of them is missing.
    """
    summary = open_summary(store)
    labels = [str(x) for x in summary["policy"].values]
    by_order = {label.partition("+")[0].upper(): label for label in reversed(labels)}
    missing = [name for name in POLICIES if name not in by_order]
    if missing:
        raise StoreError(
            f"the store has no policy of order {missing[0].lower()!r}, which the paper compares; "
            f"it has {', '.join(labels)}"
        )
    load = str(summary["load"].values[0])
    traces = [str(x) for x in summary["trace"].values]
    chosen = {name: by_order[name] for name in POLICIES}
    found = Study(store, summary, traces, load, chosen)
    return found._replace(summary=found.by_paper(summary.sel(load=load)).load())
