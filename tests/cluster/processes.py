"""A scheduler and its workers, each a process of its own, as somebody else would start them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.farm.harness import ROOT, wait_for


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
        Where what it says is added.
    *options, **environment : str
        Of its command line, and beside this process's variables.
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
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        )


class Site:
    """A scheduler on the loopback interface, and workers of one thread without a nanny.

    Parameters
    ----------
    folder : Path
        Where the scheduler's file and what the processes say go.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self._log = folder / "dask.log"
        self._started: list[subprocess.Popen[bytes]] = []

    def scheduler(self, **environment: str) -> None:
        """Start the scheduler, and wait until its file is whole: it is there before its text is."""
        self._start("scheduler", "--port", "0", **environment)
        wait_for(lambda: self.file.exists() and self.file.read_text().endswith("}"), "its file")

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        address: str = json.loads(self.file.read_text())["address"]
        return address

    def worker(self, *before: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker, by way of another command, with variables beside this process's."""
        options = ("--no-nanny", "--nthreads", "1")
        return self._start("worker", *options, before=before, **environment)

    def end(self) -> None:
        """End whatever is left."""
        for process in reversed(self._started):
            process.kill()
            process.wait(60)

    def _start(
        self, role: str, *options: str, before: Sequence[str] = (), **environment: str
    ) -> subprocess.Popen[bytes]:
        # A port of the dashboard's own: it is there even where nobody may look at it.
        quiet = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
        self._started.append(
            start_dask(role, self.file, self._log, *options, *quiet, before=before, **environment)
        )
        return self._started[-1]


@contextmanager
def site(folder: Path, **environment: str) -> Iterator[Site]:
    """Start a scheduler, with variables of its own; end it and its workers with the context."""
    one = Site(folder)
    try:
        one.scheduler(**environment)
        yield one
    finally:
        one.end()
