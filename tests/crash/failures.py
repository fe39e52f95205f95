"""Table of failures: what is struck, when and how, and what a run must have kept."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import NamedTuple

from tests.crash.stages import Processes
from tests.support.harness import recorded_cells, wait_for

STOPPING = "stopping: finishing the blocks that end within 10 s"
"""Answer to the first interrupt."""

INTERRUPTED = frozenset({130})
INTERRUPTED_AT_ANY_TIME = frozenset({0, 130, -signal.SIGINT})
KILLED = frozenset({-signal.SIGKILL})
KILLED_AT_ANY_TIME = KILLED | {0}


class Kept(Enum):
    """How many cells a store must have once the struck run has ended."""

    NONE = "none"
    SOME = "some, not all"
    ALL = "all"
    ANY = "any number"

    def holds(self, kept: int, cells: int) -> bool:
        """Return whether so many cells of all are as many as there must be."""
        match self:
            case Kept.NONE:
                return kept == 0
            case Kept.SOME:
                return 0 < kept < cells
            case Kept.ALL:
                return kept == cells
        return True


class Step(NamedTuple):
    """A function of a build, by the module that calls it, and the one file at which it dies."""

    function: str
    file: str = ""


Blow = Callable[[Processes], object]


def first_cells(run: Processes) -> bool:
    """Cells are recorded."""
    return recorded_cells(run.store) > 0


def starting(run: Processes) -> bool:
    """The first process of a worker is there, the cluster is not."""
    return bool(run.workers())


def never(run: Processes) -> bool:
    """Wait for the end: the blow has been struck before."""
    return False


def nothing(run: Processes) -> None:
    """What strikes is there from the beginning."""


def interrupt(run: Processes) -> None:
    """Interrupt every process of a run at once, as a terminal does."""
    with suppress(ProcessLookupError):
        run.command.signal_group(signal.SIGINT)


def interrupt_again(run: Processes) -> None:
    """Interrupt again once the first interrupt is answered."""
    interrupt(run)
    wait_for(lambda: STOPPING in run.command.err or run.over, "the answer to the first interrupt")
    interrupt(run)


def interrupt_twice(run: Processes) -> None:
    """Interrupt again before, while or after the first interrupt is answered."""
    interrupt(run)
    time.sleep(run.draw.uniform(0, 0.5))
    interrupt(run)


def kill_group(run: Processes) -> None:
    with suppress(ProcessLookupError):
        run.command.signal_group(signal.SIGKILL)


def kill_coordinator(run: Processes) -> None:
    _kill(run.command.process.pid)


def kill_worker(run: Processes) -> None:
    if workers := run.workers():
        _kill(run.draw.choice(workers))


def kill_nanny(run: Processes) -> None:
    """Kill a nanny; its worker ends too, and another machine's takes its place."""
    assert run.site
    nanny = run.draw.choice(run.site.nannies)
    _kill(nanny.pid)
    nanny.wait(60)
    run.site.nanny()


def kill_scheduler(run: Processes) -> None:
    """Kill a scheduler; its site ends its workers."""
    assert run.site
    _kill(run.site.scheduler.pid)
    run.site.end()


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Failure(NamedTuple):
    """One failure.

    Parameters
    ----------
    name : str
        Name of its test.
    stage : str
        Where the run is: ``local``, ``outside``, ``full disk``, ``build``, ``growth``, ``power``.
    when : callable, Step or int
        A condition on a run and its store, the step of a build at which it dies, or the seed that
        draws the moment of a power failure and what it leaves.
    how : callable
        What is done to a run of processes.
    kept : Kept
        How many cells the store must have after it.
    ends : frozenset of int
        Exit statuses that the run may have, of which there is none where it is no process.
    says : str
        Part of what the run must print on standard error.
    orderly : bool
        Whether the run counts exactly what it has stored, and leaves no partial file.
    any_time : frozenset of int
        Exit statuses that the run may have if it is struck at a random moment; none where it is
        not struck so.
    """

    name: str
    stage: str
    when: Callable[[Processes], bool] | Step | int
    how: Blow = nothing
    kept: Kept = Kept.SOME
    ends: frozenset[int] = frozenset()
    says: str = ""
    orderly: bool = False
    any_time: frozenset[int] = frozenset()


