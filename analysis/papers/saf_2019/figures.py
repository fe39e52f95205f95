"""Figures of Carastan-Santos et al. 2019 from a store, one function each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from analysis.band_rule import Rule
from analysis.bands import weekly_bands
from analysis.drawing import (
    STYLE,
    band_panel,
    canvas,
    looks_of,
    policy_legend,
    save,
    thin_spaced,
    write_text,
)
from analysis.papers.saf_2019.delayed import ALL, DELAYED, WHISKERS, delayed_jobs
from analysis.papers.saf_2019.printed import POLICIES
from analysis.papers.saf_2019.tables import (
    CLASSES,
    OBJECTIVES,
    backfilled_jobs,
    slowdown_classes,
    study,
)
from analysis.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HOUR = 3600
"""Waits are drawn in hours, s."""

ROWS = {"bounded_slowdown": "Slowdown", "pp_bounded_slowdown": "pp-slowdown", "wait": "Wait (h)"}
"""What figure 1 calls each objective."""

WIDTH = 11.0
"""Width of figures with a panel for each of five logs, inches."""

BAR = 0.2
"""Width of one of four bars that stand together."""


def figure_1(store: Store, png: Path | None = None, csv: Path | None = None) -> Figure:
    """Draw figure 1: the cumulative weekly mean of slowdown, pp-slowdown and wait.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    png, csv : Path, optional
        Where to write the figure, and its numbers.

    Returns
    -------
    Figure
        A row an objective, a column a log; line and band as `weekly_bands` gives them. Axes
        are logarithmic: the first weeks of a sample may lie far above the rest.

    Raises
    ------
    StoreError
        If the store has too few samples, or lacks a policy of the paper.
    """
    of = study(store)
    found: dict[tuple[str, str], xr.Dataset] = {}
    for metric in OBJECTIVES:
        for trace in of.traces:
            band = weekly_bands(store, trace, metric, of.load)
            band = band.sel(policy=list(of.policies.values())).assign_coords(policy=list(POLICIES))
            if metric == "wait":
                band["wait"] = band["wait"] / HOUR
            found[metric, trace] = band
    parts = {key: band[key[0]].to_series().unstack("band") for key, band in found.items()}
    numbers = pd.concat(parts, names=["metric", "trace"])
    n = int(next(iter(found.values()))["n"].max())
    title = (
        "Cumulative mean over the jobs ended up to each week\n"
        f"Line: mean of {n} samples without the best and the worst; band: lowest to highest"
    )
    with _drawing(png, csv, numbers, title, (WIDTH, 6.9)) as figure:
        axes = figure.subplots(len(OBJECTIVES), len(of.traces), squeeze=False)
        looks = looks_of(list(POLICIES))
        for (metric, trace), band in found.items():
            panel = axes[OBJECTIVES.index(metric), of.traces.index(trace)]
            band_panel(panel, band, looks, Rule(), log=True)
            _scale(panel)
        _name_grid(axes, of.traces, [ROWS[metric] for metric in OBJECTIVES])
        for panel in axes[-1]:
            panel.set_xlabel("Week")
        policy_legend(figure, looks)
    return figure


def figure_2(store: Store, png: Path | None = None, csv: Path | None = None) -> Figure:
    """Draw figure 2: processors of the 100 jobs of each sample with the highest slowdowns.

    Parameters
    ----------
    store, png, csv
        As for `figure_1`.

    Returns
    -------
    Figure
        A box for each policy and for all jobs: quartiles, median, 5 to 95 %.
    """
    of = study(store)
    boxes = delayed_jobs(store)
    title = (
        f"Processors of the {DELAYED} jobs of each sample with the highest slowdowns, "
        "and of all jobs\nBox: quartiles and median; whiskers: 5 to 95 %"
    )
    with _drawing(png, csv, boxes, title, (WIDTH, 3.3)) as figure:
        colors = [look["color"] for look in looks_of(list(POLICIES)).values()] + ["#888888"]
        axes = figure.subplots(1, len(of.traces), squeeze=False)
        names = [*POLICIES, ALL]
        for panel, trace in zip(axes[0], of.traces, strict=True):
            stats = [_box(boxes, trace, name) for name in names]
            drawn = panel.bxp(stats, showfliers=False, widths=0.6, patch_artist=True)
            _paint(drawn, colors)
            panel.set_yscale("log", base=2)
            panel.yaxis.set_major_formatter(thin_spaced)
            panel.yaxis.minorticks_off()
            panel.set_xticks(range(1, len(names) + 1), [*POLICIES, "all"], rotation=45)
            panel.grid(visible=False, axis="x")
        _name_grid(axes, of.traces, ["Processors"])
    return figure


def figure_3(store: Store, png: Path | None = None, csv: Path | None = None) -> Figure:
    """Draw figure 3: the distribution of the jobs over classes of slowdown.

    Parameters
    ----------
    store, png, csv
        As for `figure_1`.

    Returns
    -------
    Figure
        A panel a class; bars over all samples, lines from the lowest to the highest sample
        within the 10 to 90 % range.
    """
    of = study(store)
    frame = slowdown_classes(store)
    title = (
        "Jobs by bounded slowdown: 1, (1, 10), [10, 100), 100 and more\n"
        "Bars: all samples; lines: samples within the 10 to 90 % range"
    )
    with _drawing(png, csv, frame, title, (9.0, 5.6)) as figure:
        looks = looks_of(list(POLICIES))
        places = np.arange(len(of.traces))
        axes = figure.subplots(2, 2)
        for panel, name in zip(axes.flat, CLASSES.values(), strict=True):
            for i, (policy, look) in enumerate(looks.items()):
                bars = frame.xs((policy, name), level=("policy", "slowdown")).loc[of.traces]
                at = places + (i - (len(looks) - 1) / 2) * BAR
                panel.bar(at, bars["percent"], BAR * 0.9, color=look["color"])
                panel.vlines(at, bars["low"], bars["high"], color="#888888", linewidth=0.9)
            panel.set_title(f"Slowdown {name}")
            panel.set_xticks(places, of.traces)
            panel.grid(visible=False, axis="x")
            panel.margins(x=0.02)
        for row in axes:
            row[0].set_ylabel("Jobs (%)")
        _legend_of_patches(figure, looks)
    return figure


def figure_4(store: Store, png: Path | None = None, csv: Path | None = None) -> Figure:
    """Draw figure 4: the number of backfilled jobs of each sample.

    Parameters
    ----------
    store, png, csv
        As for `figure_1`.

    Returns
    -------
    Figure
        A dot a sample, a bar at their mean.
    """
    of = study(store)
    frame = backfilled_jobs(store)
    title = "Backfilled jobs of each sample (dots) and their mean (bars)"
    with _drawing(png, csv, frame, title, (WIDTH, 3.1)) as figure:
        colors = [look["color"] for look in looks_of(list(POLICIES)).values()]
        axes = figure.subplots(1, len(of.traces), squeeze=False)
        for panel, trace in zip(axes[0], of.traces, strict=True):
            for i, policy in enumerate(POLICIES):
                one = frame["backfilled"].xs((trace, policy), level=("trace", "policy"))
                counts = one.to_numpy() / 1000
                panel.plot(np.full(counts.size, i), counts, "o", color=colors[i], alpha=0.45, ms=4)
                panel.hlines(counts.mean(), i - 0.3, i + 0.3, color=colors[i], linewidth=2)
            panel.set_xticks(range(len(POLICIES)), POLICIES)
            panel.set_xlim(-0.6, len(POLICIES) - 0.4)
            panel.set_ylim(bottom=min(0, panel.get_ylim()[0]))
            panel.grid(visible=False, axis="x")
        _name_grid(axes, of.traces, ["Backfilled jobs (thousands)"])
    return figure


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
        panel.set_title(name)
    for panel, name in zip(axes[:, 0], rows, strict=True):
        panel.set_ylabel(name)
    figure = axes[0, 0].figure
    figure.align_ylabels(axes[:, 0])


def _legend_of_patches(figure: Figure, looks: dict[str, dict[str, Any]]) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(color=look["color"]) for look in looks.values()]
    figure.legend(handles, list(looks), loc="outside lower center", ncols=len(looks))


@contextmanager
def _drawing(
    png: Path | None,
    csv: Path | None,
    numbers: pd.DataFrame,
    title: str,
    inches: tuple[float, float],
) -> Iterator[Figure]:
    from matplotlib import style

    if csv:
        write_text(csv, numbers.to_csv(lineterminator="\n"))
    with style.context(STYLE):
        figure = canvas(*inches)
        figure.suptitle(title, x=0.01, ha="left")
        yield figure
        if png:
            save(figure, png)
        else:
            figure.draw_without_rendering()
