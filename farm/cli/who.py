"""`farm who`: which users, widths or lengths of jobs lose under another policy, by how much."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import click

from schedfarm.farm.cli.command import JSON, STORE, command


@command()
@STORE
@click.option("--policy", help="The policy; by default the store's last.")
@click.option("--baseline", help="What it is compared with; by default the store's first policy.")
@click.option(
    "--by",
    default="user",
    show_default=True,
    help="What makes a group of jobs: user, width (processors), run or estimate (their lengths); "
    "group (account), queue or partition, where the log says them.",
)
@click.option(
    "--metric", default="wait", show_default=True, help="What jobs feel: wait or bounded_slowdown."
)
@click.option("--trace", help="One trace; by default each.")
@click.option("--load", help="One load; by default each.")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="How many groups to show, from the first on; --csv and --json have all.",
)
@click.option("--csv", help="Also write all groups as CSV; - is standard output.")
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
    """Print who in STORE loses under a policy against a baseline, and by how much.

    Both policies simulate the same jobs. Each group has its share of the jobs and of their work
    (run time x processors), the mean of its jobs under both, least and most of the change over the
    samples, and the log's own change. The user whose jobs lose most together stands first.
    Users have names where the campaign says names = true of their trace.
    """
    from schedfarm import analysis
    from schedfarm.farm.output import STANDARD, output

    if as_json and csv == STANDARD:
        raise click.UsageError("--json and --csv - both want standard output: give one")
    target = None if csv is None else output("--csv", csv)
    axes = analysis.open_summary(store)
    policies = axes["policy"].values.tolist()
    pair = policy or policies[-1], baseline or policies[0]
    found = [
        analysis.changes(
            store, name, *pair, by, load=at, metric=metric, names=group_names(store, name, by)
        )
        for name in _chosen(trace, axes["trace"].values.tolist())
        for at in _chosen(load, axes["load"].values.tolist())
    ]
    if as_json:
        click.echo(json.dumps([analysis.changes_facts(frame) for frame in found], indent=1))
    else:
        texts = (analysis.changes_text(frame, top) for frame in found)
        click.echo("\n\n".join(texts), err=csv == STANDARD)
    if target:
        target.write(analysis.changes_csv(found).encode())
        click.echo(f"table: {target.name}", err=as_json or csv == STANDARD)


def group_names(store: str, trace: str, by: str) -> Mapping[int, str]:
    """Return what the store's owner asked to be kept of the names of users and the like."""
    from schedfarm.core.errors import InputError
    from schedfarm.farm.store.names import names_of

    try:
        return names_of(store, trace).get(by, {})
    except InputError:
        return {}


def _chosen(asked: str | None, labels: Sequence[str]) -> Sequence[str]:
    return labels if asked is None else [asked]
