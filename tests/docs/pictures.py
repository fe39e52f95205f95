"""Draw the pictures of the page on semantics from simulated schedules.

python -m tests.docs.pictures [FOLDER]     by default docs/figures
"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from schedfarm.core import Workload, simulate
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


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "figures"
    easy().savefig(folder / "easy.png", metadata={"Software": None})
