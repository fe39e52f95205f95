"""`farm plan`: estimate the cost of a campaign."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedfarm.farm.cli.cautions import warn
from schedfarm.farm.cli.command import CAMPAIGN, COMPILE_TIME, COUNT, JSON, STORE_OPTION, command
from schedfarm.farm.cli.paper_report import check_report
from schedfarm.farm.cli.traces import TRACES

if TYPE_CHECKING:
    from schedfarm.farm.campaign.campaign import Campaign

SHOWN = {
    "cells": ("cells", "count"),
    "cells_to_simulate": ("cells to simulate", "count"),
    "blocks": ("blocks", "count"),
    "tasks": ("tasks", "count"),
    "jobs": ("jobs", "count"),
    "bytes": ("bytes", "count"),
    "longest_task_s": ("longest task", "time"),
    "cpu_time_s": ("CPU time", "time"),
    "run_cpu_time_s": ("CPU time in all", "time"),
    "wall_time_s": ("wall time", "time"),
    "memory_bytes": ("memory", "size"),
    "disk_bytes": ("disk", "size"),
}
"""Title and kind of number of each JSON key."""

MOST_SLOWNESS = 10.0
"""Upper limit of the measured slowdown: a short probe may have waited for a disk."""

MODELLED = "CPU time by the planner's rates, on one slow core; not measured"

COMPILING = f"compiling kernels for this host, once: {COMPILE_TIME}; --no-probe avoids this"


@command()
@CAMPAIGN
@STORE_OPTION
@TRACES
@click.option(
    "--no-probe",
    "modelled",
    is_flag=True,
    help="Do not measure; use the planner's rates for CPU time.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Run the Python code of the campaign's own orders, rules and metrics.",
)
@click.option(
    "--workers",
    type=COUNT,
    help="Number of worker processes; by default the campaign's number, or else one per core of "
    "this machine (on a cluster, 1).",
)
@JSON
def plan(
    campaign: str,
    store: str | None,
    folder: Path | None,
    modelled: bool,
    trust: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """Estimate the remaining work of CAMPAIGN: cells, CPU time, wall time, memory and disk.

    Nothing is written. Each fairness measure of a simulation counts as a cell. Jobs and bytes are
    upper bounds, computed for the longest resample and without compression. CPU time is measured:
    the command simulates part of one cell of each trace, load and rule, and estimates the rest from
    the length of the queue. This takes at most a tenth of the run's CPU time. --no-probe uses the
    planner's rates, which ignore queues: they were too low by a factor of up to 20 on logs with
    long queues. Wall time includes starting processes and drawing figures, but not the wait in the
    queue of a batch system. For a campaign with precision, the costs are for the expected number of
    samples, estimated from finished samples or from a pilot of up to twenty.
    """
    import json

    from schedfarm.core.engine.compiling import compiling
    from schedfarm.core.numerals import counted, grouped, sized, timed
    from schedfarm.core.own import distrust
    from schedfarm.farm.campaign.plain_rules import plain_rules
    from schedfarm.farm.campaign.shipped import find
    from schedfarm.farm.planning.calibration import calibrate
    from schedfarm.farm.planning.design import design
    from schedfarm.farm.planning.pilot import predict
    from schedfarm.farm.planning.run_cost import fixed_seconds, run_cost
    from schedfarm.farm.planning.survey import longer_logs, survey
    from schedfarm.farm.planning.tasks import (
        block_costs,
        cells_missing,
        missing_blocks,
        plan as tasks_of,
    )
    from schedfarm.farm.store.place import place_of
    from schedfarm.farm.store.records import read_headers

    if not trust:
        click.get_current_context().with_resource(distrust("farm plan"))
    wanted = find(campaign)
    _hands(wanted, workers)
    check_report(wanted)
    wanted = wanted.located(folder)
    begun = time.monotonic(), time.process_time()
    target, surveyed = place_of(store or f"{wanted.name}.farm").resolved(), survey(wanted)
    designed = design(target, surveyed)
    prediction = predict(designed, simulated=not modelled) if wanted.precision else None
    if prediction:
        designed = design(target, surveyed, prediction.samples)
    drawn = designed.store
    heads = read_headers(drawn)
    blocks = missing_blocks(drawn, heads, retry_failed=False)
    tasks = tasks_of(drawn, wanted, blocks)
    todo = {b: cells_missing(drawn, b, heads.get(b)) for b in blocks}
    jobs = sum(n * drawn.jobs[b.trace] for b, n in todo.items() if b.product.simulates)
    hands, cores = _hands(wanted, workers)
    fixed = fixed_seconds(len(drawn.sources), hands)
    if modelled:
        said, costs = MODELLED, block_costs(drawn, blocks)
    else:
        with compiling(lambda: click.echo(COMPILING, err=True)):
            calibration = calibrate(designed, blocks, fixed=fixed)
        said, costs = str(calibration), calibration.costs(drawn, blocks)
    slowness = 1.0 if modelled else _slowness(*begun)
    needs = run_cost(drawn, tasks, costs, workers=hands, cores=cores, slowness=slowness)
    seconds = [sum(costs[block] for block in task.blocks) for task in tasks]
    facts = {
        "cells": drawn.cells,
        "cells_to_simulate": sum(todo.values()),
        "blocks": sum(b.product.policies for b in blocks),
        "tasks": len(tasks),
        "jobs": jobs,
        "bytes": sum(drawn.block_bytes(b) for b in blocks),
        "longest_task_s": round(max(seconds, default=0.0), 1),
        "cpu_time_s": round(sum(seconds), 1),
        "run_cpu_time_s": round(needs.cpu, 1),
        "wall_time_s": round(needs.wall, 1),
        "workers": hands,
        "memory_bytes": round(needs.memory),
        "disk_bytes": round(needs.disk),
    }
    notes = [said, *([str(prediction)] if prediction else []), *longer_logs(drawn, wanted)]
    notes += plain_rules(wanted.policies, wanted.sources)
    if as_json:
        click.echo(json.dumps({**facts, "notes": notes, "cautions": drawn.cautions}, indent=1))
        return
    warn(drawn.cautions)
    shows: dict[str, Callable[[float], str]] = {"count": grouped, "time": timed, "size": sized}
    beside = {"wall_time_s": f" with {counted(hands, 'worker')}"}
    for key, (title, kind) in SHOWN.items():
        click.echo(f"{title:<18} {shows[kind](facts[key])}{beside.get(key, '')}")
    for note in notes:
        click.echo(note)


def _hands(campaign: Campaign, workers: int | None) -> tuple[int, int]:
    """Return the numbers of workers and of their cores."""
    from schedfarm.cluster import ClusterSpec

    here = len(os.sched_getaffinity(0))
    spec = ClusterSpec.of(campaign.cluster or {"on": "local"})
    if spec.kind == "local":
        return workers or spec.workers or here, here
    count = workers or spec.workers or 1
    return count, count


def _slowness(clock: float, used: float) -> float:
    """Return the wall time per second of CPU time since the given clock readings."""
    passed, took = time.monotonic() - clock, time.process_time() - used
    return min(MOST_SLOWNESS, max(1.0, passed / took)) if took else 1.0
