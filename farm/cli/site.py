"""`farm site`: from the dump of a Slurm site to a calibrated machine, policy and campaign."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedfarm.farm.cli.command import COUNT, JSON, QUIET, command, excludes, needs, patience

if TYPE_CHECKING:
    from schedfarm.farm.site.calibration import Fit
    from schedfarm.farm.site.judgement import Judgement
    from schedfarm.farm.site.model import Site

FILES = {"site.toml": True, "campaign.toml": False}
"""Files that the command writes, by name: whether only their owner may read them.

site.toml has names of users.
"""

OF_DUMP = ("dump", "out", "names", "no_fit", "trials", "warmup", "partition", "processors",
           "cancelled", "hosts", "replace")  # fmt: skip
"""Options that apply to a dump."""

STARTS_OVER = "no file was written; the same command starts over"
"""Message after an interrupted fit."""

OUTAGES = 0.04
"""Part of the processors of the generated site that is lost to outages."""

LIMITS = {"low": {"GrpTRES": "cpu=160"}, "high": {"MaxJobsPU": "8"}}
"""Limits of the QOS of the generated site, by column of sacctmgr."""


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
    help="Parameter to fit; repeatable: processors (the default), halflife, bf_rate, age, "
    "fairshare, size, qos, partition.",
)
@click.option("--no-fit", is_flag=True, help="Read the dump and write the files only.")
@click.option("--trials", type=click.IntRange(min=10), help="Number of simulations of the fit.")
@click.option(
    "--warmup",
    type=click.FloatRange(min=0),
    help="Weeks at the beginning that are simulated but not counted.  [a tenth of the log]",
)
@click.option(
    "--partition",
    help="Partition to simulate, with all partitions that share its nodes.",
)
@click.option("--processors", type=COUNT, help="Processors of the nodes; by default as in sinfo.")
@click.option(
    "--cancelled",
    type=click.Choice(["drop", "queue"]),
    default="drop",
    show_default=True,
    help="Treatment of jobs that were cancelled while waiting: drop leaves them out, queue keeps "
    "them in the queue until they leave.",
)
@click.option(
    "--hosts",
    is_flag=True,
    help="Simulate the single nodes, on which a job must find room, instead of one pool of all "
    "processors.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the search.")
@click.option("--replace", is_flag=True, help="Replace files that were edited.")
@click.option(
    "--script", is_flag=True, help="Print the shell script that makes a dump; no DUMPDIR is read."
)
@click.option(
    "--example",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the dump of a generated site; no DUMPDIR is read.",
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
    cancelled: str,
    hosts: bool,
    seed: int,
    replace: bool,
    script: bool,
    example: Path | None,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read a dump of a Slurm site, calibrate its simulation, and judge it before any what-if.

    DUMPDIR has the files written by the script that --script prints. Parameters that no file
    contains are fitted to the real starts in the first half of the period. The error of the
    simulated mean waits is measured in the second half. The command writes site.toml, with the
    priority and limits of the site for `farm policies --site`, and campaign.toml, a campaign for
    `farm run`.
    """
    excludes("script", "example", *OF_DUMP, "jobs", "seed", "as_json")
    excludes("example", *OF_DUMP)
    excludes("no_fit", "names", "trials", "warmup", "seed")
    needs("example", "jobs")
    if script:
        from schedfarm.farm.site.dump.kinds import script as text

        click.echo(text(), nl=False)
        return
    if example is not None:
        _write_example(example, jobs, seed, as_json=as_json, quiet=quiet)
        return
    if dump is None:
        raise click.UsageError("Missing argument 'DUMPDIR': give the folder of a dump")
    from schedfarm.core.errors import InputError
    from schedfarm.core.names import choices
    from schedfarm.farm.campaign.template import drawing
    from schedfarm.farm.site.model import read_site
    from schedfarm.farm.site.parameters import PARAMETERS, check_fitted
    from schedfarm.farm.site.text import site_facts, site_text
    from schedfarm.farm.site.writing import campaign_file, site_file

    for name in names:
        if name not in PARAMETERS:
            raise InputError(f"--fit {name!r} is unknown; {choices(name, PARAMETERS)}")
    folder = out or dump
    found = read_site(
        dump, partition=partition, processors=processors, cancelled=cancelled, hosts=hosts
    )
    _check_targets(folder, found.log, replace=replace)
    wanted = () if no_fit else tuple(dict.fromkeys(names or ("processors",)))
    check_fitted(found, wanted)
    found = found.fitting(wanted)
    for note in filter(None, (*found.notes, drawing([found.jobs])[1])):
        click.echo(f"caution: {note}", err=True)
    fitted = judged = None
    if wanted:
        try:
            fitted, judged = _fit(found, wanted, warmup, trials, seed, quiet=quiet)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(STARTS_OVER) from None
    _write(folder, (site_file(found, fitted), campaign_file(found, fitted, judged, folder)))
    if as_json:
        facts = site_facts(found, fitted, judged)
        click.echo(json.dumps(facts, indent=1, allow_nan=False))
        return
    click.echo(site_text(found, fitted, judged))
    click.echo(f"\nwritten: {', '.join(str(folder / name) for name in FILES)}")


