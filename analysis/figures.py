"""Figures of a store's bands: one function for each figure, without a display."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import xarray as xr

from schedfarm.analysis.band_rule import LEVEL, QUANTILES, TRIM, Automatic, BandRule, band_rule
from schedfarm.analysis.bands import RANKED_BY, bands, weekly_bands, weekly_log
from schedfarm.analysis.drawing import (
    STYLE,
    Styles,
    band_panel,
    canvas,
    checked_path,
    policy_legend,
    policy_styles,
    save,
    whole_marks,
)
from schedfarm.analysis.errors import StoreError, TooFewSamplesError
from schedfarm.analysis.reading import reading
from schedfarm.analysis.store import Labels, Store, known_labels, of_log, open_summary
from schedfarm.analysis.tables import axis_label, axis_name, decimals_for
from schedfarm.core.numerals import grouped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 3
"""Largest number of panels side by side with one load."""

NARROWEST, PANEL, MARGIN = 2.1, 2.3, 1.45
"""Least width of a panel, height of a row, and height of title and legend together, inches."""

LAST_WEEK = "Not drawn: jobs that ended after the week of the last submission"
"""Note on the end of the lines (docs/store-format.md)."""

ALL_JOBS = "Lines: jobs that ended by the week. Marks at the right edge: all jobs, as in the table"
"""Note on the end of the lines if the numbers over all jobs are drawn."""

DOTTED = "Dotted: the log itself"
"""Note on the lines of a figure without bands."""

LETTER = 0.095
"""Height per character of an axis label, including the text above it, inches."""

NO_BAND = "No band: too few samples"
"""Caption of a figure of logs alone."""

WHOLE, WHOLE_LOG = "whole", "whole_log"
"""Names of a panel's numbers over all jobs, for the samples and for the log itself."""

DRAWN = {"trace", "resample", "load", "policy"}
"""Dimensions of a metric whose numbers over all jobs can be drawn next to its lines."""

OPTIONS = ("trim", "q", "level")
"""Attributes of a band that describe its rule, in addition to the kind."""

Panel: TypeAlias = tuple[str, xr.Dataset | None]
"""A title, and the result of `weekly_bands` or `weekly_log` for it; None without values."""


@reading()
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
    size: tuple[float, float] | None = None,
    trace: Labels = None,
    policy: Labels = None,
) -> Figure:
    """Draw each policy's band over the weeks, with a panel for each trace and load.

    The figure shows the mean over all jobs that have ended by the end of each week, as figure 1 of
    Carastan-Santos et al. 2019. A solid line is the middle of the samples. A filled band with
    dashed edges spans their lowest to their highest value. Both are as in `weekly_bands`. A dotted
    line is the log itself, if the store has it; with too few samples, only this line is drawn.
    Marks at the right edge are the numbers over all jobs of `bands`, which include jobs that end
    after the last week. The caption describes the samples that a band spans, and their expected
    coverage. A policy's colour follows from its index on the store's policy axis, and is the same
    in all figures.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    metric : str
        A metric that the store has by week.
    load : float or str, optional
        A label of the store's load axis, or its number; by default all loads, each with a row of
        panels.
    path : path, optional
        File for the figure, ending in .png, .pdf or .svg; an existing file is replaced atomically.
    kind, trim, q, level
        The rule of the band, as in `analysis.bands.bands`.
    log : bool
        Whether the metric's axis is logarithmic.
    size : tuple of float, optional
        Width and height of the figure, inches; by default according to the panels.
    trace, policy : str, optional
        Restriction, as in `analysis.bands.bands`; by default all.

    Returns
    -------
    Figure
        A figure of matplotlib's object-oriented interface.

    Raises
    ------
    StoreError
        If the store cannot be read, a name is unknown, there are neither enough samples nor the log
        itself, or the path has no known suffix.

    Examples
    --------
    >>> weekly_bands_figure("no/such/folder")
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: store 'no/such/folder' is not a folder; name one that farm
    run wrote
    """
    from matplotlib import style

    target = None if path is None else checked_path(path)
    rule = drawn_rule(kind, trim=trim, q=q, level=level)
    panels = _panels(store, metric, load, trace, {"kind": rule.kind, **rule.options})
    notes = _contradictions(panels, policy)
    policies = [str(one) for one in open_summary(store)["policy"].values]
    shown = known_labels("policy", policy, policies)
    with style.context(STYLE):
        every = policy_styles(policies)
        styles = {one: every[one] for one in shown}
        figure = _draw(panels, metric, styles, log=log, size=size, notes=notes)
        if target is not None:
            save(figure, target)
        else:
            # Ticks are created during drawing; if they were created later, they would lack the
            # style.
            figure.draw_without_rendering()
    return figure


