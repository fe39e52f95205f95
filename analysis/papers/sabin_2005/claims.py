"""What Sabin and Sadayappan conclude from their figures, each conclusion counted cell by cell.

A cell is a trace at a load under an order, where rules are compared, or under a rule, where orders
are. Its number is a ratio: how many times as unfair the one is as the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.sabin_2005.names import KINDS, REPLANNING, RULES
from schedfarm.analysis.papers.sabin_2005.unfairness import mean_unfairness
from schedfarm.analysis.store import Store
from schedfarm.core.arrays import Float64

ALL_JOBS, WIDE = "all", "> 128"
"""Over which jobs a mean is: all, or those of the widest class of Table 1."""

EVERY = "all"
"""Label of a row over every trace, or under every order or rule."""

_NONE, _AGGRESSIVE, _CONSERVATIVE = RULES.values()

READINGS = (_CONSERVATIVE, REPLANNING)
"""Rules that conservative backfilling may mean: the paper's, and the one beside it."""

ABOVE, EITHER, SOME_BELOW = "above 1", "either side of 1", "below 1 in some"

Means: TypeAlias = dict[tuple[str, str], xr.DataArray]
"""Mean unfairness on (trace, load, order, rule), by kind and by over which jobs it is."""


class Claim(NamedTuple):
    """A row of `CLAIMS`.

    Parameters
    ----------
    kind : str
        Of fairness, a key of `KINDS`.
    one, other : str
        What is compared: two rules or two orders, in the paper's words.
    expects : str
        Where the paper's conclusion has the ratio of the one's unfairness to the other's.
    jobs : str
        Over which jobs the means are.
    under : str
        The one order or rule that the conclusion is about, or `EVERY`.
    against : str
        Another kind of fairness, which is to show less of it: the ratio is then that of the
        ratios.
    """

    kind: str
    one: str
    other: str
    expects: str
    jobs: str = ALL_JOBS
    under: str = EVERY
    against: str = ""

    def __str__(self) -> str:
        """Say what the ratio is of.

        Examples
        --------
        >>> str(Claim("relaxed", "LXF", "FCFS", ABOVE, against="strict"))
        'LXF / FCFS, relaxed / strict'
        """
        parts = [f"{self.one} / {self.other}"]
        parts += [f"{self.jobs} processors"] if self.jobs != ALL_JOBS else []
        parts += [self.under] if self.under != EVERY else []
        parts += [f"{self.kind} / {self.against}"] if self.against else []
        return ", ".join(parts)

    @property
    def axis(self) -> str:
        """What is compared, rules or orders."""
        return "rule" if self.one in RULES.values() else "order"

    @property
    def meets_conservative(self) -> bool:
        """Whether a cell has to do with conservative backfilling."""
        return self.axis == "order" or _CONSERVATIVE in (self.one, self.other)


CLAIMS = (
    # "no-guarantee backfilling is worse than aggressive or conservative backfilling"
    Claim("strict", _NONE, _AGGRESSIVE, ABOVE),
    Claim("strict", _NONE, _CONSERVATIVE, ABOVE),
    # "cases where SJF no-guarantee is better than SJF conservative and SJF aggressive"
    Claim("strict", _NONE, _AGGRESSIVE, SOME_BELOW, under="SJF"),
    Claim("strict", _NONE, _CONSERVATIVE, SOME_BELOW, under="SJF"),
    # "SJF is generally more unfair than FCFS and LXF"
    Claim("strict", "SJF", "FCFS", ABOVE),
    Claim("strict", "SJF", "LXF", ABOVE),
    # "no consistent trends showing LXF or FCFS to be more unfair than the other"
    Claim("strict", "LXF", "FCFS", EITHER),
    # "no conclusive evidence ... between aggressive and conservative backfilling"
    Claim("strict", _AGGRESSIVE, _CONSERVATIVE, EITHER),
    # "wide jobs ... are treated extremely unfairly using a no-guarantee backfilling scheme"
    Claim("strict", _NONE, _AGGRESSIVE, ABOVE, jobs=WIDE),
    Claim("strict", _NONE, _CONSERVATIVE, ABOVE, jobs=WIDE),
    # "a no-guarantee backfilling or a SJF queuing priority are unfair"
    Claim("relaxed", _NONE, _AGGRESSIVE, ABOVE),
    Claim("relaxed", _NONE, _CONSERVATIVE, ABOVE),
    Claim("relaxed", "SJF", "FCFS", ABOVE),
    Claim("relaxed", "SJF", "LXF", ABOVE),
    # "for all simulations ... more clearly shows no-guarantee backfilling to be unfair"
    Claim("relaxed", _NONE, _AGGRESSIVE, ABOVE, against="strict"),
    Claim("relaxed", _NONE, _CONSERVATIVE, ABOVE, against="strict"),
    # "FCFS is either less unfair or extremely close to LXF and conservative backfilling is less
    # unfair than aggressive backfilling", and "a clearer separation" than strict
    Claim("relaxed", "LXF", "FCFS", ABOVE),
    Claim("relaxed", _AGGRESSIVE, _CONSERVATIVE, ABOVE),
    Claim("relaxed", "LXF", "FCFS", ABOVE, against="strict"),
    Claim("relaxed", _AGGRESSIVE, _CONSERVATIVE, ABOVE, against="strict"),
    # "the wide jobs are treated extremely unfairly"
    Claim("relaxed", _NONE, _AGGRESSIVE, ABOVE, jobs=WIDE),
    Claim("relaxed", _NONE, _CONSERVATIVE, ABOVE, jobs=WIDE),
    # "a no-guarantee backfilling scheduling policy is very unfair"
    Claim("resource", _NONE, _AGGRESSIVE, ABOVE),
    Claim("resource", _NONE, _CONSERVATIVE, ABOVE),
    # "does not show any significant distinction between aggressive and conservative"
    Claim("resource", _AGGRESSIVE, _CONSERVATIVE, EITHER),
    # "does not show significant differences between different queuing priority orders"
    Claim("resource", "SJF", "FCFS", EITHER),
    Claim("resource", "SJF", "LXF", EITHER),
    Claim("resource", "LXF", "FCFS", EITHER),
    # "no guarantees treats wide job very unfairly"
    Claim("resource", _NONE, _AGGRESSIVE, ABOVE, jobs=WIDE),
    Claim("resource", _NONE, _CONSERVATIVE, ABOVE, jobs=WIDE),
)
"""The paper's conclusions of section 5, in its order."""

