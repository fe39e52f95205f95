"""The jobs of a batch system that work, or worked, on a store: a small file for each role."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from core.files import write_whole

COORDINATOR, WORKERS = "coordinator", "workers"
"""Roles of jobs. Each has a file of its own, with one writer: who submits, and the run itself."""

FILES = {role: f"jobs.{role}.json" for role in (COORDINATOR, WORKERS)}


@dataclass(frozen=True)
class Jobs:
    """Name the jobs of one role.

    Parameters
    ----------
    launcher : str
        What submitted them, such as ``slurm``.
    ids : tuple of str
        As the batch system calls them, in the order in which they were submitted.
    """

    launcher: str
    ids: tuple[str, ...]


def write_jobs(store: Path, role: str, jobs: Jobs) -> None:
    """Write down the jobs of a role, in place of those of before.

    Raises
    ------
    OSError
        If the operating system refuses.
    """
    text = json.dumps({"launcher": jobs.launcher, "ids": jobs.ids}, indent=1)
    write_whole(store / FILES[role], text.encode())


def read_jobs(store: Path, role: str) -> Jobs | None:
    """Return the jobs of a role; None where none have been written down.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_jobs(Path(folder), WORKERS, Jobs("slurm", ("12", "13")))
    ...     read_jobs(Path(folder), WORKERS), read_jobs(Path(folder), COORDINATOR)
    (Jobs(launcher='slurm', ids=('12', '13')), None)
    """
    try:
        found = json.loads((store / FILES[role]).read_bytes())
        return Jobs(str(found["launcher"]), tuple(map(str, found["ids"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None
