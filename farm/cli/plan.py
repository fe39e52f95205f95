"""`farm plan`: what a campaign would cost, without running it."""

from __future__ import annotations

from pathlib import Path

import click

from farm.cli.cautions import warn
from farm.cli.command import CAMPAIGN, COMPILE_TIME, JSON, STORE_OPTION, command
from farm.cli.report import check_report
from farm.cli.traces import TRACES

TITLES = {
    "cells_to_simulate": "cells to simulate",
    "longest_task_s": "longest task",
    "cpu_time_s": "CPU time",
}
"""How people read the keys of the JSON that are not words of theirs."""

MODELLED = "CPU time as planned with, on one slow core; nothing was measured"

COMPILING = f"compiling kernels for this host, once: {COMPILE_TIME}; --no-probe does without"


@command()
@CAMPAIGN
@STORE_OPTION
@TRACES
@click.option(
    "--no-probe", "modelled", is_flag=True, help="Simulate nothing: CPU time as it is planned with."
)
@JSON
def plan(
    campaign: str, store: str | None, folder: Path | None, modelled: bool, as_json: bool
) -> None:
    """Say what is left to do for CAMPAIGN: cells, blocks, tasks, jobs, bytes, CPU time.

    Nothing is written. Each kind of fairness of a simulation is a cell, too. Jobs and bytes are at
    most so many: they reckon with the longest resample, and with arrays before compression. CPU
    time is measured: for some seconds one cell of each trace, load and rule is simulated, and what
    is not over by then goes on in proportion to its queue. With --no-probe it is what blocks are
    laid out by, which knows no queue and was too low by up to 20 on logs of long queues.
    """
    import json

    from cluster import ClusterSpec
    from core.numerals import grouped, timed
    from core.simulation.compiling import compiling
    from farm.campaign.shipped import find
    from farm.planning.design import design
    from farm.planning.extents import longer_logs
    from farm.planning.probe import probe
    from farm.planning.tasks import block_costs, cells_missing, missing_blocks
    from farm.planning.tasks import plan as tasks_of
    from farm.store.place import place_of

    wanted = find(campaign)
    if wanted.cluster:
        ClusterSpec.of(wanted.cluster)
    check_report(wanted)
    wanted = wanted.located(folder)
    designed = design(place_of(store or f"{wanted.name}.farm").resolved(), wanted)
    drawn = designed.store
    heads = drawn.heads()
    blocks = missing_blocks(drawn, heads)
    tasks = tasks_of(drawn, wanted, blocks)
    todo = {b: cells_missing(drawn, b, heads.get(b)) for b in blocks}
    jobs = sum(n * drawn.jobs[b.trace] for b, n in todo.items() if b.product.simulates)
    if modelled:
        said, costs = MODELLED, block_costs(drawn, blocks)
    else:
        with compiling(lambda: click.echo(COMPILING, err=True)):
            probed = probe(designed, blocks)
        said, costs = str(probed), probed.costs(drawn, blocks)
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
    }
    notes = [said, *longer_logs(drawn, wanted)]
    if as_json:
        click.echo(json.dumps({**facts, "notes": notes, "cautions": drawn.cautions}, indent=1))
        return
    warn(drawn.cautions)
    for key, value in facts.items():
        said = timed(value) if key.endswith("_s") else grouped(value)
        click.echo(f"{TITLES.get(key, key):<18} {said}")
    for note in notes:
        click.echo(note)
