"""Rows of the report on Sabin and Sadayappan, JSSPP 2005: their figures and tables, and samples.

The paper's subsets show no consistent difference between LXF and FCFS, nor between aggressive and
conservative backfilling. Samples of the whole logs reveal more, including their spread.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.drawing import (
    HOUR,
    OWN_LABEL,
    bar_legend,
    name_panel,
    own_marks,
    thin_spaced,
)
from schedfarm.analysis.papers import charts
from schedfarm.analysis.papers.needs import Needs
from schedfarm.analysis.papers.report import (
    Drawn,
    Numbers,
    Paper,
    Part,
    Table,
    with_log,
    with_samples,
)
from schedfarm.analysis.papers.sabin_2005.claims import claims, claims_in_part
from schedfarm.analysis.papers.sabin_2005.printed import LOADS, ORDERS, RULES
from schedfarm.analysis.papers.sabin_2005.subsets import table_1, table_2
from schedfarm.analysis.papers.sabin_2005.unfairness import (
    KINDS,
    REPLANNING,
    all_by_width,
    mean_unfairness,
    policies,
    sample_unfairness,
)
from schedfarm.analysis.papers.tables import BAND, STANDING, band_table, span_text, spread
from schedfarm.analysis.store import check_known, of_samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

COLORS = {
    "no guarantee": charts.VERMILLION,
    "aggressive": charts.BLUE,
    "conservative": charts.GREEN,
    REPLANNING: charts.PURPLE,
}
"""Colours of the drawn rules. SJF without backfilling is left out: it is up to 4.5 times as unfair
as under any other rule, which would flatten the other bars."""

APART = 0.24
"""Distance between kinds of one comparison; the distance between comparisons is 1."""

CELL = ["trace", "load", "order", "rule"]


class Figure(NamedTuple):
    """Hold a row of `FIGURES`: title, kind of fairness, and whether bars are grouped by width.

    Bars by width show only FCFS; otherwise each group of bars is an order.
    """

    title: str
    kind: str
    by_width: bool = False

    def numbers(self, of: Numbers) -> xr.DataArray:
        """Return the mean unfairness at all loads of the log."""
        if self.by_width:
            return of.once(all_by_width)[self.kind].sel(order="FCFS", drop=True)
        return mean_unfairness(of, self.kind)

    def table(self, of: Numbers) -> pd.DataFrame:
        """Return the numbers of the figure with a column for each rule."""
        return bar_table(self.numbers(of))

    def draw(self, of: Numbers) -> Drawing:
        """Draw the figure at the paper's two loads."""
        values = self.numbers(of).sel(load=LOADS)
        return bar_chart(values.to_dataset(name="median"), self.kind, self.title)


FIGURES = {
    "figures-07-08-strict": Figure("Strict fair start (figures 7 and 8)", "strict"),
    "figures-09-10-strict-by-width": Figure(
        "Strict fair start by width, FCFS (figures 9 and 10)", "strict", by_width=True
    ),
    "figures-11-12-relaxed": Figure("Relaxed fair start (figures 11 and 12)", "relaxed"),
    "figures-13-14-relaxed-by-width": Figure(
        "Relaxed fair start by width, FCFS (figures 13 and 14)", "relaxed", by_width=True
    ),
    "figures-15-16-resource": Figure("Resource equality (figures 15 and 16)", "resource"),
    "figures-17-18-resource-by-width": Figure(
        "Resource equality by width, FCFS (figures 17 and 18)", "resource", by_width=True
    ),
}
"""The paper's figures, by names of files; a pair of figures shows the medium and the high load."""


def bar_table(values: xr.DataArray) -> pd.DataFrame:
    """Return the numbers of a figure with a column for each rule, and their units."""
    frame = values.to_series().unstack("rule")[values["rule"].values]
    return frame.assign(units=values.attrs["units"])


