"""Rows of the report on Carastan-Santos et al., CCGrid 2019: its figures, tables and claims."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from schedfarm.analysis.band_rule import BAND, Range
from schedfarm.analysis.bands import RANKED_BY
from schedfarm.analysis.drawing import (
    band_panel,
    bar_legend,
    name_panel,
    own_marks,
    policy_legend,
    policy_styles,
    thin_spaced,
)
from schedfarm.analysis.papers import charts
from schedfarm.analysis.papers.needs import Needs
from schedfarm.analysis.papers.report import Numbers, Paper, Part, Table
from schedfarm.analysis.papers.saf_2019.claims import claims, headline
from schedfarm.analysis.papers.saf_2019.delayed import ALL, DELAYED, WHISKERS, delayed_jobs
from schedfarm.analysis.papers.saf_2019.numbers import (
    ALL_LOGS,
    CLASSES,
    PUBLISHED,
    Study,
    backfilled_jobs,
    relative_gains,
    slowdown_classes,
    studies,
    table_2,
    table_3,
    table_4,
    weekly_means,
)
from schedfarm.analysis.papers.saf_2019.printed import OBJECTIVES, POLICIES
from schedfarm.analysis.papers.tables import RULE, span_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

ROWS = {"bounded_slowdown": "Slowdown", "pp_bounded_slowdown": "pp-slowdown", "wait": "Wait (h)"}
"""Labels of the objectives in figure 1."""


def draw_weekly(of: Study, title: str) -> Drawing:
    """Draw figure 1: a row for each objective, and a column for each log."""
    numbers, traces = of.once(weekly_means), of.traces
    count = len(OBJECTIVES) * len(traces)
    with charts.panels(count, len(traces), title) as (figure, places):
        styles = policy_styles(list(POLICIES))
        parts = dict(iter(numbers.groupby(level=["metric", "trace"], sort=False)))
        cells = [(metric, trace) for metric in OBJECTIVES for trace in traces]
        for cell, panel in zip(cells, places, strict=True):
            found = parts[cell].droplevel(["metric", "trace"]).to_xarray()
            bands = found[[*BAND]].to_dataarray("band").transpose("policy", "week", "band")
            # The axis is logarithmic, since the first weeks of a sample may lie far above the
            # others.
            band_panel(panel, bands, styles, own=found["log"], log=True)
            _scale(panel)
        _name_grid(figure, places, traces, list(ROWS.values()))
        for panel in places[-len(traces) :]:
            panel.set_xlabel("Week")
        policy_legend(figure, styles, own=bool(numbers["log"].notna().any()))
    return figure


def draw_delayed(of: Study, title: str) -> Drawing:
    """Draw figure 2: boxes of the most delayed jobs' processors, with a panel for each log."""
    numbers, names = of.once(delayed_jobs), [*POLICIES, ALL]
    columns = [f"q{q:g}" for q in WHISKERS]
    with charts.panels(len(of.traces), len(of.traces), title) as (figure, places):
        for panel, trace in zip(places, of.traces, strict=True):
            here = numbers.loc[trace].loc[names]
            colors = [*_colors().values(), charts.LINE]
            charts.boxes(panel, here[columns].to_numpy(), colors, here["log"].tolist())
            panel.set_yscale("log", base=2)
            panel.yaxis.set_major_formatter(thin_spaced)
            panel.yaxis.minorticks_off()
            panel.set_xticks(range(1, len(names) + 1), [*POLICIES, "all"], rotation=45)
            panel.grid(visible=False, axis="x")
        _name_grid(figure, places, of.traces, ["Processors"])
        bar_legend(figure, {}, own=bool(numbers["log"].notna().any()))
    return figure


def draw_classes(of: Study, title: str) -> Drawing:
    """Draw figure 3: bars of the jobs of all logs together, as in the paper's caption."""
    percent = of.once(slowdown_classes)
    with charts.panels(1, 1, title) as (figure, (panel,)):
        colors = _colors()
        here = percent.to_xarray().sel(trace=ALL_LOGS, slowdown=list(CLASSES.values()))
        here = here.rename(percent="median")
        series = [(here.sel(policy=name), color) for name, color in colors.items()]
        charts.bars(panel, list(CLASSES.values()), series)
        charts.name_groups(panel, list(CLASSES.values()))
        panel.set_xlabel("Slowdown")
        panel.set_ylabel("Jobs (%)")
        bar_legend(figure, colors, own=bool(percent["log"].notna().any()))
    return figure


