"""Figures: what a store's bands look like, one function each. Nothing here needs a display."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from analysis.band_rule import BandRule, band_rule
from analysis.bands import weekly_bands
from analysis.drawing import (
    STYLE,
    band_panel,
    canvas,
    checked_path,
    policy_legend,
    policy_styles,
    save,
)
from analysis.errors import StoreError
from analysis.store import Store, check_known, open_summary
from analysis.tables import axis_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 3
"""At most so many panels side by side when there is one load."""

NARROWEST, PANEL, MARGIN = 2.1, 2.3, 1.45
"""Least width of a panel, height of a row, and of title and legend together, inches."""

LAST_WEEK = "Not drawn: jobs that ended after the week of the last submission"
"""What a reader must know of the end of a line (docs/store-format.md)."""


def weekly_bands_figure(
    store: Store,
    metric: str = "bounded_slowdown",
    load: str | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    kind: str = "trimmed",
    log: bool = False,
) -> Figure:
    """Draw each policy's band over the weeks, a panel for each trace and load.

    The figure 1 of Carastan-Santos et al. 2019: the cumulative mean over the jobs ended up to
    each week; a solid line for the samples' mean, a filled band with dashed edges from their
    lowest to their highest, as `weekly_bands` gives them. A policy's colour is its place on the
    store's policy axis, so all figures of a store agree.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    metric : str
        A metric that the store has by week.
    load : str, optional
        A label of the store's load axis; by default all, a row each.
    path : path, optional
        Where to write the figure: a name ending in .png, .pdf or .svg. It appears whole or not
        at all.
    kind : {"trimmed", "quantile"}
        The rule of the band; with quantiles the line is the median, the band 10 to 90 %.
    log : bool
        Whether the metric's axis is logarithmic.

    Returns
    -------
    Figure
        Of matplotlib's object-oriented interface.

    Raises
    ------
    StoreError
        If the store cannot be read, a name is unknown, no cell has samples enough, or the path
        is of no known kind.

    Examples
    --------
    >>> weekly_bands_figure("no/such/folder")
    Traceback (most recent call last):
    ...
    analysis.errors.StoreError: store 'no/such/folder' is not a folder; name one that farm run wrote
    """
    from matplotlib import style

    target = None if path is None else checked_path(path)
    panels = _panels(store, metric, load, kind)
    policies = [str(policy) for policy in open_summary(store)["policy"].values]
    with style.context(STYLE):
        figure = _draw(panels, policies, band_rule(kind), log)
        if target is not None:
            save(figure, target)
        else:
            # Ticks are made by drawing; made later, they would not have the style's looks.
            figure.draw_without_rendering()
    return figure


def _panels(
    store: Store, metric: str, load: str | None, kind: str
) -> list[list[tuple[str, xr.Dataset | None]]]:
    """Return the grid of panels, rows of (title, band), without a band where it has none."""
    summary = open_summary(store)
    traces, loads = summary["trace"].values.tolist(), summary["load"].values.tolist()
    if load is not None:
        check_known(load, "load", loads)
        loads = [load]
    bands: dict[str, xr.Dataset] = {}
    refused: list[StoreError] = []
    for trace in traces:
        try:
            bands[trace] = weekly_bands(store, trace, metric, kind=kind)
        except StoreError as error:
            refused.append(error)
    if not bands:
        raise refused[0]
    rows = [
        [(trace if load else f"{trace}, load {x}", _at(bands.get(trace), x)) for trace in traces]
        for x in loads
    ]
    if len(rows) > 1:
        return rows
    across = math.ceil(len(traces) / math.ceil(len(traces) / COLUMNS))
    return [rows[0][i : i + across] for i in range(0, len(traces), across)]


def _panel_values(band: xr.Dataset | None) -> xr.DataArray | None:
    """Return the numbers of a panel on (policy, week, band)."""
    if band is None:
        return None
    values = band[str(band.attrs["metric"])]
    *cell, numbers = values.dims
    if set(cell) != {"policy", "week"}:
        raise StoreError(
            f"weekly metric {values.name!r} is on {', '.join(map(str, cell))}; a figure shows one "
            "on policy and week alone, so take weekly_bands and select along the rest"
        )
    return values.transpose("policy", "week", numbers)


def _at(band: xr.Dataset | None, load: str) -> xr.Dataset | None:
    return None if band is None else band.sel(load=load)


def _draw(
    panels: list[list[tuple[str, xr.Dataset | None]]],
    policies: list[str],
    rule: BandRule,
    log: bool,
) -> Figure:
    from matplotlib import rcParams

    across = max(map(len, panels))
    width = max(rcParams["figure.figsize"][0], NARROWEST * across)
    figure = canvas(width, PANEL * len(panels) + MARGIN)
    styles = policy_styles(policies)
    axes = figure.subplots(len(panels), across, squeeze=False)
    for row, places in zip(panels, axes, strict=True):
        for place in places[len(row) :]:
            place.remove()
        for (title, band), place in zip(row, places, strict=False):
            place.set_title(title)
            band_panel(place, _panel_values(band), styles, log=log)
    # A figure's own label would lie on the legend, so the lowest panel of each column has one.
    for i in range(across):
        axes[sum(i < len(row) for row in panels) - 1, i].set_xlabel("Week")
    shown = [band for row in panels for _, band in row if band is not None]
    figure.suptitle(_title(shown, rule), x=0.01, ha="left")
    figure.supylabel(axis_label(shown[0]), fontsize=rcParams["axes.labelsize"])
    policy_legend(figure, styles)
    return figure


def _title(bands: list[xr.Dataset], rule: BandRule) -> str:
    loads = list(dict.fromkeys(str(band["load"].values) for band in bands))
    counts = np.concatenate([band["n"].values for band in bands])
    counts = counts[counts >= rule.need]
    name = str(bands[0][str(bands[0].attrs["metric"])].attrs["long_name"])
    plural = "s" if len(loads) > 1 else ""
    first = f"{name[:1].upper()}{name[1:]}, load{plural} {', '.join(loads)}"
    return f"{first}\n{rule.caption(int(counts.min()), int(counts.max()))}\n{LAST_WEEK}"
