"""Rows of the report on Jones and Ligon 2005: figures 4 to 6, other sweeps, and participants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.drawing import HOUR, bar_legend
from schedfarm.analysis.papers import charts
from schedfarm.analysis.papers.jones_2005.printed import (
    ALONE,
    CURVES,
    FAIR,
    FIXED,
    GRID,
    ICS,
    OTHERS,
    Curve,
)
from schedfarm.analysis.papers.jones_2005.settings import (
    PARAMETERS,
    RATE,
    Sweep,
    caption,
    panel_title,
    settings,
    sweeps,
    value_text,
)
from schedfarm.analysis.papers.jones_2005.turnaround import (
    against_isolation,
    cells_table,
    difference_table,
    participants_table,
    turnaround,
    turnaround_table,
)
from schedfarm.analysis.papers.needs import Needs
from schedfarm.analysis.papers.report import Numbers, Paper, Part
from schedfarm.analysis.papers.tables import span_text, spread
from schedfarm.analysis.store import check_known

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CONTROL = "ICS on G, links ignored"

LINES = CURVES | {CONTROL: Curve(ICS + ",links=ignored", GRID)}
"""The paper's lines, and a further line for the effect of overloaded links, which is drawn if the
store has its policy."""

COLORS = {
    "No share on FC": charts.BLACK,
    "ICS on G": charts.VERMILLION,
    "ICS+B on FC": charts.BLUE,
    "ICS+B on OC": charts.ORANGE,
    "ICS+B on G": charts.GREEN,
    CONTROL: charts.PURPLE,
}
"""Colours of the lines."""

GROUPS = {GRID: charts.GREEN, OTHERS: charts.ORANGE, FIXED: charts.BLUE}
"""Colours of groups of jobs; the colours under ICS+B are in `COLORS`."""

POLICIES = (charts.BLUE, charts.VERMILLION, charts.GREEN, charts.PURPLE, charts.SKY)
"""Colours of policies whose bands are side by side; further policies get paler colours."""

PALER = 0.4
"""Share of a colour's distance to white that remains when the colour is used again."""

COLUMNS = 2
"""Number of panels side by side."""

LEGEND_COLUMNS = 3
"""Number of policies in a row of a legend: more names with options do not fit."""

TURNAROUND = "Mean turnaround, h"


def sweep_chart(
    found: xr.Dataset, drawn: Sequence[Sweep], title: str, base: pd.Series | None = None
) -> Figure:
    """Draw the lines of figures 4 to 6 against a rate or another parameter, a panel for each sweep.

    `found` is the spread of the turnaround on (trace, policy, group), s. Titles of panels name the
    differences from `base`, by default the first trace of the first panel.
    """
    base = drawn[0].traces.iloc[0] if base is None else base
    tall = 1.5 if len(drawn) <= COLUMNS else 1
    there = found["policy"].values
    colors = {name: COLORS[name] for name, line in LINES.items() if line.policy in there}
    count = len(drawn)
    with charts.panels(count, COLUMNS, title, y=TURNAROUND, tall=tall) as (figure, places):
        for axes, sweep in zip(places, drawn, strict=True):
            _sweep_panel(axes, found / HOUR, sweep, colors)
            if sweep.parameter != RATE:
                axes.set_title(panel_title(sweep.traces.iloc[0], base, sweep.parameter))
        bar_legend(figure, colors, own=False)
    return figure


def _sweep_panel(axes: Axes, hours: xr.Dataset, sweep: Sweep, colors: Mapping[str, str]) -> None:
    values, names = sweep.traces[sweep.parameter], sweep.traces.index.tolist()
    of = PARAMETERS[sweep.parameter]
    x = values.to_numpy(np.float64) if sweep.parameter == RATE else np.arange(len(values))
    for name, color in colors.items():
        policy, group = LINES[name]
        here = hours[["low", "median", "high"]].sel(trace=names, policy=policy, group=group)
        charts.line(axes, x, here, color)
    if sweep.parameter != RATE:
        axes.set_xticks(x, [value_text(sweep.parameter, value) for value in values])
    axes.set_xlabel(of.label[0].upper() + of.label[1:])
    axes.margins(x=0.03)
    charts.logarithmic(axes)


def policies_chart(found: Mapping[str, xr.Dataset], title: str) -> Figure:
    """Draw the turnaround of each group of jobs under every policy, a panel for each trace.

    `found` has the spread on (policy, group), s, by the title of the panel.
    """
    with charts.panels(len(found), 1, title, y=TURNAROUND, sharex=True) as (figure, places):
        for axes, (name, of) in zip(places, found.items(), strict=True):
            labels = [str(policy).replace(",", "\n") for policy in of["policy"].values]
            hours = of / HOUR
            series = [(hours.sel(group=group), color) for group, color in GROUPS.items()]
            charts.bands(axes, labels, series)
            axes.set_title(name)
            charts.logarithmic(axes)
        bar_legend(figure, GROUPS, own=False)
    return figure


