"""Helpers for tests of failures: start the real command, watch it, and find its remains."""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import termios
import time
import tomllib
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import zarr

from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.planning.cost import cell_seconds
from tests.support.paths import IMPORTED

MARK = "SCHEDFARM_TEST_RUN"
"""Environment variable that every process of a started command carries, children included."""

PATIENCE = 300.0
"""Time after which a condition is given up, s."""

POLL = 0.02
"""Least time between two checks of a condition, s."""

LONGEST_REST = 0.2
"""Most time between two checks, s."""

REST = 4
"""Time between two checks as a multiple of that of the last one: some read all records of a store,
which took a third of the CPU time of the tests of failures."""

FARM = shutil.which("farm", path=str(Path(sys.executable).parent)) or "farm"


def two_machines(
    name: str, seed: int, resamples: int, loads: Sequence[float], policies: Sequence[str]
) -> str:
    """Return a campaign of 3,000 jobs a cell on models of 64 and of 128 processors, as TOML.

    All policies of one resample and load are a block, so that there are many points between blocks.
    """
    costs = [cell_seconds(3000, policy, str(load)) for policy in policies for load in loads]
    return f"""
name = "{name}"
block_seconds = {1.01 * sum(costs) / len(loads)}
seed = {seed}
resamples = {resamples}
loads = {list(loads)}
policies = {list(policies)}

[[traces]]
name = "m64"
model = "lublin"
processors = 64
jobs = 3000

[[traces]]
name = "m128"
model = "lublin"
processors = 128
jobs = 3000
"""


def campaign_of(text: str) -> Campaign:
    """Return the campaign that a text describes which names no file."""
    return Campaign.from_dict(tomllib.loads(text), Path())


def wait_for(condition: Callable[[], Any], what: str, rest: float = REST) -> Any:
    """Poll until a condition is true, and return its value.

    rest: 0 where the moment passes quickly.
    """
    end = time.monotonic() + PATIENCE
    while (begin := time.monotonic()) < end:
        found = condition()
        if found:
            return found
        time.sleep(max(POLL, min(rest * (time.monotonic() - begin), LONGEST_REST)))
    raise AssertionError(f"waited {PATIENCE:.0f} s in vain for {what}")


