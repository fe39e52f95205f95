"""Figures: what a store's bands look like, one function each. Nothing here needs a display."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import xarray as xr

from analysis.band_rule import LEVEL, QUANTILES, TRIM, Automatic, BandRule, band_rule
from analysis.bands import RANKED_BY, weekly_bands, weekly_log
from analysis.drawing import (
    STYLE,
    Styles,
    band_panel,
    canvas,
    checked_path,
    policy_legend,
    policy_styles,
    save,
)
from analysis.errors import StoreError, TooFewSamplesError
from analysis.store import Store, known_label, open_summary
from analysis.tables import axis_label, axis_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 3
"""At most so many panels side by side when there is one load."""

NARROWEST, PANEL, MARGIN = 2.1, 2.3, 1.45
"""Least width of a panel, height of a row, and of title and legend together, inches."""

LAST_WEEK = "Not drawn: jobs that ended after the week of the last submission"
"""What a reader must know of the end of a line (docs/store-format.md)."""

NO_BAND = "No band: too few samples"
"""The caption of a figure of logs alone."""

OPTIONS = ("trim", "q", "level")
"""What a band's attributes say of its rule beside the kind."""

Panel: TypeAlias = tuple[str, xr.Dataset | None]
"""A title, and what `weekly_bands` or `weekly_log` gave at its load; None where neither has any."""


def weekly_bands_figure(
    store: Store,
    metric: str = "bounded_slowdown",
    load: float | str | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    kind: str = Automatic.kind,
    trim: float = TRIM,
    q: Sequence[float] = QUANTILES,
    level: float = LEVEL,
    log: bool = False,
    trace: str | None = None,
    policy: str | None = None,
) -> Figure:
    """Draw each policy's band over the weeks, a panel for each trace and load.

    The figure 1 of Carastan-Santos et al. 2019: the cumulative mean over the jobs ended up to
    each week; a solid line for the samples' middle, a filled band with dashed edges from their
    lowest to their highest, as `weekly_bands` gives them, and a dotted line for the log itself
    where the store has it; that line alone where there are too few samples. The title says which
    samples a band spans and how many of all it can be expected to hold. A policy's colour is its
    place on the store's policy axis, so all figures of a store agree.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    metric : str
        A metric that the store has by week.
    load : float or str, optional
        A label of the store's load axis, or its number; by default all, a row each.
    path : path, optional
        Where to write the figure: a name ending in .png, .pdf or .svg. It appears whole or not
        at all.
    kind, trim, q, level
        The rule of the band, as in `analysis.bands.bands`.
    log : bool
        Whether the metric's axis is logarithmic.
    trace, policy : str, optional
        The only ones to draw, as in `analysis.bands.bands`; by default all.

    Returns
    -------
    Figure
        Of matplotlib's object-oriented interface.

    Raises
    ------
    StoreError
        If the store cannot be read, a name is unknown, there are neither samples enough nor the
        log itself, or the path is of no known kind.

    Examples
    --------
    >>> weekly_bands_figure("no/such/folder")
    Traceback (most recent call last):
    ...
    analysis.errors.StoreError: store 'no/such/folder' is not a folder; name one that farm run wrote
    """
    from matplotlib import style

    target = None if path is None else checked_path(path)
    rule = band_rule(kind, trim, q, level)
    if len(rule.labels) != 3:
        raise StoreError(
            f"a figure shows a line and a band around it: give three quantiles, not {list(q)}"
        )
    panels = _panels(store, metric, load, trace, {"kind": rule.kind, **rule.options})
    policies = [str(one) for one in open_summary(store)["policy"].values]
    shown = policies if policy is None else [known_label("policy", policy, policies)]
    with style.context(STYLE):
        every = policy_styles(policies)
        styles = {one: every[one] for one in shown}
        figure = _draw(panels, metric, styles, log)
        if target is not None:
            save(figure, target)
        else:
            # Ticks are made by drawing; made later, they would not have the style's looks.
            figure.draw_without_rendering()
    return figure


