"""The tasks under way in this process: what they are at, since when, and the wish to leave them."""

from __future__ import annotations

import math
import os
import platform
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
from schedfarm.farm.execution.awake import awake
from schedfarm.farm.planning.cost import SECONDS
from schedfarm.farm.planning.tasks import Portion, Task, block_costs
from schedfarm.farm.store.store import Store
from schedfarm.farm.watching.events import Doing

LONG_SECONDS = 5.0
"""What has taken less is not told of."""

LOOK_SECONDS = 0.5
"""Time between two looks at whether a task of a run that stops would end in time."""

CLEAR_SECONDS = 1.0
"""Only after this time does its progress say how long a task will take."""


@dataclass(frozen=True)
class Report:
    """Say how far one task is, to the run that asks.

    Parameters
    ----------
    blocks : tuple of Block
        What the task is to write.
    seconds : float
        Time that it has taken, s.
    done : float
        Share of it that is done, by planned cost, 0 to 1.
    doing : Doing
        What it is at.
    """

    blocks: tuple[Block, ...]
    seconds: float
    done: float
    doing: Doing

    @property
    def is_long(self) -> bool:
        """Whether what it is at has taken so long that it is told of."""
        return self.doing.seconds >= LONG_SECONDS


@dataclass(frozen=True)
class _Here:
    """The portion that a task is at: its place, -1 before the first, its cells, and since when.

    One object, which other threads fetch once: a portion may end while they look at it.
    """

    place: int
    cells: Sequence[tuple[Block, Cell]]
    entered: float
    store: Store

    @cached_property
    def costs(self) -> list[float]:
        """Planned cost of each cell, s: worked out once a portion, if it is asked for."""
        store, known = self.store, dict[tuple[Block, str, str], float]()
        with own.sources(store.own):
            for block, (_, load, policy) in self.cells:
                if (block, load, policy) not in known:
                    places, jobs = store.job_range(block), store.jobs[block.trace]
                    count = places.stop - places.start
                    cost = SECONDS[block.kind](count, policy, load, jobs)
                    known[block, load, policy] = cost
        return [known[block, load, policy] for block, (_, load, policy) in self.cells]


