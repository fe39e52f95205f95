"""Where a run is struck: as a process, on a cluster, on a full disk, inside this process."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest

from schedfarm import farm
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.execution.run import Outcome
from schedfarm.farm.verify import Again, verify
from tests.support.dask_processes import Site
from tests.support.deaths import kill_build
from tests.support.growing import GROWN, SMALL, assert_same_by_label
from tests.support.harness import (
    Command,
    assert_same_results,
    campaign_of,
    counts,
    partial,
    recorded_cells,
    records,
    two_machines,
    wait_for,
)
from tests.support.made import MadeStores
from tests.support.recorded import Step, cut

if TYPE_CHECKING:
    from tests.crash.failures import Failure

LOADS = (0.5, 0.7, 0.9)
RESAMPLES = 8
POLICIES = ("fcfs+easy", "spf+easy", "fcfs+none")

STRUCK = two_machines("struck", 7, RESAMPLES, LOADS, POLICIES)
"""48 tasks, of which two workers hold 4 at a time: 2 s of work, most of it in drawing the model
and in writing, so that a faster simulator leaves a middle to strike in."""

CELLS = 2 * RESAMPLES * len(LOADS) * len(POLICIES)

SEED = 5
"""Of random victims and moments."""

RECORDS = 2 * 2 * len(LOADS) * RESAMPLES
"""Of the workloads and of the simulations."""


class Stage(Protocol):
    """One store, and the runs that are to complete it."""

    store: Path
    cells: int

    def strike(self, failure: Failure) -> int | None:
        """Begin a run, strike it, and return its exit status, if any, once nothing runs."""

    def resume(self) -> Mapping[str, int]:
        """Mend what is broken, run to a good end, and return the counts of cells."""

    def assert_whole(self) -> None:
        """Hold the store equal to one that nothing happened to."""


class Processes:
    """A run of `farm` as a process.

    Parameters
    ----------
    folder : Path
        Working folder of the commands.
    made_store : MadeStores
        Gives the store that nothing happened to.
    site : Site, optional
        Cluster of somebody else, as earlier failures have left it; by default two workers of the
        run's own.
    """

    cells = CELLS

    def __init__(self, folder: Path, made_store: MadeStores, site: Site | None = None) -> None:
        self.folder, self.store, self.site = folder, folder / "struck.farm", site
        self.draw = random.Random(SEED)
        self._undisturbed = made_store(campaign_of(STRUCK))
        self.commands: list[Command] = []
        self.acknowledged: dict[str, tuple[int, int]] = {}
        (folder / "struck.toml").write_text(STRUCK)

    @property
    def command(self) -> Command:
        """The latest command."""
        return self.commands[-1]

    @property
    def over(self) -> bool:
        """Whether the latest command has ended."""
        return self.command.process.poll() is not None

    def start(self) -> Command:
        """Start a run, and before it what its site lacks."""
        if self.site:
            self.site.revive()
        # Without tables and a figure, which cost a third of the CPU time of so small a run.
        words = ("run", "struck.toml", "--json", "--store", str(self.store), *self._where())
        self.commands.append(Command(self.folder, *words))
        return self.command

    def strike(self, failure: Failure) -> int:
        run = self.start()
        self.await_moment(failure.when)
        if not self.over:
            failure.how(self)
        status = run.finish()
        assert "Traceback" not in run.err, run.err
        assert failure.says in run.err, run.err
        self.look()
        # A run that is interrupted before its cluster is up has nothing to count.
        if run.out:
            told, stored = counts(run.out)["done"], recorded_cells(self.store)
            # Blocks whose end the run has not heard of, since it no longer waits, are recorded.
            assert told == stored if failure.orderly else told <= stored
        if failure.orderly:
            assert partial(self.store) == []
        return status

    def await_moment(self, when: Callable[[Processes], bool]) -> None:
        """Wait until it is time to strike, holding that no record changes meanwhile."""
        holds, lock = f'"pid": {self.command.process.pid},', self.store / "lock.json"
        # Before that, a signal meets the interpreter at its imports, and nothing of ours.
        wait_for(
            lambda: self.over or (lock.exists() and holds in lock.read_text()), "the run's lock"
        )
        self.begun = time.monotonic()

        def due() -> bool:
            self.look()
            return self.over or when(self)

        wait_for(due, "the moment to strike")

    def look(self) -> None:
        """Hold that every record once seen is still the same file."""
        now = {
            name: (written, (self.store / "records" / name).stat().st_ino)
            for name, written in records(self.store).items()
        }
        kept = {name: now.get(name) for name in self.acknowledged}
        assert kept == self.acknowledged
        self.acknowledged = now

    def workers(self) -> list[int]:
        """Return the process ids of the workers."""
        return self.site.workers() if self.site else self.command.workers()

    def resume(self) -> Mapping[str, int]:
        again = self.start()
        assert again.finish() == 0, again.err
        self.look()
        return counts(again.out)

    def assert_whole(self) -> None:
        self.assert_same(self.store)

    def assert_same(self, store: Path) -> None:
        """Hold a store of this campaign equal to one that nothing happened to."""
        assert_same_results(store, self._undisturbed)

    def end(self) -> None:
        """End whatever a failed test has left."""
        for command in self.commands:
            command.kill()

    def _where(self) -> tuple[str, ...]:
        if self.site is None:
            return "--workers", "2"
        return "--scheduler-file", str(self.site.file)


class FullDisk(Processes):
    """A run whose store is on a file system that is too small for it."""

    SMALL, ENOUGH = "3m", "64m"
    """Of the 7 MiB of the finished store, 1 MiB is there before the first cell is."""

    def __init__(self, folder: Path, made_store: MadeStores) -> None:
        super().__init__(folder, made_store)
        self.disk = folder / "disk"
        self.disk.mkdir()
        if not mounted("-t", "tmpfs", "-o", f"size={self.SMALL}", "tmpfs", str(self.disk)):
            pytest.skip("a tmpfs cannot be mounted here: it takes root and CAP_SYS_ADMIN")
        self.store = self.disk / "struck.farm"

    def strike(self, failure: Failure) -> int:
        status = super().strike(failure)
        told = [line for line in self.command.err.splitlines() if line.startswith("farm: ")]
        assert told == [f"farm: store {self.store} cannot be written: No space left on device"]
        return status

    def resume(self) -> Mapping[str, int]:
        assert mounted("-o", f"remount,size={self.ENOUGH}", str(self.disk))
        return super().resume()

    def end(self) -> None:
        super().end()
        subprocess.run(["umount", "-l", str(self.disk)], check=True)


class Build:
    """A run in this process that dies at a step of building its store, or of growing it.

    Parameters
    ----------
    folder : Path
        Folder of the store.
    made_store : MadeStores
        Gives the stores that nothing happened to.
    grows : bool
        Whether the store of a smaller campaign is there already.
    """

    def __init__(self, folder: Path, made_store: MadeStores, *, grows: bool) -> None:
        self.store, self._grows = folder / "s", grows
        self._campaign = GROWN["all"] if grows else SMALL
        self.cells = self._campaign.cells
        self._undisturbed = made_store(self._campaign)
        if grows:
            made_store.copy(SMALL, self.store)

    def strike(self, failure: Failure) -> None:
        function, file = failure.when
        with pytest.MonkeyPatch.context() as patch:
            kill_build(patch, function, self._campaign, self.store, file)

    def resume(self) -> Mapping[str, int]:
        return _counted(farm.run(self._campaign, self.store))

    def assert_whole(self) -> None:
        assert list(verify(self.store, Again(0))) == []
        # A store that has grown has other shards than one that was made at once.
        same = assert_same_by_label if self._grows else assert_same_results
        same(self.store, self._undisturbed)


class Recording(NamedTuple):
    """What two campaigns asked of the file system one after the other.

    Parameters
    ----------
    steps : list of Step
        Everything asked.
    campaigns : list of Campaign
        A small campaign, and what it grows to.
    ends : list of int
        Number of steps at the end of either.
    stores : list of Path
        What either leads to undisturbed.
    """

    steps: list[Step]
    campaigns: list[Campaign]
    ends: list[int]
    stores: list[Path]


class PowerCut:
    """A store as a power failure leaves it in the midst of one of two runs that were recorded.

    Parameters
    ----------
    folder : Path
        Folder of the store.
    recording : Recording
        What the runs asked of the file system.
    """

    def __init__(self, folder: Path, recording: Recording) -> None:
        self._left, self.store, self._recording = folder / "left", folder / "left" / "s", recording

    @property
    def cells(self) -> int:
        """How many cells the struck campaign has, those of fair starts included."""
        return recorded_cells(self._undisturbed)

    def strike(self, failure: Failure) -> None:
        draw, (steps, campaigns, ends, stores) = random.Random(failure.when), self._recording
        at = draw.randrange(len(steps) + 1)
        cut(steps, at, self._left, draw)
        which = 0 if at <= ends[0] else 1
        self._campaign, self._undisturbed = campaigns[which], stores[which]

    def resume(self) -> Mapping[str, int]:
        return _counted(farm.run(self._campaign, self.store))

    def assert_whole(self) -> None:
        assert list(verify(self.store, Again(0))) == []
        assert_same_results(self.store, self._undisturbed)


def mounted(*arguments: str) -> bool:
    """Mount a file system, and tell whether that was possible."""
    done = subprocess.run(["mount", *arguments], capture_output=True, check=False)
    return os.geteuid() == 0 and done.returncode == 0


def _counted(outcome: Outcome) -> dict[str, int]:
    return {
        "cells": outcome.cells,
        "before": outcome.before,
        "done": outcome.done,
        "failed": outcome.failed,
    }