RUNS = [
    # 2 where the worker was still starting: then there is no cluster yet to replace it.
    Failure(
        "worker killed", "local", first_cells, kill_worker, Kept.ALL, frozenset({0}),
        orderly=True, any_time=frozenset({0, 2}),
    ),
    Failure(
        "worker killed while it starts", "local", starting, kill_worker, Kept.ANY,
        frozenset({0, 2}),
    ),
    Failure(
        "interrupt", "local", first_cells, interrupt, Kept.SOME, INTERRUPTED, STOPPING,
        orderly=True, any_time=INTERRUPTED_AT_ANY_TIME,
    ),
    Failure(
        "second interrupt", "local", first_cells, interrupt_again, Kept.SOME, INTERRUPTED,
        "abandoned what was running",
    ),
    Failure(
        "group killed", "local", first_cells, kill_group, Kept.SOME, KILLED,
        any_time=KILLED_AT_ANY_TIME,
    ),
    Failure(
        "coordinator killed", "local", first_cells, kill_coordinator, Kept.SOME, KILLED,
        any_time=KILLED_AT_ANY_TIME,
    ),
    Failure(
        "scheduler killed", "outside", first_cells, kill_scheduler, Kept.SOME, frozenset({2}),
        "was lost", any_time=frozenset({0, 2}),
    ),
    Failure(
        "nanny killed", "outside", first_cells, kill_nanny, Kept.ALL, frozenset({0}),
        orderly=True, any_time=frozenset({0}),
    ),
    Failure(
        "worker of a nanny killed", "outside", first_cells, kill_worker, Kept.ALL,
        frozenset({0}), orderly=True, any_time=frozenset({0, 2}),
    ),
    # Workers that outlive it store the blocks that they have begun.
    Failure(
        "coordinator killed, its cluster not", "outside", first_cells, kill_coordinator,
        Kept.ANY, KILLED, any_time=KILLED_AT_ANY_TIME,
    ),
    Failure(
        "interrupt of the coordinator alone", "outside", first_cells, interrupt, Kept.SOME,
        INTERRUPTED, STOPPING, any_time=INTERRUPTED_AT_ANY_TIME,
    ),
    Failure(
        "two interrupts", "outside", first_cells, interrupt_twice, Kept.SOME,
        INTERRUPTED | {-signal.SIGINT}, any_time=INTERRUPTED_AT_ANY_TIME,
    ),
    Failure(
        "disk full", "full disk", never, nothing, Kept.SOME, frozenset({2}),
        "cannot be written: No space left on device",
    ),
]  # fmt: skip

STEPS = (
    Step("planning.design.install"),
    Step("store.template._consolidate"),
    Step("store.folder.Folder.publish"),
    Step("store.folder.Folder.sync"),
    Step("store.template._remove_others"),
    Step("store.folder.write_whole"),
    Step("store.folder.write_whole", "store.copy.json"),
    Step("store.folder.write_whole", "campaign.toml"),
    Step("store.folder.write_whole", "store.json"),
)

BUILDS = [
    Failure(f"{stage} dies, {step.file or step.function}", stage, step, kept=kept)
    for stage, kept in (("build", Kept.NONE), ("growth", Kept.SOME))
    for step in STEPS
]

POWER_CUTS = 10


def power_cuts(rounds: int) -> list[Failure]:
    """Return power failures at random moments."""
    return [
        Failure(f"power cut {seed}", "power", seed, kept=Kept.ANY)
        for seed in range(POWER_CUTS * rounds)
    ]
