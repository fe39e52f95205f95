"""`farm cancel`: end the jobs that work on a store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from schedfarm.farm.cli.command import STORE, command

if TYPE_CHECKING:
    from schedfarm.farm.cli.jobs import Job
    from schedfarm.farm.store.place import Place

STOP_SECONDS = 60.0
"""Time that a coordinator has to finish what ends within 10 s, fold the summary and end its
workers' jobs."""

LOOK_SECONDS = 1.0


@command()
@STORE
def cancel(store: str) -> None:
    """End the jobs that work on STORE: the coordinator by itself, then the workers' that are left.

    What ends within 10 s is finished, the rest is left; the same `farm submit` goes on from there.
    """
    from schedfarm.farm.cli.jobs import UNKNOWN, cancel as end, jobs_of
    from schedfarm.farm.store.jobs import COORDINATOR, note_cancelled, read_jobs
    from schedfarm.farm.store.place import place_of
    from schedfarm.farm.store.store import Store

    place = place_of(store)
    if read_jobs(place, COORDINATOR) is None:
        # A store that a run made has no coordinator; what is no store is refused.
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
        f"store {store}: {job.queue.ask[0]} cannot be asked about job {job.id} from this machine; "
        "run this where jobs are submitted"
    )


def _stop(store: Place, job: Job) -> bool:
    """Have a coordinator stop by itself; return whether it did."""
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

    # A coordinator that is no job would submit others in their place: it is named instead.
    with store.locked():
        count = end_leftovers(store)
    click.echo(f"{counted(count, 'job')} of workers cancelled" if count else "no jobs are left")
