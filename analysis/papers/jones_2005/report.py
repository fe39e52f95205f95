"""Figures 4 to 6 of Jones and Ligon 2005, what they depend on, and participants, from a store.

W. M. Jones and W. B. Ligon, Ensuring fairness among participating clusters during multi-site
parallel job scheduling, 2005, sections 4 and 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from analysis.papers.files import open_report, write_all
from analysis.papers.jones_2005.figures import participants_chart, policies_chart, sweep_chart
from analysis.papers.jones_2005.names import ALONE, FAIR, ICS
from analysis.papers.jones_2005.participants import (
    against_isolation,
    cells_table,
    participants_table,
)
from analysis.papers.jones_2005.settings import RATE, Sweep, caption, rate_text, settings, sweeps
from analysis.papers.jones_2005.turnaround import difference_table, turnaround, turnaround_table
from analysis.papers.spread import span_text, spread, table_text
from analysis.place import StoreName
from analysis.store import check_known, open_summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def report(store: StoreName, folder: Path) -> list[Path]:
    """Write every figure and table that a store has the numbers for.

    Parameters
    ----------
    store : str or path
        The store's folder or address: of the model at several rates or of other parameters, of
        logs that were joined, or of both.
    folder : Path
        Where to write to.

    Returns
    -------
    list of Path
        What was written: figures as PNG in FOLDER/figures, their numbers and the tables as CSV
        in FOLDER/tables.

    Raises
    ------
    StoreError
        If the store lacks one of the paper's schedulers, or samples.
    """
    tree = _opened(store)
    traces, values = settings(store), turnaround(tree)
    tables = {
        "turnaround": turnaround_table(values, traces),
        "differences": difference_table(values, traces),
        "participants": participants_table(tree),
        "cells": cells_table(tree),
    }
    drawn = _of_the_model(values, traces) | _of_participants(tree, traces)
    return write_all(folder, drawn, tables)


def text(store: StoreName) -> str:
    """Return for a terminal the differences that section 5 speaks of, and what whole cells have.

    Raises
    ------
    StoreError
        As `report`.
    """
    tree = _opened(store)
    nothing = pd.DataFrame(index=pd.Index([], name="trace"))
    tables = difference_table(turnaround(tree), nothing), cells_table(tree)
    return "\n\n".join(map(table_text, tables))


def _opened(store: StoreName) -> xr.DataTree:
    tree = open_report(store)
    for policy in (ALONE, ICS, FAIR):
        check_known(policy, "policy", open_summary(tree)["policy"].values.tolist())
    return tree


def _of_the_model(values: xr.DataArray, traces: pd.DataFrame) -> dict[str, Figure]:
    """Draw the paper's figures, one each, and in two more what else was varied."""
    found, drawn = spread(values).isel(load=0), {}
    curves = list(sweeps(traces))
    for sweep in curves:
        if sweep.parameter == RATE:
            said = _said(sweep.traces.iloc[0], RATE, found)
            drawn[sweep.name] = sweep_chart(found, [sweep], f"{sweep.title}{said}")
    others = [sweep for sweep in curves if sweep.parameter != RATE]
    if others:
        common = traces.loc[_common(others)]
        said = "But for the parameter on the axis:\n" + _said(common.iloc[0], RATE, found)
        drawn["sensitivity"] = sweep_chart(found, others, said)
        if found.sizes["policy"] > len({ALONE, ICS, FAIR}):
            panels = {rate_text(r): found.sel(trace=n) for n, r in common[RATE].items()}
            drawn["policies"] = policies_chart(panels, _said(common.iloc[0], RATE, found))
    return drawn


def _common(drawn: Sequence[Sweep]) -> list[str]:
    """Return the traces in most of the sweeps: those from which the others differ."""
    times = Counter(str(name) for sweep in drawn for name in sweep.traces.index)
    most = max(times.values())
    return [name for name, count in times.items() if count == most]


def _said(row: pd.Series, without: str, found: xr.Dataset) -> str:
    return f"{caption(row, without)}\n{_span(found)}"


def _span(found: xr.Dataset) -> str:
    return f"Line or dot: median; band: {span_text(found['samples'].values.ravel())}"


def _of_participants(tree: xr.DataTree, traces: pd.DataFrame) -> dict[str, Figure]:
    """Draw for each trace that is not of the model how its participants fare against isolation."""
    drawn = {}
    for name in map(str, open_summary(tree)["trace"].values):
        if name not in traces.index:
            found = spread(against_isolation(tree, name))
            loads = [str(load) for load in found["load"].values]
            panels = {f"Load {load}": found.sel(load=load) for load in loads}
            axis = "Mean turnaround / that in isolation"
            said = f"{name}: each participant against itself alone\n{_span(found)}"
            drawn[f"participants-{name}"] = participants_chart(panels, axis, said)
    return drawn
