"""What a simulation on nodes takes: a table of docs/benchmarks.md, run by hand.

    python -m tests.benchmarks.nodes LOG

prints for windows of the log, KTH-SP2, on nodes of two processors the CPU time of both rules.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.logs.read import read_swf
from schedfarm.core.workload.load import scale_load
from schedfarm.core.workload.on_nodes import OnNodes, put_on_nodes
from schedfarm.core.workload.workload import Workload

POLICIES = ("fcfs+conservative", "fcfs+demt")

WINDOWS = (4000, 16000)
"""First job of each window."""

SETS: dict[int, tuple[int, ...]] = {1: (), 4: (26, 26, 26, 26), 16: (6,) * 16}
"""Nodes of the sets, by how many groups of nodes alike there are (16: and 8 in no set)."""


def window(log: Workload, first: int, jobs: int, load: float, groups: int) -> Workload:
    """Put a window on 104 nodes of two: half of the jobs whole nodes, 30 % sets, 5 % in advance."""
    sets = SETS[groups]
    how = OnNodes(properties=0.3 if sets else 0, sets=sets or (104,), reservations=0.05)
    return scale_load(put_on_nodes(log.take(slice(first, first + jobs)), how), load)


def cases() -> Iterator[tuple[int, float, int]]:
    """Return jobs, load and groups of each row."""
    yield from ((350, 0.9, 4), (700, 0.9, 4), (1400, 0.9, 4))
    yield from ((1400, 0.7, 4), (1400, 0.9, 16), (1400, 0.9, 1))


def measured(work: Workload, policy: str) -> tuple[float, float]:
    """Return CPU time, s, and the average number of jobs that wait."""
    begin = time.process_time()
    schedule = simulate(work, policy)
    spent = time.process_time() - begin
    waits = (schedule.start > 0) & (work.reserved < 0)
    span = max(schedule.end.max() - int(work.submit[0]), 1)
    return spent, float(schedule.wait[waits].sum() / span)


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(path: Path) -> None:
    """Print the table."""
    log = read_swf(path)
    for policy in POLICIES:
        simulate(window(log, WINDOWS[0], 50, 0.9, 4), policy)
    say("| jobs | load | groups | " + " | ".join(f"waiting | {p}, s" for p in POLICIES) + " |")
    say("|--:|--:|--:|--:|--:|--:|--:|")
    for jobs, load, groups in cases():
        cells = []
        for policy in POLICIES:
            told = [measured(window(log, f, jobs, load, groups), policy) for f in WINDOWS]
            spent, waiting = np.array(told).T
            cells.append(f"{waiting.min():.0f} to {waiting.max():.0f}")
            cells.append(f"{spent.min():.2f} to {spent.max():.2f}")
        say(f"| {jobs} | {load} | {groups} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
