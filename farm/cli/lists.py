"""`farm policies` and `farm campaigns`: what there is to choose from."""

from __future__ import annotations

import json

import click

from farm.cli.command import JSON, command


@command()
@JSON
def policies(as_json: bool) -> None:
    """List the queue orders, backfilling rules and options that make a policy's name."""
    from core.policy.orders import ORDERS
    from core.policy.policy import OPTIONS
    from core.policy.rules import RULES

    orders = {name: row.meaning for name, row in ORDERS.items()}
    rules = {name: row.meaning for name, row in RULES.items()}
    if as_json:
        examples = {
            example.partition("=")[0]: {"example": example, "meaning": meaning}
            for example, meaning in OPTIONS.items()
        }
        click.echo(json.dumps({"orders": orders, "rules": rules, "options": examples}, indent=1))
        return
    click.echo("A policy is ORDER+RULE[,option=value ...], for example saf+easy,threshold=3d\n")
    for title, known in (("orders", orders), ("rules", rules), ("options", OPTIONS)):
        click.echo(f"{title}:")
        for name, meaning in known.items():
            click.echo(f"  {name:<16} {meaning}")
        click.echo()


@command()
@JSON
def campaigns(as_json: bool) -> None:
    """List the campaigns that ship with the package."""
    from core.numerals import grouped
    from farm.campaign.shipped import find, shipped

    known = {name: find(name) for name in shipped()}
    if as_json:
        rows = [
            {"name": name, "simulations": campaign.cells, "title": campaign.title}
            for name, campaign in known.items()
        ]
        click.echo(json.dumps(rows, indent=1))
        return
    width = max(map(len, known))
    for name, campaign in known.items():
        click.echo(f"{name:<{width}}  {grouped(campaign.cells):>5} simulations  {campaign.title}")