def drawn_rule(
    kind: str = Automatic.kind,
    *,
    trim: float = TRIM,
    q: Sequence[float] = QUANTILES,
    level: float = LEVEL,
) -> BandRule:
    """Return a band rule with three numbers, which a figure can show.

    Parameters
    ----------
    kind, trim, q, level
        As in `analysis.band_rule.band_rule`.

    Returns
    -------
    BandRule
        A rule with three numbers.

    Raises
    ------
    StoreError
        If the rule does not have three numbers.

    Examples
    --------
    >>> drawn_rule("quantile", q=(0.1, 0.9))
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: a figure shows a line and a band around it: give three
    quantiles, \
not [0.1, 0.9]
    """
    rule = band_rule(kind, trim, q, level)
    if len(rule.labels) != 3:
        raise StoreError(
            f"a figure shows a line and a band around it: give three quantiles, not {list(q)}"
        )
    return rule


@reading()
def figure_notes(
    store: Store,
    metric: str = "bounded_slowdown",
    load: float | str | None = None,
    *,
    kind: str = Automatic.kind,
    trim: float = TRIM,
    q: Sequence[float] = QUANTILES,
    level: float = LEVEL,
    trace: Labels = None,
    policy: Labels = None,
) -> list[str]:
    """Report panels of `weekly_bands_figure` whose lines end in another order than in the table.

    Parameters
    ----------
    store, metric, load, kind, trim, q, level, trace, policy
        As for `weekly_bands_figure`.

    Returns
    -------
    list of str
        At most one sentence.

    Raises
    ------
    StoreError
        For the reasons of `weekly_bands_figure`.

    Examples
    --------
    >>> figure_notes("no/such/folder")
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: store 'no/such/folder' is not a folder; name one that farm
    run wrote
    """
    rule = band_rule(kind, trim, q, level)
    panels = _panels(store, metric, load, trace, {"kind": rule.kind, **rule.options})
    return _contradictions(panels, policy)


def _contradictions(panels: list[list[Panel]], policy: Labels) -> list[str]:
    """Report the panel and the pair of policies whose lines contradict the table most."""
    found: list[tuple[float, str]] = []
    drawn = [(title, band) for row in panels for title, band in row if band is not None]
    for title, band in drawn if policy is None else []:
        ends, whole = _line_ends(band), _middles(band)
        pairs = [
            (_distance(ends, whole, a, b), f"{title}: {_order(ends, a, b)}, {_order(whole, a, b)}")
            for a, b in combinations(set(ends) & set(whole), 2)
            if (ends[a] - ends[b]) * (whole[a] - whole[b]) < 0
        ]
        found += [max(pairs)] if pairs else []
    if not found:
        return []
    return [
        f"in {len(found)} of {len(drawn)} panels the lines end in another order than in the "
        f"table, whose numbers include jobs that ended later; furthest in {max(found)[1]} "
        "in the table"
    ]


def _distance(ends: Mapping[str, float], whole: Mapping[str, float], a: str, b: str) -> float:
    scale = max(abs(whole[a]), abs(whole[b]))
    return (abs(ends[a] - ends[b]) + abs(whole[a] - whole[b])) / scale


def _order(values: Mapping[str, float], a: str, b: str) -> str:
    first, second = sorted((a, b))
    decimals = decimals_for(np.array([values[first], values[second]]))
    said = (f"{one} {grouped(values[one], decimals)}" for one in (first, second))
    return " and ".join(said)


def _line_ends(band: xr.Dataset) -> dict[str, float]:
    """Return the last number of each policy's line; of the log's line if there is no other line."""
    values = _panel_values(band)
    lines = _own_values(band) if values is None else values.isel({values.dims[-1]: 1}, drop=True)
    if lines is None:
        return {}
    found = {}
    for policy in lines["policy"].values.tolist():
        known = lines.sel(policy=policy).dropna("week")
        if known.size:
            found[policy] = float(known[-1])
    return found


def _middles(band: xr.Dataset) -> dict[str, float]:
    """Return each policy's number over all jobs; the log's number if there is no other number."""
    values = band.get(WHOLE)
    numbers = band.get(WHOLE_LOG) if values is None else values.isel({values.dims[-1]: 1})
    if numbers is None or numbers.dims != ("policy",):
        return {}
    known = numbers.dropna("policy")
    return dict(zip(known["policy"].values.tolist(), known.values.tolist(), strict=True))


