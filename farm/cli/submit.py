"""`farm submit`: run a campaign from within a job of a batch system."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedfarm.farm.cli.command import CAMPAIGN, STORE_OPTION, command
from schedfarm.farm.cli.paper_report import check_report
from schedfarm.farm.cli.traces import TRACES
from schedfarm.farm.cli.where import ClusterOptions, where

if TYPE_CHECKING:
    from schedfarm.cluster import ClusterSpec
    from schedfarm.cluster.coordinator import Coordinator
    from schedfarm.farm.campaign.campaign import Campaign
    from schedfarm.farm.store.place import Place


@command()
@CAMPAIGN
@STORE_OPTION
@TRACES
@where
@click.option(
    "--array",
    type=click.IntRange(min=2),
    metavar="N",
    help="Submit an array of N jobs, one for each part, without a coordinator.",
)
@click.option("--retry-failed", is_flag=True, help="Run failed cells again.")
@click.option("--print-script", is_flag=True, help="Print the job script without submitting it.")
@click.option("--json", "as_json", is_flag=True, help="Print the job's id and the store as JSON.")
def submit(
    campaign: str,
    store: str | None,
    folder: Path | None,
    cluster: ClusterOptions,
    array: int | None,
    retry_failed: bool,
    print_script: bool,
    as_json: bool,
) -> None:
    """Submit a job that runs CAMPAIGN like `farm run`, and return at once.

    The job runs the coordinator, which submits the workers' jobs. The coordinator stops before its
    walltime ends; the same command resumes. Use `farm status` and `farm cancel` with the store to
    see and end the jobs. With --array each job simulates one part of the blocks, as by
    `farm run --part`, and there is no coordinator.
    """
    from schedfarm.farm.campaign.shipped import find
    from schedfarm.farm.cli.jobs import folder_beside
    from schedfarm.farm.store.files import writing
    from schedfarm.farm.store.jobs import COORDINATOR, Jobs, write_jobs
    from schedfarm.farm.store.place import place_of

    wanted = find(campaign)
    check_report(wanted)
    wanted.located(folder)
    spec = cluster.spec(wanted.cluster)
    target = place_of(store or f"{wanted.name}.farm").resolved()
    logs = folder_beside(target).absolute()
    there = logs.exists()
    job = _coordinator(spec, wanted, logs, array)
    # No module is taken from the current folder, to which other users may write.
    words = [sys.executable, "-P", "-m", "schedfarm", "run", _lasting(campaign)]
    words += ["--store", str(target)]
    words += ["--traces", str(folder.absolute())] if folder else []
    words += [] if array else cluster.words()
    words += ["--retry-failed"] * retry_failed
    words += ["--stop-after", f"{job.lasts}s"] if job.lasts else []
    if print_script:
        click.echo(job.script(words), nl=False)
        if not there and logs.exists():
            # dask-jobqueue creates the folder when a job is described.
            logs.rmdir()
        return
    _refuse_second(target)
    number = job.submit(words)
    if array:
        click.echo(_array_text(number, spec, target, logs, array, as_json=as_json))
        return
    with writing(target):
        write_jobs(target, COORDINATOR, Jobs(spec.kind, (number,)))
    click.echo(_told(number, spec, target, logs, as_json=as_json))


def _coordinator(
    spec: ClusterSpec, campaign: Campaign, logs: Path, array: int | None
) -> Coordinator:
    from schedfarm.cluster.coordinator import Coordinator
    from schedfarm.cluster.opening import Opening
    from schedfarm.farm.planning.parts import Part, check_parts

    if array:
        check_parts(campaign, f"--array {Part.parse(f'1/{array}').of}")
    return Coordinator(spec, Opening(folder=logs, title=f"farm-{campaign.name}"), array or 0)


def _lasting(campaign: str) -> str:
    """Return the campaign's name, or its absolute path."""
    path = Path(campaign)
    return str(path.absolute()) if path.exists() else campaign


def _refuse_second(target: Place) -> None:
    """Refuse a second coordinator for a store while one is pending or running."""
    from schedfarm.core.errors import InputError
    from schedfarm.farm.cli.jobs import jobs_of
    from schedfarm.farm.store.jobs import COORDINATOR

    for job in jobs_of(target):
        if job.role == COORDINATOR and not job.is_over:
            raise InputError(
                f"store {target}: job {job.id} of {job.launcher} is already submitted for it "
                f"({job.state}); wait for it, or end it with farm cancel {target}"
            )


def _told(number: str, spec: ClusterSpec, target: Place, logs: Path, *, as_json: bool) -> str:
    import json

    if as_json:
        said = {"launcher": spec.kind, "job": number, "store": str(target), "logs": str(logs)}
        return json.dumps(said, indent=1)
    return (
        f"job {number} of {spec.kind}; store {target}\n"
        f"see its progress with farm status {target}, end it with farm cancel {target}; the jobs' "
        f"output is in {logs}"
    )


def _array_text(
    number: str, spec: ClusterSpec, target: Place, logs: Path, count: int, *, as_json: bool
) -> str:
    import json

    if as_json:
        said = {"launcher": spec.kind, "job": number, "parts": count, "store": str(target)}
        return json.dumps({**said, "logs": str(logs)}, indent=1)
    return (
        f"job {number} of {spec.kind}, an array of {count} parts; store {target}\n"
        f"see its progress with farm status {target}, end it with {spec.kind}'s own command; the "
        f"jobs' output is in {logs}; the same command resumes"
    )
