"""`farm clusters`: list launchers and print template files."""

from __future__ import annotations

import json

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import command


def _names() -> list[str]:
    from schedfarm.cluster.examples import examples

    return [*examples()]


@command()
@click.argument("name", required=False, shell_complete=words.listed(_names))
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def clusters(name: str | None, as_json: bool) -> None:
    """List the launchers for --on, or print the template file of the launcher NAME, such as slurm.

    Write the template to a file (`farm clusters slurm > slurm.toml`) and edit it. Use the file with
    `--on slurm.toml`, or its keys as the table [cluster] of a campaign.
    """
    from schedfarm.cluster.examples import examples
    from schedfarm.cluster.launchers import LAUNCHERS
    from schedfarm.core.errors import InputError
    from schedfarm.core.names import choices

    known = examples()
    if name is None and as_json:
        rows = [{"on": row.form, "meaning": row.meaning} for row in LAUNCHERS.values()]
        click.echo(json.dumps({"clusters": rows, "files": [*known]}, indent=1))
        return
    if name is None:
        wide = max(len(row.form) for row in LAUNCHERS.values())
        for row in LAUNCHERS.values():
            click.echo(f"{row.form:<{wide}}  {row.meaning}")
        click.echo(f"\ntemplate files, printed by farm clusters NAME: {', '.join(known)}")
        return
    if name not in known:
        raise InputError(f"there is no template file for {name!r}; {choices(name, known)}")
    text = known[name].read_text(encoding="utf-8")
    click.echo(json.dumps({"name": name, "text": text}, indent=1) if as_json else text.rstrip("\n"))
