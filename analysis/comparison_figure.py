"""The figure of a comparison: dots with intervals, and a panel for each metric."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from schedfarm.analysis.drawing import (
    COLUMN_WIDTHS,
    OWN_LABEL,
    OWN_MARK,
    STYLE,
    canvas,
    checked_path,
    legend_columns,
    name_panel,
    point_styles,
    save,
    shown_policies,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

ROW, MARGIN = 0.24, 1.1
"""Height of a row with a dot, and of title, axis and legend of a panel, inches."""


def comparison_figure(
    found: xr.Dataset,
    path: str | os.PathLike[str] | None = None,
    size: tuple[float, float] | None = None,
) -> Figure:
    """Draw the ratio of each policy to the baseline as a dot with its interval.

    Parameters
    ----------
    found : Dataset
        The result of `compare`.
    path : path, optional
        File for the figure, ending in .png, .pdf or .svg.
    size : (float, float), optional
        Width and height, inches; by default each metric has a panel of one column's width.

    Returns
    -------
    Figure
        The figure has a row for each trace and load and, if there are several, a row for their
        mean. A diamond marks the ratio in the log itself; the line at 0 % is the baseline.

    Raises
    ------
    StoreError
        If the path has another suffix.
    """
    from matplotlib import style

    target = None if path is None else checked_path(path)
    metrics = found["metric"].values.tolist()
    policies = found["policy"].values.tolist()
    rows = _rows(found)
    width, height = size or (
        COLUMN_WIDTHS["one"] * len(metrics),
        ROW * len(rows) * len(policies) + MARGIN,
    )
    with style.context(STYLE):
        figure = canvas(width, height)
        styles = point_styles([str(found.attrs["baseline"]), *policies])
        shown = dict(zip(styles, shown_policies(styles), strict=True))
        panels = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
        for axes, metric in zip(panels, metrics, strict=True):
            chosen = found.sel(metric=metric)
            for place, policy in enumerate(policies):
                _draw(axes, chosen.sel(policy=policy), rows, place, len(policies), styles[policy])
            name_panel(axes, str(chosen["long_name"].item()))
            axes.margins(x=0.06)
            axes.axvline(0.0, color="0.3", linewidth=0.8, zorder=0)
            axes.set_xlabel(f"change against {shown[str(found.attrs['baseline'])]} (%)")
        panels[0].set_yticks(range(len(rows)), [label for label, _ in rows])
        panels[0].set_ylim(len(rows) - 0.5, -0.5)
        handles, labels = panels[0].get_legend_handles_labels()
        labels = [shown[label] for label in labels]
        if bool(found["ratio_of_log"].notnull().any()):
            handles, labels = [*handles, _own_mark()], [*labels, OWN_LABEL]
        figure.legend(
            handles, labels, loc="outside lower center", ncols=legend_columns(labels, len(labels))
        )
        if target is not None:
            save(figure, target)
        else:
            figure.draw_without_rendering()
    return figure


def _rows(found: xr.Dataset) -> list[tuple[str, dict[str, str] | None]]:
    """Return the labels of the rows with trace and load; None stands for the mean over all."""
    traces, loads = found["trace"].values.tolist(), found["load"].values.tolist()
    rows: list[tuple[str, dict[str, str] | None]] = [
        (f"{trace}, {load}", {"trace": trace, "load": load}) for trace in traces for load in loads
    ]
    return [*rows, ("all", None)] if len(rows) > 1 else rows


def _draw(
    axes: Axes,
    found: xr.Dataset,
    rows: list[tuple[str, dict[str, str] | None]],
    place: int,
    policies: int,
    look: dict[str, object],
) -> None:
    """Draw the dots of one policy, shifted from the dots of other policies."""
    shift = (place - (policies - 1) / 2) * 0.7 / policies
    ratios = [found["overall"] if at is None else found["ratio"].sel(at) for _, at in rows]
    low, middle, high = 100 * (np.stack([one.values for one in ratios], axis=-1) - 1)
    y = np.arange(len(rows)) + shift
    color = look["color"]
    axes.errorbar(
        middle,
        y,
        xerr=np.abs([middle - low, high - middle]),
        linestyle="none",
        marker=look["marker"],
        markersize=4,
        color=color,
        elinewidth=1.2,
        label=str(found["policy"].item()),
    )
    logs = [np.nan if at is None else float(found["ratio_of_log"].sel(at)) for _, at in rows]
    axes.plot(100 * (np.array(logs) - 1), y, **{**OWN_MARK, "markeredgecolor": color})


def _own_mark() -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], **OWN_MARK)
