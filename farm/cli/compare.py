"""`farm compare`: verdicts, intervals, and the users who gain or lose."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import JSON, SHARE, STORE, command
from schedfarm.farm.cli.results import AT, policy_texts, where_of

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

NO_GROUPS = "none"
"""Value of --by without groups of jobs."""


@command(reads=True)
@STORE
@click.argument("labels", nargs=-1, metavar="[P Q ...]", shell_complete=words.labels("policy"))
@click.option(
    "--axis",
    shell_complete=words.axes,
    help="Compare values P Q ... of this axis of the campaign, under one policy.",
)
@click.option(
    "--policy",
    shell_complete=words.labels("policy"),
    help="Policy for a comparison by --axis, if the store has several policies.",
)
@AT
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    shell_complete=words.metrics,
    help="Metric to compare; repeatable.  [wait, bounded_slowdown]",
)
@click.option("--trace", shell_complete=words.labels("trace"), help="Restrict to one trace.")
@click.option("--load", shell_complete=words.labels("load"), help="Restrict to one load.")
@click.option(
    "--level", type=SHARE, default=0.9, show_default=True, help="Confidence level of the intervals."
)
@click.option(
    "--by",
    default="user",
    show_default=True,
    help="Grouping of jobs for counts of gains and losses: user, width, run, estimate, group, "
    "queue, partition, or none.",
)
@click.option("--csv", help="CSV file for the table; - is standard output.")
@click.option("--latex", help="LaTeX file for the table (booktabs); - is standard output.")
@click.option(
    "--plot",
    help="Image file for a plot of the intervals (.png, .pdf, .svg); - is standard output, as PNG.",
)
@JSON
def compare(
    store: str,
    labels: tuple[str, ...],
    axis: str | None,
    policy: str | None,
    at: dict[str, str],
    metrics: tuple[str, ...],
    trace: str | None,
    load: str | None,
    level: float,
    by: str,
    csv: str | None,
    latex: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """Compare policies of STORE, sample by sample: the first one given is the baseline.

    By default all other policies are compared with the store's first. The first lines are the
    verdicts: the change of the mean over all traces and loads, its interval, the number of pairs,
    and the users who gain. Tables for each metric, trace and load follow: means, changes with
    studentised bootstrap intervals, p values corrected for the number of policies (Holm), the
    change in the log itself, mean ranks, and the users who lose most.
    """
    from schedfarm import analysis
    from schedfarm.analysis.drawing import checked_path
    from schedfarm.farm.cli.campaign_files import campaign_files
    from schedfarm.farm.output import STANDARD, output, output_once

    if as_json and STANDARD in (csv, latex, plot):
        raise click.UsageError("--json and a file named - both write to standard output: give one")
    target = plot if plot in (None, STANDARD) else checked_path(plot)
    inputs = campaign_files(store)
    named = (("--csv", csv), ("--latex", latex), ("--plot", target))
    outputs = {
        option: output(option, str(name), inputs) for option, name in named if name is not None
    }
    output_once(*outputs.values())
    wanted: dict[str, Any] = {"metrics": metrics, "load": load, "level": level}
    if axis is None:
        if policy is not None:
            raise click.UsageError(
                "--policy is for --axis; without --axis give policies as arguments"
            )
        where = where_of(store, at, {"trace": trace})
        if where["policy"] is not None:
            for label in labels:
                # Refuses a policy that does not exist at these values.
                where_of(store, at, {"policy": label})
        baseline, *others = labels or where["policy"] or (None,)
        found = analysis.compare(store, baseline, others, trace=where["trace"], **wanted)
    else:
        baseline, *others = labels or (None,)
        found = analysis.compare_values(
            store, axis, baseline, others, policy=policy, trace=trace, at=at, **wanted
        )
    groups, notes = losers_of(store, found, by)
    notes += policy_texts(store, [found.attrs["baseline"], *found["policy"].values])
    notes += analysis.comparison_warnings(store, found)
    elsewhere = as_json or any(one.standard for one in outputs.values())
    if as_json:
        click.echo(json.dumps(analysis.comparison_facts(found, groups, notes), indent=1))
    else:
        click.echo(analysis.comparison_text(found, groups), err=elsewhere)
    for sentence in notes:
        click.echo(f"note: {sentence}", err=True)
    for option, made in outputs.items():
        if option == "--plot":
            with made.made(".png") as part:
                analysis.comparison_figure(found, part)
        else:
            write = analysis.comparison_csv if option == "--csv" else analysis.comparison_latex
            made.write(write(found).encode())
        click.echo(f"{'figure' if option == '--plot' else 'table'}: {made.name}", err=elsewhere)


def losers_of(store: str, found: xr.Dataset, by: str) -> tuple[list[pd.DataFrame], list[str]]:
    """Return the groups of jobs by change, and sentences on why groups are missing."""
    from schedfarm import analysis
    from schedfarm.analysis.compare import traces_of
    from schedfarm.analysis.groups import GROUPINGS
    from schedfarm.analysis.store import check_known
    from schedfarm.farm.cli.group_names import group_names

    if by == NO_GROUPS:
        return [], []
    check_known(by, "way to group jobs", [*GROUPINGS, NO_GROUPS])
    names = {trace: group_names(store, trace, by) for trace in traces_of(found)}
    try:
        return analysis.losers(store, found, by, names), []
    except analysis.StoreError as error:
        return [], [f"gains by {by} are not counted: {error}"]
