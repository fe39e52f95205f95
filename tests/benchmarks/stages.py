"""What a job of a cell costs, stage by stage, and what a report takes; run by hand, in a minute.

python -m tests.benchmarks.stages cells|metrics|report [--traces FOLDER] [--samples N]
    [--store STORE]

`cells` runs a campaign of KTH-SP2 under EASY in this process, 8 cells for the log and for each
sample: ns of CPU a job, the best of some passes over all cells, so that no pass sees the same jobs
twice in a row, and the ratio of all stages to the simulation. `metrics` says the same
of each metric, what several share being counted to the first. `report` writes the report of a
store's campaign into a folder of no worth under a profile.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import pstats
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schedfarm.core import Schedule, simulate
from schedfarm.core.metrics.counted import Counted
from schedfarm.core.metrics.declared import METRICS
from schedfarm.core.metrics.users import index_users
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.cell import Simulations
from schedfarm.farm.execution.run import begin
from schedfarm.farm.logs.registry import here
from schedfarm.farm.planning.tasks import Task
from schedfarm.farm.store.block import OpenBlock, commit

SHARED = Path(__file__).resolve().parents[3] / "shared" / "traces"
"""Where this project's developers keep the archive's logs, outside of it."""

POLICIES = ("fcfs+easy", "spf+easy", "sqf+easy", "saf+easy")
LOADS = ("0.7", "0.9")
PASSES = 5

Given = argparse.Namespace
Spent = Counter[str]


def tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@contextmanager
def timed(spent: Spent, stage: str) -> Iterator[None]:
    begun = time.process_time_ns()
    yield
    spent[stage] += time.process_time_ns() - begun


def campaign(given: Given) -> Campaign:
    log = here("KTH-SP2", given.traces)
    if log is None:
        sys.exit("the log KTH-SP2 is not here; `farm traces fetch KTH-SP2` brings it")
    trace = Trace(name="KTH-SP2", file=str(log))
    return Campaign(
        name="stages",
        traces=(trace,),
        policies=POLICIES,
        loads=LOADS,
        resamples=given.samples,
        log=True,
    )


def stages(task: Task, spent: Spent) -> int:
    """Do a task as a worker does; return its jobs."""
    made, jobs = Simulations(task.store, task.trace), 0
    blocks = [OpenBlock(task.store, block, "") for block in task.blocks]
    wanted = [(one, place) for one in blocks for place in one.missing]
    # As in a worker: cells of one sample follow one another.
    wanted.sort(key=lambda pair: pair[0].cells[pair[1]])
    for one, place in wanted:
        cell, simulated = one.cells[place], one.block.product.simulates
        with timed(spent, "draw"):
            made.jobs(*cell[:2])
        if simulated:
            with timed(spent, "simulate"):
                made.schedule(cell)
        with timed(spent, "measure" if simulated else "draw"):
            count, rows, figures = made.values(one.block, cell, None)
        with timed(spent, "put"):
            one.add(place, count, rows, figures, 0.0)
        jobs += count * simulated
    with timed(spent, "commit"):
        commit(blocks)
    return jobs


def cells(given: Given) -> None:
    best: dict[str, float] = {}
    for _ in range(PASSES):
        spent: Spent = Counter()
        with tempfile.TemporaryDirectory() as folder, begin(campaign(given), folder) as prepared:
            jobs = sum(stages(task, spent) for task in prepared.tasks)
        each = {stage: value / jobs for stage, value in spent.items()}
        best = {stage: min(value, best.get(stage, value)) for stage, value in each.items()}
    text = ", ".join(f"{stage} {value:.1f}" for stage, value in best.items())
    tell(f"{jobs} jobs: {text}; {sum(best.values()) / best['simulate']:.2f} times the simulation")


def metrics(given: Given) -> None:
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, begin(campaign(given), folder) as prepared:
        task = prepared.tasks[0]
        made = Simulations(task.store, task.trace)
        schedules = [
            simulate(made.jobs(resample, load), policy)
            for resample in (0, 1)
            for load in LOADS
            for policy in POLICIES
        ]
    jobs = sum(len(one.start) for one in schedules)
    for _ in range(PASSES):
        spent: Spent = Counter()
        for one in schedules:
            anew = Schedule(one.workload, one.policy, one.start, one.backfilled)
            users = index_users(one.workload)
            counted = Counted(anew, users=users)
            for name, metric in METRICS.items():
                if not metric.shared and metric.there_is(one.workload.platform):
                    with timed(spent, name):
                        metric.of(counted)
        each = {name: value / jobs for name, value in spent.items()}
        best = {name: min(value, best.get(name, value)) for name, value in each.items()}
    for name, value in sorted(best.items(), key=lambda one: -one[1]):
        tell(f"{value:7.2f} {name}")
    tell(f"{sum(best.values()):7.2f} together")


def report(given: Given) -> None:
    from schedfarm.analysis.papers import make_report

    head = Path(given.store, "campaign.toml").read_text(encoding="utf-8")
    name = tomllib.loads(head)["report"]
    profile = cProfile.Profile(time.process_time)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        profile.enable()
        make_report(name, given.store).write(Path(folder))
        profile.disable()
        tell(f"{time.process_time() - begun:.2f} s of CPU under the profile")
    text = io.StringIO()
    pstats.Stats(profile, stream=text).sort_stats("cumulative").print_stats(45)
    tell(text.getvalue())


PARTS = {"cells": cells, "metrics": metrics, "report": report}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--traces", type=Path, default=SHARED, help="folder of the archive's logs")
    parser.add_argument("--samples", type=int, default=1, help="samples of the log, beside it")
    parser.add_argument("--store", help="store whose report is written")
    given = parser.parse_args()
    PARTS[given.part](given)
