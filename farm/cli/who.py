"""`farm who`: compare two policies by user, width, length, account, queue or partition."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli.command import COUNT, JSON, STORE, command

if TYPE_CHECKING:
    import pandas as pd


@command(reads=True)
@STORE
@click.option(
    "--policy",
    help="Policy; by default the store's last policy other than the baseline.",
)
@click.option("--baseline", help="Policy to compare with; by default the first of the store.")
@click.option(
    "--by",
    default="user",
    show_default=True,
    help="Grouping of jobs: user, width (processors), run or estimate (durations); group "
    "(account), queue or partition, if the log has them.",
)
@click.option(
    "--metric", default="wait", show_default=True, help="Metric: wait or bounded_slowdown."
)
@click.option("--trace", help="Restrict to one trace.")
@click.option("--load", help="Restrict to one load.")
@click.option(
    "--top",
    type=COUNT,
    default=20,
    show_default=True,
    help="Number of groups to print; --csv and --json contain all.",
)
@click.option("--csv", help="CSV file for all groups; - is standard output.")
@JSON
def who(
    store: str,
    policy: str | None,
    baseline: str | None,
    by: str,
    metric: str,
    trace: str | None,
    load: str | None,
    top: int,
    csv: str | None,
    as_json: bool,
) -> None:
    """Print the groups of jobs in STORE that lose under a policy compared with a baseline.

    Both policies schedule the same jobs. For each group, the table has its shares of jobs and work
    (run time x processors), and its means under both policies. Further columns are the minimum and
    maximum change over the samples, and the change in the log. Means are over the samples, each
    with the same weight. Groups are sorted by the total loss of their jobs over all samples,
    largest first. Users have names if the campaign sets names = true for their trace.
    """
    from schedfarm import analysis
    from schedfarm.farm.cli.campaign_files import campaign_files
    from schedfarm.farm.cli.group_names import group_names
    from schedfarm.farm.output import STANDARD, output

    if as_json and csv == STANDARD:
        raise click.UsageError("--json and --csv - both write to standard output: give one")
    target = None if csv is None else output("--csv", csv, campaign_files(store))
    axes = analysis.open_summary(store)
    policies = axes["policy"].values.tolist()
    base = baseline or policies[0]
    others = [one for one in policies if one != base]
    pair = policy or (others or policies)[-1], base
    found: list[pd.DataFrame] = []
    missing: list[Exception] = []
    for name in _chosen(trace, axes["trace"].values.tolist()):
        for at in _chosen(load, axes["load"].values.tolist()):
            known: dict[str, Any] = {
                "load": at,
                "metric": metric,
                "names": group_names(store, name, by),
            }
            try:
                found.append(analysis.changes(store, name, *pair, by, **known))
            except analysis.TooFewSamplesError as error:
                missing.append(error)
    if missing and not found:
        raise missing[0]
    for left_out in missing:
        click.echo(f"note: {left_out}", err=True)
    if as_json:
        click.echo(json.dumps([analysis.changes_facts(frame) for frame in found], indent=1))
    else:
        texts = (analysis.changes_text(frame, top) for frame in found)
        click.echo("\n\n".join(texts), err=csv == STANDARD)
    if target:
        target.write(analysis.changes_csv(found).encode())
        click.echo(f"table: {target.name}", err=as_json or csv == STANDARD)


def _chosen(asked: str | None, labels: Sequence[str]) -> Sequence[str]:
    return labels if asked is None else [asked]
