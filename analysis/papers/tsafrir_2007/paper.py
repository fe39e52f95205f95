"""Rows of the report on Tsafrir, Etsion and Feitelson 2007: tables of logs and of paired samples.

The full text of the paper was not available. The conclusions are therefore those of its abstract,
and our numbers have no printed counterparts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from schedfarm.analysis.papers import charts
from schedfarm.analysis.papers.needs import Needs
from schedfarm.analysis.papers.report import Numbers, Paper, Part, with_log, with_samples
from schedfarm.analysis.papers.tables import BAND
from schedfarm.analysis.papers.tsafrir_2007.comparisons import (
    COMPARISONS,
    LEVEL,
    SCHEDULERS,
    claims_in_part,
    claims_table,
    log_table,
    measured,
    ratio_table,
)
from schedfarm.analysis.store import LOG, of_samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = ("wait", "bounded_slowdown")
"""Measures of the figure."""

COLORS = (charts.BLUE, charts.VERMILLION, charts.GREEN, charts.PURPLE)
"""Colours of traces, used cyclically."""


def _parts_of_logs(of: Numbers) -> pd.DataFrame:
    return claims_in_part(of.once(measured).sel(resample=[LOG]))


def _claims_of_logs(of: Numbers) -> pd.DataFrame:
    return claims_table(of.once(_parts_of_logs))


def _parts_of_samples(of: Numbers) -> pd.DataFrame:
    return claims_in_part(of_samples(of.once(measured)))


def _claims_of_samples(of: Numbers) -> pd.DataFrame:
    return claims_table(of.once(_parts_of_samples))


def draw_ratios(of: Numbers) -> Figure:
    """Draw the intervals of the ratios, with a group per comparison and a colour per trace."""
    table = of.once(ratio_table).rename(columns={"ratio": "median"})
    labels = [one.label.replace(" / ", " /\n") for one in COMPARISONS]
    title = f"Ratios of means over paired samples, with {LEVEL:.0%} intervals; below 1 is better"
    with charts.panels(len(SHOWN), 1, title, tall=1.4) as (figure, places):
        for axes, measure in zip(places, SHOWN, strict=True):
            rows = table.xs(measure, level="measure").groupby(["comparison", "trace"]).first()
            series: list[tuple[xr.Dataset, str]] = []
            for trace, color in zip(of.traces, COLORS, strict=False):
                found = pd.DataFrame(rows.xs(trace, level="trace"))
                band = found.loc[[one.label for one in COMPARISONS], [*BAND, "log"]]
                series.append((band.to_xarray(), color))
                axes.plot([], [], color=color, label=trace)
            charts.bands(axes, labels, series)
            charts.logarithmic(axes)
            axes.axhline(1, color=charts.LINE, linewidth=0.8)
            axes.set_title(measure.replace("_", " "))
        places[0].legend(ncols=len(COLORS))
    return figure


PAPER = Paper(
    needs=Needs(policies=tuple(SCHEDULERS.values())),
    parts=(
        Part(
            with_log,
            {
                "schedulers": log_table,
                "claims": _claims_of_logs,
                "claims-in-part": _parts_of_logs,
            },
            shown=(log_table, _claims_of_logs),
        ),
        Part(
            with_samples,
            {
                "ratios": ratio_table,
                "claims": _claims_of_samples,
                "claims-in-part": _parts_of_samples,
            },
            {"ratios": draw_ratios},
            (ratio_table, _claims_of_samples),
            "samples-{}",
        ),
    ),
    headings=True,
)
"""The report; a store needs the eight schedulers, and logs, samples, or both."""