class Command:
    """One `farm` command as a process in a session of its own; its group is its session.

    Parameters
    ----------
    folder : Path
        Working folder; what the command prints is kept in it.
    arguments : str
        What follows `farm`.
    terminal : int, optional
        A terminal to run in; by default the output goes to files.
    before : sequence of str
        Command that starts what follows it, somewhere else.
    **variables : str
        Beside this process's.
    """

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        terminal: int | None = None,
        before: Sequence[str] = (),
        **variables: str,
    ) -> None:
        self.mark = uuid.uuid4().hex
        self._out, self._err = (folder / f"{self.mark}.{end}" for end in ("out", "err"))
        environment = {**_environment(), **variables, MARK: self.mark}

        def prepare() -> None:
            # A test run started in the background ignores the signal, and its children inherit
            # that.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            if terminal is not None:
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        with self._out.open("wb") as out, self._err.open("wb") as err:
            streams: dict[str, int | IO[bytes]] = (
                {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
                if terminal is None
                else dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
            )
            self.process = subprocess.Popen(
                [*before, FARM, *arguments],
                cwd=folder,
                env=environment,
                start_new_session=True,
                preexec_fn=prepare,
                **streams,  # type: ignore[arg-type]
            )

    @property
    def out(self) -> str:
        """Standard output so far."""
        return self._out.read_text()

    @property
    def err(self) -> str:
        """Standard error so far."""
        return self._err.read_text()

    def signal_group(self, number: signal.Signals) -> None:
        """Signal every process of the group at once, as a terminal does."""
        os.killpg(self.process.pid, number)

    def wait(self) -> int:
        """Return the exit status."""
        return self.process.wait(PATIENCE)

    def finish(self) -> int:
        """Return the exit status once all processes of the command have ended."""
        status = self.wait()
        wait_for(lambda: not self.alive(), f"the end of {self.alive()}")
        return status

    def alive(self) -> dict[int, str]:
        """Return the living processes of the command, children of children too."""
        return marked(self.mark)

    def workers(self) -> list[int]:
        """Return the process ids of its Dask workers."""
        return forked_workers(self.process.pid)

    def kill(self) -> None:
        """End all remaining processes, so that a failing test leaves none."""
        for pid in self.alive():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait(PATIENCE)


def farm(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a `farm` command to its end."""
    return subprocess.run(
        [FARM, *arguments],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def counts(text: str) -> dict[str, int]:
    """Read the counts that `farm run`, with or without `--json`, prints at its end."""
    if text.startswith("{"):
        printed = json.loads(text)
        return {key: printed[key] for key in ("cells", "before", "done", "failed")}
    found = re.search(
        r"(\d+) cells: (\d+) done before, (\d+) simulated now, (\d+) failed; store", text
    )
    assert found, text
    return dict(zip(("cells", "before", "done", "failed"), map(int, found.groups()), strict=True))


def records(store: Path) -> dict[str, int]:
    """Return the instant, ns, at which each completion record of a store was written."""
    folder = store / "records"
    return {
        str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*.json")
    }


def recorded_cells(store: Path) -> int:
    """Return how many simulations the records of a store acknowledge."""
    folder = store / "records"
    heads = [json.loads(p.read_bytes().splitlines()[0]) for p in folder.rglob("*.json")]
    return sum(
        math.prod(map(len, head["span"].values()))
        for head in heads
        if head["block"]["kind"] != "workload"
    )


def partial(store: Path) -> list[str]:
    """Return the unfinished files of a store."""
    return [str(path) for path in store.rglob("*.partial")]


def snapshot(folder: Path) -> Mapping[str, str]:
    """Return a digest of every file below a folder; empty where there is no folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def arrays(store: Path) -> dict[str, Any]:
    """Return every array of a store, read through plain Zarr."""
    root = zarr.open_group(store / "results.zarr", mode="r")
    return {
        name: member[...]
        for name, member in root.members(max_depth=None)
        if isinstance(member, zarr.Array)
    }


def assert_same_results(store: Path, expected: Path) -> None:
    """Assert that two stores of a campaign are equal: every value, and every byte of every file."""
    mine, other = arrays(store), arrays(expected)
    assert mine.keys() == other.keys()
    for name, values in other.items():
        np.testing.assert_array_equal(mine[name], values, err_msg=name, strict=True)
    assert snapshot(store / "results.zarr") == snapshot(expected / "results.zarr")


def forked_workers(coordinator: int) -> list[int]:
    """Return the process ids of the local workers of a process, from their first instruction on."""
    servers = {
        pid
        for pid, (_, command) in _processes().items()
        if "multiprocessing.forkserver" in command and _parent(pid) == coordinator
    }
    return sorted(pid for pid in _processes() if _parent(pid) in servers)


def marked(mark: str) -> dict[int, str]:
    """Return the living processes that carry a mark in their environment."""
    return {
        pid: command
        for pid, (environment, command) in _processes().items()
        if f"{MARK}={mark}".encode() in environment.split(b"\0")
    }


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": IMPORTED, "PYTHONUNBUFFERED": "1", "COLUMNS": "100"}


def _processes() -> dict[int, tuple[bytes, str]]:
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if entry.joinpath("stat").read_text().rpartition(")")[2].split()[0] == "Z":
                continue
            command = entry.joinpath("cmdline").read_bytes().replace(b"\0", b" ")
            found[int(entry.name)] = (
                entry.joinpath("environ").read_bytes(),
                command.decode(errors="replace"),
            )
        except OSError:
            continue
    return found


def _parent(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])
