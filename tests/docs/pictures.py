"""Draw the pictures of the page on semantics from simulated schedules.

python -m tests.docs.pictures [FOLDER]     by default docs/figures
"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from schedfarm.core import Nodes, Workload, simulate
from tests.support.paths import DOCS

PROCESSORS, NOW = 8, 3

JOBS = Workload.from_columns(
    submit=[0, 0, 1, 2, 3, 3],
    run=[4, 10, 6, 4, 10, 6],
    estimate=[6, 10, 6, 4, 10, 6],
    procs=[3, 2, 5, 1, 1, 2],
    processors=PROCESSORS,
)
"""A and B run; C is the head and does not fit; D and E are backfilled, F is not."""

NAMES = "ABCDEF"

LOWEST = {"A": 2, "B": 0, "C": 2, "D": 5, "E": 7}
"""The lowest processor of each rectangle; F, which only waits, has none."""

SHADOW = 6
"""When 5 processors are free by the estimates of A, B and D, and C is reserved, s."""


def easy() -> Figure:
    """Draw the pass of EASY at NOW: the reservation, its shadow time, and the backfills."""
    starts = simulate(JOBS, "fcfs+easy").start
    figure = Figure(figsize=(7.16, 2.6), layout="constrained", dpi=110)
    axes = figure.subplots()
    for name, lowest in LOWEST.items():
        i, waits = NAMES.index(name), name == "C"
        start = SHADOW if waits else int(starts[i])
        size = int(JOBS.estimate[i]), int(JOBS.procs[i])
        style = {"facecolor": "none", "linestyle": "--"} if waits else {"facecolor": "0.85"}
        axes.add_patch(Rectangle((start, lowest), *size, edgecolor="black", **style))
        what = "C, reserved" if waits else name
        axes.text(start + size[0] / 2, lowest + size[1] / 2, what, ha="center", va="center")
    for instant, what in ((NOW, "now"), (SHADOW, "shadow time of C")):
        axes.axvline(instant, color="black", linewidth=1, linestyle=":")
        axes.text(instant, PROCESSORS + 0.1, what, ha="center", va="bottom")
    axes.set(xlim=(0, 14), ylim=(0, PROCESSORS), xlabel="time, s", ylabel="processors")
    return figure


MINUTE = 60

SHELVED = Workload.from_columns(
    submit=[0] * 7,
    run=[MINUTE * minutes for minutes in (15, 10, 30, 10, 55, 25, 30)],
    estimate=[MINUTE * minutes for minutes in (15, 10, 30, 10, 55, 25, 30)],
    procs=[3, 4, 5, 2, 4, 3, 1],
    platform=Nodes([1] * PROCESSORS),
)
"""Jobs A to G, submitted together to idle nodes, so that they start as in their first plan."""

SHELVES = {15: "AB", 30: "CDG", 60: "EF"}
"""Jobs by the length of their shelf, min. A later job may be in an earlier shelf, as G is."""

LEVELS = {"A": 0, "B": 3, "C": 3, "D": 1, "E": 4, "F": 1, "G": 0}
"""The lowest node of each rectangle."""


def shelves() -> Figure:
    """Draw the plan of DEMT for jobs of three shelves."""
    starts = simulate(SHELVED, "fcfs+demt").start
    figure = Figure(figsize=(7.16, 2.9), layout="constrained", dpi=110)
    axes = figure.subplots()
    greys = dict(zip(SHELVES, ("0.9", "0.75", "0.6"), strict=True))
    for length, names in SHELVES.items():
        for name in names:
            i = ord(name) - ord("A")
            start, size = starts[i] / MINUTE, int(SHELVED.procs[i])
            long, lowest = SHELVED.estimate[i] / MINUTE, LEVELS[name]
            axes.add_patch(
                Rectangle((start, lowest), long, size, edgecolor="black", facecolor=greys[length])
            )
            axes.text(start + long / 2, lowest + size / 2, name, ha="center", va="center")
    patches = [
        Patch(facecolor=grey, edgecolor="black", label=f"shelf {number}: {length} min")
        for number, (length, grey) in enumerate(greys.items(), 1)
    ]
    figure.legend(handles=patches, loc="outside upper center", ncols=3, frameon=False)
    axes.set(xlim=(0, 100), ylim=(0, PROCESSORS), xlabel="time, min", ylabel="nodes")
    return figure


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "figures"
    for draw in (easy, shelves):
        draw().savefig(folder / f"{draw.__name__}.png", metadata={"Software": None})