COUNTED = ("cells", "above_1", "median", "least", "most")
"""What is said of the ratios of some cells."""


def claims_in_part(store: Store, by_width: Mapping[str, xr.DataArray]) -> pd.DataFrame:
    """Return what the cells say of each conclusion, over all of them and over parts.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    by_width : mapping of str to DataArray
        `unfairness_by_width` of each kind.

    Returns
    -------
    DataFrame
        Indexed by (kind, claim, expects, conservative, trace, under): with each rule of
        `READINGS` that is there for conservative, where that matters, of each trace and of
        `EVERY`, under each order or rule and under `EVERY`; the number of cells with a ratio, in
        how many it is above 1, and the ratio's median, least and most.

    Raises
    ------
    StoreError
        If the store lacks the log itself, a policy of the paper, or a kind of fairness.
    """
    means = {(kind, ALL_JOBS): mean_unfairness(store, kind) for kind in KINDS}
    means |= {(kind, WIDE): by_width[kind].sel(width=WIDE, drop=True) for kind in KINDS}
    there = means["strict", ALL_JOBS]["rule"].values
    read = {reading: _read(means, reading) for reading in READINGS if reading in there}
    rows = {
        (claim.kind, str(claim), claim.expects, reading, trace, under): found
        for claim in CLAIMS
        for reading, values in read.items()
        if claim.meets_conservative or reading == _CONSERVATIVE
        for trace, under, found in _counted(_ratio(claim, values))
    }
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(COUNTED))
    names = ["kind", "claim", "expects", "conservative", "trace", "under"]
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=names)
    return frame.astype({"cells": np.int64, "above_1": np.int64})


def claims(parts: pd.DataFrame) -> pd.DataFrame:
    """Return what all cells together say of each conclusion.

    Parameters
    ----------
    parts : DataFrame
        From `claims_in_part`.

    Returns
    -------
    DataFrame
        Its rows over every trace and under every order or rule.
    """
    trace, under = (parts.index.get_level_values(name) for name in ("trace", "under"))
    return parts[(trace == EVERY) & (under == EVERY)].droplevel(["trace", "under"])


def _read(means: Means, reading: str) -> Means:
    """Return the means under the paper's three rules, of which the third is as one reads it."""
    chosen = [_NONE, _AGGRESSIVE, reading]
    rules = list(RULES.values())
    return {key: of.sel(rule=chosen).assign_coords(rule=rules) for key, of in means.items()}


def _ratio(claim: Claim, means: Means) -> xr.DataArray:
    """Return the ratios of a claim on trace, load and whatever else the two have in common."""
    values, axis = means[claim.kind, claim.jobs], claim.axis
    if claim.against:
        values = values / means[claim.against, claim.jobs]
    ratio = values.sel({axis: claim.one}, drop=True) / values.sel({axis: claim.other}, drop=True)
    under = next(str(name) for name in ("order", "rule") if name in ratio.dims)
    ratio = ratio.rename({under: "under"}).transpose("trace", "load", "under")
    return ratio if claim.under == EVERY else ratio.sel(under=[claim.under])


def _counted(ratio: xr.DataArray) -> Iterator[tuple[str, str, list[float]]]:
    cells, everywhere = ratio.values, slice(None)
    traces = {EVERY: everywhere} | {str(name): i for i, name in enumerate(ratio["trace"].values)}
    unders = {EVERY: everywhere} | {str(name): i for i, name in enumerate(ratio["under"].values)}
    for (trace, i), (under, j) in product(traces.items(), unders.items()):
        yield trace, under, _summary(cells[i, :, j])


def _summary(cells: Float64) -> list[float]:
    known = cells[~np.isnan(cells)]
    if not known.size:
        return [0, 0, np.nan, np.nan, np.nan]
    above = int(np.count_nonzero(known > 1))
    return [known.size, above, float(np.median(known)), float(known.min()), float(known.max())]
