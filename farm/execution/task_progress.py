"""Progress of the tasks in this process, and cancellation of the tasks of a stopping run."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from schedfarm.core import own
from schedfarm.core.engine.cancel import Underway
from schedfarm.core.engine.compiling import is_compiling
from schedfarm.core.format.geometry import Block, Cell
from schedfarm.farm.clock import active_seconds
from schedfarm.farm.execution.cancellation import WORKER_POLL_SECONDS
from schedfarm.farm.execution.messages import worker_name
from schedfarm.farm.planning.cost import SECONDS
from schedfarm.farm.planning.tasks import Batch, Task, block_costs
from schedfarm.farm.store.store import Store
from schedfarm.farm.watching.events import Doing

LONG_SECONDS = 5.0
"""Least duration of a task that is reported, s."""

CLEAR_SECONDS = 1.0
"""Duration of a task from which its own progress determines its expected time, s."""


@dataclass(frozen=True)
class TaskReport:
    """Report the progress of one task to the coordinator.

    blocks: blocks that the task writes. seconds: time since the task began, s. done: finished share
    of the task by planned cost, 0 to 1. doing: the current cell.
    """

    blocks: tuple[Block, ...]
    seconds: float
    done: float
    doing: Doing

    @property
    def is_long(self) -> bool:
        """Whether the current batch has run long enough to be shown."""
        return self.doing.seconds >= LONG_SECONDS


@dataclass(frozen=True)
class _Current:
    """Hold the current batch: its index, -1 before the first batch; its cells; and its begin.

    It is immutable, since a batch may end while other threads use this object.
    """

    index: int
    cells: Sequence[tuple[Block, Cell]]
    entered: float
    store: Store

    @cached_property
    def costs(self) -> list[float]:
        """Planned cost of each cell, s, computed once per batch on the first use."""
        store, known = self.store, dict[tuple[Block, str, str], float]()
        with own.sources(store.own):
            for block, (_, load, policy) in self.cells:
                if (block, load, policy) not in known:
                    places, jobs = store.job_range(block), store.jobs[block.trace]
                    count = places.stop - places.start
                    cost = SECONDS[block.kind](count, policy, load, jobs)
                    known[block, load, policy] = cost
        return [known[block, load, policy] for block, (_, load, policy) in self.cells]


class TaskProgress:
    """Track one task of this process through its batches, and each batch through its cells."""

    def __init__(self, task: Task) -> None:
        self.task, self.under = task, Underway()
        self.at = 0
        self._begun = active_seconds()
        self._current = _Current(-1, (), self._begun, task.store)

    @property
    def cells(self) -> Sequence[tuple[Block, Cell]]:
        """The cells of the current batch, in the order of their simulation."""
        return self._current.cells

    @property
    def seconds(self) -> float:
        """Active time since the task began, s."""
        return active_seconds() - self._begun

    def enter(self, cells: Sequence[tuple[Block, Cell]]) -> None:
        """Begin the next batch, which has these cells in the order of their simulation."""
        index, store = self._current.index + 1, self.task.store
        self.at, self._current = 0, _Current(index, cells, active_seconds(), store)

    def advance(self) -> None:
        """Count one more finished cell."""
        self.under.forget()
        self.at += 1

    def ends_within(self, batch: Batch, seconds: float) -> bool:
        """Return whether the next batch would end in time, judging by the finished batches.

        Without finished batches, the planned time decides.
        """
        if seconds == math.inf:
            return True
        index = self.task.batches.index(batch)
        here, took, planned = self._planned[index], self.seconds, math.fsum(self._planned[:index])
        if took < CLEAR_SECONDS or not planned:
            took, planned = self.task.seconds, math.fsum(self._planned)
        return not planned or here * took / planned <= seconds

    def _done(self, current: _Current) -> float:
        """Return the finished share of the task by planned cost, 0 to 1."""
        if current.index < 0:
            return 0.0
        passed, batch = math.fsum(self._planned[: current.index]), self._planned[current.index]
        return min(1.0, (passed + batch * self._share(current)) / (math.fsum(self._planned) or 1.0))

    def rest(self) -> float:
        """Return the remaining time of the batch, s, estimated from its progress; 0 if unknown.

        The estimate is a lower bound: the last jobs of an overloaded machine take longer than the
        first.
        """
        current = self._current
        seconds, share = active_seconds() - current.entered, self._share(current)
        if seconds < CLEAR_SECONDS or not current.cells:
            return 0.0
        return seconds * (1 - share) / share if share else math.inf

    def report(self) -> TaskReport:
        """Return the present progress."""
        current = self._current
        at = min(self.at, len(current.cells) - 1)
        doing = Doing(
            what=self._label(current, at),
            worker=worker_name(),
            seconds=round(active_seconds() - current.entered, 1),
            cell=at + 1,
            cells=len(current.cells),
            share=round(self.under.share, 3),
            done=round(self._share(current), 4),
        )
        done = round(self._done(current), 4)
        return TaskReport(self.task.blocks, round(self.seconds, 1), done, doing)

    def _label(self, current: _Current, at: int) -> str:
        if not current.cells:
            return "stored cells"
        block, (resample, load, policy) = current.cells[at]
        kind = "" if block.product.simulates else f", {block.kind}"
        first = ", compiling its kernels" if is_compiling() else ""
        return f"{block.trace} resample {resample} load {load} {policy}{kind}{first}"

    @cached_property
    def _planned(self) -> list[float]:
        """Planned cost of each batch, s."""
        costs = block_costs(self.task.store, self.task.blocks)
        return [math.fsum(costs[block] for block in batch) for batch in self.task.batches]

    def _share(self, current: _Current) -> float:
        """Return the finished share of a batch by planned cost, 0 to 1."""
        if not current.cells:
            return 0.0
        at, costs = self.at, current.costs
        here = costs[at] * self.under.share if at < len(costs) else 0.0
        return min(1.0, (math.fsum(costs[:at]) + here) / (math.fsum(costs) or 1.0))


_running: dict[int, TaskProgress] = {}
"""Progress of the tasks that run in this process, by the identity of the progress object."""

_stopping: dict[str, float] = {}
"""Deadlines of the tasks of stopping runs, s on the monotonic clock, by the name of the run."""


@contextmanager
def tracked(task: Task) -> Iterator[TaskProgress]:
    """Track a task; if the run stops, cancel a simulation that would take too long."""
    one = TaskProgress(task)
    _running[id(one)] = one
    try:
        with one.under:
            yield one
    finally:
        del _running[id(one)]


def is_stopping(run: str) -> bool:
    """Return whether a run has been stopped in this process, so that it begins no further batch."""
    return run in _stopping


def polled(run: str, grace: float | None) -> list[TaskReport]:
    """Return the progress of a run's tasks in this process; with a grace, s, also stop the run."""
    return reports(run) if grace is None else stop(run, grace)