class Course:
    """Follow one task of this process through its portions, and each of these through its cells.

    Parameters
    ----------
    task : Task
        What is done.
    """

    def __init__(self, task: Task) -> None:
        self.task, self.under = task, Underway()
        self.at = 0
        self._begun = awake()
        self._here = _Here(-1, (), self._begun, task.store)

    @property
    def cells(self) -> Sequence[tuple[Block, Cell]]:
        """The cells of the portion that it is at, in the order of their making."""
        return self._here.cells

    @property
    def seconds(self) -> float:
        """Time that the task has taken, s; not that while this process stood still."""
        return awake() - self._begun

    def enter(self, cells: Sequence[tuple[Block, Cell]]) -> None:
        """Take note that the next portion begins, of these cells in the order of their making."""
        place, store = self._here.place + 1, self.task.store
        self.at, self._here = 0, _Here(place, cells, awake(), store)

    def go_on(self) -> None:
        """Take note that one more cell is done."""
        self.under.forget()
        self.at += 1

    def ends_within(self, portion: Portion, seconds: float) -> bool:
        """Tell whether the next portion would be done in time, by what those before it took.

        Before anything is clear the plan counts.
        """
        if seconds == math.inf:
            return True
        place = self.task.portions.index(portion)
        here, took, planned = self._planned[place], self.seconds, math.fsum(self._planned[:place])
        if took < CLEAR_SECONDS or not planned:
            took, planned = self.task.seconds, math.fsum(self._planned)
        return not planned or here * took / planned <= seconds

    def done(self) -> float:
        """Return the share of the task that is done, by planned cost, 0 to 1."""
        return self._done(self._here)

    def _done(self, here: _Here) -> float:
        if here.place < 0:
            return 0.0
        passed, portion = math.fsum(self._planned[: here.place]), self._planned[here.place]
        return min(1.0, (passed + portion * self._share(here)) / (math.fsum(self._planned) or 1.0))

    def rest(self) -> float:
        """Return how long the portion will still take, by what it has taken so far, s.

        The last jobs of an overloaded machine take longer than the first: it is a lower bound. 0
        where that is unclear.
        """
        here = self._here
        seconds, share = awake() - here.entered, self._share(here)
        if seconds < CLEAR_SECONDS or not here.cells:
            return 0.0
        return seconds * (1 - share) / share if share else math.inf

    def report(self) -> Report:
        """Say how far it is."""
        here = self._here
        at = min(self.at, len(here.cells) - 1)
        doing = Doing(
            what=self._name(here, at),
            worker=f"{platform.node()}:{os.getpid()}",
            seconds=round(awake() - here.entered, 1),
            cell=at + 1,
            cells=len(here.cells),
            share=round(self.under.share, 3),
            done=round(self._share(here), 4),
        )
        return Report(self.task.blocks, round(self.seconds, 1), round(self._done(here), 4), doing)

    def _name(self, here: _Here, at: int) -> str:
        if not here.cells:
            return "what is there already"
        block, (resample, load, policy) = here.cells[at]
        kind = "" if block.product.simulates else f", {block.kind}"
        first = ", compiling its kernels" if is_compiling() else ""
        return f"{block.trace} resample {resample} load {load} {policy}{kind}{first}"

    @cached_property
    def _planned(self) -> list[float]:
        """Planned cost of each portion, s."""
        costs = block_costs(self.task.store, self.task.blocks)
        return [math.fsum(costs[block] for block in portion) for portion in self.task.portions]

    def _share(self, portion: _Here) -> float:
        """Return the share of the portion that is done, by planned cost, 0 to 1."""
        if not portion.cells:
            return 0.0
        at, costs = self.at, portion.costs
        here = costs[at] * self.under.share if at < len(costs) else 0.0
        return min(1.0, (math.fsum(costs[:at]) + here) / (math.fsum(costs) or 1.0))


_courses: dict[int, Course] = {}
"""The tasks under way, by the identity of their courses."""

_stopping: dict[str, float] = {}
"""When the runs that stop want their tasks to be over, by name, s on the monotonic clock."""


@contextmanager
def course(task: Task) -> Iterator[Course]:
    """Follow a task, and leave what it simulates when its run stops and it would take too long."""
    one = Course(task)
    _courses[id(one)] = one
    try:
        with one.under:
            yield one
    finally:
        del _courses[id(one)]


def is_stopping(run: str) -> bool:
    """Tell whether a run has asked this process to begin nothing more."""
    return run in _stopping


def reports(run: str) -> list[Report]:
    """Return how far the tasks of a run are that have taken some seconds in this process."""
    return [one.report() for one in _of(run) if one.cells and one.seconds >= LONG_SECONDS]


def stop(run: str, seconds: float) -> list[Report]:
    """Begin nothing of a run any more; leave portions that would not end within so many seconds.

    Returns at once; a thread looks after it. Said again it only counts the first time.

    Returns
    -------
    list of Report
        How far those are that still run, however short.
    """
    if run not in _stopping:
        _stopping[run] = time.monotonic() + seconds
        threading.Thread(target=_wind_up, args=(run,), daemon=True).start()
    return [one.report() for one in _of(run) if one.cells]


def abandon(run: str) -> None:
    """Leave all tasks of a run at once."""
    _stopping[run] = time.monotonic()
    _leave_late(run)


def _of(run: str) -> list[Course]:
    return [one for one in list(_courses.values()) if one.task.run == run]


def _wind_up(run: str) -> None:
    while _leave_late(run):
        time.sleep(LOOK_SECONDS)


def _leave_late(run: str) -> bool:
    """Leave the tasks that would not end in time; return whether any goes on."""
    left = _stopping[run] - time.monotonic()
    going = [one for one in _of(run) if not one.under.left]
    for one in going:
        if left <= 0 or one.rest() > left:
            one.under.leave()
    return bool(going)
