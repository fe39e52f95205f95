"""What cells and their fairness cost against what is planned with; run by hand, in a few minutes.

python tests/benchmarks/rates.py cells|fair [--traces FOLDER]

Each line is a trace, load and policy with measured and planned seconds of CPU and their ratio;
the last ones say how many ratios are within factors of 2 and 3. Where more than `LONGEST` is
planned nothing is measured.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from schedfarm.core import Workload, fair_start_times, scale_load, simulate, summarise
from schedfarm.core.logs.read import read_swf
from schedfarm.core.metrics.weekly import weekly
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.logs.registry import here
from schedfarm.farm.planning.cost import cell_seconds, relaxed_seconds, strict_seconds

SHARED = Path(__file__).resolve().parents[3] / "shared" / "traces"
"""Where this project's developers keep the archive's logs, outside of it."""

LOGS = ("KTH-SP2", "SDSC-SP2", "CTC-SP2", "HPC2N", "SDSC-BLUE")
MODELS = (50, 300, 3_300, 16_000, 80_000)
LOADS = ("0.5", "0.7", "0.9", "1.1")
RULES = ("none", "aggressive", "easy", "depth(4)", "conservative")
ORDERS = ("fcfs", "spf", "lxf")
POLICIES = (*(f"{order}+{rule}" for rule in RULES for order in ORDERS), "fcfs+planned")
CUT = (1000, 6003)
"""Rows of the CTC log that Sabin and Sadayappan took: 5,003 jobs."""

FAIR_JOBS = (300, 1_250, 5_000)
STARVING = ("spf+easy,threshold=1d", "spf+conservative,threshold=1d")

LONGEST = 1.0
"""A measurement that should take longer is left out, s."""

SPAN = 0.05
"""A measurement is repeated for about so long, s of CPU."""

Traces = Iterator[tuple[str, Workload]]
Grid = Iterator[tuple[str, float, float]]


def tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of a call, after one that does not count where it is short."""
    begin = time.process_time()
    call()
    if (spent := time.process_time() - begin) > SPAN:
        return spent
    begin, calls = time.process_time(), 0
    while (spent := time.process_time() - begin) < SPAN:
        call()
        calls += 1
    return spent / calls


def cell(workload: Workload, policy: str) -> None:
    schedule = simulate(workload, policy)
    summarise(schedule)
    weekly(schedule)


def loaded(traces: Traces) -> Iterator[tuple[str, str, Workload]]:
    """Give each trace at each load."""
    for name, workload in traces:
        for load in LOADS:
            yield (
                f"{name} ({len(workload)} jobs) at {load}",
                load,
                scale_load(workload, float(load)),
            )


def cells(folder: Path) -> Grid:
    def traces() -> Traces:
        yield from ((f"lublin-{n}", lublin(128, jobs=n, seed=3, index=1)) for n in MODELS)
        yield from ((name, read_swf(path)) for name in LOGS if (path := here(name, folder)))

    for policy in POLICIES:
        cell(lublin(64, jobs=60), policy)
    for name, load, jobs in loaded(traces()):
        for policy in POLICIES:
            planned = cell_seconds(len(jobs), policy, load)
            if planned < LONGEST:
                yield f"{name}, {policy}", seconds(lambda p=policy, j=jobs: cell(j, p)), planned


def fair(folder: Path) -> Grid:
    def traces() -> Traces:
        yield from ((f"lublin-{n}", lublin(128, jobs=n, seed=3, index=1)) for n in FAIR_JOBS)
        if path := here("CTC-SP2", folder):
            yield "CTC-SP2, rows 1000 to 6002", read_swf(path, rows=CUT)

    for policy in (*POLICIES, *STARVING):
        fair_start_times(lublin(64, jobs=60), policy, jobs=range(9))
    for name, load, jobs in loaded(traces()):
        for policy in (*POLICIES, *STARVING):
            for kind, cost in (("strict", strict_seconds), ("relaxed", relaxed_seconds)):
                planned = cost(len(jobs), policy, load, len(jobs))
                if planned < LONGEST:
                    took = seconds(lambda j=jobs, p=policy, k=kind: fair_start_times(j, p, k))
                    yield f"{name}, {policy}, {kind}", took, planned


PARTS: dict[str, Callable[[Path], Grid]] = {"cells": cells, "fair": fair}


def report(grid: Grid) -> None:
    """Print every line, then how far the plans are off."""
    ratios = []
    for name, measured, planned in grid:
        ratios.append(planned / measured)
        tell(f"{name}: {measured:.5f} measured, {planned:.5f} planned, x{ratios[-1]:.2f}")
    for factor in (2, 3):
        within = sum(1 / factor < ratio < factor for ratio in ratios)
        tell(f"within a factor of {factor}: {100 * within / len(ratios):.0f}% of {len(ratios)}")
    middle = math.exp(sum(map(math.log, ratios)) / len(ratios))
    tell(f"ratios {min(ratios):.2f} to {max(ratios):.2f}, in the geometric middle {middle:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--traces", type=Path, default=SHARED, help="folder of the archive's logs")
    given = parser.parse_args()
    report(PARTS[given.part](given.traces))
