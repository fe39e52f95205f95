"""Who is more unfair: the question that Sabin and Sadayappan leave open, put to samples.

Their subsets show no consistent difference between LXF and FCFS, nor between aggressive and
conservative backfilling. Samples of the whole logs say more, with intervals.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from analysis.band_rule import QUANTILES
from analysis.drawing import STYLE, canvas
from analysis.papers.files import write_figure, write_table
from analysis.papers.sabin_2005.figures import bar_chart, bar_table
from analysis.papers.sabin_2005.names import KINDS, ORDERS, RULES
from analysis.papers.sabin_2005.unfairness import sample_unfairness
from analysis.store import Store
from core.arrays import Float64

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM = 0.24
"""Distance of the kinds of one comparison, of 1 between comparisons."""


def comparisons() -> list[tuple[str, dict[str, str], dict[str, str]]]:
    """Return each pair that the paper cannot tell apart, as (name, one, other).

    Examples
    --------
    >>> [name for name, _, _ in comparisons()][2:4]
    ['LXF / FCFS, conservative', 'aggressive / conservative, FCFS']
    """
    by_order = [
        (f"LXF / FCFS, {rule}", {"order": "LXF", "rule": rule}, {"order": "FCFS", "rule": rule})
        for rule in RULES.values()
    ]
    by_rule = [
        (
            f"aggressive / conservative, {order}",
            {"order": order, "rule": "aggressive"},
            {"order": order, "rule": "conservative"},
        )
        for order in ORDERS.values()
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
        Indexed by (kind, trace, load, comparison): the ratio's 10, 50 and 90 % quantiles over
        the samples, the number of these, and in how many the one is the more unfair.

    Raises
    ------
    StoreError
        If the store lacks one of the nine policies, or a kind of fairness.
    """
    rows = {}
    for kind in KINDS:
        values = sample_unfairness(store, kind)
        for name, one, other in comparisons():
            ratio = values.sel(one).drop_vars(one) / values.sel(other).drop_vars(other)
            ratio = ratio.where(np.isfinite(ratio))
            for trace in values["trace"].values:
                for load in values["load"].values:
                    cell = ratio.sel(trace=trace, load=load).dropna("resample").values
                    rows[kind, trace, load, name] = _summary(cell)
    columns = [*(f"q{q}" for q in QUANTILES), "samples", "above_1"]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    frame.index = pd.MultiIndex.from_tuples(
        frame.index, names=["kind", "trace", "load", "comparison"]
    )
    return frame


def _summary(ratio: Float64) -> list[float]:
    if not ratio.size:
        return [np.nan] * len(QUANTILES) + [0, 0]
    return [*np.quantile(ratio, QUANTILES).tolist(), ratio.size, int((ratio > 1).sum())]


def ratio_chart(frame: pd.DataFrame) -> Figure:
    """Draw the ratios with their 10 to 90 % bands, a panel for each trace and load.

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
        figure.suptitle(f"{title}\nMedian and 10 to 90 % of {samples} samples", x=0.01, ha="left")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _panel(axes: Axes, frame: pd.DataFrame, trace: str, load: str) -> None:
    from matplotlib.ticker import NullFormatter

    names = [name for name, _, _ in comparisons()]
    for i, (kind, row) in enumerate(KINDS.items()):
        cells = [(kind, trace, load, name) for name in names]
        low, middle, high = (frame[f"q{q}"].loc[cells].to_numpy(np.float64) for q in QUANTILES)
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
        band = samples.quantile(QUANTILES, "resample").assign_attrs(samples.attrs)
        band = band.assign_coords(quantile=[f"q{q}" for q in QUANTILES])
        low, middle, high = (band.isel(quantile=i, drop=True) for i in range(len(QUANTILES)))
        whiskers = xr.concat([low, high], "end")
        title = "Median and 10 to 90 % over samples"
        written += [
            write_figure(store, name, bar_chart(middle, title, whiskers)),
            write_table(store, name, bar_table(band, "quantile")),
        ]
    found = ratios(tree)
    name = "samples-ratios"
    return [
        *written,
        write_figure(store, name, ratio_chart(found)),
        write_table(store, name, found),
    ]
