"""`farm export`: values of a store as Parquet, netCDF, CSV, SWF, or files of Batsim and evalys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import QUIET, STORE, command

if TYPE_CHECKING:
    from schedfarm.farm.export.formats import Progress
    from schedfarm.farm.output import Output

BAR_SECONDS = 3.0
"""Time below which an export shows no progress, s."""


def _restriction(axis: str, name: str) -> Callable[..., Any]:
    """Return the option that restricts an export to labels of an axis."""
    return click.option(
        f"--{axis}",
        name,
        multiple=True,
        shell_complete=words.labels(axis),
        help=f"Restrict to a {axis}; repeatable.",
    )


@command(reads=True)
@STORE
@click.option("--out", required=True, help="File to write; - is standard output, with --format.")
@click.option(
    "--format",
    "name",
    shell_complete=words.listed(lambda: _formats()),
    help="Format: parquet, netcdf, swf, batsim, evalys or csv. By default it follows from the "
    "suffix of --out: .parquet, .nc, .swf, .json, .evalys.csv or .csv; .gz may follow the "
    "last four.",
)
@click.option(
    "--what",
    shell_complete=words.listed(lambda: _tables()),
    help="Table: summary (a row per cell), jobs, weeks, users, widths or origins; by default "
    "summary, and jobs for swf, batsim and evalys.",
)
@_restriction("trace", "traces")
@_restriction("load", "loads")
@_restriction("policy", "policies")
@click.option(
    "--sample",
    "samples",
    type=int,
    multiple=True,
    help="Restrict to a sample, 0 for the log itself; repeatable.",
)
@click.option("--replace", is_flag=True, help="Replace the file, if it exists.")
@QUIET
def export(
    store: str,
    out: str,
    name: str | None,
    what: str | None,
    traces: tuple[str, ...],
    loads: tuple[str, ...],
    policies: tuple[str, ...],
    samples: tuple[int, ...],
    replace: bool,
    quiet: bool,
) -> None:
    """Export finished cells of STORE: a summary of each, or their jobs, weeks, users or widths.

    By default all finished cells are exported; options restrict them. Parquet and CSV have a row
    per cell and job (or week, user, width), with the labels of the cell in the first columns.
    Parquet has the units and meanings of columns as metadata. netCDF has the arrays as they are in
    the store, with a group per trace. SWF, batsim (without starts) and evalys have the jobs of one
    cell. Values are checked against the store's records.
    """
    from schedfarm import analysis
    from schedfarm.core.numerals import counted
    from schedfarm.farm.cli.campaign_files import campaign_files
    from schedfarm.farm.export.formats import format_of
    from schedfarm.farm.export.selection import select
    from schedfarm.farm.output import STANDARD, output
    from schedfarm.farm.store.reading import schedule_of
    from schedfarm.farm.store.store import Store

    if out == STANDARD and name is None:
        raise click.UsageError("--out - needs --format")
    form = format_of(name, out)
    kind = form.table(what)
    form.check_installed()
    target = output("--out", out, campaign_files(store))
    _check_new(target, replace=replace)
    opened = Store.open(store)
    selection = select(
        opened,
        kind,
        {"trace": traces, "load": loads, "policy": policies, "resample": samples},
        summary=partial(analysis.open_summary, store),
        trace=partial(analysis.open_trace, store),
        schedule=partial(schedule_of, opened.place),
    )
    with target.made(form.kind) as part, _progress(selection.cells, quiet=quiet) as progress:
        form.write(selection, part, progress)
    cells = counted(selection.cells, "cell")
    click.echo(f"exported: {kind} of {cells}, {form.meaning}: {target.name}", err=target.standard)
    if selection.missing:
        left = counted(selection.missing, "selected cell")
        click.echo(f"note: {left} without results are left out; farm run simulates them", err=True)


def _formats() -> list[str]:
    from schedfarm.farm.export.formats import FORMATS

    return [*FORMATS]


def _tables() -> list[str]:
    from schedfarm.farm.export.selection import WHAT

    return [*WHAT]


def _check_new(target: Output, *, replace: bool) -> None:
    """Refuse to replace a file without --replace."""
    from schedfarm.core.errors import InputError

    if not replace and target.path.is_file():
        raise InputError(
            f"--out {target.name}: the file exists already; give another name, or --replace"
        )


@contextmanager
def _progress(cells: int, *, quiet: bool) -> Iterator[Progress]:
    """Yield a function that counts cells in a bar, on a terminal."""
    from tqdm import tqdm

    with tqdm(
        total=cells,
        unit="cell",
        delay=BAR_SECONDS,
        disable=True if quiet else None,
        leave=False,
        bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} cells",
    ) as bar:

        def move(count: int) -> None:
            bar.update(count)

        yield move