def _panels(
    store: Store,
    metric: str,
    load: Labels,
    trace: Labels,
    rule: Mapping[str, Any],
) -> list[list[Panel]]:
    """Return the panels by row."""
    summary = open_summary(store)
    traces, loads = summary["trace"].values.tolist(), summary["load"].values.tolist()
    loads, traces = known_labels("load", load, loads), known_labels("trace", trace, traces)
    found: dict[str, xr.Dataset] = {}
    refused: list[StoreError] = []
    for one in traces:
        try:
            found[one] = _band_or_log(store, one, metric, rule)
        except StoreError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    rows = [
        [(one if len(loads) == 1 else f"{one}, load {x}", _at(found.get(one), x)) for one in traces]
        for x in loads
    ]
    if len(rows) > 1:
        return rows
    across = math.ceil(len(traces) / math.ceil(len(traces) / COLUMNS))
    return [rows[0][i : i + across] for i in range(0, len(traces), across)]


def _band_or_log(store: Store, trace: str, metric: str, rule: Mapping[str, Any]) -> xr.Dataset:
    try:
        return _with_whole(weekly_bands(store, trace, metric, **rule), store, metric, rule)
    except TooFewSamplesError as few:
        try:
            return _with_whole(weekly_log(store, trace, metric), store, metric, None)
        except TooFewSamplesError:
            raise few from None


def _with_whole(
    band: xr.Dataset, store: Store, metric: str, rule: Mapping[str, Any] | None
) -> xr.Dataset:
    """Add the numbers over all jobs to a panel, if the summary has them."""
    summary, trace = open_summary(store), band.attrs["trace"]
    if metric not in summary or set(summary[metric].dims) != DRAWN:
        return band
    if rule is not None:
        whole = bands(store, metric, trace=trace, **rule)
        numbers = {WHOLE: whole[metric], WHOLE_LOG: whole.get("log")}
    else:
        numbers = {WHOLE_LOG: of_log(summary[metric]).sel(trace=[trace])}
    known = {name: part for name, part in numbers.items() if part is not None}
    return band.assign({name: part.isel(trace=0, drop=True) for name, part in known.items()})


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
    """Return the lines of the log itself on (policy, week); None without lines."""
    own = None if band is None else band.get("log")
    return None if own is None or not bool(own.notnull().any()) else own.transpose("policy", "week")


def _at(band: xr.Dataset | None, load: str) -> xr.Dataset | None:
    return None if band is None else band.sel(load=load)


def _draw(
    panels: list[list[Panel]],
    metric: str,
    styles: Styles,
    *,
    log: bool,
    size: tuple[float, float] | None,
    notes: list[str],
) -> Figure:
    from matplotlib import rcParams

    across = max(map(len, panels))
    width = max(rcParams["figure.figsize"][0], NARROWEST * across)
    figure = canvas(*(size or (width, PANEL * len(panels) + MARGIN)))
    axes = figure.subplots(len(panels), across, squeeze=False)
    for row, places in zip(panels, axes, strict=True):
        for place in places[len(row) :]:
            place.remove()
        for (title, band), place in zip(row, places, strict=False):
            place.set_title(title)
            band_panel(place, _panel_values(band), styles, own=_own_values(band), log=log)
            if band is not None:
                whole_marks(place, band.get(WHOLE), band.get(WHOLE_LOG), styles)
    # A common label of the figure would overlap the legend, so the lowest panel of each column has
    # a label.
    for i in range(across):
        axes[sum(i < len(row) for row in panels) - 1, i].set_xlabel("Week")
    shown = [band for row in panels for _, band in row if band is not None]
    named = shown[0].rename({"log": metric}) if metric not in shown[0] else shown[0]
    letters = int(figure.get_figheight() * PANEL / (PANEL + MARGIN / len(panels)) / LETTER)
    label = "\n".join(wrap(axis_label(named), max(letters, len("slowdown"))))
    middle = 1 - PANEL * len(panels) / (PANEL * len(panels) + MARGIN) * 0.55
    figure.supylabel(label, y=middle, fontsize=rcParams["axes.labelsize"])
    figure.suptitle(_title(shown, axis_name(named)), x=0.01, ha="left")
    said = "\n".join((*_captions(shown), *notes)).splitlines()
    words = "\n".join(line for one in said for line in wrap(one, 110))
    policy_legend(
        figure,
        styles,
        bands=any("kind" in band.attrs for band in shown),
        own=any(_own_values(band) is not None for band in shown),
        words=words,
    )
    return figure


def _title(shown: list[xr.Dataset], name: str) -> str:
    """Name the metric and, if no panel's title has it, the load."""
    loads = {str(band["load"].values) for band in shown}
    return f"{name}, load {loads.pop()}" if len(loads) == 1 else name


def _captions(shown: list[xr.Dataset]) -> list[str]:
    """Describe lines and bands, once for each kind in the panels."""
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
    marks = any(WHOLE in band or WHOLE_LOG in band for band in shown)
    return [*(captions or [NO_BAND, DOTTED]), ALL_JOBS if marks else LAST_WEEK]