def participants_chart(found: Mapping[str, xr.Dataset], label: str, title: str) -> Figure:
    """Draw a ratio to isolation for each participant and policy, with a panel for each load.

    `found` has the spread on (policy, origin), by the title of the panel.
    """
    first = next(iter(found.values()))
    colors = _colors([str(name) for name in first["policy"].values])
    with charts.panels(len(found), 1, title, y=label) as (figure, places):
        for axes, (name, of) in zip(places, found.items(), strict=True):
            labels = [str(origin) for origin in of["origin"].values]
            series = [(of.sel(policy=policy), color) for policy, color in colors.items()]
            charts.bands(axes, labels, series)
            axes.axhline(1, color=charts.LINE, linewidth=0.8)
            axes.set_title(name)
            charts.logarithmic(axes)
        own = charts.has_log(found.values())
        bar_legend(figure, colors, own=own, columns=LEGEND_COLUMNS)
    return figure


def _colors(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each policy, in order.

    Examples
    --------
    >>> list(_colors("abcdefg").values())[4:]
    ['#56B4E9', '#99C7E0', '#EEBF99']
    """
    from matplotlib.colors import to_hex, to_rgb

    colors = {}
    for i, name in enumerate(names):
        again, at = divmod(i, len(POLICIES))
        red, green, blue = (1 - (1 - part) * PALER**again for part in to_rgb(POLICIES[at]))
        colors[name] = to_hex((red, green, blue)).upper()
    return colors


def draw_model(values: xr.DataArray, traces: pd.DataFrame) -> dict[str, Figure]:
    """Draw the traces of the model at each load: figures for the curves and for other sweeps."""
    found = spread(values)
    drawn = {}
    for load in found["load"].values:
        at = "" if load == "original" else f"-load-{load}"
        for name, figure in _at_load(found.sel(load=load), traces).items():
            drawn[name + at] = figure
    return drawn


def _at_load(found: xr.Dataset, traces: pd.DataFrame) -> dict[str, Figure]:
    drawn: dict[str, Figure] = {}
    every = list(sweeps(traces))
    taken: Counter[str] = Counter()
    for sweep in every:
        if sweep.parameter == RATE:
            taken[sweep.name] += 1
            number = f"-{taken[sweep.name]}" if taken[sweep.name] > 1 else ""
            title = sweep.title + _caption(sweep.traces.iloc[0], found)
            drawn[sweep.name + number] = sweep_chart(found, [sweep], title)
    others = [sweep for sweep in every if sweep.parameter != RATE]
    if others:
        common = traces.loc[_common(others)]
        base = common.iloc[0]
        text = _caption(base, found)
        title = f"Except for the parameter on the axis, and where a panel differs:\n{text}"
        drawn["sensitivity"] = sweep_chart(found, others, title, base)
        if found.sizes["policy"] > len({ALONE, ICS, FAIR}):
            panels: dict[str, xr.Dataset] = {}
            for name, row in common.iterrows():
                panels[f"{name}: {panel_title(row, base)}"] = found.sel(trace=name)
            drawn["policies"] = policies_chart(panels, f"Except where a panel differs:\n{text}")
    return drawn


def _common(drawn: Sequence[Sweep]) -> list[str]:
    """Return the traces in most sweeps, to which the other traces are compared in titles."""
    times = Counter(str(name) for sweep in drawn for name in sweep.traces.index)
    most = max(times.values())
    return [name for name, count in times.items() if count == most]


def _caption(row: pd.Series, found: xr.Dataset) -> str:
    load = str(found["load"].item())
    at = "" if load == "original" else f"Load {load}. "
    return f"{caption(row, RATE)}\n{at}{_span(found)}"


def _span(found: xr.Dataset) -> str:
    return f"Line or dot: median; band: {span_text(found['samples'])}"


def _draw_participants(of: Numbers) -> dict[str, Figure]:
    """Draw the participants of each trace relative to isolation, except for traces of the model."""
    drawn = {}
    for name in of.traces:
        if name not in of.once(settings).index:
            found = spread(against_isolation(of, name))
            panels = {f"Load {load}": found.sel(load=load) for load in found["load"].values}
            label = "Mean turnaround / that in isolation"
            title = f"{name}: each participant against itself alone\n{_span(found)}"
            drawn[f"participants-{name}"] = participants_chart(panels, label, title)
    return drawn


def _differences(of: Numbers) -> pd.DataFrame:
    return difference_table(of.once(turnaround))


def _all(of: Numbers) -> Numbers:
    for policy in (ALONE, ICS, FAIR):
        check_known(policy, "policy", of.summary["policy"].values.tolist())
    return of


PAPER = Paper(
    needs=Needs(policies=(ALONE, ICS, FAIR), samples=4, keep="weeks"),
    parts=(
        Part(
            _all,
            {
                "turnaround": lambda of: turnaround_table(of.once(turnaround), of.once(settings)),
                "differences": lambda of: of.once(_differences).join(of.once(settings), on="trace"),
                "participants": participants_table,
                "cells": cells_table,
            },
            {
                "": lambda of: (
                    draw_model(of.once(turnaround), of.once(settings)) | _draw_participants(of)
                )
            },
            (_differences, cells_table),
        ),
    ),
)
"""The report; a store needs the paper's three schedulers, and bands."""
