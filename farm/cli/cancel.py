"""`farm cancel`: cancel the jobs of a store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from schedfarm.farm.cli.command import STORE, command

if TYPE_CHECKING:
    from schedfarm.farm.cli.jobs import Job
    from schedfarm.farm.store.place import Place

STOP_SECONDS = 60.0
"""Time for a coordinator to finish blocks that end within 10 s, fold the summary and cancel its
workers' jobs."""

LOOK_SECONDS = 1.0


@command()
@STORE
def cancel(store: str) -> None:
    """Cancel the jobs of STORE: stop the coordinator, then cancel the remaining workers' jobs.

    The coordinator finishes the cells that end within 10 s and drops the rest; the same `farm
    submit` resumes.
    """
    from schedfarm.farm.cli.jobs import UNKNOWN, cancel as end, jobs_of
    from schedfarm.farm.store.jobs import COORDINATOR, note_cancelled, read_jobs
    from schedfarm.farm.store.place import place_of
    from schedfarm.farm.store.store import Store

    place = place_of(store)
    if read_jobs(place, COORDINATOR) is None:
        # A store made by `farm run` has no coordinator; refuse anything that is not a store.
        Store.open(place)
    jobs = [job for job in jobs_of(place) if not job.is_over]
    unknown = [job for job in jobs if job.state == UNKNOWN]
    if unknown:
        _refuse_unknown(place, unknown[0])
    for job in [job for job in jobs if job.role == COORDINATOR]:
        note_cancelled(place, job.id)
        if job.waits:
            end([job])
            click.echo(f"coordinator {job.id} had not begun; cancelled")
        elif _stop(place, job):
            click.echo(f"coordinator {job.id} has stopped")
        else:
            end([job])
            click.echo(f"coordinator {job.id} did not stop within {STOP_SECONDS:.0f} s; cancelled")
    _end_workers(place)


def _refuse_unknown(store: Place, job: Job) -> None:
    from schedfarm.core.errors import InputError

    raise InputError(
        f"store {store}: {job.queue.ask[0]} cannot be queried about job {job.id} from this "
        "machine; run this where jobs are submitted"
    )


def _stop(store: Place, job: Job) -> bool:
    """Ask a coordinator to stop; return whether it did."""
    from schedfarm.cluster.queues import said
    from schedfarm.farm.cli.jobs import jobs_of

    said([*job.queue.stop, job.id])
    end = time.monotonic() + STOP_SECONDS
    while time.monotonic() < end:
        if all(one.is_over for one in jobs_of(store) if one.id == job.id):
            return True
        time.sleep(LOOK_SECONDS)
    return False


def _end_workers(store: Place) -> None:
    from schedfarm.core.numerals import counted
    from schedfarm.farm.cli.jobs import end_leftovers

    # A coordinator that is not a job would replace cancelled jobs. The attempt to take the lock
    # then reports this coordinator.
    with store.locked():
        count = end_leftovers(store)
    click.echo(f"{counted(count, 'job')} of workers cancelled" if count else "no jobs are left")
