"""Batch jobs of a store: recorded when submitted, listed with their states, cancelled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from schedfarm.farm.store.jobs import COORDINATOR, FILES, WORKERS, Jobs, read_jobs, write_jobs

if TYPE_CHECKING:
    from schedfarm.cluster.queues import Queue
    from schedfarm.farm.store.place import Place

WRITE_SECONDS = 2.0
"""Least time between two writes of the ids: a thousand jobs are submitted within seconds."""

CANCELLED_AT_ONCE = 500
"""Largest number of ids on one command line."""

UNKNOWN = "unknown"
"""State of a job whose batch system cannot be queried from this host."""

CANCELLED = "cancelled"
"""State of a job that its user has cancelled."""


def folder_beside(store: Place) -> Path:
    """Return the folder for the output of a store's jobs, next to the store.

    The folder for a store in a bucket is in the current folder.

    Examples
    --------
    >>> from schedfarm.farm.store.place import place_of
    >>> folder_beside(place_of("runs/kth.farm")).as_posix()
    'runs/kth.farm.jobs'
    """
    return store.local_folder.with_name(f"{str(store).rpartition('/')[2]}.jobs")


class Noted:
    """Record the ids of the workers' jobs, in a thread so that Dask does not wait for a disk."""

    def __init__(self, store: Place, launcher: str) -> None:
        self._store, self._launcher = store, launcher
        self._ids: list[str] = []
        self._written = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __call__(self, job: str) -> None:
        """Record a job."""
        self._ids.append(job)

    def __enter__(self) -> Noted:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._ended.wait(WRITE_SECONDS if self._written else WRITE_SECONDS / 20):
            self._write()
        self._write()

    def _write(self) -> None:
        count = len(self._ids)
        if count > self._written:
            # The list is for display only: a failed write must not end the run.
            with suppress(OSError):
                write_jobs(self._store, WORKERS, Jobs(self._launcher, tuple(self._ids[:count])))
            self._written = count


@dataclass(frozen=True)
class Job:
    """Hold one job of a batch system with its state."""

    role: str
    launcher: str
    id: str
    state: str

    @property
    def queue(self) -> Queue:
        """Batch system of the job."""
        from schedfarm.cluster.queues import QUEUES

        return QUEUES[self.launcher]

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        from schedfarm.cluster.queues import is_over

        if self.state in (UNKNOWN, CANCELLED):
            return self.state == CANCELLED
        return is_over(self.queue, self.state)

    @property
    def waits(self) -> bool:
        """Whether the job is pending."""
        return self.state in self.queue.waiting


def jobs_of(store: Place) -> list[Job]:
    """Return the recorded jobs of a store with their states, the coordinator's first."""
    from schedfarm.cluster.queues import QUEUES, states

    found = []
    for role in FILES:
        jobs = read_jobs(store, role)
        if jobs and jobs.launcher in QUEUES:
            known = states(QUEUES[jobs.launcher], jobs.ids)
            for one in jobs.ids:
                job = Job(role, jobs.launcher, one, known[one] if known else UNKNOWN)
                ended = job.is_over and one in jobs.cancelled
                found.append(replace(job, state=CANCELLED) if ended else job)
    return found


def of_submitted(store: Place) -> dict[str, Any] | None:
    """Return the submitted jobs of a run whose store is not created yet.

    None if the store exists, or if no coordinator was submitted.
    """
    from schedfarm.core.format.names import MANIFEST

    if store.has(MANIFEST) or read_jobs(store, COORDINATOR) is None:
        return None
    return {"jobs": [asdict(job) for job in jobs_of(store)]}


def sentences(jobs: list[Job]) -> Iterator[str]:
    """Yield one sentence per role, with the ids of active jobs and the number of ended jobs."""
    from schedfarm.core.numerals import counted

    for role in FILES:
        mine = [job for job in jobs if job.role == role]
        states = dict.fromkeys(job.state for job in mine if not job.is_over)
        parts = [
            f"{state} {' '.join(job.id for job in mine if job.state == state)}" for state in states
        ]
        over = [job for job in mine if job.is_over]
        if role == COORDINATOR and over:
            parts.append(f"{over[-1].state} {over[-1].id}")
        elif over:
            parts.append(f"{counted(len(over), 'job')} ended")
        if parts:
            yield f"{role} ({mine[0].launcher}): {', '.join(parts)}"


def cancel(jobs: list[Job]) -> None:
    """Cancel jobs by the command of their batch system."""
    from schedfarm.cluster.jobs import cancel_command
    from schedfarm.cluster.queues import said

    for launcher in {job.launcher for job in jobs}:
        ids = [job.id for job in jobs if job.launcher == launcher]
        for i in range(0, len(ids), CANCELLED_AT_ONCE):
            said([*cancel_command(launcher), *ids[i : i + CANCELLED_AT_ONCE]])


def end_leftovers(store: Place) -> int:
    """Cancel the workers' jobs of ended runs, and return their number."""
    known = [job for job in jobs_of(store) if job.role == WORKERS and job.state != UNKNOWN]
    left = [job for job in known if not job.is_over]
    cancel(left)
    return len(left)
