"""Batch jobs of a store, past and present: a small file for each role."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from schedfarm.farm.store.place import Place

COORDINATOR, WORKERS = "coordinator", "workers"
"""Roles of jobs. The file of each role has one writer. The commands that submit and cancel write
the coordinators' file; the run writes the workers' file."""

FILES = {role: f"jobs.{role}.json" for role in (COORDINATOR, WORKERS)}


@dataclass(frozen=True)
class Jobs:
    """Name the jobs of one role.

    Parameters
    ----------
    launcher : str
        Launcher that submitted them, such as ``slurm``.
    ids : tuple of str
        Ids in the batch system, in the order of submission.
    cancelled : tuple of str
        Ids of jobs that their user has cancelled, which batch systems report as FAILED.
    """

    launcher: str
    ids: tuple[str, ...]
    cancelled: tuple[str, ...] = ()


def write_jobs(store: Place, role: str, jobs: Jobs) -> None:
    """Record the jobs of a role in place of earlier jobs; OSError if that is impossible."""
    text = json.dumps(asdict(jobs), indent=1)
    _, etag = store.read_with_etag(FILES[role])
    # Submitting does not hold the store, so only one of two concurrent submissions is recorded.
    store.write_if_match(FILES[role], text.encode(), etag)


def read_jobs(store: Place, role: str) -> Jobs | None:
    """Return the jobs of a role; None without a record.

    Examples
    --------
    >>> from schedfarm.farm.store.place import place_of
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = place_of(folder)
    ...     write_jobs(store, WORKERS, Jobs("slurm", ("12", "13")))
    ...     read_jobs(store, WORKERS), read_jobs(store, COORDINATOR)
    (Jobs(launcher='slurm', ids=('12', '13'), cancelled=()), None)
    """
    try:
        found = json.loads(store.read(FILES[role]))
        ids, cancelled = found["ids"], found.get("cancelled", ())
        return Jobs(str(found["launcher"]), tuple(map(str, ids)), tuple(map(str, cancelled)))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def note_cancelled(store: Place, job: str) -> None:
    """Record the cancellation of a coordinator, if the store can be written.

    Examples
    --------
    >>> from schedfarm.farm.store.place import place_of
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = place_of(folder)
    ...     write_jobs(store, COORDINATOR, Jobs("slurm", ("12",)))
    ...     note_cancelled(store, "12")
    ...     read_jobs(store, COORDINATOR).cancelled
    ('12',)
    """
    jobs = read_jobs(store, COORDINATOR)
    if jobs and job not in jobs.cancelled:
        with suppress(OSError):
            write_jobs(store, COORDINATOR, replace(jobs, cancelled=(*jobs.cancelled, job)))
