"""`farm init`: write a commented campaign file for logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import COUNT, command
from schedfarm.farm.cli.traces import CLEAN, MAP, NAMES, TRACES


@command()
@click.argument("logs", nargs=-1, required=True, metavar="NAME|FILE...", shell_complete=words.logs)
@click.option(
    "--out", help="File to write, or - for standard output; by default named after the logs."
)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    shell_complete=words.policies,
    help="Policy to compare; repeatable. The first is the baseline.",
)
@click.option(
    "--processors", type=COUNT, help="Processors of the machine; by default those of the log."
)
@CLEAN
@MAP
@NAMES
@TRACES
def init(
    logs: tuple[str, ...],
    out: str | None,
    policies: tuple[str, ...],
    folder: Path | None,
    **source: Any,
) -> None:
    """Write a campaign file for logs, by NAME or from a FILE, with a comment on every line.

    The file runs as it is. An existing file is never replaced.
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.logs.machine import machine_file
    from schedfarm.farm.campaign.template import Template, read
    from schedfarm.farm.output import output

    if len(logs) > 1 and source["processors"] is not None:
        raise InputError(
            f"--processors {source['processors']} is the size of one machine, and there are "
            f"{len(logs)} logs; write it into the campaign, for each log that needs it"
        )
    sources = [read(log, folder, **source) for log in logs]
    path = Path(out if out is not None else f"{Template(sources, Path()).name}.toml")
    asked = [
        trace.file or log
        for log, (trace, jobs) in zip(logs, sources, strict=True)
        if jobs.platform.asks
    ]
    if out is None and any(path.resolve() == machine_file(log).resolve() for log in asked):
        path = path.with_stem(f"{path.stem}-campaign")
    read_files = [trace.file or "" for trace, _ in sources]
    target = output("--out", path if out is None else out, read_files)
    if path.exists() and not target.standard:
        raise InputError(f"{path} exists already; give another file with --out, or remove it")
    text = Template(sources, Path() if target.standard else path.parent, policies).text()
    target.write(text.encode())
    if not target.standard:
        click.echo(
            f"campaign: {path}; estimate its cost with farm plan {path}, or run it with farm run "
            f"{path}"
        )
