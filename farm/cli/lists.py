"""`farm policies` and `farm campaigns`: what there is to choose from."""

from __future__ import annotations

import click


@click.command()
def policies() -> None:
    """List the queue orders, backfilling rules and options that make a policy's name."""
    from core.policy.policy import ORDERS, RULES

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
    from farm.campaign.shipped import find, shipped

    known = {name: find(name) for name in shipped()}
    width = max(map(len, known))
    for name, campaign in known.items():
        click.echo(f"{name:<{width}} {campaign.cells:>5} simulations  {campaign.title}")
