"""Whatever is killed at whatever moment: after the last resume the store is as if nothing was."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import farm
from farm.campaign.campaign import Campaign
from tests.cluster.processes import start_dask
from tests.farm.harness import (
    MARK,
    Command,
    assert_same_results,
    marked,
    partial,
    records,
    two_machines,
    wait_for,
)

POLICIES = ("fcfs+easy", "spf+easy", "fcfs+none")
LOADS = (0.5, 0.6, 0.7, 0.8, 0.9)
RESAMPLES = 8
CELLS = 2 * RESAMPLES * len(LOADS) * len(POLICIES)

CAMPAIGN = two_machines("chaos", 11, RESAMPLES, LOADS, POLICIES)
"""240 cells in 80 blocks, 5 s of work."""

SEED = 5
ROUNDS = 4
MANY_ROUNDS = 25

BLOCKS = 2 * len(LOADS) * RESAMPLES * 2
"""With those of the workloads."""

EARLY = 3.0
"""Every fourth blow falls at most this long, s, after the run has locked its store: before its
cluster is up. The others fall once a random number of new records is there."""

GRACE = 15.0
"""Time, s, that a site gives its processes to end before it kills them, as batch systems do: a
nanny that has lost its scheduler while it started a worker may never end by itself."""

LOCAL = ("worker", "coordinator", "interrupt twice", "interrupt", "group")
OUTSIDE = ("scheduler", "interrupt twice", "nanny", "coordinator", "worker", "interrupt")

ENDS = {
    # 2 where the worker was still starting: then there is no cluster yet to replace it.
    "worker": {0, 2},
    "nanny": {0},
    "scheduler": {0, 2},
    "interrupt": {0, 130, -signal.SIGINT},
    "interrupt twice": {0, 130, -signal.SIGINT},
    "coordinator": {0, -signal.SIGKILL},
    "group": {0, -signal.SIGKILL},
}
"""How the struck command may end; 0 where the blow came after the last block."""


@dataclass
class Cluster:
    """A scheduler and two workers under nannies, processes of their own on the loopback."""

    folder: Path
    mark: str

    def __post_init__(self) -> None:
        self.file = self.folder / f"{self.mark}.json"
        self.scheduler = self._start("scheduler", "--port", "0")
        wait_for(self.file.exists, "the scheduler's file")
        self.nannies = [self.add_worker() for _ in range(2)]

    def add_worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", "--nthreads", "1", "--local-directory", "/tmp")

    def _start(self, role: str, *options: str) -> subprocess.Popen[bytes]:
        log, marks = self.folder / f"{role}.log", {MARK: self.mark}
        return start_dask(role, self.file, log, *options, "--no-dashboard", **marks)

    def replace_the_dead(self) -> None:
        """Start a nanny for each that gave up, as one does that cannot start its worker in 30 s."""
        for place, nanny in enumerate(self.nannies):
            if nanny.poll() is not None:
                self.nannies[place] = self.add_worker()

    def workers(self) -> list[int]:
        """Return the processes that simulate: the children of the nannies."""
        return sorted(p for p, command in marked(self.mark).items() if "spawn_main" in command)

    def end(self) -> None:
        for process in (*self.nannies, self.scheduler):
            process.terminate()
        for process in (*self.nannies, self.scheduler):
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(GRACE)
        wait_for(lambda: not marked(self.mark), f"the end of {marked(self.mark)}")


class Farm:
    """One store that is struck round after round."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self.rng = folder, rng
        self.store = folder / "chaos.farm"
        self.acknowledged: dict[str, tuple[int, int]] = {}
        self.cluster: Cluster | None = None
        self.commands: list[Command] = []
        self.struck = dict.fromkeys((True, False), 0)
        (folder / "chaos.toml").write_text(CAMPAIGN)

    def start(self) -> Command:
        where = ("--scheduler-file", str(self.cluster.file)) if self.cluster else ("--workers", "2")
        self.commands.append(Command(self.folder, "run", "chaos.toml", *where))
        return self.commands[-1]

    def round(self, outside: bool) -> str:
        """Run, strike once at a random moment, and hold what holds after any blow."""
        if outside and self.cluster is None:
            self.cluster = Cluster(self.folder, f"chaos-{self.rng.getrandbits(64):x}")
        elif not outside:
            self.end_cluster()
        elif self.cluster:
            self.cluster.replace_the_dead()
        blows = OUTSIDE if outside else LOCAL
        blow = blows[self.struck[outside] % len(blows)]
        self.struck[outside] += 1
        run = self.start()
        moment = self.await_moment(run)
        self.strike(blow, run)
        status = run.finish()
        assert status in ENDS[blow], (blow, moment, status, run.err)
        assert "Traceback" not in run.err, (blow, run.err)
        self.look()
        if status == 0:
            assert partial(self.store) == [], blow
        place = "outside" if outside else "local"
        told = f"{blow} ({place}) {moment}: status {status}, {len(self.acknowledged)} records"
        if status == 0:
            # Nothing would be left to strike at; what was checked so far holds for that store.
            self.afresh()
        return told

    def await_moment(self, run: Command) -> str:
        """Wait until it is time to strike, holding that no record changes meanwhile."""
        before, lock = len(records(self.store)), self.store / "lock.json"
        holds = f'"pid": {run.process.pid},'
        # Before that, a signal meets the interpreter at its imports, and nothing of ours.
        wait_for(
            lambda: run.process.poll() is not None or (lock.exists() and holds in lock.read_text()),
            "the lock",
        )
        begun = time.monotonic()
        early = self.rng.random() < 0.25
        seconds = self.rng.uniform(0, EARLY)
        new = self.rng.randint(1, max(1, BLOCKS - before - 1))

        def due() -> bool:
            self.look()
            if early:
                return time.monotonic() - begun > seconds
            return len(self.acknowledged) - before >= new

        wait_for(lambda: due() or run.process.poll() is not None, "a moment to strike")
        return f"after {seconds:.1f} s" if early else f"after {new} records"

    def afresh(self) -> None:
        self.store.rename(self.folder / f"done-{len(self.commands)}")
        self.acknowledged = {}

    def look(self) -> None:
        """Hold that every record once seen is still the same file."""
        now = {
            name: (written, (self.store / "records" / name).stat().st_ino)
            for name, written in records(self.store).items()
        }
        kept = {name: now.get(name) for name in self.acknowledged}
        assert kept == self.acknowledged
        self.acknowledged = now

    def strike(self, blow: str, run: Command) -> None:
        if run.process.poll() is not None:
            return
        match blow:
            case "interrupt":
                run.signal_group(signal.SIGINT)
            case "interrupt twice":
                run.signal_group(signal.SIGINT)
                time.sleep(self.rng.uniform(0, 0.5))
                run.signal_group(signal.SIGINT)
            case "coordinator":
                os.kill(run.process.pid, signal.SIGKILL)
            case "group":
                run.signal_group(signal.SIGKILL)
            case "worker":
                workers = self.cluster.workers() if self.cluster else run.workers()
                if workers:
                    kill(self.rng.choice(workers))
            case "nanny":
                self.kill_nanny()
            case "scheduler":
                self.kill_scheduler()

    def kill_nanny(self) -> None:
        """Kill a nanny; its worker goes too, and another machine's takes its place."""
        assert self.cluster
        nanny = self.cluster.nannies.pop(self.rng.randrange(2))
        kill(nanny.pid)
        nanny.wait(60)
        self.cluster.nannies.append(self.cluster.add_worker())

    def kill_scheduler(self) -> None:
        """Kill the scheduler: its workers end by themselves or are ended by their site."""
        assert self.cluster
        kill(self.cluster.scheduler.pid)
        self.end_cluster()

    def end_cluster(self) -> None:
        if self.cluster:
            self.cluster.end()
        self.cluster = None

    def finish(self, undisturbed: Path) -> None:
        """Resume for the last time and hold the store against one that nothing happened to."""
        self.end_cluster()
        run = self.start()
        assert run.finish() == 0, run.err
        self.look()
        assert f"{CELLS} cells: " in run.out
        assert partial(self.store) == []
        assert_same_results(self.store, undisturbed)
        for done in self.folder.glob("done-*"):
            assert_same_results(done, undisturbed)

    def kill(self) -> None:
        """End what a failed test has left."""
        for command in self.commands:
            command.kill()
        if self.cluster:
            for pid in marked(self.cluster.mark):
                kill(pid)


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the campaign that nothing happened to."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "chaos.toml").write_text(CAMPAIGN)
    # In this process: what it takes to compile the kernels is then no worker's to pay.
    outcome = farm.run(Campaign.from_toml(folder / "chaos.toml"), folder / "chaos.farm")
    assert (outcome.cells, outcome.done, outcome.failed) == (CELLS, CELLS, 0)
    return folder / "chaos.farm"


@pytest.fixture
def struck(tmp_path: Path) -> Iterator[Farm]:
    one = Farm(tmp_path, random.Random(SEED))
    yield one
    one.kill()


@pytest.mark.parametrize(
    "rounds", [ROUNDS, pytest.param(MANY_ROUNDS, marks=pytest.mark.slow)], ids=str
)
def test_nothing_is_lost(struck: Farm, undisturbed: Path, rounds: int) -> None:
    """Kill or interrupt anything at random: same bytes, no record lost or written twice."""
    told = [struck.round(outside=number % 4 < 2) for number in range(rounds)]
    struck.finish(undisturbed)
    # Shown by `pytest -rP`, so that a long run tells what it struck.
    sys.stdout.write("\n".join(told) + "\n")