def _fit(
    found: Site,
    names: tuple[str, ...],
    warmup: float | None,
    trials: int | None,
    seed: int,
    *,
    quiet: bool,
) -> tuple[Fit, Judgement]:
    """Fit parameters on the first half of the period, and judge them on the second."""
    from schedfarm.farm.cli.counting import counting
    from schedfarm.farm.site.calibration import fit, period_of
    from schedfarm.farm.site.judgement import judge

    period = period_of(found, warmup)
    with patience(quiet=quiet), counting("simulations", quiet=quiet) as show:
        fitted = fit(found, period, names, trials=trials, seed=seed, progress=show)
    return fitted, judge(found, fitted.setting, period)


def _check_targets(folder: Path, log: Path, *, replace: bool) -> None:
    """Refuse links, which may lead out of the folder; without --replace, refuse edited files."""
    from schedfarm.core.errors import InputError
    from schedfarm.farm.output import output
    from schedfarm.farm.site.writing import is_unedited

    for path in (folder / name for name in FILES):
        if path.is_symlink():
            raise InputError(f"{path} is a link; remove it, or give another folder with --out")
        output("--out", path, [log])
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not a file; give another folder with --out")
        if path.is_file() and not replace and not is_unedited(path.read_bytes()):
            raise InputError(
                f"{path} was edited, or was not written by farm site; give another folder "
                "with --out, or --replace"
            )


def _write(folder: Path, texts: tuple[str, ...]) -> None:
    """Write the files after parsing each of them as its reader does."""
    from schedfarm.core.errors import InputError
    from schedfarm.core.files import write_whole
    from schedfarm.farm.campaign.campaign import Campaign

    try:
        _, campaign = (tomllib.loads(text) for text in texts)
        Campaign.from_dict(campaign, folder)
    except ValueError as error:
        raise InputError(
            f"{folder}: the campaign of this dump is refused, and no file was written: {error}"
        ) from None
    for (name, private), text in zip(FILES.items(), texts, strict=True):
        try:
            write_whole(folder / name, text.encode(), private=private)
        except OSError as error:
            why = error.strerror or error
            raise InputError(f"{folder / name}: cannot be written ({why})") from None


def _write_example(folder: Path, jobs: int, seed: int, *, as_json: bool, quiet: bool) -> None:
    """Write the dump of a generated site with 1,000 jobs a week."""
    from schedfarm.core.errors import InputError
    from schedfarm.core.numerals import counted
    from schedfarm.farm.site.example import Truth, check_new, write_dump

    check_new(folder)
    truth = Truth(jobs=jobs, weeks=jobs / 1000, seed=seed, outages=OUTAGES, limits=LIMITS)
    try:
        with patience(quiet=quiet):
            schedule = write_dump(folder, truth)
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"--example {folder}: cannot be written ({why})") from None
    count = len(schedule.workload)
    if as_json:
        click.echo(json.dumps({"dump": str(folder), "jobs": count, "seed": seed}))
        return
    click.echo(f"dump: {folder}, with {counted(count, 'job')}")
