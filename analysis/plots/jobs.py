"""Figures of jobs: arrivals, distributions, estimates and users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from schedfarm.analysis.drawing import MARKERS, curve_styles, policy_styles, thin_spaced
from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.plots.axes import (
    curves_legend,
    duration_axis,
    legend,
    log_axis,
    magnitudes,
    thinned,
)
from schedfarm.analysis.plots.series import (
    HOUR,
    JOB_VALUES,
    JobValue,
    arrivals as arrivals_of,
    distribution,
    estimates as estimates_of,
    users as users_of,
)
from schedfarm.analysis.plots.subject import Subject
from schedfarm.analysis.store import check_known
from schedfarm.core.metrics.counted import Counted
from schedfarm.core.numerals import counted, grouped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR = "#0072B2"
"""Colour of figures that have one colour."""

POSITIONS = 2_000
"""Number of positions along an axis at which points of a curve are distinguished."""

BIGGEST = 90.0
"""Area of the marker of the user with the most jobs, points squared."""

SHARE = "Jobs (%)"


def arrivals(figure: Figure, subject: Subject) -> list[str]:
    """Draw the number of submitted jobs by weekday and hour, and the sums along both."""
    found = arrivals_of(subject.workload)
    days = np.maximum(found["days"].values, 1)
    rate = found["jobs"].values / days[:, None]
    grid = figure.subplot_mosaic(
        [["hours", "scale"], ["both", "weekdays"]],
        width_ratios=(3, 1),
        height_ratios=(1, 1.6),
    )
    hours = found["jobs"].values.sum(axis=0) / max(int(found["days"].sum()), 1)
    grid["hours"].bar(found["hour"].values + 0.5, hours, 0.8, color=BAR)
    grid["hours"].set(xlim=(0, 24), xticks=range(0, 25, 6), xticklabels=[])
    grid["hours"].set_ylabel("Jobs per hour")
    image = grid["both"].pcolormesh(np.arange(25), np.arange(8), rate, cmap=magnitudes(), vmin=0)
    zone = "clock of the log" if found.attrs["dated"] else "from the first submission"
    grid["both"].set(xlim=(0, 24), ylim=(7, 0), xticks=range(0, 25, 6))
    grid["both"].set_yticks(np.arange(7) + 0.5, _weekdays(found))
    grid["both"].set_xlabel(f"Hour of the day ({zone})")
    grid["both"].grid(visible=False)
    per_day = found["jobs"].values.sum(axis=1) / days
    grid["weekdays"].barh(np.arange(7) + 0.5, per_day, 0.8, color=BAR)
    grid["weekdays"].set(ylim=(7, 0), yticks=[])
    grid["weekdays"].xaxis.set_major_formatter(thin_spaced)
    grid["weekdays"].set_xlabel("Jobs a day")
    grid["scale"].axis("off")
    scale = grid["scale"].inset_axes((0.05, 0.55, 0.95, 0.16))
    figure.colorbar(image, cax=scale, orientation="horizontal", label="Jobs per hour")
    return [f"{counted(int(found['jobs'].sum()), 'job')}."]


def _weekdays(found: Any) -> list[str]:
    if found.attrs["dated"]:
        return [str(day) for day in found["weekday"].values]
    return [f"day {day}" for day in range(1, 8)]


def distributions(figure: Figure, subject: Subject) -> list[str]:
    """Draw the share of jobs up to each value, with a curve for each policy."""
    names = [subject.metric] if subject.metric else ["wait", "bounded_slowdown"]
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    schedules = {name: Counted(one) for name, one in subject.counted().items()}
    styles = curve_styles(list(schedules))
    for axes, name in zip(panels, names, strict=True):
        check_known(name, "value of a job", list(JOB_VALUES))
        _curves(axes, JOB_VALUES[name], schedules, styles, len(names))
    panels[0].set_ylabel(SHARE)
    curves_legend(figure, styles)
    return [f"{counted(max(map(len, schedules.values())), 'job')}."]


def _curves(
    axes: Axes,
    value: JobValue,
    schedules: Mapping[str, Counted],
    styles: Mapping[str, Mapping[str, Any]],
    panels: int,
) -> None:
    found = {name: distribution(value.of(one)) for name, one in schedules.items()}
    largest = max(float(one["value"].max()) for one in found.values())
    end = 1.25 * max(largest, 10.0)
    for name, one in found.items():
        # A logarithmic axis begins at 1, where the first height is the share of smaller values.
        x = np.maximum(one["value"].values.astype(np.float64), 1.0)
        y = one["jobs"].values / one["jobs"].values[-1]
        last = np.concatenate((x[1:] != x[:-1], [True]))
        x, y = x[last], y[last]
        # The curve goes to the end of the axis, so that equal values have a curve, too.
        x = np.concatenate(([1.0], x, [end]))
        y = np.concatenate(([y[0] if x[1] == 1 else 0.0], y, [1.0]))
        places = thinned(np.log(x) / np.log(end), y, POSITIONS)
        axes.plot(x[places], 100 * y[places], drawstyle="steps-post", **styles[name])
    if value.unit == "s":
        duration_axis(axes, "x", largest, ticks=int(8 / panels) if panels > 1 else 8)
    else:
        axes.set_xlim(0.9, end)
        log_axis(axes, "x", ticks=4 if panels > 1 else 6)
    axes.set_ylim(0, 101)
    axes.set_xlabel(value.meaning.capitalize())


def estimates(figure: Figure, subject: Subject) -> list[str]:
    """Draw the number of jobs by requested time and run time."""
    from matplotlib.colors import LogNorm

    jobs = subject.workload
    found = estimates_of(jobs)
    counts, edges = found["jobs"].values, found["edge"].values
    axes = figure.subplots()
    shown = np.ma.masked_equal(counts.T, 0)
    norm = LogNorm(1, max(2, int(counts.max())))
    image = axes.pcolormesh(edges, edges, shown, cmap=magnitudes(), norm=norm)
    largest = float(edges[-1])
    for along in ("x", "y"):
        duration_axis(axes, along, largest, ticks=6)
    axes.plot([1, largest], [1, largest], color="black", linewidth=0.7)
    axes.set_xlabel("Requested time")
    axes.set_ylabel("Run time")
    bar = figure.colorbar(image, ax=axes, label="Jobs")
    bar.ax.yaxis.set_major_formatter(thin_spaced)
    bar.ax.minorticks_off()
    exact = int(np.count_nonzero(jobs.run == jobs.estimate))
    unasked, read = jobs.unasked
    notes = [
        f"{counted(len(jobs), 'job')}, {grouped(exact)} of them on the line, with run times equal "
        "to their requests."
    ]
    if unasked:
        notes.append(f"{grouped(unasked)} of {grouped(read)} jobs of the log requested no time.")
    return notes


def users(figure: Figure, subject: Subject) -> list[str]:
    """Draw each user's work and mean value, with a marker for each policy."""
    name = subject.metric or "wait"
    check_known(name, "value of a job", list(JOB_VALUES))
    value = JOB_VALUES[name]
    axes = figure.subplots()
    styles = policy_styles(list(subject.schedules))
    found = {policy: users_of(one, name) for policy, one in subject.counted().items()}
    most = max(int(one["jobs"].values.max(initial=0)) for one in found.values())
    if not most:
        raise StoreError(f"the jobs of {subject.name} have no known user; draw another figure")
    left_out = 0
    for place, (policy, one) in enumerate(found.items()):
        least = 1.0
        x = one["work"].values / HOUR
        y = np.maximum(one[name].values, least)
        there = (x > 0) & np.isfinite(y)
        left_out = max(left_out, int(np.count_nonzero(one["jobs"].values) - there.sum()))
        axes.scatter(
            x[there],
            y[there],
            4 + BIGGEST * one["jobs"].values[there] / max(most, 1),
            marker=MARKERS[place % len(MARKERS)],
            facecolor="none" if place % 2 else styles[policy]["color"],
            edgecolor=styles[policy]["color"],
            alpha=0.65,
            linewidth=0.8,
        )
    axes.margins(x=0.03)
    log_axis(axes, "x")
    if value.unit == "s":
        means = np.concatenate([one[name].values for one in found.values()])
        duration_axis(axes, "y", float(np.nanmax(means)), least=float(np.nanmin(means)))
    else:
        log_axis(axes, "y")
    axes.set_xlabel("Work of the user (processor hours)")
    axes.set_ylabel(f"Mean {value.meaning}")
    if len(found) > 1:
        from matplotlib.lines import Line2D

        handles = [
            Line2D(
                [], [], linestyle="none", marker=MARKERS[k % len(MARKERS)],
                color=styles[policy]["color"], markerfacecolor="none" if k % 2 else None,
                markersize=4.5,
            )
            for k, policy in enumerate(found)
        ]  # fmt: skip
        legend(figure, handles, list(found))
    notes = [f"Areas of markers grow with the number of jobs, up to {grouped(most)}."]
    if value.unit == "s" and any(bool((one[name] < 1).any()) for one in found.values()):
        notes.append("Means below 1 s are drawn at 1 s.")
    if left_out:
        notes.append(f"{counted(left_out, 'user')} without work left out.")
    return notes
