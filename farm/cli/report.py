"""`farm report`: the page of a store, one HTML file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import SHARE, STORE, command

if TYPE_CHECKING:
    from schedfarm.analysis.report import Asked
    from schedfarm.farm.output import Output

WATCHED_SECONDS = 10.0
"""Time between two renderings of a watched run; a page of 10,000 cells takes less."""


@command()
@STORE
@click.argument("policies", nargs=-1, metavar="[P Q ...]", shell_complete=words.labels("policy"))
@click.option(
    "--out",
    default="report.html",
    show_default=True,
    help="HTML file to write; - is standard output.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    shell_complete=words.metrics,
    help="Metric to show; repeatable.  [wait, bounded_slowdown, wait_p90, "
    "bounded_slowdown_geomean, utilisation]",
)
@click.option(
    "--level", type=SHARE, default=0.9, show_default=True, help="Confidence level of the intervals."
)
@click.option(
    "--by",
    default="user",
    show_default=True,
    help="Grouping of jobs for gains and losses, as in farm compare; or none.",
)
@click.option("--watch", is_flag=True, help="Rewrite the page regularly until the run ends.")
def report(
    store: str,
    policies: tuple[str, ...],
    out: str,
    metrics: tuple[str, ...],
    level: float,
    by: str,
    watch: bool,
) -> None:
    """Write the results of STORE as one HTML page that needs no network.

    The page has the verdicts of farm compare, figures and tables with filters, warnings, failed and
    missing cells, and the campaign. The first policy given is the baseline; by default all policies
    are compared with the store's first.

    The report of a reproduced paper is another page: `farm run` writes it if the campaign has the
    key report.
    """
    from schedfarm.analysis.report.markup import is_page
    from schedfarm.analysis.report.script import check_script
    from schedfarm.farm.cli.campaign_files import campaign_files
    from schedfarm.farm.output import output

    check_script()
    page = output("--out", out, campaign_files(store))
    if page.path.is_file() and not is_page(page.path):
        raise click.UsageError(f"--out {out} exists and is not a page; give another file")
    if watch and page.standard:
        raise click.UsageError("--watch writes a file again and again; give --out a file, not -")
    if watch:
        _watch(store, page, lambda: question(store, policies, metrics=metrics, level=level, by=by))
    else:
        write_page(store, page, question(store, policies, metrics=metrics, level=level, by=by))
    click.echo(f"page: {page.name}", err=page.standard)


def question(
    store: str,
    policies: tuple[str, ...] = (),
    *,
    metrics: tuple[str, ...] = (),
    level: float = 0.9,
    by: str = "user",
) -> Asked:
    """Return the query of a page: the first policy is the baseline."""
    from schedfarm.analysis import open_summary
    from schedfarm.analysis.groups import GROUPINGS
    from schedfarm.analysis.report import Asked
    from schedfarm.analysis.store import check_known
    from schedfarm.farm.cli.compare import NO_GROUPS
    from schedfarm.farm.cli.group_names import group_names

    check_known(by, "way to group jobs", [*GROUPINGS, NO_GROUPS])
    traces = [str(name) for name in open_summary(store)["trace"].values]
    return Asked(
        policies[0] if policies else None,
        policies[1:],
        metrics,
        level,
        by,
        {
            trace: {column: group_names(store, trace, column) for column in {by, "queue"}}
            for trace in traces
        },
    )


def write_page(store: str, page: Output, asked: Asked, *, refresh: float | None = None) -> None:
    """Write the page of a store with its status; the file appears whole or not at all."""
    from schedfarm.analysis.report import write
    from schedfarm.farm.watching.status import status

    progress: dict[str, Any] = status(store).to_dict()
    with page.made(".html") as part:
        write(store, part, asked, progress=progress, refresh=refresh)


def _watch(store: str, page: Output, asking: Callable[[], Asked]) -> None:
    """Write the page until the run on the store has ended.

    The store may grow while a page is made, and may not have all its arrays yet. Unreadable parts
    are read again for the next page.
    """
    import time

    from schedfarm.farm.watching.status import is_running

    begun = time.time()
    while True:
        running = is_running(store, begun)
        try:
            write_page(store, page, asking(), refresh=WATCHED_SECONDS if running else None)
        except ValueError as error:
            if not running:
                raise
            click.echo(f"note: this page is left out, since the run goes on: {error}", err=True)
        if not running:
            return
        time.sleep(WATCHED_SECONDS)
