"""`farm policies` and `farm campaigns`: what there is to choose from."""

from __future__ import annotations

import click

from farm.cli.command import command


@command()
def policies() -> None:
    """List the queue orders, backfilling rules and options that make a policy's name."""
    from core.policy.orders import ORDERS
    from core.policy.policy import OPTIONS
    from core.policy.rules import RULES

    click.echo("A policy is ORDER+RULE[,option=value ...], for example saf+easy,threshold=3d\n")
    orders = {name: row.meaning for name, row in ORDERS.items()}
    rules = {name: row.meaning for name, row in RULES.items()}
    for title, known in (("orders", orders), ("rules", rules), ("options", OPTIONS)):
        click.echo(f"{title}:")
        for name, meaning in known.items():
            click.echo(f"  {name:<16} {meaning}")
        click.echo()


@command()
def campaigns() -> None:
    """List the campaigns that ship with the package."""
    from farm.campaign.shipped import find, shipped

    known = {name: find(name) for name in shipped()}
    width = max(map(len, known))
    for name, campaign in known.items():
        click.echo(f"{name:<{width}} {campaign.cells:>5} simulations  {campaign.title}")
