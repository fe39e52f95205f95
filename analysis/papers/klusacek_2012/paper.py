"""Rows of the report on Klusacek and Rudova, JSSPP 2012: their figures and conclusions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from schedfarm.analysis.drawing import HOUR, OWN, bar_legend, line_legend, thin_spaced
from schedfarm.analysis.papers import charts
from schedfarm.analysis.papers.klusacek_2012.claims import (
    claims,
    claims_in_part,
    claims_over_samples,
    claims_over_seeds,
    seeds_table,
)
from schedfarm.analysis.papers.klusacek_2012.measures import (
    AREA,
    CELL,
    HIGH,
    MEASURES,
    SD,
    by_seed,
    delays,
    delays_of_samples,
    longest,
    measures,
    nuwt_cdf,
    seeds_of,
)
from schedfarm.analysis.papers.klusacek_2012.printed import (
    ALGORITHMS,
    BF,
    CONS,
    EASY,
    FAIR,
    FCFS,
    MOST,
    TABU,
)
from schedfarm.analysis.papers.needs import Needs
from schedfarm.analysis.papers.report import Drawn, Numbers, Paper, Part, with_log, with_samples
from schedfarm.analysis.papers.tables import band_table, span_text, spread
from schedfarm.analysis.store import LOG, of_log, of_samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = {
    FCFS: charts.GREY,
    BF: charts.VERMILLION,
    EASY: charts.BLUE,
    CONS: charts.GREEN,
    FAIR: charts.PURPLE,
    TABU: charts.SKY,
}

COLUMNS = 3
"""Number of panels side by side, as in the paper."""

OFF_SCALE = "; FCFS is off the scale"
"""Note on a figure without FCFS, as in the paper."""

_OF_USERS = f"Normalised user wait time, {MEASURES[SD].units}"

Shown = Mapping[str, xr.Dataset]
"""Numbers for `charts` on (trace, load, algorithm), by measure; ``share`` has the CDFs."""


def _drawn(found: xr.Dataset) -> list[str]:
    """Return all algorithms except FCFS, whose numbers are off the scale, as in the paper."""
    return [name for name in found["algorithm"].values.tolist() if name != FCFS]


def wait_chart(shown: Shown, title: str) -> Figure:
    """Draw mean waits as bubbles, whose area and label are the mean bounded slowdown (figure 1)."""
    wait = shown["wait"].assign(size=shown["bounded_slowdown"]["median"])
    label = f"{MEASURES['wait'].meaning}, hours"
    with _panels(wait, title, label) as (figure, cells):
        names = _drawn(wait)
        for axes, here in cells:
            of = here.sel(algorithm=names)
            charts.bubbles(axes, of, of["size"].values, [COLORS[name] for name in names], HOUR)
            charts.name_groups(axes, names, slanted=True)
        bar_legend(figure, {}, own=charts.has_log([wait]))
    return figure


def response_chart(shown: Shown, title: str) -> Figure:
    """Draw mean response times as bars (figure 1)."""
    response, label = shown["response"], f"{MEASURES['response'].meaning}, hours"
    with _panels(response, title, label) as (figure, cells):
        names = _drawn(response)
        for axes, here in cells:
            series = [(here.sel(algorithm=names), [COLORS[name] for name in names])]
            charts.bars(axes, names, series, HOUR)
            charts.name_groups(axes, names, slanted=True)
        bar_legend(figure, {}, own=charts.has_log([response]))
    return figure


def users_chart(shown: Shown, title: str) -> Figure:
    """Draw mean and standard deviation of users' normalised wait times as bars (figure 2)."""
    labels = ["mean", "standard deviation"]
    both = xr.concat([shown["nuwt_mean"], shown[SD]], pd.Index(labels, name="of"))
    with _panels(both, title, _OF_USERS) as (figure, cells):
        colors = {name: COLORS[name] for name in _drawn(both)}
        for axes, here in cells:
            series = [(here.sel(algorithm=name), color) for name, color in colors.items()]
            charts.bars(axes, labels, series)
            charts.name_groups(axes, labels)
        bar_legend(figure, colors, own=charts.has_log([both]))
    return figure


def cdf_chart(shown: Shown, title: str) -> Figure:
    """Draw the distribution functions of users' normalised wait times (figure 2)."""
    percent = 100 * shown["share"]
    with _panels(percent, title, "Users with at most this value, %") as (figure, cells):
        colors = {name: COLORS[name] for name in percent["algorithm"].values.tolist()}
        for axes, here in cells:
            for name, color in colors.items():
                one = here.sel(algorithm=name)
                charts.line(axes, one["nuwt"].values, one, color, dots=False)
            axes.set(xlim=(0, MOST), ylim=(0, 100))
        for axes in figure.axes[-COLUMNS:]:
            axes.set_xlabel(_OF_USERS)
        own = {"color": "black", **OWN} if charts.has_log([percent]) else None
        line_legend(figure, colors, own)
    return figure


@contextmanager
def _panels(
    found: xr.Dataset, title: str, label: str
) -> Iterator[tuple[Figure, list[tuple[Axes, xr.Dataset]]]]:
    """Open a figure with a panel for each log and load; yield each panel with its numbers."""
    cells = list(product(found["trace"].values.tolist(), found["load"].values.tolist()))
    with charts.panels(len(cells), COLUMNS, title, y=label) as (figure, places):
        numbers = [found.sel(trace=trace, load=load) for trace, load in cells]
        yield figure, list(zip(places, numbers, strict=True))
        for axes, (trace, load) in zip(places, cells, strict=True):
            axes.set_title(charts.cell_title(trace, load))
            axes.yaxis.set_major_formatter(thin_spaced)
            axes.set_ylim(bottom=0)


