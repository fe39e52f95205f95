"""`farm init`: a first campaign for a log, to be read, changed and run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from farm.cli import words
from farm.cli.command import command
from farm.cli.traces import CLEAN, TRACES


@command()
@click.argument("log", metavar="NAME|FILE", shell_complete=words.logs)
@click.option(
    "--out", help="File to write; by default the log's name with .toml, here. - is stdout."
)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    shell_complete=words.policies,
    help="A policy to compare, again for each; the first is the baseline.",
)
@click.option("--processors", type=int, help="Size of the machine; by default the log's own.")
@CLEAN
@TRACES
def init(
    log: str,
    out: str | None,
    policies: tuple[str, ...],
    folder: Path | None,
    **source: Any,
) -> None:
    """Write a campaign for a log, by NAME or from a FILE, every line with its meaning.

    It can be run as it is. No file is ever replaced.
    """
    from core.errors import InputError
    from core.logs.machine import machine_file
    from farm.campaign.draft import Draft, read
    from farm.output import output

    trace, jobs = read(log, folder, **source)
    path = Path(out if out is not None else f"{trace.name.lower()}.toml")
    beside = machine_file(trace.file or log)
    if out is None and jobs.platform.asks and path.resolve() == beside.resolve():
        path = path.with_stem(f"{path.stem}-campaign")
    target = output("--out", path if out is None else out, [trace.file or ""])
    if path.exists() and not target.standard:
        raise InputError(f"{path} is there already; give another file with --out, or remove it")
    text = Draft(trace, jobs, Path() if target.standard else path.parent, policies).text()
    target.write(text.encode())
    if not target.standard:
        click.echo(
            f"campaign: {path}; farm plan {path} says what it costs, farm run {path} runs it"
        )
