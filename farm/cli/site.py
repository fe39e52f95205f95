"""`farm site`: from the dump of a Slurm site to a calibrated machine, policy and campaign."""

from __future__ import annotations

import json
from pathlib import Path

import click

from schedfarm.farm.cli.command import JSON, QUIET, command, patience

FILES = ("site.toml", "campaign.toml")
"""Names of the files that the command writes."""

OUTAGES = 0.04
"""Part of the processors of the generated site that is lost to outages."""

LIMITS = {"low": {"GrpTRES": "cpu=160"}, "high": {"MaxJobsPU": "8"}}
"""Limits of its QOS, by column of sacctmgr."""


@command()
@click.argument("dump", required=False, type=click.Path(path_type=Path), metavar="DUMPDIR")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for site.toml and campaign.toml; by default the dump's.",
)
@click.option(
    "--fit",
    "names",
    multiple=True,
    help="Parameter to fit; repeatable: processors (the default), halflife, age, fairshare, size, "
    "qos, partition.",
)
@click.option("--no-fit", is_flag=True, help="Read the dump and write the files only.")
@click.option("--trials", type=click.IntRange(min=10), help="Number of simulations of the fit.")
@click.option(
    "--warmup",
    type=click.FloatRange(min=0),
    help="Weeks at the beginning that are simulated and not counted.  [a tenth of the log]",
)
@click.option("--partition", help="Partition whose nodes are simulated, with all that share them.")
@click.option(
    "--processors", type=click.IntRange(min=1), help="Processors of the nodes; by default sinfo's."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the search.")
@click.option("--script", is_flag=True, help="Print the shell script that makes a dump, instead.")
@click.option(
    "--example",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the dump of a generated site into a folder, instead.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1000, max=1_000_000),
    default=20_000,
    show_default=True,
    help="Jobs of the generated site.",
)
@JSON
@QUIET
def site(
    dump: Path | None,
    out: Path | None,
    names: tuple[str, ...],
    no_fit: bool,
    trials: int | None,
    warmup: float | None,
    partition: str | None,
    processors: int | None,
    seed: int,
    script: bool,
    example: Path | None,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read a dump of a Slurm site, calibrate its simulation, and judge it before any what-if.

    DUMPDIR has the files that the script of --script writes. Parameters that no file contains are
    fitted to the real starts in the first half of the period; the second half tells how far the
    simulated mean waits are from the real ones. site.toml has the site's priority, for farm
    policies --site; campaign.toml runs with farm run.
    """
    if script:
        from schedfarm.farm.site.dump.kinds import script as text

        click.echo(text(), nl=False)
        return
    if example is not None:
        _write_example(example, jobs, seed)
        return
    if dump is None:
        raise click.UsageError("Missing argument 'DUMPDIR': give the folder of a dump")
    from schedfarm.core.errors import InputError
    from schedfarm.core.names import choices
    from schedfarm.farm.output import output
    from schedfarm.farm.site.calibration import fit, period_of
    from schedfarm.farm.site.judgement import judge
    from schedfarm.farm.site.model import read_site
    from schedfarm.farm.site.parameters import PARAMETERS, check_fitted
    from schedfarm.farm.site.text import site_facts, site_text
    from schedfarm.farm.site.writing import campaign_file, site_file

    for name in names:
        if name not in PARAMETERS:
            raise InputError(f"--fit {name!r} is unknown; {choices(name, PARAMETERS)}")
    folder = out or dump
    found = read_site(dump, partition=partition, processors=processors)
    for note in found.notes:
        click.echo(f"caution: {note}", err=True)
    targets = [output("--out", folder / name, [found.log]) for name in FILES]
    fitted = judged = None
    if not no_fit:
        wanted = tuple(dict.fromkeys(names or ("processors",)))
        check_fitted(found, wanted)
        period = period_of(found, warmup)
        with patience(quiet=quiet):
            fitted = fit(found, period, wanted, trials=trials, seed=seed)
        judged = judge(found, fitted.setting, period, seed=seed)
    texts = (site_file(found, fitted), campaign_file(found, fitted, judged, folder))
    for target, written in zip(targets, texts, strict=True):
        target.write(written.encode())
    if as_json:
        click.echo(json.dumps(site_facts(found, fitted, judged), indent=1))
        return
    click.echo(site_text(found, fitted, judged))
    click.echo(f"\nwritten: {', '.join(target.name for target in targets)}")


def _write_example(folder: Path, jobs: int, seed: int) -> None:
    """Write the dump of a generated site, as many weeks as 1000 jobs of it take."""
    from schedfarm.core.numerals import counted
    from schedfarm.farm.site.example import Truth, write_dump

    truth = Truth(jobs=jobs, weeks=jobs / 1000, seed=seed, outages=OUTAGES, limits=LIMITS)
    with patience():
        schedule = write_dump(folder, truth)
    click.echo(f"dump: {folder}, of {counted(len(schedule.workload), 'job')}")