CHARTS = {
    "figure-1-wait": (
        wait_chart,
        "Figure 1: mean wait; label and area: mean bounded slowdown" + OFF_SCALE,
    ),
    "figure-1-response": (response_chart, "Figure 1: mean response time" + OFF_SCALE),
    "figure-2-cdf": (cdf_chart, "Figure 2: normalised user wait times"),
    "figure-2-users": (
        users_chart,
        "Figure 2: mean and standard deviation over users" + OFF_SCALE,
    ),
}
"""The paper's figures by the names of their files: functions and titles."""

FIGURE_1, FIGURE_2 = ["wait", "bounded_slowdown", "response"], ["nuwt_mean", SD, AREA, HIGH]
"""Measures in the table of figure 1, and measures of users in the table of figure 2."""


def _seeds(of: Numbers) -> Numbers | None:
    searches = seeds_of(of.summary["policy"].values.tolist())
    return with_log(of) if sum(map(len, searches.values())) > 1 else None


def of_logs(of: Numbers) -> Shown:
    """Return the numbers of the logs for the charts."""
    values = of.once(measures).assign(share=of.once(nuwt_cdf))
    own = of_log(values)
    return {name: own[name].to_dataset(name="median") for name in (*MEASURES, "share")}


def over_samples(of: Numbers) -> Shown:
    """Return the bands of the samples for the charts."""
    values = of.once(measures)
    return {**{name: spread(values[name]) for name in MEASURES}, "share": spread(of.once(nuwt_cdf))}


def _draw_logs(of: Numbers, name: str) -> Figure:
    chart, title = CHARTS[name]
    return chart(of.once(of_logs), title)


def _draw_samples(of: Numbers, name: str) -> Figure:
    chart, title = CHARTS[name]
    shown = of.once(over_samples)
    return chart(
        shown, f"{title}\nMedian of the samples, and {span_text(shown['wait']['samples'])}"
    )


def _measures_of_logs(of: Numbers) -> pd.DataFrame:
    frame = of_log(of.once(measures)).to_dataframe(dim_order=CELL)
    return frame.astype({"users": "Int64"})[["users", *MEASURES]]


def _cdf_of_logs(of: Numbers) -> pd.DataFrame:
    shares = of_log(of.once(nuwt_cdf))
    curves = shares.to_series().unstack("algorithm")
    found: pd.DataFrame = curves[shares["algorithm"].values.tolist()]
    return found


def _only_logs(values: xr.Dataset) -> xr.Dataset:
    return values.sel(resample=[LOG])


def _parts_of_logs(of: Numbers) -> pd.DataFrame:
    return claims_in_part(_only_logs(of.once(measures)))


def _claims_of_logs(of: Numbers) -> pd.DataFrame:
    return claims(of.once(_parts_of_logs))


def _seeds_table(of: Numbers) -> pd.DataFrame:
    return seeds_table(_only_logs(of.once(by_seed)), _only_logs(of.once(measures)))


def _claims_of_seeds(of: Numbers) -> pd.DataFrame:
    searched = _only_logs(of.once(by_seed))
    return claims(claims_over_seeds(searched, _only_logs(of.once(measures))))


def _claims_of_samples(of: Numbers) -> pd.DataFrame:
    return claims(claims_in_part(of_samples(of.once(measures))))


def _bands(of: Numbers, names: list[str]) -> pd.DataFrame:
    values = of.once(measures)
    parts = {
        name: band_table(values[name], CELL).assign(units=MEASURES[name].units) for name in names
    }
    return pd.concat(parts, names=["measure"])


LOG_FIGURES: dict[str, Drawn] = {name: partial(_draw_logs, name=name) for name in CHARTS}

SAMPLE_FIGURES: dict[str, Drawn] = {name: partial(_draw_samples, name=name) for name in CHARTS}

PAPER = Paper(
    needs=Needs(policies=tuple(ALGORITHMS), fairness=("promise",), keep="jobs"),
    parts=(
        Part(
            with_log,
            {
                "figure-1": lambda of: of.once(_measures_of_logs)[FIGURE_1],
                "figure-2-cdf": _cdf_of_logs,
                "figure-2-users": lambda of: of.once(_measures_of_logs)[["users", *FIGURE_2]],
                "figure-2-longest": longest,
                "claims": _claims_of_logs,
                "claims-in-part": lambda of: of.once(_parts_of_logs).droplevel("resample"),
                "promises": delays,
            },
            LOG_FIGURES,
            (_measures_of_logs, _claims_of_logs, delays),
        ),
        Part(
            _seeds,
            {"seeds": _seeds_table, "claims-of-seeds": _claims_of_seeds},
            shown=(_seeds_table, _claims_of_seeds),
        ),
        Part(
            with_samples,
            {
                "figure-1": partial(_bands, names=FIGURE_1),
                "figure-2-cdf": lambda of: band_table(of.once(nuwt_cdf), [*CELL, "nuwt"]),
                "figure-2-users": partial(_bands, names=FIGURE_2),
                "claims": _claims_of_samples,
                "claims-in-part": lambda of: claims_over_samples(of.once(measures)),
                "promises": delays_of_samples,
            },
            SAMPLE_FIGURES,
            (_claims_of_samples, delays_of_samples),
            "samples-{}",
        ),
    ),
)
"""The report; a store needs the paper's six algorithms, and the starts that plans promised."""
