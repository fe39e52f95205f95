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

from analysis.drawing import STYLE, save
from analysis.papers.sabin_2005.figures import MEASURES, draw_bars
from analysis.papers.sabin_2005.numbers import ORDERS, RULES, SHARES, of_samples
from analysis.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUANTILES = (0.1, 0.5, 0.9)
"""Ends and middle of a band."""

LOOKS = {"strict": "o", "relaxed": "s", "resource": "^"}
"""Markers of the kinds of fairness."""

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
    for kind in SHARES:
        values = of_samples(store, kind)
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


def _summary(ratio: np.ndarray) -> list[float]:
    if not ratio.size:
        return [np.nan] * len(QUANTILES) + [0, 0]
    return [*np.quantile(ratio, QUANTILES).tolist(), ratio.size, int((ratio > 1).sum())]


def draw_ratios(frame: pd.DataFrame, path: Path) -> None:
    """Draw the ratios with their 10 to 90 % bands, a panel for each trace and load.

    Parameters
    ----------
    frame : DataFrame
        From `ratios`.
    path : Path
        A name ending in .png, .pdf or .svg.
    """
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    cells = list(dict.fromkeys((trace, load) for _, trace, load, _ in frame.index))
    with style.context(STYLE):
        figure = Figure(figsize=(9.0, 4.4))
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, len(cells), squeeze=False, sharey=True)[0]
        for (trace, load), place in zip(cells, axes, strict=True):
            _panel(place, frame, trace, load)
            place.set_title(f"{trace}, load {load}")
        samples = int(frame["samples"].max())
        title = "How many times as unfair is the first as the second?"
        figure.suptitle(f"{title}\nMedian and 10 to 90 % of {samples} samples", x=0.01, ha="left")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        save(figure, path)


def _panel(axes: Axes, frame: pd.DataFrame, trace: str, load: str) -> None:
    from matplotlib.ticker import NullFormatter

    names = [name for name, _, _ in comparisons()]
    for i, (kind, marker) in enumerate(LOOKS.items()):
        cells = [(kind, trace, load, name) for name in names]
        low, middle, high = (frame[f"q{q}"].loc[cells].to_numpy(np.float64) for q in QUANTILES)
        y = np.arange(len(names)) + (i - 1) * ROOM
        line = axes.plot(middle, y, marker, label=MEASURES[kind].split(" ", 1)[1])[0]
        axes.hlines(y, low, high, color=line.get_color(), linewidth=1.4)
    axes.axvline(1.0, color="#666666", linewidth=0.9)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.margins(x=0.06)
    axes.set_xlabel("Ratio of mean unfairness")


def report_samples(store: Path) -> list[Path]:
    """Write the figures and tables that come from samples.

    Parameters
    ----------
    store : Path
        The store's folder, with the folders figures and tables in it.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    StoreError
        As `ratios`.
    """
    figures, tables = store / "figures", store / "tables"
    written = []
    for kind in SHARES:
        band = of_samples(store, kind).quantile(QUANTILES, "resample")
        low, middle, high = (band.sel(quantile=q, drop=True) for q in QUANTILES)
        middle.attrs = of_samples(store, kind).attrs
        written += [figures / f"samples-{kind}.png", tables / f"samples-{kind}.csv"]
        title = "Median and 10 to 90 % over samples"
        draw_bars(middle, title, written[-2], xr.concat([low, high], "end"))
        frame = band.to_series().unstack("quantile").add_prefix("q")
        frame.assign(units=middle.attrs["units"]).to_csv(written[-1], lineterminator="\n")
    found = ratios(store)
    written += [figures / "samples-ratios.png", tables / "samples-ratios.csv"]
    draw_ratios(found, written[-2])
    found.to_csv(written[-1], lineterminator="\n")
    return written
