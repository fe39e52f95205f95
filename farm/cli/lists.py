"""`farm policies`, `farm campaigns` and `farm traces`: what there is to choose from."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command()
def policies() -> None:
    """List the queue orders, backfilling rules and options that make a policy's name."""
    from core.policy import ORDERS, RULES

    click.echo("A policy is ORDER+RULE[,option=value ...], for example saf+easy,threshold=3d\n")
    for title, known in (("orders", ORDERS), ("rules", RULES), ("options", OPTIONS)):
        click.echo(f"{title}:")
        for name, meaning in known.items():
            click.echo(f"  {name:<16} {meaning}")
        click.echo()


OPTIONS = {
    "threshold=3d": "a job that waited longer goes first; w d h m s, or 3x the largest estimate",
    "backfill=ORDER": "order in which jobs behind the reservations are looked at",
    "events=per-event": "submissions before completions, and a pass after each (as pyss)",
    "walk=arrival": "planned: compress reservations in order of arrival instead of start",
}
"""The options of a policy's name."""


@click.command()
def campaigns() -> None:
    """List the campaigns that ship with the package."""
    from farm.campaigns import find, shipped

    for name in shipped():
        campaign = find(name)
        click.echo(f"{name:<16} {campaign.cells:>7} cells  {campaign.title}")


@click.group()
def traces() -> None:
    """Look at logs."""


@traces.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--processors", type=int, help="Size of the machine; by default the log's header.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def info(file: Path, processors: int | None, as_json: bool) -> None:
    """Say what the log FILE holds: machine, jobs, span, offered load, and what was dropped."""
    from core import offered_load, read_swf
    from farm.traces import span_weeks

    log = read_swf(file, processors=processors)
    facts = {
        "name": log.name,
        "processors": log.processors,
        "jobs": len(log),
        "users": len(set(log.user.tolist())),
        "weeks": span_weeks(log),
        "offered load": round(offered_load(log), 4),
        "largest estimate, s": log.max_estimate,
        "killed at their estimate": int(log.killed.sum()),
        "dropped": dict(log.dropped),
        "sha256 of columns": log.digest(),
    }
    if as_json:
        click.echo(json.dumps(facts, indent=1))
        return
    for key, value in facts.items():
        click.echo(f"{key:<26} {value}")
