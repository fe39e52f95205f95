"""Who is more unfair: the question that Sabin and Sadayappan leave open, put to samples.

Their subsets show no consistent difference between LXF and FCFS, nor between aggressive and
conservative backfilling. Samples of the whole logs say more, and how far they differ: by the band
of `analysis.papers.spread`, which of ten samples reaches from the second to the ninth.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.drawing import OWN_LABEL, STYLE, canvas, own_marks
from schedfarm.analysis.papers.sabin_2005.figures import bar_chart
from schedfarm.analysis.papers.sabin_2005.names import KINDS, ORDERS, REPLANNING, RULES
from schedfarm.analysis.papers.sabin_2005.unfairness import sample_unfairness
from schedfarm.analysis.papers.spread import BAND, STANDING, span_text, spread
from schedfarm.analysis.store import Store, of_samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATIOS = "samples-ratios"
"""Name of the figure and table of `ratios`."""

ROOM = 0.24
"""Distance of the kinds of one comparison, of 1 between comparisons."""


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
        Indexed by (kind, trace, load, comparison): the ratio's `BAND` over the samples,
        `STANDING`, and in ``above_1`` in how many samples the one is the more unfair.

    Raises
    ------
    StoreError
        If the store lacks samples, one of the nine policies, or a kind of fairness.
    """
    parts = {}
    for kind in KINDS:
        values = sample_unfairness(store, kind)
        for name, one, other in comparisons(values["rule"].values.tolist()):
            ratio = values.sel(one).drop_vars(one) / values.sel(other).drop_vars(other)
            ratio = ratio.where(np.isfinite(ratio))
            above = (of_samples(ratio) > 1).sum("resample")
            frame = spread(ratio).assign(above_1=above).to_dataframe(dim_order=["trace", "load"])
            parts[kind, name] = frame[[*BAND, *STANDING, "above_1"]]
    found = pd.concat(parts, names=["kind", "comparison"])
    return found.reorder_levels(["kind", "trace", "load", "comparison"])


def _caption(samples: Iterable[int], mark: str) -> str:
    """Say what the marks, or bars, and the lines of a figure are.

    Examples
    --------
    >>> print(_caption([10, 10], "Bar"))
    Bar: median of the samples
    Line: samples 2 to 9 of 10, which hold 63.6 % of all such samples in expectation
    """
    return f"{mark}: median of the samples\nLine: {span_text(samples)}"


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
        title = "How many times as unfair is the first as the second?"
        figure.suptitle(f"{title}\n{_caption(frame['samples'], 'Mark')}", x=0.01, ha="left")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(KINDS))
    return figure


def _panel(axes: Axes, frame: pd.DataFrame, trace: str, load: str) -> None:
    from matplotlib.ticker import NullFormatter

    names = frame.index.unique("comparison").tolist()
    for i, (kind, row) in enumerate(KINDS.items()):
        cells = [(kind, trace, load, name) for name in names]
        low, middle, high, log = (
            frame[name].loc[cells].to_numpy(np.float64) for name in (*BAND, "log")
        )
        y = np.arange(len(names)) + (i - 1) * ROOM
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


def charts_and_tables(tree: xr.DataTree) -> tuple[dict[str, Figure], dict[str, pd.DataFrame]]:
    """Return the figures that come from samples, and their numbers.

    Parameters
    ----------
    tree : DataTree
        The store's arrays.

    Returns
    -------
    figures : dict of str to Figure
    tables : dict of str to DataFrame
        By the same names, `RATIOS` last.

    Raises
    ------
    StoreError
        As `ratios`.
    """
    figures, tables = {}, {}
    for kind in KINDS:
        name, values = f"samples-{kind}", sample_unfairness(tree, kind)
        found = spread(values)
        whiskers = xr.concat([found["low"], found["high"]], "end")
        title = _caption(found["samples"].values.flat, "Bar")
        middle = found["median"].assign_attrs(values.attrs)
        figures[name] = bar_chart(middle, title, whiskers, found["log"])
        frame = found.to_dataframe(dim_order=["trace", "load", "order", "rule"])
        tables[name] = frame[[*BAND, *STANDING]].assign(units=values.attrs["units"])
    tables[RATIOS] = ratios(tree)
    figures[RATIOS] = ratio_chart(tables[RATIOS])
    return figures, tables