def reports(run: str) -> list[TaskReport]:
    """Return the progress of a run's tasks in this process that have taken some seconds."""
    return [one.report() for one in _of(run) if one.cells and one.seconds >= LONG_SECONDS]


def stop(run: str, seconds: float) -> list[TaskReport]:
    """Begin no further batches of a run, and cancel tasks that would not end within some seconds.

    Returns the progress of all running tasks of the run at once; a thread cancels the tasks. Only
    the first call has an effect.
    """
    if run not in _stopping:
        _stopping[run] = time.monotonic() + seconds
        threading.Thread(target=_wind_down, args=(run,), daemon=True).start()
    return [one.report() for one in _of(run) if one.cells]


def abandon(run: str) -> None:
    """Cancel all tasks of a run at once."""
    _stopping[run] = time.monotonic()
    _cancel_late(run)


def _of(run: str) -> list[TaskProgress]:
    return [one for one in list(_running.values()) if one.task.run == run]


def _wind_down(run: str) -> None:
    while _cancel_late(run):
        time.sleep(WORKER_POLL_SECONDS)


def _cancel_late(run: str) -> bool:
    """Cancel the tasks that would not end in time; return whether any continues."""
    left = _stopping[run] - time.monotonic()
    running = [one for one in _of(run) if not one.under.left]
    for one in running:
        if left <= 0 or one.rest() > left:
            one.under.leave()
    return bool(running)
