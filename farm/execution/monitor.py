"""Monitor of a run: estimate of the remaining time from the workers' reports, long tasks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from schedfarm.core.format.geometry import Block
from schedfarm.farm.clock import active_seconds
from schedfarm.farm.execution.cancellation import CancellationToken
from schedfarm.farm.execution.task_progress import TaskReport
from schedfarm.farm.planning.backlog import Backlog, is_clear
from schedfarm.farm.watching.events import UNKNOWN, Doing, Running, Said, Watcher

REPORT_SECONDS = 5.0
"""Least interval between two requests for the progress of all workers, s."""

REPEAT_SECONDS = 60.0
"""Interval at which unchanged running tasks are logged again, s: the event log grows each time."""

MOST_SHOWN = 8
"""Number of running tasks that are shown, the longest first."""

CLEAR_SECONDS = 5.0
"""Duration of a run before its remaining time is shown, s."""

ESTIMATE_SECONDS = 0.5
"""Least interval between two estimates of the remaining time, s."""

ESTIMATE_SHARE = 0.01
"""Largest share of the time for estimates: each iterates over all blocks of running tasks."""

PRIOR_SECONDS = 10.0
"""Time before the run, s, during which workers count as simulating all the time. The loading of
kernels and the wait for tasks at the beginning must not be extrapolated."""

DAMPING_SECONDS = 20.0
"""Time constant of the exponential smoothing of the estimate, s, since tasks end in bursts."""

LEAST_LEFT = 0.05
"""Least estimate while a block is missing, as a share of the elapsed time: simulated cells remain
to be stored, and the planned time may be too low."""

LEAST_SHARE = 0.1
"""Least share of its time for which a worker thread counts as simulating."""


class Monitor:
    """Turn the workers' reports into an estimate of the remaining time and events for watchers."""

    def __init__(self, backlog: Backlog, token: CancellationToken, watch: Watcher) -> None:
        self._backlog, self._token, self._watch = backlog, token, watch
        self._begun = active_seconds()
        self._threads = 1
        self._updated = self._begun
        self._reports: Sequence[TaskReport] = ()
        self._shown: tuple[float, frozenset[str]] = (-math.inf, frozenset())
        self._waited = -math.inf
        self._left, self._next_estimate = UNKNOWN, -math.inf
        self._estimated = self._begun

    def update(self, reports: Sequence[TaskReport], threads: int) -> None:
        """Take the reports of running tasks and the number of worker threads; send due events."""
        self._reports = sorted(reports, key=lambda one: -one.doing.seconds)
        self._threads, self._updated = max(1, threads), active_seconds()
        if self._token.requested:
            self._show_awaited()
        else:
            self._show_running()

    def left(self) -> float:
        """Return the remaining time of the run, s; `UNKNOWN` while too little is measured."""
        now = active_seconds()
        if now >= self._next_estimate:
            self._left, self._estimated = self._damped(self._estimate(now), now), now
            spent = active_seconds() - now
            self._next_estimate = now + max(ESTIMATE_SECONDS, spent / ESTIMATE_SHARE)
        return self._left

    def _estimate(self, now: float) -> float:
        seconds = self._backlog.left(self._running())
        if seconds is None or now - self._begun < CLEAR_SECONDS:
            return UNKNOWN
        running = list(self._running())
        done = self._backlog.took + math.fsum(took for _, took, _ in running)
        before = self._threads * PRIOR_SECONDS
        share = (before + done) / (before + self._threads * (now - self._begun))
        # Workers spend the rest of their time on other work, and machines have other users.
        together = seconds / (self._threads * min(1.0, max(LEAST_SHARE, share)))
        alone = (took * (1 - part) / part for _, took, part in running if is_clear(took, part))
        least = LEAST_LEFT * (now - self._begun) if self._backlog.lacks_any else 0.0
        return max([together, least, *alone])

    def _damped(self, found: float, now: float) -> float:
        """Return the mean of a new estimate and of the last estimate minus the elapsed time."""
        passed = now - self._estimated
        before = self._left - passed
        if found == UNKNOWN or self._left == UNKNOWN or min(found, before) <= 0:
            return found if found == UNKNOWN else round(found, 1)
        part = -math.expm1(-passed / DAMPING_SECONDS)
        return round(float(before ** (1 - part) * found**part), 1)

    def _running(self) -> Iterator[tuple[tuple[Block, ...], float, float]]:
        for one in self._reports:
            if not self._backlog.is_done(one.blocks):
                yield one.blocks, one.seconds, one.done

    def _show_running(self) -> None:
        before, known = self._shown
        reports = [one for one in self._reports if one.is_long]
        labels = frozenset(f"{one.doing.what} {one.doing.worker}" for one in reports)
        if labels == known and (not labels or self._updated - before < REPEAT_SECONDS):
            return
        self._shown = self._updated, labels
        longest, count = _longest(reports), len(reports)
        self._watch.see(Running(tasks=longest, count=count, left=self.left()))

    def _show_awaited(self) -> None:
        if not self._reports or self._updated - self._waited < REPORT_SECONDS:
            return
        self._waited, count = self._updated, len(self._reports)
        tasks = f"{count} task" + "s" * (count > 1)
        more = "; ..." * (count > MOST_SHOWN)
        listed = "; ".join(map(str, _longest(self._reports))) + more
        text = f"waiting for {tasks}: {listed}; Ctrl-C again abandons them"
        self._watch.see(Said(text=text))


def _longest(reports: Sequence[TaskReport]) -> tuple[Doing, ...]:
    return tuple(one.doing for one in reports[:MOST_SHOWN])
