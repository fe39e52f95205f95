"""`farm plan`: what a campaign would cost, without running it."""

from __future__ import annotations

from pathlib import Path

import click

from farm.cli.cautions import warn
from farm.cli.command import CAMPAIGN, JSON, STORE_OPTION, command
from farm.cli.report import check_report
from farm.cli.traces import TRACES

TITLES = {
    "cells_to_simulate": "cells to simulate",
    "longest_task_s": "longest task",
    "cpu_time_s": "CPU time",
}
"""How people read the keys of the JSON that are not words of theirs."""


@command()
@CAMPAIGN
@STORE_OPTION
@TRACES
@JSON
def plan(campaign: str, store: Path | None, folder: Path | None, as_json: bool) -> None:
    """Say what is left to do for CAMPAIGN: cells, blocks, tasks, jobs, bytes, CPU time.

    Nothing is written. Each kind of fairness of a simulation is a cell, too. Jobs and bytes are at
    most so many: they reckon with the longest resample, and with arrays before compression. CPU
    time is what the planner reckons with, on one slow core.
    """
    import json

    from core.numerals import grouped, timed
    from farm.campaign.shipped import find
    from farm.planning.design import design
    from farm.planning.tasks import cells_missing, missing_blocks
    from farm.planning.tasks import plan as tasks_of

    wanted = find(campaign)
    check_report(wanted)
    wanted = wanted.located(folder)
    designed = design((store or Path(f"{wanted.name}.farm")).resolve(), wanted)
    drawn = designed.store
    heads = drawn.heads()
    blocks = missing_blocks(drawn, heads)
    tasks = tasks_of(drawn, wanted, blocks)
    todo = {b: cells_missing(drawn, b, heads.get(b)) for b in blocks}
    jobs = sum(n * drawn.jobs[b.trace] for b, n in todo.items() if b.product.simulates)
    facts = {
        "cells": drawn.cells,
        "cells_to_simulate": sum(todo.values()),
        "blocks": sum(b.product.policies for b in blocks),
        "tasks": len(tasks),
        "jobs": jobs,
        "bytes": sum(drawn.block_bytes(b) for b in blocks),
        "longest_task_s": round(max((t.seconds for t in tasks), default=0.0), 1),
        "cpu_time_s": round(sum(t.seconds for t in tasks), 1),
    }
    if as_json:
        click.echo(json.dumps({**facts, "cautions": drawn.cautions}, indent=1))
        return
    warn(drawn.cautions)
    for key, value in facts.items():
        said = timed(value) if key.endswith("_s") else grouped(value)
        click.echo(f"{TITLES.get(key, key):<18} {said}")
