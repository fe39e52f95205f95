"""Hear what the workers are at: how long a run still takes, what it waits for when it stops."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from schedfarm.core.format.geometry import Block
from schedfarm.farm.execution.awake import awake
from schedfarm.farm.execution.courses import Report
from schedfarm.farm.execution.executors import NEWS_SECONDS
from schedfarm.farm.execution.stop import Stop
from schedfarm.farm.planning.backlog import Backlog, is_clear
from schedfarm.farm.watching.events import UNKNOWN, Doing, Running, Said, Watcher

TELL_SECONDS = 60.0
"""Time after which what runs is told again though it is the same; the log of events grows by it."""

MOST_TOLD = 8
"""So many tasks are told of, the longest."""

CLEAR_SECONDS = 5.0
"""No time left is told before a run has lasted so long."""

COUNT_SECONDS = 0.5
"""Least time between two estimates of the time left."""

COUNT_SHARE = 0.01
"""Estimates may take this share of the time: they look at every block of every task under way."""

PRIOR_SECONDS = 10.0
"""For so long workers are reckoned to have simulated all the time before they began: at first they
load kernels and wait for tasks, which a share of the time seen so far would go on with."""

DAMPING_SECONDS = 20.0
"""In this time an estimate of the time left goes 63 % of the way to another one, in proportion:
tasks end in bursts."""

LEAST_LEFT = 0.05
"""While a block is missing at least this share of the time passed is left: what is simulated is
still to be stored, and what is planned for may be too little."""

LEAST_SHARE = 0.1
"""Of a worker thread's time at least so much is reckoned to be simulation, whatever was seen."""


class Hearing:
    """Make of the workers' reports what people and the log are told.

    Parameters
    ----------
    backlog : Backlog
        What the run has to do.
    stop : Stop
        Whether it is to stop.
    watch : Watcher
        Who is told.
    """

    def __init__(self, backlog: Backlog, stop: Stop, watch: Watcher) -> None:
        self._backlog, self._stop, self._watch = backlog, stop, watch
        self._begun = awake()
        self._threads = 1
        self._heard = self._begun
        self._reports: Sequence[Report] = ()
        self._told: tuple[float, frozenset[str]] = (-math.inf, frozenset())
        self._waited = -math.inf
        self._left, self._counts = UNKNOWN, -math.inf
        self._looked = self._begun

    def hear(self, reports: Sequence[Report], threads: int) -> None:
        """Take note of what runs, and tell of it where that is news."""
        self._reports = sorted(reports, key=lambda one: -one.doing.seconds)
        self._threads, self._heard = max(1, threads), awake()
        if self._stop.wished:
            self._tell_waiting()
        else:
            self._tell_running()

    def left(self) -> float:
        """Return the time that the run still needs, s; `UNKNOWN` while too little is measured."""
        now = awake()
        if now >= self._counts:
            self._left, self._looked = self._damped(self._count(now), now), now
            self._counts = now + max(COUNT_SECONDS, (awake() - now) / COUNT_SHARE)
        return self._left

    def _count(self, now: float) -> float:
        seconds = self._backlog.left(self._courses())
        if seconds is None or now - self._begun < CLEAR_SECONDS:
            return UNKNOWN
        running = list(self._courses())
        done = self._backlog.took + math.fsum(took for _, took, _ in running)
        before = self._threads * PRIOR_SECONDS
        share = (before + done) / (before + self._threads * (now - self._begun))
        # All workers are at it, but for what is not simulation, and for others on their machines.
        together = seconds / (self._threads * min(1.0, max(LEAST_SHARE, share)))
        alone = (took * (1 - part) / part for _, took, part in running if is_clear(took, part))
        least = LEAST_LEFT * (now - self._begun) if self._backlog.lacks_any else 0.0
        return max([together, least, *alone])

    def _damped(self, found: float, now: float) -> float:
        """Return an estimate that goes on from the last one, which has become shorter since."""
        passed = now - self._looked
        before = self._left - passed
        if found == UNKNOWN or self._left == UNKNOWN or min(found, before) <= 0:
            return found if found == UNKNOWN else round(found, 1)
        part = -math.expm1(-passed / DAMPING_SECONDS)
        return round(float(before ** (1 - part) * found**part), 1)

    def _courses(self) -> Iterator[tuple[tuple[Block, ...], float, float]]:
        for one in self._reports:
            if not self._backlog.is_done(one.blocks):
                yield one.blocks, one.seconds, one.done

    def _tell_running(self) -> None:
        before, known = self._told
        reports = [one for one in self._reports if one.is_long]
        what = frozenset(f"{one.doing.what} {one.doing.worker}" for one in reports)
        if what == known and (not what or self._heard - before < TELL_SECONDS):
            return
        self._told = self._heard, what
        told, count = _longest(reports), len(reports)
        self._watch.see(Running(tasks=told, count=count, left=self.left()))

    def _tell_waiting(self) -> None:
        if not self._reports or self._heard - self._waited < NEWS_SECONDS:
            return
        self._waited, count = self._heard, len(self._reports)
        tasks = f"{count} task" + "s" * (count > 1)
        more = "; ..." * (count > MOST_TOLD)
        listed = "; ".join(map(str, _longest(self._reports))) + more
        text = f"waiting for {tasks}: {listed}; Ctrl-C again abandons them"
        self._watch.see(Said(text=text))


def _longest(reports: Sequence[Report]) -> tuple[Doing, ...]:
    return tuple(one.doing for one in reports[:MOST_TOLD])
