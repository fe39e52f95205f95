"""Both figures of Klusacek and Rudova, and what became of their conclusions, from a store.

D. Klusacek and H. Rudova, Performance and fairness for users in parallel job scheduling, JSSPP
2012, section 5.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.files import Made, open_report
from schedfarm.analysis.papers.klusacek_2012.claims import (
    claims,
    claims_in_part,
    claims_over_samples,
)
from schedfarm.analysis.papers.klusacek_2012.figures import (
    Shown,
    cdf_chart,
    response_chart,
    users_chart,
    wait_chart,
)
from schedfarm.analysis.papers.klusacek_2012.measures import (
    AREA,
    HIGH,
    MEASURES,
    SD,
    measures,
    nuwt_cdf,
)
from schedfarm.analysis.papers.klusacek_2012.names import by_search, seeds_of
from schedfarm.analysis.papers.klusacek_2012.promises import delays, delays_of_samples
from schedfarm.analysis.papers.klusacek_2012.seeds import claims_over_seeds, seeds_table
from schedfarm.analysis.papers.klusacek_2012.tail import longest
from schedfarm.analysis.papers.spread import BAND, STANDING, span_text, spread, table_text
from schedfarm.analysis.place import StoreName
from schedfarm.analysis.store import LOG, holds_log, holds_samples, of_log, of_samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELL = ["trace", "load", "algorithm"]
"""What tells one row of a figure's table from another."""

PERFORMANCE, USERS = ("wait", "bounded_slowdown", "response"), ("nuwt_mean", SD, AREA, HIGH)
"""Measures of figure 1 and of figure 2."""

OFF_SCALE = "; FCFS is off the scale"
"""In what is said of a figure that leaves it out, as the paper does."""

SAMPLES = "samples-"
"""Begins the names of what is of samples."""


def report(store: StoreName) -> Made:
    """Make every figure and table that a store has the numbers for.

    Parameters
    ----------
    store : str or path
        The store's folder or address: of the logs themselves, of samples, or of both.

    Returns
    -------
    Made
        The tables have the figures' numbers, too; the text says what became of each conclusion,
        and of the starts that were promised.

    Raises
    ------
    StoreError
        If the store lacks an algorithm of the paper, or the starts that plans promised.
    """
    tree = open_report(store)
    values, shares = measures(tree), nuwt_cdf(tree)
    drawn: dict[str, Figure] = {}
    tables: dict[str, pd.DataFrame] = {}
    said = []
    if holds_log(tree):
        drawn |= _of_logs(values, shares)
        own = _tables_of_logs(tree, values, shares)
        said += [_frame(of_log(values))[["users", *MEASURES]], own["claims"], own["promises"]]
        tables |= own
        searches = seeds_of(tree.to_dataset()["policy"].values.tolist())
        if sum(map(len, searches.values())) > 1:
            searched = _only_log(measures(tree, by_search))
            of_seeds = _tables_of_seeds(searched, _only_log(values))
            said += of_seeds.values()
            tables |= of_seeds
    if holds_samples(tree):
        found = {name: spread(values[name]) for name in MEASURES}
        curves = spread(shares)
        drawn |= _of_samples(found, curves)
        parts = _tables_of_samples(tree, values, found, curves)
        said += [parts["claims"], parts["promises"]]
        tables |= {SAMPLES + name: table for name, table in parts.items()}
    return Made(drawn, tables, "\n\n".join(map(table_text, said)))


def _only_log(values: xr.Dataset) -> xr.Dataset:
    return values.sel(resample=[LOG])


def _frame(values: xr.Dataset) -> pd.DataFrame:
    frame = values.to_dataframe(dim_order=CELL)
    return frame.astype({"users": "Int64"})


def _of_logs(values: xr.Dataset, shares: xr.DataArray) -> dict[str, Figure]:
    own = of_log(values)
    shown = {name: Shown(own[name]) for name in MEASURES}
    return _charts(shown, Shown(of_log(shares)), "", "")


def _of_samples(found: Mapping[str, xr.Dataset], curves: xr.Dataset) -> dict[str, Figure]:
    shown = {name: Shown.of_samples(of) for name, of in found.items()}
    counts = found["wait"]["samples"].values.ravel()
    said = f"\nMedian of the samples, and {span_text(counts)}"
    return _charts(shown, Shown.of_samples(curves), SAMPLES, said)


def _charts(shown: Mapping[str, Shown], shares: Shown, prefix: str, said: str) -> dict[str, Figure]:
    wait, slowdown, response = (shown[name] for name in PERFORMANCE)
    titles = {
        "figure-1-wait": "Figure 1: mean wait; label and area: mean bounded slowdown" + OFF_SCALE,
        "figure-1-response": "Figure 1: mean response time" + OFF_SCALE,
        "figure-2-cdf": "Figure 2: normalised user wait times",
        "figure-2-users": "Figure 2: mean and standard deviation over users" + OFF_SCALE,
    }
    first, second, third, fourth = (title + said for title in titles.values())
    charts = (
        wait_chart(wait, slowdown, first),
        response_chart(response, second),
        cdf_chart(shares, third),
        users_chart(shown["nuwt_mean"], shown[SD], fourth),
    )
    return {prefix + name: chart for name, chart in zip(titles, charts, strict=True)}


def _tables_of_logs(
    tree: xr.DataTree, values: xr.Dataset, shares: xr.DataArray
) -> dict[str, pd.DataFrame]:
    own = _frame(of_log(values))
    curves = of_log(shares).to_dataframe("share", dim_order=[*CELL, "nuwt"])["share"]
    parts = claims_in_part(_only_log(values))
    return {
        "figure-1": own[list(PERFORMANCE)],
        "figure-2-cdf": curves.unstack("algorithm")[shares["algorithm"].values.tolist()],
        "figure-2-users": own[["users", *USERS]],
        "figure-2-longest": longest(tree),
        "claims": claims(parts),
        "claims-in-part": parts.droplevel("resample"),
        "promises": delays(tree),
    }


def _tables_of_seeds(searched: xr.Dataset, values: xr.Dataset) -> dict[str, pd.DataFrame]:
    return {
        "seeds": seeds_table(searched, values),
        "claims-of-seeds": claims(claims_over_seeds(searched, values)),
    }


def _tables_of_samples(
    tree: xr.DataTree,
    values: xr.Dataset,
    found: Mapping[str, xr.Dataset],
    curves: xr.Dataset,
) -> dict[str, pd.DataFrame]:
    bands = {
        name: of.to_dataframe(dim_order=CELL)[[*BAND, *STANDING]].assign(units=MEASURES[name].units)
        for name, of in found.items()
    }
    return {
        "figure-1": pd.concat({name: bands[name] for name in PERFORMANCE}, names=["measure"]),
        "figure-2-cdf": curves.to_dataframe(dim_order=[*CELL, "nuwt"])[[*BAND, *STANDING]],
        "figure-2-users": pd.concat({name: bands[name] for name in USERS}, names=["measure"]),
        "claims": claims(claims_in_part(of_samples(values))),
        "claims-in-part": claims_over_samples(values),
        "promises": delays_of_samples(tree),
    }
