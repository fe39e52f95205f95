"""Who is more unfair: the question that Sabin and Sadayappan leave open, put to samples.

Their subsets show no consistent difference between LXF and FCFS, nor between aggressive and
conservative backfilling. Samples of the whole logs say more, with intervals: the band of the
published rule (`analysis.band_rule.Trimmed`), which of ten samples is the second to the ninth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from analysis.band_rule import Trimmed, left_out, quantiles
from analysis.drawing import STYLE, canvas
from analysis.papers.files import write_figure, write_table
from analysis.papers.sabin_2005.figures import bar_chart, bar_table
from analysis.papers.sabin_2005.names import KINDS, ORDERS, REPLANNING, RULES
from analysis.papers.sabin_2005.unfairness import sample_unfairness
from analysis.store import Store
from core.arrays import Float64

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM = 0.24
"""Distance of the kinds of one comparison, of 1 between comparisons."""


BAND = ["low", "median", "high"]
"""What stands for the samples of a cell."""


class Comparison(NamedTuple):
    """Two of the paper's policies, as labels along order and rule."""

    name: str
    one: dict[str, str]
    other: dict[str, str]


def comparisons(rules: Iterable[str]) -> list[Comparison]:
    """Return each pair that the paper cannot tell apart, and those that it could not ask for.

    Parameters
    ----------
    rules : iterable of str
        Those that a store has, in the paper's words and ours beside them.

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


def ratios(store: Store) -> pd.DataFrame:
    """Return how many times as unfair the one of each pair is as the other, sample by sample.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataFrame
        Indexed by (kind, trace, load, comparison): the ratio's band over the samples, the number
        of these, in how many the one is the more unfair, and the expected share of all samples
        there could be that lies within the band.

    Raises
    ------
    StoreError
        If the store lacks one of the nine policies, or a kind of fairness.
    """
    rows = {}
    for kind in KINDS:
        values = sample_unfairness(store, kind)
        for name, one, other in comparisons(values["rule"].values.tolist()):
            ratio = values.sel(one).drop_vars(one) / values.sel(other).drop_vars(other)
            ratio = ratio.where(np.isfinite(ratio))
            for trace in values["trace"].values:
                for load in values["load"].values:
                    cell = ratio.sel(trace=trace, load=load).dropna("resample").values
                    rows[kind, trace, load, name] = _summary(cell)
    columns = [*BAND, "samples", "above_1", "coverage"]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    names = ["kind", "trace", "load", "comparison"]
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=names)
    return frame.astype({"samples": np.int64, "above_1": np.int64})


def _summary(ratio: Float64) -> list[float]:
    if not ratio.size:
        return [np.nan] * len(BAND) + [0, 0, np.nan]
    above = int(np.count_nonzero(ratio > 1))
    return [*_band(ratio).tolist(), ratio.size, above, coverage(ratio.size)]


def _band(values: Float64) -> Float64:
    """Return lowest, median and highest along the last axis, NaN where samples are too few."""
    rule = Trimmed()
    ends, middle = rule.reduce(values), quantiles(values, [0.5])
    return np.concatenate([ends[..., :1], middle, ends[..., 2:]], axis=-1)


def coverage(samples: int) -> float:
    """Return the expected share of the population within the band of so many samples.

    Between the k-th smallest and the k-th largest of n independent samples lies, whatever their
    distribution, (n + 1 - 2 k) / (n + 1) of it in expectation. NaN where there is no band.

    Examples
    --------
    >>> round(coverage(10), 3)
    0.636
    """
    rule = Trimmed()
    if samples < rule.need:
        return math.nan
    last = 1 + int(left_out(samples, rule.trim))
    return (samples + 1 - 2 * last) / (samples + 1)


def _caption(samples: int) -> str:
    """Say what a figure's marks and lines are.

    Examples
    --------
    >>> _caption(10)
    'Median of 10 samples; line: from no. 2 to 9, an expected 64 % of all that could be drawn'
    """
    if samples < Trimmed().need:
        return f"Median of {samples} samples"
    first = 1 + int(left_out(samples, Trimmed().trim))
    share = f"an expected {100 * coverage(samples):.0f} % of all that could be drawn"
    return f"Median of {samples} samples; line: from no. {first} to {samples + 1 - first}, {share}"


def ratio_chart(frame: pd.DataFrame) -> Figure:
    """Draw the ratios with their bands, a panel for each trace and load.

    Parameters
    ----------
    frame : DataFrame
        From `ratios`.

    Returns
    -------
    Figure
        Of matplotlib's object-oriented interface, to be written by `analysis.drawing.save`.
    """
    from matplotlib import style

    cells = list(dict.fromkeys((trace, load) for _, trace, load, _ in frame.index))
    with style.context(STYLE):
        figure = canvas(9.0, 4.4)
        axes = figure.subplots(1, len(cells), squeeze=False, sharey=True)[0]
        for (trace, load), place in zip(cells, axes, strict=True):
            _panel(place, frame, trace, load)
            place.set_title(f"{trace}, load {load}")
        samples = int(frame["samples"].max())
        title = "How many times as unfair is the first as the second?"
        figure.suptitle(f"{title}\n{_caption(samples)}", x=0.01, ha="left")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _panel(axes: Axes, frame: pd.DataFrame, trace: str, load: str) -> None:
    from matplotlib.ticker import NullFormatter

    names = frame.index.unique("comparison").tolist()
    for i, (kind, row) in enumerate(KINDS.items()):
        cells = [(kind, trace, load, name) for name in names]
        low, middle, high = (frame[end].loc[cells].to_numpy(np.float64) for end in BAND)
        y = np.arange(len(names)) + (i - 1) * ROOM
        line = axes.plot(middle, y, row.marker, label=row.measure.split(" ", 1)[1])[0]
        axes.hlines(y, low, high, color=line.get_color(), linewidth=1.4)
    axes.axvline(1.0, color="#666666", linewidth=0.9)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.margins(x=0.06)
    axes.set_xlabel("Ratio of mean unfairness")


def report_samples(tree: xr.DataTree, store: Path) -> list[Path]:
    """Write the figures and tables that come from samples.

    Parameters
    ----------
    tree : DataTree
        The store's arrays.
    store : Path
        The store's folder.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    StoreError
        As `ratios`.
    """
    written = []
    for kind in KINDS:
        name, samples = f"samples-{kind}", sample_unfairness(tree, kind)
        band = xr.apply_ufunc(
            _band, samples, input_core_dims=[["resample"]], output_core_dims=[["band"]]
        )
        band = band.assign_coords(band=BAND).assign_attrs(samples.attrs)
        low, middle, high = (band.sel(band=end, drop=True) for end in BAND)
        whiskers = xr.concat([low, high], "end")
        title = _caption(samples.sizes["resample"])
        written += [
            write_figure(store, name, bar_chart(middle, title, whiskers)),
            write_table(store, name, bar_table(band, "band")),
        ]
    found = ratios(tree)
    name = "samples-ratios"
    return [
        *written,
        write_figure(store, name, ratio_chart(found)),
        write_table(store, name, found),
    ]
