"""`farm run`: simulate the missing cells of a campaign, then print bands or a report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedfarm.farm.cli.cautions import warn
from schedfarm.farm.cli.command import CAMPAIGN, QUIET, STORE_OPTION, command
from schedfarm.farm.cli.paper_report import check_report
from schedfarm.farm.cli.part import refuse_cluster, run_part
from schedfarm.farm.cli.stopping import INTERRUPTED, SOME_FAILED, ended_after, said_if_none_began
from schedfarm.farm.cli.traces import TRACES
from schedfarm.farm.cli.where import ClusterOptions, where

if TYPE_CHECKING:
    from distributed import Client

    from schedfarm.cluster import ClusterSpec, Opening
    from schedfarm.farm.campaign.campaign import Campaign
    from schedfarm.farm.execution.run import Outcome
    from schedfarm.farm.output import Output
    from schedfarm.farm.store.place import Place
    from schedfarm.farm.store.store import Store


@command()
@CAMPAIGN
@STORE_OPTION
@TRACES
@where
@click.option(
    "--part",
    metavar="K/N",
    help="Simulate only part K of N, in this process and without a cluster. Other parts may run at "
    "the same time, as in job arrays.",
)
@click.option("--retry-failed", is_flag=True, help="Run failed cells again.")
@click.option(
    "--performance-report",
    "report",
    help="HTML file for Dask's performance report of the run.",
)
@click.option(
    "--dashboard",
    is_flag=True,
    help="Open a local cluster's dashboard on the loopback interface, and print its address.",
)
@click.option(
    "--stop-after",
    metavar="TIME",
    help="Stop after this time, such as 90m, as with Ctrl-C; the same command resumes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print only the counts, as JSON.")
@QUIET
def run(
    campaign: str,
    store: str | None,
    folder: Path | None,
    cluster: ClusterOptions,
    part: str | None,
    retry_failed: bool,
    report: str | None,
    dashboard: bool,
    stop_after: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Simulate every missing cell of CAMPAIGN (a TOML file, or a name from `farm campaigns`).

    The same command resumes a stopped run. Ctrl-C finishes the cells that end within 10 s and drops
    the rest; a second Ctrl-C aborts at once. Exit status: 0 all cells done, 1 some failed, 2 bad
    input or a store or cluster that cannot be used, 130 interrupted.
    """
    from schedfarm.farm.campaign.shipped import find

    if part is not None:
        others = {"--performance-report": report is not None, "--dashboard": dashboard}
        refuse_cluster(part, cluster, others)
        run_part(
            find(campaign).located(folder),
            store,
            part,
            retry_failed=retry_failed,
            stop_after=stop_after,
            as_json=as_json,
            quiet=quiet,
        )
        return
    from schedfarm.cluster import connect
    from schedfarm.cluster.watching import check_bokeh
    from schedfarm.farm.execution.run import begin, execute
    from schedfarm.farm.output import output
    from schedfarm.farm.store.place import place_of
    from schedfarm.farm.watching.progress import Quiet, watcher

    wanted = find(campaign)
    spec = cluster.spec(wanted.cluster)
    watched = dashboard or report is not None
    if watched:
        check_bokeh(spec, None if report is None else Path(report), dashboard=dashboard)
    check_report(wanted)
    wanted = wanted.located(folder)
    target = place_of(store or f"{wanted.name}.farm")
    read = (campaign, *(file for t in wanted.traces for file in t.files))
    page = None if report is None else output("--performance-report", report, read)
    with ExitStack() as stack:
        stack.enter_context(ended_after(stop_after))
        begun = stack.enter_context(said_if_none_began())
        # The cluster is connected before anything is written, since an existing scheduler may be
        # missing.
        client = stack.enter_context(connect(spec)) if spec.launcher.found else None
        prepared = stack.enter_context(begin(wanted, target.resolved(), retry_failed=retry_failed))
        if not as_json:
            _warn(prepared.store, wanted)
        if client is None and prepared.tasks:
            opening = stack.enter_context(opening_of(spec, prepared.store.place, wanted, watched))
            # Later rounds have more tasks than the first one.
            limited = spec.launcher.queue and not wanted.precision
            fitting = spec.at_most(len(prepared.tasks)) if limited else spec
            client = stack.enter_context(connect(fitting, opening))
        if client is not None:
            stack.enter_context(_shown(client, page, dashboard=dashboard))
        begun.set()
        outcome = execute(prepared, client, Quiet(sys.stderr) if quiet else watcher())
    click.echo(_as_json(outcome, target) if as_json else _as_text(outcome, target))
    if outcome.interrupted:
        click.echo("interrupted; the same command resumes", err=True)
        sys.exit(INTERRUPTED)
    if not as_json:
        _show(wanted, target)
    if outcome.failed:
        click.echo(
            f"farm status {target} --failed prints why cells failed; the messages above name the "
            "metrics that could not be added to finished cells",
            err=True,
        )
        sys.exit(SOME_FAILED)


