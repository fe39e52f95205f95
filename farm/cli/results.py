"""`farm status`, `farm bands` and `farm gains`: how far a store is, and what is in it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from farm.cli.command import JSON, STORE, command

if TYPE_CHECKING:
    from farm.output import Output


@command()
@STORE
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("--openmetrics", is_flag=True, help="Print the counts for Prometheus and its like.")
@click.option("--failed", is_flag=True, help="Print each failed cell and why.")
def status(store: Path, as_json: bool, openmetrics: bool, failed: bool) -> None:
    """Say how far STORE is: cells done, failed and missing, for each trace."""
    from farm.watching.status import status as read

    if as_json + openmetrics + failed > 1:
        raise click.UsageError("--json, --openmetrics and --failed exclude one another: give one")
    found = read(store)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1))
        return
    if openmetrics:
        from farm.watching.openmetrics import openmetrics as text

        click.echo(text(found), nl=False)
        return
    click.echo(
        f"campaign {found.campaign}: {found.cells} cells, {found.done} done, "
        f"{found.failed} failed, {found.missing} missing; {found.jobs} jobs simulated in "
        f"{found.seconds:.1f} s of CPU; runs took {found.wall:.1f} s"
    )
    for name, counts in found.traces.items():
        click.echo(f"  {name}: {counts['done']}/{counts['cells']} done, {counts['failed']} failed")
    for sentence in _origins(found.origins):
        click.echo(f"  {sentence}")
    for doing in found.running:
        click.echo(f"  running: {doing}")
    for f in found.failures if failed else ():
        click.echo(f"\n{f.trace} resample {f.resample} load {f.load} {f.policy}: {f.error}")
        click.echo(f.traceback.rstrip())


def _origins(origins: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Say what computed the blocks, a line for each set of versions."""
    from farm.store.provenance import PACKAGE, PACKAGES

    order = dict.fromkeys((PACKAGE, "python", *PACKAGES))
    hosts: dict[str, list[str]] = defaultdict(list)
    blocks: Counter[str] = Counter()
    for origin in origins:
        packages = [f"{p} {origin[p]}" for p in order]
        packages[0] += f" (commit {origin['commit']})"
        hosts[", ".join(packages)].append(origin["host"])
        blocks[", ".join(packages)] += origin["blocks"]
    for versions, names in hosts.items():
        others = f" and {len(names) - 3} more hosts" * (len(names) > 3)
        where = ", ".join(names[:3]) + others
        yield f"{blocks[versions]} blocks by {versions}, on {where}"


METRIC = click.option(
    "--metric",
    default="bounded_slowdown",
    show_default=True,
    help="A metric of the store's summary, such as wait.",
)

KIND = click.option(
    "--kind",
    default="auto",
    show_default=True,
    help="What stands for the samples: trimmed (without the best and the worst), range (all of "
    "them), quantile, interval (the mean and a 90 % interval of it); auto is trimmed of ten "
    "samples or more, range of fewer.",
)

CSV = click.option("--csv", help="Also write the table as CSV; - is standard output.")


@command()
@STORE
@METRIC
@KIND
@click.option("--plot", help="Also draw the bands over the weeks; - is standard output, as PNG.")
@CSV
def bands(store: Path, metric: str, kind: str, plot: str | None, csv: str | None) -> None:
    """Print bands of a metric over the resamples of STORE, with the log's own value beside them.

    Each line says which samples stand behind it, and what share of all such samples these can be
    expected to hold. Where there are too few samples, the numbers of single cells are printed.
    """
    from analysis.drawing import checked_path
    from farm.output import STANDARD, output, output_once

    checked = plot if plot in (None, STANDARD) else checked_path(plot)
    figure = None if checked is None else output("--plot", checked)
    table = None if csv is None else output("--csv", csv)
    output_once(figure, table)
    show_bands(store, metric, figure, table, kind)


@command()
@STORE
@METRIC
@click.option(
    "--baseline", help="The policy that the others are compared with; by default the store's first."
)
@KIND
@CSV
@JSON
def gains(
    store: Path, metric: str, baseline: str | None, kind: str, csv: str | None, as_json: bool
) -> None:
    """Print how much each policy of STORE gains over a baseline, paired by resample, as bands.

    A sample's gain is 1 - policy / baseline of the same sample, so that what both owe to the sample
    cancels: 0.2 is a wait a fifth shorter, below 0 is a loss. Of a metric of which larger is better
    the sign is the other way round. Each line says which samples stand behind it, and what share of
    all such samples these can be expected to hold; the log's own gain stands beside them.
    """
    import analysis
    from farm.output import STANDARD, output

    if as_json and csv == STANDARD:
        raise click.UsageError("--json and --csv - both want standard output: give one")
    target = None if csv is None else output("--csv", csv)
    compared = baseline or str(analysis.open_summary(store)["policy"].values[0])
    found = analysis.gains(store, metric, compared, kind)
    if as_json:
        click.echo(json.dumps(analysis.table_facts(found), indent=1))
    else:
        click.echo(analysis.table_text(found), err=csv == STANDARD)
    for sentence in analysis.notes(store, found):
        click.echo(f"note: {sentence}", err=True)
    if target:
        target.write(analysis.table_csv(found).encode())
        click.echo(f"table: {target.name}", err=as_json or csv == STANDARD)


def show_bands(
    store: Path,
    metric: str,
    plot: Output | None = None,
    csv: Output | None = None,
    kind: str = "auto",
) -> None:
    """Print a table of bands, else of single cells; draw them, and write them, where asked to."""
    import analysis

    try:
        found = analysis.bands(store, metric, kind=kind)
    except analysis.TooFewSamplesError as error:
        cells = analysis.plain(store, [metric])
        text, as_csv, said = analysis.plain_text(cells), cells.to_csv(), [f"no bands: {error}"]
    else:
        text, as_csv = analysis.table_text(found), analysis.table_csv(found)
        said = analysis.notes(store, found)
    apart = any(one is not None and one.standard for one in (plot, csv))
    click.echo(text, err=apart)
    for sentence in said:
        click.echo(f"note: {sentence}", err=True)
    if csv:
        csv.write(as_csv.encode())
        click.echo(f"table: {csv.name}", err=apart)
    if plot:
        with plot.made(".png") as part:
            analysis.weekly_bands_figure(store, metric, path=part, kind=kind)
        click.echo(f"figure: {plot.name}", err=apart)
