"""`farm validate`: simulated waits next to those of the log."""

from __future__ import annotations

import json

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import JSON, STORE, command


@command(reads=True)
@STORE
@click.option("--trace", shell_complete=words.labels("trace"), help="Restrict to one trace.")
@click.option(
    "--load",
    shell_complete=words.labels("load"),
    help="Restrict to one load.  [original, if the store has it]",
)
@click.option("--policy", shell_complete=words.labels("policy"), help="Restrict to one policy.")
@click.option("--csv", help="CSV file for the table; - is standard output.")
@JSON
def validate(
    store: str,
    trace: str | None,
    load: str | None,
    policy: str | None,
    csv: str | None,
    as_json: bool,
) -> None:
    """Compare simulated waits with those of the log, by week, queue and width.

    The waits in a log come from its site's own scheduler. The distance is the absolute
    difference between the simulated and the logged mean wait of a job's group, averaged over the
    jobs and divided by the mean logged wait. It is 0 % if the means are
    equal in every group, and 100 % if the differences are as large as the waits.
    """
    from schedfarm import analysis
    from schedfarm.analysis.validation import validation_facts, validation_text
    from schedfarm.farm.cli.campaign_files import campaign_files
    from schedfarm.farm.cli.group_names import group_names
    from schedfarm.farm.output import STANDARD, output

    if as_json and csv == STANDARD:
        raise click.UsageError("--json and --csv - both write to standard output: give one")
    target = None if csv is None else output("--csv", csv, campaign_files(store))
    traces = [str(name) for name in analysis.open_summary(store)["trace"].values]
    names = {name: group_names(store, name, "queue") for name in traces}
    found = analysis.validation(store, trace=trace, load=load, policy=policy, names=names)
    if as_json:
        click.echo(json.dumps(validation_facts(found), indent=1))
    else:
        click.echo(validation_text(found), err=csv == STANDARD)
    if target:
        target.write(found.to_csv(lineterminator="\n").encode())
        click.echo(f"table: {target.name}", err=as_json or csv == STANDARD)
