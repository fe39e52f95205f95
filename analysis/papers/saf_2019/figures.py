"""Figures of Carastan-Santos et al. 2019 from a store: a row each in `FIGURES`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from schedfarm.analysis.band_rule import BAND, Range
from schedfarm.analysis.bands import RANKED_BY, weekly_bands
from schedfarm.analysis.drawing import (
    HOUR,
    STYLE,
    band_panel,
    bar_legend,
    canvas,
    name_panel,
    own_marks,
    policy_legend,
    policy_styles,
    thin_spaced,
)
from schedfarm.analysis.papers.saf_2019.counts import (
    ALL_LOGS,
    CLASSES,
    backfilled_jobs,
    slowdown_classes,
)
from schedfarm.analysis.papers.saf_2019.delayed import ALL, DELAYED, WHISKERS, delayed_jobs
from schedfarm.analysis.papers.saf_2019.printed import OBJECTIVES, POLICIES
from schedfarm.analysis.papers.saf_2019.study import Study
from schedfarm.analysis.papers.spread import RULE, STANDING, ends, span_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

ROWS = {"bounded_slowdown": "Slowdown", "pp_bounded_slowdown": "pp-slowdown", "wait": "Wait (h)"}
"""What figure 1 calls each objective."""

WIDTH = 11.0
"""Width of figures with a panel for each of five logs, inches."""

BAR = 0.2
"""Width of one of four bars that stand together."""


class Figure(NamedTuple):
    """A row of `FIGURES`.

    Parameters
    ----------
    title : str
        Above the panels; ``{samples}`` stands for the number of samples, ``{band}`` and ``{all}``
        for what a band spans and what all samples span, ``{weekly}`` for line and band by week.
    inches : tuple of float
        Width and height.
    numbers : callable
        From the study to what the figure shows.
    panels : callable
        Draws these numbers, with the panels' titles being these traces.
    """

    title: str
    inches: tuple[float, float]
    numbers: Callable[[Study], pd.DataFrame]
    panels: Callable[[Drawing, pd.DataFrame, list[str]], None]


def draw(row: Figure, of: Study, numbers: pd.DataFrame) -> Drawing:
    """Draw a figure.

    Parameters
    ----------
    row : Figure
        A value of `FIGURES`.
    of : Study
        What it is of.
    numbers : DataFrame
        From the row's `numbers`.

    Returns
    -------
    Figure
        Of matplotlib's object-oriented interface, to be written by `analysis.drawing.save`.
    """
    from matplotlib import style

    with style.context(STYLE):
        figure = canvas(*row.inches)
        title = _title(row, of, numbers)
        title += "" if of.threshold else "\nNo policy has a threshold"
        figure.suptitle(title, x=0.01, ha="left")
        row.panels(figure, numbers, of.traces)
    return figure


def _title(row: Figure, of: Study, numbers: pd.DataFrame) -> str:
    counts = numbers.get("samples", [of.samples.sizes["resample"]])
    fewest, most = ends(counts)
    said = {"samples": most, "band": span_text(counts), "all": Range().span(most)}
    return row.title.format(**said, weekly=RULE.caption(fewest, most, RANKED_BY))


def weekly_means(of: Study) -> pd.DataFrame:
    """Figure 1: the bands of the cumulative weekly means of the three objectives.

    Returns
    -------
    DataFrame
        A row a metric, log, policy and week: ``low``, ``trimmed_mean`` and ``high`` as
        `weekly_bands` gives them, and `STANDING`, of which ``log`` is by week and the rest of the
        means over all jobs; waits in hours.

    Raises
    ------
    StoreError
        If the store has too few samples.
    """
    parts = {}
    for metric in OBJECTIVES:
        unit = HOUR if metric == "wait" else 1
        for trace in of.traces:
            weekly = weekly_bands(of.store, trace, metric, of.load, RULE.kind)
            band = of.by_paper(weekly).rename(n="samples")
            columns = (band[metric] / unit).to_dataset("band")
            own = band["log"] / unit if "log" in band else np.nan
            columns = columns.assign({name: band[name] for name in STANDING[1:]} | {"log": own})
            frame = columns.to_dataframe(dim_order=["policy", "week"])
            parts[metric, trace] = frame[[*weekly["band"].values, *STANDING]]
    return pd.concat(parts, names=["metric", "trace"])


def _weekly_panels(figure: Drawing, numbers: pd.DataFrame, traces: list[str]) -> None:
    # A row an objective, a column a log. Axes are logarithmic: the first weeks of a sample may
    # lie far above the rest.
    axes = figure.subplots(len(OBJECTIVES), len(traces), squeeze=False)
    styles = policy_styles(list(POLICIES))
    parts = dict(iter(numbers.groupby(level=["metric", "trace"], sort=False)))
    for metric, row in zip(OBJECTIVES, axes, strict=True):
        for trace, panel in zip(traces, row, strict=True):
            part = parts[metric, trace].droplevel(["metric", "trace"])
            found = part.to_xarray()
            bands = found[[*BAND]].to_dataarray("band").transpose("policy", "week", "band")
            band_panel(panel, bands, styles, own=found["log"], log=True)
            _scale(panel)
    _name_grid(axes, traces, [ROWS[metric] for metric in OBJECTIVES])
    for panel in axes[-1]:
        panel.set_xlabel("Week")
    policy_legend(figure, styles, own=bool(numbers["log"].notna().any()))


def _delayed_panels(figure: Drawing, boxes: pd.DataFrame, traces: list[str]) -> None:
    colors = [*_colors().values(), "#888888"]
    axes = figure.subplots(1, len(traces), squeeze=False)
    names = [*POLICIES, ALL]
    for panel, trace in zip(axes[0], traces, strict=True):
        stats = [_box(boxes, trace, name) for name in names]
        drawn = panel.bxp(stats, showfliers=False, widths=0.6, patch_artist=True)
        _paint(drawn, colors)
        places = range(1, len(names) + 1)
        own_marks(panel, places, [boxes.loc[(trace, name), "log"] for name in names])
        panel.set_yscale("log", base=2)
        panel.yaxis.set_major_formatter(thin_spaced)
        panel.yaxis.minorticks_off()
        panel.set_xticks(places, [*POLICIES, "all"], rotation=45)
        panel.grid(visible=False, axis="x")
    _name_grid(axes, traces, ["Processors"])
    _legend_of_own(figure, boxes, {})


def _class_panels(figure: Drawing, percent: pd.DataFrame, traces: list[str]) -> None:
    # All logs together, as the paper's caption says; the numbers of each are in the table.
    del traces
    colors = _colors()
    places = np.arange(len(CLASSES))
    panel = figure.subplots()
    for i, (policy, color) in enumerate(colors.items()):
        bars = percent.xs((ALL_LOGS, policy), level=("trace", "policy")).loc[[*CLASSES.values()]]
        at = places + (i - (len(colors) - 1) / 2) * BAR
        panel.bar(at, bars["percent"], BAR * 0.9, color=color)
        panel.vlines(at, bars["low"], bars["high"], color="#888888", linewidth=0.9)
        own_marks(panel, at + BAR * 0.25, bars["log"])
    panel.set_xticks(places, list(CLASSES.values()))
    panel.set_xlabel("Slowdown")
    panel.set_ylabel("Jobs (%)")
    panel.grid(visible=False, axis="x")
    panel.margins(x=0.02)
    _legend_of_own(figure, percent, colors)


def _backfilled_panels(figure: Drawing, counts: pd.DataFrame, traces: list[str]) -> None:
    colors = list(_colors().values())
    axes = figure.subplots(1, len(traces), squeeze=False)
    for panel, trace in zip(axes[0], traces, strict=True):
        for i, policy in enumerate(POLICIES):
            one = counts.xs((trace, policy), level=("trace", "policy")) / 1000
            y = one["backfilled"].to_numpy()
            panel.plot(np.full(y.size, i), y, "o", color=colors[i], alpha=0.45, ms=4)
            panel.hlines(y.mean(), i - 0.3, i + 0.3, color=colors[i], linewidth=2)
            own_marks(panel, [i + 0.3], one["log"].iloc[:1])
        panel.set_xticks(range(len(POLICIES)), POLICIES)
        panel.set_xlim(-0.6, len(POLICIES) - 0.4)
        panel.set_ylim(bottom=min(0, panel.get_ylim()[0]))
        panel.grid(visible=False, axis="x")
    _name_grid(axes, traces, ["Backfilled jobs (thousands)"])
    _legend_of_own(figure, counts, {})


def _scale(panel: Axes) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator

    panel.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(thin_spaced)
    panel.yaxis.minorticks_off()


def _box(boxes: pd.DataFrame, trace: str, policy: str) -> dict[str, float]:
    names = ("whislo", "q1", "med", "q3", "whishi")
    columns = [boxes[f"q{q:g}"] for q in WHISKERS]
    return {n: float(c[trace, policy]) for n, c in zip(names, columns, strict=True)}


def _paint(drawn: dict[str, list[Any]], colors: list[str]) -> None:
    for box, color in zip(drawn["boxes"], colors, strict=True):
        box.set(facecolor=color, alpha=0.55)
    for line in (*drawn["whiskers"], *drawn["caps"]):
        line.set(color="#555555", linewidth=0.8)
    for line in drawn["medians"]:
        line.set(color="black", linewidth=1.6)


def _name_grid(axes: npt.NDArray[Any], columns: list[str], rows: list[str]) -> None:
    for panel, name in zip(axes[0], columns, strict=True):
        name_panel(panel, name)
    for panel, name in zip(axes[:, 0], rows, strict=True):
        panel.set_ylabel(name)
    figure = axes[0, 0].figure
    figure.align_ylabels(axes[:, 0])


def _colors() -> dict[str, str]:
    return {name: line["color"] for name, line in policy_styles(list(POLICIES)).items()}


def _legend_of_own(figure: Drawing, numbers: pd.DataFrame, colors: dict[str, str]) -> None:
    own = bool(numbers["log"].notna().any())
    if own or colors:
        bar_legend(figure, colors, own=own)


FIGURES = {
    "figure-1": Figure(
        "Cumulative mean over the jobs ended up to each week\n{weekly}",
        (WIDTH, 7.1),
        weekly_means,
        _weekly_panels,
    ),
    "figure-2": Figure(
        f"Processors of the {DELAYED} jobs of each sample with the highest slowdowns, "
        "and of all jobs\n"
        "Box: quartiles and median of these jobs of all {samples} samples together; "
        "whiskers: 5 to 95 % of them; diamond: median in the log",
        (WIDTH, 3.6),
        delayed_jobs,
        _delayed_panels,
    ),
    "figure-3": Figure(
        "Jobs of all logs by bounded slowdown: 1, (1, 10), [10, 100), 100 and more\n"
        "Bars: jobs of all {samples} samples together\n"
        "Lines: {band}",
        (7.0, 3.9),
        slowdown_classes,
        _class_panels,
    ),
    "figure-4": Figure(
        "Backfilled jobs of each sample (dots) and their mean (bars)\nDots: {all}",
        (WIDTH, 3.5),
        backfilled_jobs,
        _backfilled_panels,
    ),
}
"""The paper's figures, by the names of their files."""
