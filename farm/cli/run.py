"""`farm run`: carry a campaign out, or what is missing of it, and show bands or a report."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from farm.cli.cautions import warn
from farm.cli.command import CAMPAIGN, STORE_OPTION, command
from farm.cli.report import check_report
from farm.cli.traces import TRACES

if TYPE_CHECKING:
    from cluster import ClusterSpec
    from farm.campaign.campaign import Campaign
    from farm.execution.runner import Outcome
    from farm.store.place import Place
    from farm.store.store import Store

SOME_FAILED = 1
INTERRUPTED = 130


@command()
@CAMPAIGN
@STORE_OPTION
@TRACES
@click.option(
    "--on",
    "spec",
    help="Where to run: local, which is the default, tcp://HOST:PORT, scheduler-file:PATH.",
)
@click.option(
    "--scheduler-file", type=click.Path(path_type=Path), help="Short for --on scheduler-file:PATH."
)
@click.option("--workers", type=int, help="Processes of a local cluster; by default one a core.")
@click.option("--retry-failed", is_flag=True, help="Run cells again that failed before.")
@click.option(
    "--performance-report",
    "report",
    help="Write Dask's report of the run to this HTML file.",
)
@click.option(
    "--dashboard",
    is_flag=True,
    help="Print the link of a local cluster's dashboard, on the loopback interface.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON, and no table.")
@click.option("--quiet", is_flag=True, help="Do not say how far the run is.")
def run(
    campaign: str,
    store: str | None,
    folder: Path | None,
    spec: str | None,
    scheduler_file: Path | None,
    workers: int | None,
    retry_failed: bool,
    report: str | None,
    dashboard: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Simulate every cell of CAMPAIGN (a TOML file, or a name from `farm campaigns`).

    The same command again goes on where the last run stopped. Ctrl-C finishes what ends within
    10 s and leaves the rest; a second one abandons all. Exit status: 0 all cells done, 1 some
    failed, 2 bad input, or the store or the cluster gave out, 130 interrupted.
    """
    from cluster import connect, exposure
    from cluster.watching import check_bokeh, reported
    from farm.campaign.shipped import find
    from farm.execution.runner import begin, carry_out
    from farm.output import output
    from farm.store.place import place_of
    from farm.watching.progress import Quiet, watcher

    where = _where(spec, scheduler_file, workers)
    watched = dashboard or report is not None
    if watched:
        check_bokeh(where, None if report is None else Path(report), dashboard=dashboard)
    wanted = find(campaign)
    check_report(wanted)
    wanted = wanted.located(folder)
    target = place_of(store or f"{wanted.name}.farm")
    read = (campaign, *(t.file for t in wanted.traces if t.file))
    page = None if report is None else output("--performance-report", report, read)
    with ExitStack() as stack:
        # A cluster that has to be there already is asked first: without it nothing is written.
        client = stack.enter_context(connect(where)) if where.kind != "local" else None
        prepared = stack.enter_context(begin(wanted, target.resolved(), retry_failed=retry_failed))
        if not as_json:
            _warn(prepared.store, wanted)
        if client is None and prepared.tasks:
            client = stack.enter_context(connect(where, watched=watched))
        if client is not None:
            if open_to_others := exposure(client):
                click.echo(f"note: {open_to_others}", err=True)
            if dashboard:
                click.echo(f"dashboard: {client.dashboard_link}", err=True)
            part = stack.enter_context(page.made(".html")) if page else None
            stack.enter_context(reported(client, part))
        outcome = carry_out(prepared, client, Quiet(sys.stderr) if quiet else watcher())
    click.echo(_as_json(outcome, target) if as_json else _as_text(outcome, target))
    if outcome.interrupted:
        click.echo("interrupted; the same command goes on from here", err=True)
        sys.exit(INTERRUPTED)
    if not as_json:
        _show(wanted, target)
    if outcome.failed:
        click.echo(
            f"farm status {target} --failed says why cells failed; what could not be added to "
            "cells that are done is said above",
            err=True,
        )
        sys.exit(SOME_FAILED)


def _warn(store: Store, campaign: Campaign) -> None:
    from farm.planning.extents import longer_logs

    warn(store.cautions)
    for sentence in longer_logs(store, campaign):
        click.echo(sentence, err=True)


def _as_text(outcome: Outcome, store: Place) -> str:
    from core.numerals import counted, grouped

    before, done, failed = map(grouped, (outcome.before, outcome.done, outcome.failed))
    return (
        f"{counted(outcome.cells, 'cell')}: {before} done before, {done} simulated now, "
        f"{failed} failed; store {store}"
    )


def _as_json(outcome: Outcome, store: Place) -> str:
    import json

    counts = {key: getattr(outcome, key) for key in ("cells", "before", "done", "failed")}
    said = {"interrupted": outcome.interrupted, "store": str(store)}
    return json.dumps({**counts, **said, "cautions": outcome.store.cautions}, indent=1)


def _where(spec: str | None, scheduler_file: Path | None, workers: int | None) -> ClusterSpec:
    from cluster import ClusterError, ClusterSpec

    if scheduler_file is None:
        return ClusterSpec.parse(spec or "local", workers)
    if spec is not None:
        raise ClusterError(
            f"--on {spec} and --scheduler-file {scheduler_file} both say where to run; give one"
        )
    return ClusterSpec("scheduler-file", str(scheduler_file), workers)


def _show(campaign: Campaign, store: Place) -> None:
    from analysis.papers import report_text, write_report
    from core.errors import InputError
    from farm.cli.results import show_bands
    from farm.output import Output

    try:
        if campaign.report:
            written = write_report(campaign.report, str(store), store.beside)
            for line in (report_text(campaign.report, str(store)), *written):
                click.echo(line)
        else:
            figure = store.beside / "figures" / "bands.png"
            figure.parent.mkdir(parents=True, exist_ok=True)
            show_bands(str(store), Output("figure", str(figure), figure))
    except BrokenPipeError:
        raise
    except (InputError, OSError) as error:
        # The cells are done all the same: too few samples for a band, or no room
        # for the figure, are no fault of the run.
        click.echo(f"no {'report' if campaign.report else 'bands'}: {error}", err=True)
