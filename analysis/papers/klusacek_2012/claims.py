"""What Klusacek and Rudova conclude (JSSPP 2012, section 5.2), each conclusion counted log by log.

A cell is a log or a sample, at a load, and one algorithm that another is compared with. Its number
is a ratio: how many times as large the measure is under the one as under the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.klusacek_2012.measures import AREA, HIGH, SD
from schedfarm.analysis.papers.klusacek_2012.names import BF, CONS, EASY, FAIR, FCFS, TABU
from schedfarm.analysis.papers.spread import BAND, STANDING, spread
from schedfarm.analysis.store import of_samples

BACKFILLING = (BF, EASY, CONS)
"""What the paper calls the other backfilling algorithms."""

ABOVE, BELOW = "above 1", "below 1"

ALL, MOST, OFTEN, ONCE = "all", "most", "often", "there"
"""In how many cells the paper says so."""

EVERY = "all"
"""Of a claim about whatever log."""

PERFORMANCE = ("wait", "response", "bounded_slowdown")

FAIRNESS = ("nuwt_mean", SD, AREA)
"""Of the last the paper says that a curve is steeper."""


class Claim(NamedTuple):
    """A row of `CLAIMS`.

    Parameters
    ----------
    measure : str
        A key of `measures.MEASURES`.
    one : str
        An algorithm.
    others : tuple of str
        Those that it is compared with, each a cell.
    expects : str
        Where the paper's conclusion has the ratio of the one to the other.
    extent : str
        In how many cells.
    trace : str
        The one log that the conclusion is about, or `EVERY`.
    """

    measure: str
    one: str
    others: tuple[str, ...]
    expects: str
    extent: str
    trace: str = EVERY

    def __str__(self) -> str:
        """Say what is compared.

        Examples
        --------
        >>> str(Claim("wait", "BF-FAIR", ("BF", "BF-EASY"), ABOVE, ONCE, trace="SDSC-SP2"))
        'BF-FAIR / BF, BF-EASY on SDSC-SP2'
        """
        where = "" if self.trace == EVERY else f" on {self.trace}"
        return f"{self.one} / {', '.join(self.others)}{where}"

    def of(self, algorithm: str, instead: str) -> Claim:
        """Return the claim with one algorithm in the place of another.

        Examples
        --------
        >>> str(Claim("wait", "TS", ("BF", "BF-FAIR"), BELOW, ALL).of("TS-NO-F", instead="TS"))
        'TS-NO-F / BF, BF-FAIR'
        """
        names = (self.one, *self.others)
        one, *others = (algorithm if name == instead else name for name in names)
        return self._replace(one=one, others=tuple(others))


CLAIMS = (
    # "In all experiments FCFS performed very bad ... off-scale high"; "Especially FCFS is truly
    # unfair for users as can be seen in the CDFs"
    *(Claim(m, FCFS, (*BACKFILLING, FAIR, TABU), ABOVE, ALL) for m in (*PERFORMANCE, *FAIRNESS)),
    # "original Conservative backfilling does not work very well ... as both BF-EASY or BF produce
    # better results in most cases"
    Claim("wait", CONS, (BF, EASY), ABOVE, MOST),
    Claim("response", CONS, (BF, EASY), ABOVE, MOST),
    # "the slowdown ... is often slightly better for BF-CONS"
    Claim("bounded_slowdown", CONS, (BF, EASY), BELOW, OFTEN),
    # "BF-FAIR is also competitive"
    *(Claim(m, FAIR, BACKFILLING, BELOW, OFTEN) for m in PERFORMANCE),
    # "in case of SDSC SP2 it does not perform very well with respect to the avg. wait time"
    Claim("wait", FAIR, BACKFILLING, ABOVE, ONCE, trace="SDSC-SP2"),
    # "TS produces the best wait times, response times and slowdowns in all six cases"
    *(Claim(m, TABU, (FCFS, *BACKFILLING, FAIR), BELOW, ALL) for m in PERFORMANCE),
    # "TS significantly improves the otherwise relatively weak performance"
    *(Claim(m, TABU, (CONS,), BELOW, ALL) for m in PERFORMANCE),
    # "In most situations BF-FAIR generates better, i.e., steeper CDFs ... as well as better, i.e.,
    # lower mean values and standard deviations than FCFS or other backfilling algorithms"
    *(Claim(m, FAIR, (FCFS, *BACKFILLING), BELOW, MOST) for m in FAIRNESS),
    # "BF, BF-EASY and BF-CONS produce worse results than BF-FAIR or TS in most cases"
    *(Claim(m, TABU, (FCFS, *BACKFILLING), BELOW, MOST) for m in FAIRNESS),
    # "there are typically several users with very high (unfair) NUWT when BF, BF-EASY or BF-CONS is
    # used", as a reason for their means to be larger
    *(Claim(HIGH, one, BACKFILLING, BELOW, MOST) for one in (FAIR, TABU)),
    # "TS can guarantee fairness on the same or even higher level as BF-FAIR algorithm does"
    *(Claim(m, TABU, (FAIR,), BELOW, MOST) for m in FAIRNESS),
)

NAMES = ("claim", "measure", "expects", "extent")
"""What tells one row of a table of claims from another."""

WORKLOAD = ("trace", "resample", "load")
"""What tells one log, or one sample, from another."""

OTHER = "other"
"""The algorithm that a cell compares with, in an index."""

COUNTED = ("cells", "as_expected", "workloads", "wholly", "median", "least", "most")
"""What is said of the ratios of some cells."""


def claims_in_part(values: xr.Dataset, of: Iterable[Claim] = CLAIMS) -> pd.DataFrame:
    """Return the ratio of each cell of each conclusion.

    Parameters
    ----------
    values : Dataset
        From `measures.measures`, of logs, of samples or of both.
    of : iterable of Claim
        The conclusions.

    Returns
    -------
    DataFrame
        Indexed by `NAMES`, `WORKLOAD` and the ``other`` algorithm; ``ratio``, NaN where it has
        none, and ``as_expected``. A conclusion on a single log is there where the store has that.
    """
    parts = {}
    for key, claim, ratio in _ratios(values, of):
        frame = ratio.to_dataframe("ratio", dim_order=[*WORKLOAD, OTHER])[["ratio"]]
        parts[key] = frame.assign(as_expected=_as_expected(claim, frame["ratio"]))
    return pd.concat(parts, names=list(NAMES))


def claims(parts: pd.DataFrame) -> pd.DataFrame:
    """Return what all cells together say of each conclusion.

    Parameters
    ----------
    parts : DataFrame
        From `claims_in_part`, or several of them under one more level of the index.

    Returns
    -------
    DataFrame
        Indexed by `NAMES`: how many ``cells`` have a ratio, and in how many it is
        ``as_expected``; how many ``workloads`` (logs or samples, at a load, and what else is in the
        index) there are, and how many of these are so ``wholly``, against each of the others;
        median, least and most of the ratios.

    Examples
    --------
    >>> where = [("TS / BF, BF-EASY", "wait", BELOW, ALL, "KTH-SP2", 0, "original", other)
    ...          for other in ("BF", "BF-EASY")]
    >>> index = pd.MultiIndex.from_tuples(where, names=[*NAMES, *WORKLOAD, "other"])
    >>> parts = pd.DataFrame({"ratio": [0.5, 1.5], "as_expected": [True, False]}, index)
    >>> claims(parts).iloc[0].tolist()
    [2.0, 1.0, 1.0, 0.0, 1.0, 0.5, 1.5]
    """
    known = parts[parts["ratio"].notna()]
    cells = known.groupby(level=list(NAMES), sort=False)
    whole = [level for level in parts.index.names if level != OTHER]
    each = known["as_expected"].groupby(level=whole, sort=False).all()
    workloads = each.groupby(level=list(NAMES), sort=False)
    ratio = cells["ratio"]
    found = {
        "cells": cells.size(),
        "as_expected": cells["as_expected"].sum(),
        "workloads": workloads.size(),
        "wholly": workloads.sum(),
        "median": ratio.median(),
        "least": ratio.min(),
        "most": ratio.max(),
    }
    return pd.DataFrame(found)[list(COUNTED)]


def claims_over_samples(values: xr.Dataset) -> pd.DataFrame:
    """Return the bands of the ratios over samples, each sample compared with itself alone.

    Parameters
    ----------
    values : Dataset
        From `measures.measures`, with samples.

    Returns
    -------
    DataFrame
        Indexed by `NAMES`, trace, load and ``other``: the ratio's `BAND` over the samples,
        `STANDING`, and in ``as_expected`` in how many samples it is as the paper says.

    Raises
    ------
    StoreError
        If there are no samples.
    """
    parts = {}
    for key, claim, ratio in _ratios(values, CLAIMS):
        expected = _as_expected(claim, of_samples(ratio)).sum("resample")
        found = spread(ratio.where(np.isfinite(ratio))).assign(as_expected=expected)
        frame = found.to_dataframe(dim_order=["trace", "load", OTHER])
        parts[key] = frame[[*BAND, *STANDING, "as_expected"]]
    return pd.concat(parts, names=list(NAMES))


def _ratios(
    values: xr.Dataset, of: Iterable[Claim]
) -> Iterator[tuple[tuple[str, ...], Claim, xr.DataArray]]:
    for claim in of:
        if claim.trace in (EVERY, *values["trace"].values.tolist()):
            key = (str(claim), claim.measure, claim.expects, claim.extent)
            yield key, claim, _ratio(claim, values[claim.measure])


def _ratio(claim: Claim, values: xr.DataArray) -> xr.DataArray:
    if claim.trace != EVERY:
        values = values.sel(trace=[claim.trace])
    others = values.sel(algorithm=list(claim.others)).rename(algorithm=OTHER)
    return values.sel(algorithm=claim.one, drop=True) / others


def _as_expected(claim: Claim, ratio: Any) -> Any:
    return ratio > 1 if claim.expects == ABOVE else ratio < 1
