"""Figures 4 to 6 of Jones and Ligon 2005, what they depend on, and participants, from a store.

W. M. Jones and W. B. Ligon, Ensuring fairness among participating clusters during multi-site
parallel job scheduling, 2005, sections 4 and 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.files import Made, open_report
from schedfarm.analysis.papers.jones_2005.figures import (
    panel_title,
    participants_chart,
    policies_chart,
    sweep_chart,
)
from schedfarm.analysis.papers.jones_2005.names import ALONE, FAIR, ICS
from schedfarm.analysis.papers.jones_2005.participants import (
    against_isolation,
    cells_table,
    participants_table,
)
from schedfarm.analysis.papers.jones_2005.settings import RATE, Sweep, caption, settings, sweeps
from schedfarm.analysis.papers.jones_2005.turnaround import (
    difference_table,
    turnaround,
    turnaround_table,
)
from schedfarm.analysis.papers.spread import span_text, spread, table_text
from schedfarm.analysis.place import StoreName
from schedfarm.analysis.store import check_known, open_summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def report(store: StoreName) -> Made:
    """Make every figure and table that a store has the numbers for.

    Parameters
    ----------
    store : str or path
        The store's folder or address: of the model at several rates or of other parameters, of
        logs that were joined, or of both.

    Returns
    -------
    Made
        Figures of the model are one for each load; the tables have the figures' numbers, too. The
        text has the differences that section 5 speaks of, and what whole cells have.

    Raises
    ------
    StoreError
        If the store lacks one of the paper's schedulers, or samples.
    """
    tree = open_report(store)
    for policy in (ALONE, ICS, FAIR):
        check_known(policy, "policy", open_summary(tree)["policy"].values.tolist())
    traces, values = settings(store), turnaround(tree)
    tables = {
        "turnaround": turnaround_table(values, traces),
        "differences": difference_table(values, traces),
        "participants": participants_table(tree),
        "cells": cells_table(tree),
    }
    drawn = of_the_model(values, traces) | _of_participants(tree, traces)
    nothing = pd.DataFrame(index=pd.Index([], name="trace"))
    said = difference_table(values, nothing), tables["cells"]
    return Made(drawn, tables, "\n\n".join(map(table_text, said)))


def of_the_model(values: xr.DataArray, traces: pd.DataFrame) -> dict[str, Figure]:
    """Draw at each load the paper's figures, one each, and in two more what else was varied.

    Parameters
    ----------
    values : DataArray
        As `analysis.papers.jones_2005.turnaround.turnaround` returns it.
    traces : DataFrame
        As `analysis.papers.jones_2005.settings.settings` returns it.

    Returns
    -------
    dict of str to Figure
        By their names.
    """
    found = spread(values)
    drawn = {}
    for load in found["load"].values:
        at = "" if load == "original" else f"-load-{load}"
        for name, figure in _of_load(found.sel(load=load), traces).items():
            drawn[name + at] = figure
    return drawn


def _of_load(found: xr.Dataset, traces: pd.DataFrame) -> dict[str, Figure]:
    drawn: dict[str, Figure] = {}
    curves = list(sweeps(traces))
    for sweep in curves:
        if sweep.parameter == RATE:
            said = _said(sweep.traces.iloc[0], RATE, found)
            drawn[_free(sweep.name, drawn)] = sweep_chart(found, [sweep], f"{sweep.title}{said}")
    others = [sweep for sweep in curves if sweep.parameter != RATE]
    if others:
        common = traces.loc[_common(others)]
        base = common.iloc[0]
        said = _said(base, RATE, found)
        besides = f"But for what a panel says, and the parameter on its axis:\n{said}"
        drawn["sensitivity"] = sweep_chart(found, others, besides, base)
        if found.sizes["policy"] > len({ALONE, ICS, FAIR}):
            panels: dict[str, xr.Dataset] = {}
            for name, row in common.iterrows():
                panels[f"{name}: {panel_title(row, base)}"] = found.sel(trace=name)
            drawn["policies"] = policies_chart(panels, f"But for what a panel says:\n{said}")
    return drawn


def _free(name: str, taken: Container[str]) -> str:
    """Return a name, numbered where it is taken.

    Examples
    --------
    >>> _free("figure-4", ["figure-4"]), _free("figure-5", ["figure-4"])
    ('figure-4-2', 'figure-5')
    """
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(one for one in names if one not in taken)


def _common(drawn: Sequence[Sweep]) -> list[str]:
    """Return the traces in most of the sweeps: those from which the others differ."""
    times = Counter(str(name) for sweep in drawn for name in sweep.traces.index)
    most = max(times.values())
    return [name for name, count in times.items() if count == most]


def _said(row: pd.Series, without: str, found: xr.Dataset) -> str:
    load = str(found["load"].item())
    at = "" if load == "original" else f"Load {load}. "
    return f"{caption(row, without)}\n{at}{_span(found)}"


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
