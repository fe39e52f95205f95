"""`farm policies`, `farm metrics` and `farm campaigns`: lists of the available names."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import click

from schedfarm.farm.cli.command import JSON, command

OWN = (
    "Write your own order as a formula in parentheses, the smallest value first, such as\n"
    '"(log10(estimate) * procs + 870 * log10(max(submit, 1)))+easy" or\n'
    '"(-(now - submit) / estimate)+easy". It may use {columns}\n'
    "and {functions}.\n"
    "\n"
    "Name your own order or rule as module:function, such as mine:by_age+easy for the "
    "function by_age in\n"
    "mine.py, next to the campaign or, for farm simulate and farm audit, in the current "
    "folder. Installed\n"
    "modules work as well, and packages can register plain names as entry points of the "
    "groups\n"
    "schedfarm.orders and schedfarm.rules."
)
"""Form of the names of plug-in orders and rules."""


@command()
@click.option(
    "--site",
    type=click.Path(dir_okay=False, path_type=Path),
    help="TOML file of a site; print its order or policy instead of the lists.",
)
@JSON
def policies(site: Path | None, as_json: bool) -> None:
    """List the queue orders, backfilling rules and options of policies."""
    if site is not None:
        texts = _texts_of(site)
        text = texts.get("policy", texts["order"])
        click.echo(json.dumps(texts, indent=1) if as_json else text)
        return
    from schedfarm.core import own
    from schedfarm.core.policy.expression import FUNCTIONS
    from schedfarm.core.policy.functions import ARGUMENTS
    from schedfarm.core.policy.options import OPTIONS
    from schedfarm.core.policy.orders import ORDERS
    from schedfarm.core.policy.rules import RULES

    orders = {name: row.meaning for name, row in ORDERS.items()}
    rules = {name: row.meaning for name, row in RULES.items()}
    orders |= {name: _whose(own.ORDERS, name) for name in own.entered(own.ORDERS)}
    rules |= {name: _whose(own.RULES, name) for name in own.entered(own.RULES)}
    if as_json:
        examples = {
            name: {"example": f"{name}={row.example}", "meaning": row.meaning}
            for name, row in OPTIONS.items()
        }
        click.echo(json.dumps({"orders": orders, "rules": rules, "options": examples}, indent=1))
        return
    click.echo("A policy is ORDER+RULE[,option=value ...], for example saf+easy,threshold=3d\n")
    options = {f"{name}={row.example}": row.meaning for name, row in OPTIONS.items()}
    for title, known in (("orders", orders), ("rules", rules), ("options", options)):
        click.echo(f"{title}:")
        for name, meaning in known.items():
            click.echo(f"  {name:<16} {meaning}")
        click.echo()
    columns, functions = ", ".join(ARGUMENTS), ", ".join(FUNCTIONS)
    click.echo(OWN.format(columns=columns, functions=functions))


def _texts_of(site: Path) -> dict[str, str]:
    """Return the order of a site's file as text and, if the file has one, the policy."""
    from schedfarm.core.errors import InputError
    from schedfarm.core.policy.site import texts_of_table

    try:
        return texts_of_table(tomllib.loads(site.read_text(encoding="utf-8")))
    except (InputError, OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{site}: {why}") from error


def _whose(group: str, name: str) -> str:
    from schedfarm.core import own

    return f"{own.entry_point(group, name)}, of an installed package"


@command()
@JSON
def metrics(as_json: bool) -> None:
    """List the metrics of every store, those that campaigns request, and those of packages."""
    from schedfarm.core import own
    from schedfarm.core.metrics.declared import METRICS, ON_REQUEST

    known = {
        name: {"meaning": row.meaning, "unit": row.unit, "over": row.over}
        for name, row in {**METRICS, **ON_REQUEST}.items()
    }
    for name in own.entered(own.METRICS):
        known[name] = {"meaning": _whose(own.METRICS, name), "unit": "", "over": ""}
    if as_json:
        click.echo(json.dumps({"metrics": known}, indent=1))
        return
    width = max(map(len, known))
    for over in dict.fromkeys(row["over"] for row in known.values()):
        click.echo(f"one value of each {over}:" if over else "of packages:")
        for name, row in known.items():
            unit = f" ({row['unit']})" if row["unit"] not in ("", "1") else ""
            if row["over"] == over:
                click.echo(f"  {name:<{width}}  {row['meaning']}{unit}")
        click.echo()
    click.echo(
        f"On request, by metrics = [...] of a campaign: {', '.join(ON_REQUEST)}.\n"
        "Name your own metric as module:function there, such as mine:p95_wait for "
        "the function p95_wait in mine.py next to it."
    )


@command()
@JSON
@click.option(
    "--schema",
    is_flag=True,
    help="Print the JSON Schema of campaign files, for editors that complete and check them.",
)
def campaigns(as_json: bool, schema: bool) -> None:
    """List the built-in campaigns, or print the schema of a campaign's file."""
    from schedfarm.core.numerals import grouped
    from schedfarm.farm.campaign.shipped import find, shipped

    if schema:
        from schedfarm.farm.campaign.schema import campaign_schema

        click.echo(json.dumps(campaign_schema(), indent=1))
        return
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