def bar_chart(found: xr.Dataset, kind: str, title: str) -> Drawing:
    """Draw groups of bars, one bar for each rule of `COLORS`, with a panel for each trace and load.

    `found` is on (trace, load, order or width, rule), in seconds or processor-seconds.
    """
    middle = found["median"]
    groups, units = str(middle.dims[2]), middle.attrs["units"]
    names = [str(name) for name in found[groups].values]
    colors = {rule: COLORS[rule] for rule in found["rule"].values.tolist() if rule in COLORS}
    rows, columns = middle.sizes["trace"], middle.sizes["load"]
    label = f"{KINDS[kind].measure}, {_hours(units)}"
    count = rows * columns
    with charts.panels(count, columns, title, y=label, sharey="row") as (figure, places):
        for (i, j), axes in zip(np.ndindex(rows, columns), places, strict=True):
            here = found.isel(trace=i, load=j)
            series = [(here.sel(rule=rule), color) for rule, color in colors.items()]
            charts.bars(axes, names, series, HOUR)
            for place in np.flatnonzero(here["median"].isnull().all("rule").values).tolist():
                axes.text(
                    place, 0, "no job", rotation=90, ha="center", va="bottom", color="#666666"
                )
            charts.name_groups(axes, names)
            axes.yaxis.set_major_formatter(thin_spaced)
            name_panel(axes, f"{here['trace'].item()}, load {_load(here['load'].item())}")
        # The limit is set last, since a limit on one panel would also fix the limit of a
        # neighbouring panel that is not drawn yet.
        for axes in places[::columns]:
            axes.set_ylim(bottom=0)
        for axes in places[-columns:]:
            axes.set_xlabel("Processors of the job" if groups == "width" else "Queue order")
        bar_legend(figure, colors, own=charts.has_log([found]))
    return figure


def _load(label: str) -> str:
    """Return a load as the text of a title.

    Examples
    --------
    >>> _load("0.95"), _load("original")
    ('95 %', 'original')
    """
    return label if label == "original" else f"{100 * float(label):.3g} %"


def _hours(units: str) -> str:
    """Return the label of an axis in hours for numbers in these units.

    Examples
    --------
    >>> _hours("s"), _hours("processor s")
    ('hours', 'processor-hours')
    """
    return f"{units.replace(' ', '-').removesuffix('s')}hours"


class Comparison(NamedTuple):
    """Hold two of the paper's policies, as labels along order and rule."""

    name: str
    one: dict[str, str]
    other: dict[str, str]


def comparisons(rules: Iterable[str]) -> list[Comparison]:
    """Return the pairs that the paper cannot separate, and the same pairs under our own rules.

    Examples
    --------
    >>> [one.name for one in comparisons(["aggressive", "conservative"])][1:3]
    ['LXF / FCFS, conservative', 'aggressive / conservative, FCFS']
    """
    there = list(rules)
    by_order = [
        Comparison(
            f"LXF / FCFS, {rule}", {"order": "LXF", "rule": rule}, {"order": "FCFS", "rule": rule}
        )
        for rule in there
    ]
    by_rule = [
        Comparison(
            f"aggressive / {rule}, {order}",
            {"order": order, "rule": "aggressive"},
            {"order": order, "rule": rule},
        )
        for rule in (RULES["planned,walk=queue"], REPLANNING)
        for order in ORDERS.values()
        if rule in there
    ]
    return by_order + by_rule


def ratios(of: Numbers) -> pd.DataFrame:
    """Return the unfairness of the first policy of each pair divided by the second's, by sample.

    ``above_1`` counts the samples in which the first policy is more unfair.
    """
    parts = {}
    for kind in KINDS:
        values = sample_unfairness(of, kind)
        for name, one, other in comparisons(values["rule"].values.tolist()):
            ratio = values.sel(one).drop_vars(one) / values.sel(other).drop_vars(other)
            ratio = ratio.where(np.isfinite(ratio))
            parts[kind, name] = band_table(
                ratio,
                ["trace", "load"],
                [*BAND, *STANDING, "above_1"],
                above_1=(of_samples(ratio) > 1).sum("resample"),
            )
    found = pd.concat(parts, names=["kind", "comparison"])
    return found.reorder_levels(["kind", "trace", "load", "comparison"])


