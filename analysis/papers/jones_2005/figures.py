"""Turnaround against a rate or another parameter, of policies, and of participants, as bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from schedfarm.analysis.drawing import (
    FILL,
    HOUR,
    STYLE,
    band_marks,
    bar_legend,
    canvas,
    thin_spaced,
)
from schedfarm.analysis.papers.jones_2005.names import CONTROL, CURVES, FIXED, GRID, OTHERS, Curve
from schedfarm.analysis.papers.jones_2005.settings import (
    PARAMETERS,
    RATE,
    Sweep,
    differences_text,
    rate_text,
    value_text,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL, MARGIN = 2.6, 1.3
"""Height of a row of panels, and of title and legend together, inches."""

COLUMNS = 2
"""Panels side by side."""

LEGEND_COLUMNS = 3
"""Policies side by side in a legend: no more of those with options fit into the width."""

GROUPS = {GRID: "#009E73", OTHERS: "#E69F00", FIXED: "#0072B2"}
"""Colours of groups of jobs, those of ICS+B in `CURVES`."""

POLICIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")
"""Colours of policies where bands of several stand side by side; further ones have them paler."""

PALER = 0.4
"""How much of a colour's distance to white is left when it is taken again."""


def sweep_chart(
    found: xr.Dataset, drawn: Sequence[Sweep], said: str, base: pd.Series | None = None
) -> Figure:
    """Draw the lines of figures 4 to 6 against a rate, or another parameter, a panel for each.

    Parameters
    ----------
    found : Dataset
        What `analysis.papers.spread.spread` gives of the turnaround, on (trace, policy, group), s.
    drawn : sequence of Sweep
        The panels.
    said : str
        The title.
    base : Series, optional
        The trace that the title speaks of: panels of parameters say what theirs set otherwise. By
        default the first of the first panel.

    Returns
    -------
    Figure
        Of matplotlib's object-oriented interface, to be written by `analysis.drawing.save`.
    """
    from matplotlib import style

    base = drawn[0].traces.iloc[0] if base is None else base
    rows = -(-len(drawn) // COLUMNS)
    with style.context(STYLE):
        figure = canvas(9.0, PANEL * max(rows, 1.5 if rows == 1 else rows) + MARGIN)
        places = figure.subplots(rows, min(COLUMNS, len(drawn)), squeeze=False).ravel().tolist()
        for axes, sweep in zip(places, drawn, strict=False):
            _panel(axes, found, sweep)
            if sweep.parameter != RATE:
                axes.set_title(panel_title(sweep.traces.iloc[0], base, sweep.parameter))
        for axes in places[len(drawn) :]:
            axes.set_axis_off()
        figure.suptitle(said, x=0.01, ha="left")
        figure.supylabel("Mean turnaround, h", fontsize=9)
        bar_legend(figure, {name: curve.color for name, curve in _lines(found).items()}, own=False)
    return figure


def _lines(found: xr.Dataset) -> dict[str, Curve]:
    there = found["policy"].values
    return CURVES | {name: curve for name, curve in CONTROL.items() if curve.policy in there}


def _panel(axes: Axes, found: xr.Dataset, sweep: Sweep) -> None:
    values, names = sweep.traces[sweep.parameter], sweep.traces.index.tolist()
    of = PARAMETERS[sweep.parameter]
    x = values.to_numpy(np.float64) if sweep.parameter == RATE else np.arange(len(values))
    for curve in _lines(found).values():
        here = found.sel(trace=names, policy=curve.policy, group=curve.group) / HOUR
        axes.fill_between(x, here["low"], here["high"], color=curve.color, alpha=FILL)
        axes.plot(x, here["median"], color=curve.color, marker="o", markersize=3.5)
    if sweep.parameter != RATE:
        axes.set_xticks(x, [value_text(sweep.parameter, value) for value in values])
    meaning = of.meaning[0].upper() + of.meaning[1:]
    axes.set_xlabel(meaning + (f", {of.units}" if of.units != "1" else ""))
    axes.margins(x=0.03)
    _hours(axes)


def panel_title(row: pd.Series, base: pd.Series, without: str = "") -> str:
    """Say at which rate a panel's traces are, and what else they set otherwise than `base`.

    Parameters
    ----------
    row, base, without
        As for `analysis.papers.jones_2005.settings.differences_text`.
    """
    return "\n".join(filter(None, [rate_text(row), differences_text(row, base, without)]))


def _hours(axes: Axes) -> None:
    """Make an axis of times logarithmic, if it has any: near saturation they grow a hundredfold."""
    if not np.isfinite(axes.dataLim.intervaly).all():
        return
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(thin_spaced)
    axes.yaxis.set_minor_formatter(_some)


def _some(x: float, _: object = None) -> str:
    """Write 2, 3 and 5 times a power of ten, and nothing of the others.

    Examples
    --------
    >>> [_some(x) for x in (0.2, 4.0, 50.0)]
    ['0.2', '', '50']
    """
    return thin_spaced(round(x, 9)) if f"{x:.0e}"[0] in "235" else ""


def policies_chart(found: Mapping[str, xr.Dataset], said: str) -> Figure:
    """Draw the turnaround of each group of jobs under every policy, a panel for each trace.

    Parameters
    ----------
    found : mapping of str to Dataset
        By the title of the panel, what `analysis.papers.spread.spread` gives on (policy, group), s.
    said : str
        The title.

    Returns
    -------
    Figure
        As `sweep_chart`.
    """
    from matplotlib import style

    with style.context(STYLE):
        figure = canvas(9.0, PANEL * len(found) + MARGIN + 0.6)
        places = figure.subplots(len(found), 1, squeeze=False, sharex=True).ravel().tolist()
        for axes, (title, of) in zip(places, found.items(), strict=True):
            of_group = {name: (of.sel(group=name) / HOUR, color) for name, color in GROUPS.items()}
            _side_by_side(axes, of_group, [_broken(str(name)) for name in of["policy"].values])
            axes.set_title(title)
            _hours(axes)
        figure.suptitle(said, x=0.01, ha="left")
        figure.supylabel("Mean turnaround, h", fontsize=9)
        bar_legend(figure, GROUPS, own=False)
    return figure


def _broken(policy: str) -> str:
    """Put the options of a policy on lines of their own.

    Examples
    --------
    >>> _broken("fcfs+ics,to=first").splitlines()
    ['fcfs+ics', 'to=first']
    """
    return policy.replace(",", "\n")


def participants_chart(found: Mapping[str, xr.Dataset], axis: str, said: str) -> Figure:
    """Draw a number of each participant under several policies, a panel for each load.

    Parameters
    ----------
    found : mapping of str to Dataset
        By the title of the panel, what `analysis.papers.spread.spread` gives on (policy, origin).
    axis : str
        What the number is; 1 is as in isolation.
    said : str
        The title.

    Returns
    -------
    Figure
        As `sweep_chart`.
    """
    from matplotlib import style

    first = next(iter(found.values()))
    colors = _colors([str(name) for name in first["policy"].values])
    own = any(bool(of["log"].notnull().any()) for of in found.values())
    with style.context(STYLE):
        figure = canvas(9.0, PANEL * len(found) + MARGIN)
        places = figure.subplots(len(found), 1, squeeze=False).ravel().tolist()
        for axes, (title, of) in zip(places, found.items(), strict=True):
            of_policy = {name: (of.sel(policy=name), color) for name, color in colors.items()}
            _side_by_side(axes, of_policy, [str(name) for name in of["origin"].values])
            axes.axhline(1, color="#888888", linewidth=0.8)
            axes.set_title(title)
            _hours(axes)
        figure.suptitle(said, x=0.01, ha="left")
        figure.supylabel(axis, fontsize=9)
        bar_legend(figure, colors, own=own, columns=LEGEND_COLUMNS)
    return figure


def _colors(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each policy, in their order.

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


def _side_by_side(
    axes: Axes, lines: Mapping[str, tuple[xr.Dataset, str]], labels: Sequence[str]
) -> None:
    """Draw bands, those of one label side by side."""
    room = 0.7 / max(1, len(lines))
    for i, (of, color) in enumerate(lines.values()):
        x = np.arange(len(labels)) + (i - (len(lines) - 1) / 2) * room
        band_marks(axes, x, of, color)
    axes.set_xticks(range(len(labels)), labels)
    axes.set_xlim(-0.6, len(labels) - 0.4)
    axes.grid(visible=False, axis="x")
