"""Table 1 and figure 2 of Eyraud 2006, the same of samples, and growing shares, from a store.

L. Eyraud, A pragmatic analysis of scheduling environments on new computing platforms, 2006,
section 5.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.eyraud_2006.differences import (
    CELL,
    MEASURES,
    cells,
    differences,
    measured,
    table_1,
)
from schedfarm.analysis.papers.eyraud_2006.figures import (
    bands_chart,
    figure_2,
    histograms,
    shares_chart,
)
from schedfarm.analysis.papers.eyraud_2006.printed import DEMT
from schedfarm.analysis.papers.eyraud_2006.shares import shares_of, shares_table
from schedfarm.analysis.papers.files import Made, open_report
from schedfarm.analysis.papers.spread import BAND, STANDING, span_text, spread, table_text
from schedfarm.analysis.place import StoreName
from schedfarm.analysis.store import check_known, holds_log, holds_samples, of_samples, open_summary
from schedfarm.core.arrays import Float64

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORIGINAL = "original"
"""The load of a window as its log has it."""

SHOWN = ("mean_of_all", "share_identical")
"""Measures in the figure of samples."""


def report(store: StoreName) -> Made:
    """Make every figure and table that a store has the numbers for.

    Parameters
    ----------
    store : str or path
        The store's folder or address: of windows of logs, of samples, or of both.

    Returns
    -------
    Made
        The tables have the figures' numbers, too; the text has table 1, ours and the printed one,
        and what samples say.

    Raises
    ------
    StoreError
        If the store lacks FCFS or the shelves.
    """
    tree = open_report(store)
    check_known(DEMT, "policy", open_summary(tree)["policy"].values.tolist())
    values = measured(tree)
    drawn: dict[str, Figure] = {}
    tables: dict[str, pd.DataFrame] = {}
    if holds_log(values):
        hours = _hours(tree)
        tables |= {"table-1": table_1(values), "figure-2": histograms(hours)}
        drawn |= _figures_2(hours)
    if holds_samples(values):
        tables["samples-table-1"] = _of_samples(values)
        shares = shares_of(store)
        # What is in one figure would be too much in the other.
        single = values.drop_sel(trace=shares.index.tolist())
        if single.sizes["trace"]:
            found = {name: spread(single[name]) for name in SHOWN}
            drawn["samples-table-1"] = bands_chart(found, f"Over samples\n{_span(single)}")
        if len(shares):
            table = tables["samples-shares"] = shares_table(values, shares)
            said = f"Against shares of jobs\n{_span(values)}"
            drawn["samples-shares"] = shares_chart(table, said)
    texts = [table_text(table) for name, table in tables.items() if name != "figure-2"]
    return Made(drawn, tables, "\n\n".join(texts))


def _hours(tree: xr.DataTree) -> dict[tuple[str, str], Float64]:
    """Return the differences that are not 0 of each log and load, under the shelves."""
    return {
        (trace, load): values
        for trace in map(str, open_summary(tree)["trace"].values)
        for (load, policy), values in cells(differences(tree, trace))
        if policy == DEMT
    }


def _figures_2(hours: Mapping[tuple[str, str], Float64]) -> dict[str, Figure]:
    """Draw figure 2 at each load, by name."""
    said = "Figure 2: jobs by their difference of start times\nDotted: quartiles; below: mean"
    drawn = {}
    for load in dict.fromkeys(load for _, load in hours):
        here = {cell: of for cell, of in hours.items() if cell[1] == load}
        titles = {cell: _title(cell, of.size) for cell, of in here.items()}
        name = "figure-2" if load == ORIGINAL else f"figure-2-load-{load}"
        drawn[name] = figure_2(here, titles, said)
    return drawn


def _title(cell: tuple[str, str], jobs: int) -> str:
    trace, load = cell
    where = trace if load == ORIGINAL else f"{trace}, load {load}"
    return f"{where}: {jobs} jobs"


def _span(values: xr.Dataset) -> str:
    counts = spread(values[SHOWN[0]])["samples"].values.ravel()
    return f"Median of the samples, and {span_text(counts)}"


def _of_samples(values: xr.Dataset) -> pd.DataFrame:
    parts = {}
    for name in MEASURES:
        found = spread(values[name]).assign(better=(of_samples(values[name]) > 0).sum("resample"))
        frame = found.to_dataframe(dim_order=list(CELL))
        parts[name] = frame[[*BAND, "better", *STANDING]].assign(units=MEASURES[name].units)
    return pd.concat(parts, names=["measure"])
