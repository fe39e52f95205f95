"""Every figure and table of the evaluation of Sabin and Sadayappan, from a store, by one call.

G. Sabin and P. Sadayappan, Unfairness metrics for space-sharing parallel job schedulers, JSSPP
2005, section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from analysis.papers.sabin_2005.figures import draw_bars
from analysis.papers.sabin_2005.numbers import (
    LOG,
    WIDTHS,
    by_width,
    overall,
    rank_correlations,
    width_counts,
)
from analysis.papers.sabin_2005.samples import report_samples
from analysis.store import Store, known, open_summary

LOADS = ["0.8", "0.95"]
"""Medium and high load, which the paper's figures show."""

TABLE_1 = {
    "CTC-SP2": (2209, 435, 722, 487, 609, 309, 157, 45, 30),
    "SDSC-BLUE": (3, 0, 0, 2489, 653, 569, 616, 396, 277),
}
"""The paper's Table 1: number of jobs by width."""

TABLE_2 = {
    ("CTC-SP2", "strict"): (0.96, 0.97, 0.93, 0.93, 0.95, 0.94, 0.97, 0.96, 0.98, 0.94),
    ("CTC-SP2", "relaxed"): (0.96, 0.95, 0.87, 0.76, 0.85, 0.83, 0.96, 0.97, 0.91, 0.95),
    ("CTC-SP2", "resource"): (0.96, 0.97, 0.89, 0.88, 0.88, 0.91, 0.98, 0.97, 0.95, 0.96),
    ("SDSC-BLUE", "strict"): (0.95, 0.98, 0.97, 0.97, 0.97, 0.96, 0.97, 0.99, 0.94, 0.85),
    ("SDSC-BLUE", "relaxed"): (0.91, 0.96, 0.96, 0.98, 0.97, 0.95, 0.96, 0.98, 0.88, 0.74),
    ("SDSC-BLUE", "resource"): (0.93, 0.98, 0.96, 0.98, 0.97, 0.98, 0.95, 0.97, 0.93, 0.76),
}
"""The paper's Table 2: Spearman's correlation of ten subsets with the whole."""

PAPER = "paper"
"""What the tables call the paper's own numbers."""


def figures_7_8(store: Store) -> tuple[xr.DataArray, str]:
    """Return the numbers and the title of figures 7 and 8: strict, by queue order."""
    return overall(store, "strict"), "Strict fair start (figures 7 and 8)"


def figures_9_10(store: Store) -> tuple[xr.DataArray, str]:
    """Return the numbers and the title of figures 9 and 10: strict, by width, FCFS."""
    return by_width(store, "strict"), "Strict fair start by width, FCFS (figures 9 and 10)"


def figures_11_12(store: Store) -> tuple[xr.DataArray, str]:
    """Return the numbers and the title of figures 11 and 12: relaxed, by queue order."""
    return overall(store, "relaxed"), "Relaxed fair start (figures 11 and 12)"


def figures_13_14(store: Store) -> tuple[xr.DataArray, str]:
    """Return the numbers and the title of figures 13 and 14: relaxed, by width, FCFS."""
    return by_width(store, "relaxed"), "Relaxed fair start by width, FCFS (figures 13 and 14)"


def figures_15_16(store: Store) -> tuple[xr.DataArray, str]:
    """Return the numbers and the title of figures 15 and 16: resource equality."""
    return overall(store, "resource"), "Resource equality (figures 15 and 16)"


def figures_17_18(store: Store) -> tuple[xr.DataArray, str]:
    """Return the numbers and the title of figures 17 and 18: resource equality by width, FCFS."""
    return by_width(store, "resource"), "Resource equality by width, FCFS (figures 17 and 18)"


FIGURES: dict[str, Callable[[Store], tuple[xr.DataArray, str]]] = {
    "figures-07-08-strict": figures_7_8,
    "figures-09-10-strict-by-width": figures_9_10,
    "figures-11-12-relaxed": figures_11_12,
    "figures-13-14-relaxed-by-width": figures_13_14,
    "figures-15-16-resource": figures_15_16,
    "figures-17-18-resource-by-width": figures_17_18,
}
"""Each figure's name, and what gives its numbers; a pair shows the medium and the high load."""


def table_1(store: Store) -> pd.DataFrame:
    """Return Table 1, jobs by width, ours and where the trace is one of its own the paper's.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataFrame
        Indexed by (trace, of), a column a width.
    """
    ours = width_counts(store)
    rows = {(str(trace), "ours"): counts.tolist() for trace, counts in ours.iterrows()}
    rows |= {(trace, PAPER): list(TABLE_1[trace]) for trace in ours.index if trace in TABLE_1}
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(WIDTHS))
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["trace", "of"])
    return frame.sort_index()


def table_2(store: Store) -> pd.DataFrame:
    """Return Table 2, the correlation of each subset's ranking of the simulations with the whole.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataFrame
        Indexed by (division, subset): our three readings of the paper's division, and where
        the trace is one of its own its numbers; a column for each trace and kind.
    """
    ours = rank_correlations(store)
    paper = {key: list(TABLE_2[key]) for key in TABLE_2 if key in ours.columns}
    if not paper:
        return ours
    index = pd.MultiIndex.from_product([[PAPER], range(10)], names=ours.index.names)
    return pd.concat([ours, pd.DataFrame(paper, index=index).reindex(columns=ours.columns)])


TABLES = {"table-1-widths": table_1, "table-2-rank-correlation": table_2}
"""Each table's name, and what gives it."""


def report(store: Path) -> list[Path]:
    """Write every figure and table that a store has the numbers for.

    Parameters
    ----------
    store : Path
        The store's folder: of the log itself, of samples, or of both.

    Returns
    -------
    list of Path
        What was written: figures as PNG in STORE/figures, their numbers and the tables as CSV
        in STORE/tables.

    Raises
    ------
    StoreError
        If the store lacks one of the nine policies, a kind of fairness, or the two loads.
    """
    for name in ("figures", "tables"):
        (store / name).mkdir(exist_ok=True)
    resamples = open_summary(store)["resample"].values
    written = report_samples(store) if np.any(resamples > LOG) else []
    return written + (_report_log(store) if LOG in resamples else [])


def _report_log(store: Path) -> list[Path]:
    loads = open_summary(store)["load"].values.tolist()
    for load in LOADS:
        known(load, "load", loads)
    written = []
    for name, numbers in FIGURES.items():
        values, title = numbers(store)
        written += [store / "figures" / f"{name}.png", store / "tables" / f"{name}.csv"]
        draw_bars(values.sel(load=LOADS), title, written[-2])
        frame = values.to_series().unstack("rule")[values["rule"].values]
        frame.assign(units=values.attrs["units"]).to_csv(written[-1], lineterminator="\n")
    for name, table in TABLES.items():
        written.append(store / "tables" / f"{name}.csv")
        table(store).to_csv(written[-1], lineterminator="\n")
    return written