@contextmanager
def _shown(client: Client, page: Output | None, *, dashboard: bool) -> Iterator[None]:
    """Print the address of a cluster's dashboard, and record its performance report."""
    from schedfarm.cluster import exposure
    from schedfarm.cluster.watching import reported, seen_at

    if open_to_others := exposure(client):
        click.echo(f"note: {open_to_others}", err=True)
    if dashboard:
        click.echo(f"dashboard: {seen_at(client)}", err=True)
    with ExitStack() as stack:
        part = stack.enter_context(page.made(".html")) if page else None
        stack.enter_context(reported(client, part))
        yield


def _warn(store: Store, campaign: Campaign) -> None:
    from schedfarm.farm.campaign.plain_rules import plain_rules
    from schedfarm.farm.planning.survey import longer_logs

    warn(store.cautions)
    for sentence in longer_logs(store, campaign):
        click.echo(sentence, err=True)
    for sentence in plain_rules(campaign.policies, campaign.sources):
        click.echo(f"note: {sentence}", err=True)


def _as_text(outcome: Outcome, store: Place) -> str:
    from schedfarm.core.numerals import counted, grouped

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


@contextmanager
def opening_of(
    spec: ClusterSpec, store: Place, campaign: Campaign, watched: bool
) -> Iterator[Opening]:
    """Yield the cluster's settings, and record the workers' jobs in the store."""
    from schedfarm.cluster import Opening
    from schedfarm.farm.cli.jobs import Noted, end_leftovers, folder_beside
    from schedfarm.farm.execution import WORKER_IMPORTS

    def say(text: str) -> None:
        click.echo(f"note: {text}", err=True)

    title = f"farm-{campaign.name}"
    opening = Opening(
        watched=watched, folder=folder_beside(store), title=title, say=say, imports=WORKER_IMPORTS
    )
    if spec.launcher.queue is None:
        yield opening
        return
    # Jobs of a killed coordinator may still be queued, for a scheduler that no longer exists.
    end_leftovers(store)
    with Noted(store, spec.kind) as noted:
        yield replace(opening, note=noted)


def _show(campaign: Campaign, store: Place) -> None:
    from schedfarm.analysis.papers import make_report
    from schedfarm.core.errors import InputError
    from schedfarm.farm.cli.results import show_bands
    from schedfarm.farm.output import Output

    try:
        if campaign.report:
            made = make_report(campaign.report, str(store))
            for line in (made.text, *made.write(store.local_folder)):
                click.echo(line)
        else:
            figure = store.local_folder / "figures" / "bands.png"
            figure.parent.mkdir(parents=True, exist_ok=True)
            show_bands(str(store), Output("figure", str(figure), figure))
    except BrokenPipeError:
        raise
    except (InputError, OSError) as error:
        # The cells are done: too few samples for a band, or a figure that does not fit, are not
        # faults of the run.
        click.echo(f"no {'report' if campaign.report else 'bands'}: {error}", err=True)