def draw_backfilled(of: Study, title: str) -> Drawing:
    """Draw figure 4: a dot for each sample, with a panel for each log."""
    counts = of.once(backfilled_jobs)
    with charts.panels(len(of.traces), len(of.traces), title) as (figure, places):
        for panel, trace in zip(places, of.traces, strict=True):
            for i, (policy, color) in enumerate(_colors().items()):
                one = counts.xs((trace, policy), level=("trace", "policy")) / 1000
                y = one["backfilled"].to_numpy()
                panel.plot(np.full(y.size, i), y, "o", color=color, alpha=0.45, ms=4)
                panel.hlines(y.mean(), i - 0.3, i + 0.3, color=color, linewidth=2)
                own_marks(panel, [i + 0.3], one["log"].iloc[:1])
            charts.name_groups(panel, POLICIES)
            panel.set_ylim(bottom=min(0, panel.get_ylim()[0]))
        _name_grid(figure, places, of.traces, ["Backfilled jobs (thousands)"])
        bar_legend(figure, {}, own=bool(counts["log"].notna().any()))
    return figure


def _scale(panel: Axes) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator

    panel.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(thin_spaced)
    panel.yaxis.minorticks_off()


def _name_grid(figure: Drawing, places: list[Axes], columns: list[str], rows: list[str]) -> None:
    for panel, name in zip(places, columns, strict=False):
        name_panel(panel, name)
    first = places[:: len(columns)]
    for panel, name in zip(first, rows, strict=True):
        panel.set_ylabel(name)
    figure.align_ylabels(first)


def _colors() -> dict[str, str]:
    return {name: line["color"] for name, line in policy_styles(list(POLICIES)).items()}


class Figure(NamedTuple):
    """Hold a row of `FIGURES`."""

    title: str
    """Pattern of the title: ``{samples}`` is the number of samples, ``{band}`` and ``{all}`` are
    the spans of a band and of all samples, ``{weekly}`` is the caption of line and band by week."""

    numbers: Callable[[Study], pd.DataFrame]
    draw: Callable[[Study, str], Drawing]


FIGURES = {
    "figure-1": Figure(
        "Cumulative mean over the jobs ended up to each week\n{weekly}", weekly_means, draw_weekly
    ),
    "figure-2": Figure(
        f"Processors of the {DELAYED} jobs of each sample with the highest slowdowns, "
        "and of all jobs\n"
        "Box: quartiles and median of these jobs of all {samples} samples together\n"
        "Whiskers: 5 to 95 % of them; diamond: median in the log",
        delayed_jobs,
        draw_delayed,
    ),
    "figure-3": Figure(
        "Jobs of all logs by bounded slowdown: 1, (1, 10), [10, 100), 100 and more\n"
        "Bars: jobs of all {samples} samples together\n"
        "Lines: {band}",
        slowdown_classes,
        draw_classes,
    ),
    "figure-4": Figure(
        "Backfilled jobs of each sample (dots) and their mean (bars)\nDots: {all}",
        backfilled_jobs,
        draw_backfilled,
    ),
}
"""The paper's figures, by the names of their files."""

OF_LOGS: dict[str, Table] = {"table-2": table_2, "table-3": table_3}
"""Tables that are independent of policies."""

TABLES: dict[str, Table] = {
    "table-4": table_4,
    "gains": relative_gains,
    "headline": headline,
    "claims": claims,
}
"""Tables with our numbers next to the paper's."""


def draw(row: Figure, of: Study) -> Drawing:
    """Draw a row of `FIGURES`."""
    numbers = of.once(row.numbers)
    counts = numbers.get("samples", pd.Series([of.samples.sizes["resample"]]))
    fewest, most = RULE.ends(counts)
    said = {"samples": most, "band": span_text(counts), "all": Range().span(most)}
    title = row.title.format(**said, weekly=PUBLISHED.caption(fewest, most, RANKED_BY))
    return row.draw(of, title + ("" if of.threshold else "\nNo policy has a threshold"))


def _study(numbers: Numbers, which: int) -> Study | None:
    found = numbers.once(studies)
    return found[which] if which < len(found) else None


def _part(which: int, tables: dict[str, Table], name: str) -> Part:
    figures = {figure: partial(draw, row) for figure, row in FIGURES.items()}
    numbers: dict[str, Table] = {figure: row.numbers for figure, row in FIGURES.items()}
    shown = tuple(tables.values())
    return Part(partial(_study, which=which), tables | numbers, figures, shown, name)


PAPER = Paper(
    needs=Needs(
        orders=tuple(name.lower() for name in POLICIES), samples=RULE.need, log=True, keep="jobs"
    ),
    parts=(
        _part(0, OF_LOGS | TABLES, "{}"),
        _part(1, TABLES, "{}-without-threshold"),
    ),
    headings=True,
)
"""The report; a store needs a policy of each order, bands, and logs for Tables II and III."""
