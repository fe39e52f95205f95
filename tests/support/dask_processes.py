"""A scheduler and its workers in separate processes, as on an existing cluster."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.harness import MARK, PATIENCE, marked, wait_for
from tests.support.paths import IMPORTED

QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
}
"""Without them a scheduler, two nannies and their workers that waited took 16 % of a core."""


def start_dask(
    role: str, file: Path, log: Path, *options: str, before: Sequence[str] = (), **environment: str
) -> subprocess.Popen[bytes]:
    """Start `dask scheduler` or `dask worker` on the loopback interface.

    Parameters
    ----------
    role : {"scheduler", "worker"}
        Which.
    file : Path
        The scheduler's file.
    log : Path
        File to which its output is appended.
    *options, **environment : str
        Further options of its command line, and variables in addition to this process's.
    before : sequence of str
        Command that starts what follows it, somewhere else.
    """
    dask = shutil.which("dask", path=str(Path(sys.executable).parent))
    assert dask
    with log.open("ab") as stream:
        return subprocess.Popen(
            [*before, dask, role, "--host", "127.0.0.1", "--scheduler-file", str(file), *options],
            stdout=stream,
            stderr=stream,
            cwd=log.parent,
            env={**os.environ, **QUIET, "PYTHONPATH": IMPORTED, **environment},
        )


def wait_for_scheduler(file: Path) -> None:
    """Wait until a scheduler has written its file, which exists before its content."""
    wait_for(lambda: file.exists() and file.read_text().endswith("}"), "the scheduler's file")


class Site:
    """A scheduler on the loopback interface, and workers of one thread.

    Parameters
    ----------
    folder : Path
        Folder of the scheduler's file and of the log of all processes.
    """

    def __init__(self, folder: Path) -> None:
        self.file, self._folder = folder / "scheduler.json", str(folder)
        self.nannies: list[subprocess.Popen[bytes]] = []
        self._log = folder / "dask.log"
        self._mark = uuid.uuid4().hex
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, **environment: str) -> None:
        """Start the scheduler, and wait until it can be found."""
        self.scheduler = self._start("scheduler", "--port", "0", **environment)
        wait_for_scheduler(self.file)

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        address: str = json.loads(self.file.read_text())["address"]
        return address

    def worker(
        self, *before: str, options: Sequence[str] = (), **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start a worker without a nanny, by way of another command, with further variables."""
        words = ("--no-nanny", "--nthreads", "1", *options)
        return self._start("worker", *words, before=before, **environment)

    def nanny(self) -> subprocess.Popen[bytes]:
        """Start a nanny, which starts a worker, and replaces it whenever it dies."""
        self.nannies.append(
            self._start("worker", "--nthreads", "1", "--local-directory", self._folder)
        )
        return self.nannies[-1]

    def revive(self) -> None:
        """Start the scheduler and two nannies, if missing."""
        if not self.file.exists():
            self.start()
        # A nanny that cannot start its worker in 30 s gives up.
        self.nannies = [one for one in self.nannies if one.poll() is None]
        while len(self.nannies) < 2:
            self.nanny()

    def workers(self) -> list[int]:
        """Return the process ids of the nannies' workers."""
        return sorted(pid for pid, words in marked(self._mark).items() if "spawn_main" in words)

    def end(self) -> None:
        """Kill all remaining processes."""
        for pid in marked(self._mark):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self._started:
            process.wait(PATIENCE)
        wait_for(lambda: not marked(self._mark), "the end of its processes")
        self.file.unlink(missing_ok=True)
        self.nannies.clear()

    def _start(
        self, role: str, *options: str, before: Sequence[str] = (), **environment: str
    ) -> subprocess.Popen[bytes]:
        # A port of the dashboard's own: it is there even where nobody may look at it.
        quiet = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
        variables = {**environment, MARK: self._mark}
        self._started.append(
            start_dask(role, self.file, self._log, *options, *quiet, before=before, **variables)
        )
        return self._started[-1]


@contextmanager
def site(folder: Path, **environment: str) -> Iterator[Site]:
    """Start a scheduler, with variables of its own; end it and its workers with the context."""
    one = Site(folder)
    try:
        one.start(**environment)
        yield one
    finally:
        one.end()