def _panels(
    store: Store,
    metric: str,
    load: float | str | None,
    trace: str | None,
    rule: Mapping[str, Any],
) -> list[list[Panel]]:
    """Return the grid of panels, row by row."""
    summary = open_summary(store)
    traces, loads = summary["trace"].values.tolist(), summary["load"].values.tolist()
    if load is not None:
        loads = [known_label("load", load, loads)]
    if trace is not None:
        traces = [known_label("trace", trace, traces)]
    bands: dict[str, xr.Dataset] = {}
    refused: list[StoreError] = []
    for one in traces:
        try:
            bands[one] = _band_or_log(store, one, metric, rule)
        except StoreError as error:
            refused.append(error)
    if not bands:
        raise refused[0]
    rows = [
        [
            (one if load is not None else f"{one}, load {x}", _at(bands.get(one), x))
            for one in traces
        ]
        for x in loads
    ]
    if len(rows) > 1:
        return rows
    across = math.ceil(len(traces) / math.ceil(len(traces) / COLUMNS))
    return [rows[0][i : i + across] for i in range(0, len(traces), across)]


def _band_or_log(store: Store, trace: str, metric: str, rule: Mapping[str, Any]) -> xr.Dataset:
    try:
        return weekly_bands(store, trace, metric, **rule)
    except TooFewSamplesError as few:
        try:
            return weekly_log(store, trace, metric)
        except TooFewSamplesError:
            raise few from None


def _panel_values(band: xr.Dataset | None) -> xr.DataArray | None:
    """Return the numbers of a panel on (policy, week, band)."""
    if band is None or "kind" not in band.attrs:
        return None
    values = band[str(band.attrs["metric"])]
    *cell, numbers = values.dims
    if set(cell) != {"policy", "week"}:
        raise StoreError(
            f"weekly metric {values.name!r} is on {', '.join(map(str, cell))}; a figure shows one "
            "on policy and week alone, so take weekly_bands and select along the rest"
        )
    return values.transpose("policy", "week", numbers)


def _own_values(band: xr.Dataset | None) -> xr.DataArray | None:
    """Return the lines of the log itself on (policy, week), None where there are none."""
    own = None if band is None else band.get("log")
    return None if own is None or not bool(own.notnull().any()) else own.transpose("policy", "week")


def _at(band: xr.Dataset | None, load: str) -> xr.Dataset | None:
    return None if band is None else band.sel(load=load)


def _draw(panels: list[list[Panel]], metric: str, styles: Styles, log: bool) -> Figure:
    from matplotlib import rcParams

    across = max(map(len, panels))
    width = max(rcParams["figure.figsize"][0], NARROWEST * across)
    figure = canvas(width, PANEL * len(panels) + MARGIN)
    axes = figure.subplots(len(panels), across, squeeze=False)
    for row, places in zip(panels, axes, strict=True):
        for place in places[len(row) :]:
            place.remove()
        for (title, band), place in zip(row, places, strict=False):
            place.set_title(title)
            band_panel(place, _panel_values(band), styles, own=_own_values(band), log=log)
    # A figure's own label would lie on the legend, so the lowest panel of each column has one.
    for i in range(across):
        axes[sum(i < len(row) for row in panels) - 1, i].set_xlabel("Week")
    shown = [band for row in panels for _, band in row if band is not None]
    named = shown[0].rename({"log": metric}) if metric not in shown[0] else shown[0]
    figure.suptitle(_title(shown, axis_name(named)), x=0.01, ha="left")
    figure.supylabel(axis_label(named), fontsize=rcParams["axes.labelsize"])
    policy_legend(figure, styles, own=any(_own_values(band) is not None for band in shown))
    return figure


def _title(shown: list[xr.Dataset], name: str) -> str:
    loads = list(dict.fromkeys(str(band["load"].values) for band in shown))
    plural = "s" if len(loads) > 1 else ""
    lines = [f"{name}, load{plural} {', '.join(loads)}", *_captions(shown), LAST_WEEK]
    return "\n".join(lines)


def _captions(shown: list[xr.Dataset]) -> list[str]:
    """Say what lines and bands are, once for each kind that the panels have."""
    counts: dict[str, list[int]] = {}
    rules: dict[str, BandRule] = {}
    for band in shown:
        if "kind" in band.attrs:
            kind = str(band.attrs["kind"])
            given = {key: band.attrs[key] for key in OPTIONS if key in band.attrs}
            rules[kind] = band_rule(kind, **given)
            counts.setdefault(kind, []).extend(band["n"].values.ravel().tolist())
    captions = []
    for kind, samples in counts.items():
        rule = rules[kind]
        enough = [n for n in samples if n >= rule.need]
        if enough:
            captions.append(rule.caption(min(enough), max(enough), RANKED_BY))
    return captions or [NO_BAND]