def _caption(samples: Iterable[int], mark: str) -> str:
    """Return a caption for the marks or bars, and for the lines of a figure.

    Examples
    --------
    >>> print(_caption([10, 10], "Bar"))
    Bar: median of the samples
    Line: samples 2 to 9 of 10, which hold 63.6 % of all such samples in expectation
    """
    return f"{mark}: median of the samples\nLine: {span_text(list(samples))}"


def ratio_chart(frame: pd.DataFrame) -> Drawing:
    """Draw the ratios with their bands, with a panel for each trace and load."""
    cells = list(dict.fromkeys((trace, load) for _, trace, load, _ in frame.index))
    title = "How many times as unfair is the first as the second?"
    title = f"{title}\n{_caption(frame['samples'], 'Mark')}"
    count = len(cells)
    with charts.panels(count, count, title, tall=1.3, sharey=True) as (figure, places):
        for (trace, load), axes in zip(cells, places, strict=True):
            _ratio_panel(axes, frame, trace, load)
            axes.set_title(f"{trace}, load {load}")
        handles, labels = places[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(KINDS))
    return figure


def _ratio_panel(axes: Axes, frame: pd.DataFrame, trace: str, load: str) -> None:
    from matplotlib.ticker import NullFormatter

    names = frame.index.unique("comparison").tolist()
    for i, (kind, row) in enumerate(KINDS.items()):
        cells = [(kind, trace, load, name) for name in names]
        low, middle, high, log = (
            frame[name].loc[cells].to_numpy(np.float64) for name in (*BAND, "log")
        )
        y = np.arange(len(names)) + (i - 1) * APART
        line = axes.plot(middle, y, row.marker, label=row.measure.split(" ", 1)[1])[0]
        axes.hlines(y, low, high, color=line.get_color(), linewidth=1.4)
        if frame["log"].notna().any():
            look = {"marker": row.marker, "markeredgecolor": line.get_color()}
            own_marks(axes, log, y, **look, label=f"the same, {OWN_LABEL}")
    axes.axvline(1.0, color="#666666", linewidth=0.9)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.margins(x=0.06)
    axes.set_xlabel("Ratio of mean unfairness")


def _samples_table(of: Numbers, kind: str) -> pd.DataFrame:
    values = sample_unfairness(of, kind)
    return band_table(values, CELL).assign(units=values.attrs["units"])


def _draw_samples(of: Numbers, kind: str) -> Drawing:
    values = sample_unfairness(of, kind)
    found = spread(values)
    found["median"].attrs = values.attrs
    return bar_chart(found, kind, _caption(found["samples"].values.flat, "Bar"))


def _log_at_loads(of: Numbers) -> Numbers | None:
    """Return the numbers if they have the log at `LOADS`; this is optional if there are samples."""
    loads = of.summary["load"].values.tolist()
    if not with_log(of) or (with_samples(of) and not set(LOADS) <= set(loads)):
        return None
    for load in LOADS:
        check_known(load, "load", loads)
    return of


SAMPLE_TABLES: dict[str, Table] = {
    f"samples-{kind}": partial(_samples_table, kind=kind) for kind in KINDS
}

SAMPLE_FIGURES: dict[str, Drawn] = {
    f"samples-{kind}": partial(_draw_samples, kind=kind) for kind in KINDS
}

LOG_TABLES: dict[str, Table] = {
    **{name: row.table for name, row in FIGURES.items()},
    "table-1-widths": table_1,
    "table-2-rank-correlation": table_2,
    "claims": claims,
    "claims-in-part": claims_in_part,
}

LOG_FIGURES: dict[str, Drawn] = {name: row.draw for name, row in FIGURES.items()}

PAPER = Paper(
    needs=Needs(
        policies=tuple(policies(RULES)), fairness=tuple(KINDS), loads=tuple(LOADS), keep="jobs"
    ),
    parts=(
        Part(
            with_samples,
            SAMPLE_TABLES | {"samples-ratios": ratios},
            SAMPLE_FIGURES | {"samples-ratios": lambda of: ratio_chart(of.once(ratios))},
            (ratios,),
        ),
        Part(with_log, shown=(claims,)),
        Part(_log_at_loads, LOG_TABLES, LOG_FIGURES),
    ),
)
"""The report; a store needs the paper's nine policies, kinds of fairness, and loads of logs."""
