"""Every figure and table of the evaluation of Sabin and Sadayappan, from a store, by one call.

G. Sabin and P. Sadayappan, Unfairness metrics for space-sharing parallel job schedulers, JSSPP
2005, section 5.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from analysis.papers.files import open_report, write_figure, write_table
from analysis.papers.sabin_2005.figures import FIGURES, bar_chart, bar_table
from analysis.papers.sabin_2005.printed import LOADS
from analysis.papers.sabin_2005.samples import report_samples
from analysis.papers.sabin_2005.tables import TABLES
from analysis.store import LOG, check_known, open_summary


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
    tree = open_report(store)
    resamples = open_summary(tree)["resample"].values
    written = report_samples(tree, store) if np.any(resamples > LOG) else []
    return written + (_report_log(tree, store) if LOG in resamples else [])


def text(store: Path) -> str:
    """Return nothing: the paper prints no numbers of its figures, and tables take long to read."""
    return ""


def _report_log(tree: xr.DataTree, store: Path) -> list[Path]:
    loads = open_summary(tree)["load"].values.tolist()
    for load in LOADS:
        check_known(load, "load", loads)
    written = []
    for name, row in FIGURES.items():
        values = row.numbers(tree, row.kind)
        written += [
            write_figure(store, name, bar_chart(values.sel(load=LOADS), row.title)),
            write_table(store, name, bar_table(values, "rule")),
        ]
    return written + [write_table(store, name, make(tree)) for name, make in TABLES.items()]
