"""Figures of the summary of a store: heat maps and load curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from schedfarm.analysis.axes import axis_named, lines_along
from schedfarm.analysis.drawing import (
    EDGE,
    EDGE_WIDTH,
    FILL,
    name_panel,
    own_marks,
    point_styles,
    shown_policies,
    thin_spaced,
)
from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.plots.axes import curves_legend, log_axis, magnitudes, panel_rows
from schedfarm.analysis.plots.series import over_loads
from schedfarm.analysis.plots.subject import Subject
from schedfarm.analysis.unfinished import no_values
from schedfarm.core.checks import is_number
from schedfarm.core.numerals import counted, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 20.0
"""Least ratio of the largest to the smallest value for a logarithmic scale."""

LEAST_GAP = 0.07
"""Least distance between two ticks, as a share of the axis."""

METRIC = "bounded_slowdown"
"""Default metric of the figures."""


def heat_map(figure: Figure, subject: Subject) -> list[str]:
    """Draw a metric by load and policy as colours with numbers, with a panel for each trace.

    With only one load, the columns are the traces.
    """
    from matplotlib.colors import LogNorm, Normalize

    found = _found(subject)
    values = found["middle"]
    drawn = values.values[np.isfinite(values.values)]
    least, most = float(drawn.min()), float(drawn.max())
    norm = LogNorm(least, most) if least > 0 and most / least > WIDE else Normalize(least, most)
    across = "load" if found.sizes["load"] > 1 else "trace"
    panels = (
        [values.sel(trace=one) for one in found["trace"].values]
        if across == "load"
        else [values.isel(load=0)]
    )
    rows = panel_rows(figure, len(panels), sharey=True)
    axes = [one for row in rows for one in row]
    for place, one in zip(axes, panels, strict=True):
        image = _cells(place, one.transpose("policy", across), norm, len(rows[0]))
        if across == "load":
            name_panel(place, str(one["trace"].values))
        place.set_xlabel("Offered load" if across == "load" else "Trace")
    bar = figure.colorbar(image, ax=list(axes), label=_label(found), pad=0.02)
    bar.ax.yaxis.set_major_formatter(thin_spaced)
    bar.ax.minorticks_off()
    said = _samples(found)
    if "description" in found.attrs:
        said = [f"Middle of: {found.attrs['description']}."]
    return said


def _cells(axes: Axes, values: xr.DataArray, norm: Any, panels: int) -> Any:
    """Draw the cells of a panel, each with its number; panels: number of panels in the row."""
    rows, columns = values.shape
    image = axes.imshow(values.values, cmap=magnitudes(), norm=norm, aspect="auto")
    axes.set_xticks(range(columns), [str(x) for x in values[values.dims[1]].values])
    axes.set_yticks(range(rows), shown_policies(values["policy"].values))
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    figure: Any = axes.figure
    size = min(7.0, 0.45 * 72 * figure.get_figwidth() / (columns * panels * 3))
    for row in range(rows):
        for column in range(columns):
            value = float(values[row, column])
            if np.isfinite(value):
                dark = norm(value) > 0.55
                axes.text(
                    column, row, significant(float(f"{value:.3g}")),
                    ha="center", va="center", fontsize=size, color="white" if dark else "black",
                )  # fmt: skip
    return image


def load_curves(figure: Figure, subject: Subject) -> list[str]:
    """Draw a metric over the offered load with bands, and a panel for each trace."""
    found = _found(subject)
    if found.sizes["load"] < 2:
        raise StoreError(
            f"the store has one load, {found['load'].values[0]}; load curves need at least two, "
            "such as loads = [0.7, 0.9] in its campaign"
        )
    traces = found["trace"].values.tolist()
    styles = point_styles([str(policy) for policy in found["policy"].values])
    rows = panel_rows(figure, len(traces))
    panels = [one for row in rows for one in row]
    for axes, trace in zip(panels, traces, strict=True):
        at = found.sel(trace=trace)
        order = np.argsort(at["x"].values)
        at = at.isel(load=order)
        x = at["x"].values
        _curves(axes, x, {policy: at.sel(policy=policy) for policy in styles}, styles)
        near = np.diff(x, prepend=-np.inf) < LEAST_GAP * np.ptp(x)
        axes.set_xticks(x[~near], [f"{value:.3g}" for value in x[~near]])
        name_panel(axes, trace)
        axes.set_xlabel("Offered load")
    for row in rows:
        row[0].set_ylabel(_label(found))
    curves_legend(figure, styles)
    return _notes(found)


def axis_curves(figure: Figure, subject: Subject) -> list[str]:
    """Draw a metric over the values of an axis with bands, and a panel for each trace and load."""
    found = _found(subject)
    assert subject.store is not None, "the figure's row says what it needs"
    axis = axis_named(subject.store, subject.axis)
    values, lines = lines_along(subject.store, axis, found)
    if len(values) < 2:
        raise StoreError(f"axis {axis!r} has only one value here; a curve needs at least two")
    numbers = all(is_number(one) for one in values)
    x = np.array(values if numbers else range(len(values)), np.float64)
    panels: dict[str, dict[str, xr.Dataset]] = {}
    for (trace, policy), line in lines.items():
        for load in found["load"].values.tolist():
            title = trace if found.sizes["load"] == 1 else f"{trace}, load {load}"
            panels.setdefault(title, {})[policy] = line.sel(load=load)
    styles = point_styles(list(dict.fromkeys(policy for _, policy in lines)))
    rows = panel_rows(figure, len(panels))
    places = [one for row in rows for one in row]
    for axes, (title, curves) in zip(places, panels.items(), strict=True):
        _curves(axes, x, curves, styles)
        axes.set_xticks(x, [str(one) for one in values])
        name_panel(axes, title)
        axes.set_xlabel(axis)
    for row in rows:
        row[0].set_ylabel(_label(found))
    curves_legend(figure, styles)
    return _notes(found)


def _curves(
    axes: Axes, x: Any, curves: Mapping[str, xr.Dataset], styles: Mapping[str, Mapping[str, Any]]
) -> None:
    """Draw the bands of each policy over positions, and the values of the log."""
    for policy, at in curves.items():
        look = styles[policy]
        low, middle, high = (at[name].values for name in ("low", "middle", "high"))
        axes.fill_between(x, low, high, color=look["color"], alpha=FILL, linewidth=0)
        for edge in (low, high):
            axes.plot(x, edge, **{**look, "marker": ""}, alpha=EDGE, linewidth=EDGE_WIDTH)
        axes.plot(x, middle, **look)
        if "log" in at:
            mark = {"markersize": 3.0, "markeredgecolor": look["color"]}
            own_marks(axes, x, at["log"].values, **mark)
    drawn = np.concatenate([at["middle"].values for at in curves.values()])
    drawn = drawn[np.isfinite(drawn)]
    if drawn.size and drawn.min() > 0 and drawn.max() / drawn.min() > WIDE:
        log_axis(axes, "y")
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(thin_spaced)
    axes.margins(x=0.03)


def _notes(found: xr.Dataset) -> list[str]:
    return [*_samples(found), *(["Diamonds: the log itself."] if "log" in found else [])]


def _found(subject: Subject) -> xr.Dataset:
    assert subject.store is not None, "the figure's row says what it needs"
    found = over_loads(subject.store, subject.metric or METRIC, **subject.where)
    if not bool(found["middle"].notnull().any()):
        raise no_values(subject.store, found.attrs["metric"], **subject.where)
    return found


def _label(found: xr.Dataset) -> str:
    name, unit = str(found.attrs["long_name"]), found.attrs["units"]
    return name[:1].upper() + name[1:] + ("" if unit == "1" else f" ({unit})")


def _samples(found: xr.Dataset) -> list[str]:
    """Return a sentence about the samples behind the numbers."""
    if said := str(found.attrs.get("description", "")):
        return [f"{said[:1].upper()}{said[1:]}."]
    return [f"{counted(int(found['n'].max()), 'sample')}: too few for a band."]
