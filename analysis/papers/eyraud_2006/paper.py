"""Rows of the report on Eyraud 2006: table 1 and figure 2, samples, and growing shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from schedfarm.analysis.drawing import OWN_MARK, bar_legend, line_legend
from schedfarm.analysis.papers import charts
from schedfarm.analysis.papers.eyraud_2006.differences import (
    BINS,
    MEASURES,
    SHARES,
    Cell,
    histograms,
    hours_of,
    measured,
    samples_table,
    shares_of,
    shares_table,
    table_1,
)
from schedfarm.analysis.papers.eyraud_2006.printed import DEMT, FCFS
from schedfarm.analysis.papers.needs import Needs
from schedfarm.analysis.papers.report import Numbers, Paper, Part, with_log, with_samples
from schedfarm.analysis.papers.tables import span_text, spread
from schedfarm.analysis.store import check_known
from schedfarm.core.arrays import Float64

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 3
"""Number of panels side by side, as in the paper."""

COLORS = (
    *(charts.BLUE, charts.VERMILLION, charts.GREEN, charts.PURPLE),
    *(charts.ORANGE, charts.SKY, charts.GREY),
)
"""Colours of policies and logs."""

SHOWN = ("mean_of_all", "share_identical")
"""Measures in the figure of samples."""

TITLE = "Figure 2: jobs by their difference of start times\nDotted: quartiles; below: mean"


def figure_2(hours: Mapping[Cell, Float64], title: str = TITLE) -> Figure:
    """Draw histograms of the nonzero differences, with mean and quartiles."""
    with charts.panels(len(hours), COLUMNS, title, y="Jobs") as (figure, places):
        for axes, (cell, values) in zip(places, hours.items(), strict=True):
            axes.set_title(f"{charts.cell_title(*cell)}: {values.size} jobs")
            if values.size:
                charts.histogram(axes, values, BINS)
                continue
            axes.text(0.5, 0.5, "all start at the same time", transform=axes.transAxes, ha="center")
            axes.set(xticks=[], yticks=[])
        figure.supxlabel("Start earlier than under FCFS by, hours", fontsize="medium")
    return figure


def bands_chart(found: Mapping[str, xr.Dataset], title: str) -> Figure:
    """Draw bands of measures on (trace, load, policy), with a group of policies for each trace."""
    first = next(iter(found.values()))
    cells = [(str(t), str(x)) for t in first["trace"].values for x in first["load"].values]
    labels = [charts.cell_title(*cell).replace(", load", "\nload") for cell in cells]
    colors = dict(zip(first["policy"].values.tolist(), COLORS, strict=False))
    with charts.panels(len(found), 1, title) as (figure, places):
        for axes, (name, of) in zip(places, found.items(), strict=True):
            each = of.stack(cell=("trace", "load"))
            series = [(each.sel(policy=policy), color) for policy, color in colors.items()]
            charts.bands(axes, labels, series)
            axes.axhline(0, color=charts.LINE, linewidth=0.8)
            axes.set_title(MEASURES[name].label)
        bar_legend(figure, colors, own=charts.has_log([first]))
    return figure


def shares_chart(table: pd.DataFrame, title: str) -> Figure:
    """Draw the mean differences under the shelves against each share; the other share is lowest."""
    rows = table.reset_index()
    rows = rows[rows["policy"] == DEMT]
    lines = {
        charts.cell_title(str(log), str(load)): part
        for (log, load), part in rows.groupby(["source", "load"], sort=False)
    }
    colors = dict(zip(lines, COLORS, strict=False))
    label = MEASURES["mean_of_all"].label
    with charts.panels(2, 2, title, y=label, tall=1.5, sharey=True) as (figure, places):
        for axes, share, other in zip(places, SHARES, SHARES[::-1], strict=True):
            for name, part in lines.items():
                alone = part[part[other] == part[other].min()].sort_values(share)
                charts.line(axes, 100 * alone[share].to_numpy(), alone.to_xarray(), colors[name])
            axes.axhline(0, color=charts.LINE, linewidth=0.8)
            axes.set_xlabel(f"Share of jobs with {share}, %")
            axes.margins(x=0.03)
        own = OWN_MARK if table["log"].notna().any() else None
        line_legend(figure, colors, own, marker="o")
    return figure


def _log(of: Numbers) -> Numbers | None:
    check_known(DEMT, "policy", of.summary["policy"].values.tolist())
    return with_log(of)


def _shares(of: Numbers) -> Numbers | None:
    return with_samples(of) if len(of.once(shares_of)) else None


def _figures_2(of: Numbers) -> dict[str, Figure]:
    """Draw figure 2 at each load."""
    hours = of.once(hours_of)
    return {
        "" if load == "original" else f"-load-{load}": figure_2(
            {cell: values for cell, values in hours.items() if cell[1] == load}
        )
        for load in dict.fromkeys(load for _, load in hours)
    }


def _span(values: xr.DataArray) -> str:
    return f"Median of the samples, and {span_text(spread(values)['samples'])}"


def _draw_samples(of: Numbers) -> dict[str, Figure]:
    """Draw the samples of traces that are not in the figure of shares, if there are any."""
    values = of.once(measured)
    single = values.drop_sel(trace=of.once(shares_of).index.tolist())
    if not single.sizes["trace"]:
        return {}
    found = {name: spread(single[name]) for name in SHOWN}
    return {"": bands_chart(found, f"Over samples\n{_span(single[SHOWN[0]])}")}


def _shares_table(of: Numbers) -> pd.DataFrame:
    return shares_table(of.once(measured)["mean_of_all"], of.once(shares_of))


def _draw_shares(of: Numbers) -> Figure:
    span = _span(of.once(measured)[SHOWN[0]])
    return shares_chart(of.once(_shares_table), f"Against shares of jobs\n{span}")


PAPER = Paper(
    needs=Needs(policies=(FCFS, DEMT), keep="jobs"),
    parts=(
        Part(
            _log,
            {"table-1": table_1, "figure-2": histograms},
            {"figure-2": _figures_2},
            (table_1,),
        ),
        Part(
            with_samples,
            {"samples-table-1": samples_table},
            {"samples-table-1": _draw_samples},
            (samples_table,),
        ),
        Part(
            _shares,
            {"samples-shares": _shares_table},
            {"samples-shares": _draw_shares},
            (_shares_table,),
        ),
    ),
)
"""The report; a store needs FCFS and the shelves, and windows of logs, samples, or both."""
