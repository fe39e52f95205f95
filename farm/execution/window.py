"""The tasks that a scheduler knows of at a time: a few for each worker thread."""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from schedfarm.core.numerals import lasting
from schedfarm.farm.execution.awake import SLEPT_SECONDS, clock
from schedfarm.farm.execution.parcel import Packer, attempt_packed
from schedfarm.farm.execution.sick import Sick
from schedfarm.farm.execution.stop import Stop
from schedfarm.farm.execution.stragglers import Attempt, Stragglers
from schedfarm.farm.execution.task import Done
from schedfarm.farm.execution.telling import Told
from schedfarm.farm.execution.workers import LOOK_SECONDS, Workers
from schedfarm.farm.planning.backlog import Backlog
from schedfarm.farm.planning.tasks import Task

if TYPE_CHECKING:
    from distributed import Client

TASKS_AHEAD = 2
"""Tasks submitted per worker thread: one runs, one waits, so that none idles while the
coordinator refills; the scheduler's memory stays flat however many tasks there are."""

AT_ONCE = 100
"""Tasks submitted in one message at most: each message costs both ends 2 ms, each task 10 kB."""

PACE = 0.0005
"""Time that is waited, for each worker thread, for more tasks to end once one has, s: what comes
together is handled together. Of 1,000 threads it is half a second of the 20 that a task takes."""

PACE_SECONDS = 0.5
"""But at most so long."""

DONE = "finished"
"""State of a future whose task has returned."""

GONE = "cancelled"
"""State of a future whose scheduler is no more."""

LOST = "lost"
"""State of a future whose worker left the cluster before it had handed its result over."""

Result = Done | BaseException


class Window:
    """The tasks that the scheduler knows of: a few for each worker thread."""

    def __init__(self, client: Client, backlog: Backlog, stop: Stop, workers: Workers) -> None:
        from distributed import as_completed

        self.running: dict[str, Attempt] = {}
        self._keys = defaultdict[tuple[object, ...], list[str]](list)
        self._outrun: dict[str, Attempt] = {}
        self._stragglers = Stragglers(client, backlog)
        self._client, self._backlog, self._stop = client, backlog, stop
        self._workers = workers
        self._tried = defaultdict[tuple[object, ...], set[str]](set)
        self._number, self._packer = count(), Packer()
        # Keys are new for each run: a scheduler that outlives one must not answer from memory.
        self._prefix = f"cells-{uuid.uuid4().hex[:12]}"
        self._told = Told(client, lambda key: key.startswith(self._prefix))
        self._completed: Any = as_completed(loop=client.loop)
        self._fetched: Any = as_completed(with_results=True, raise_errors=False, loop=client.loop)

    def refill(self) -> None:
        """Submit as many tasks as the cluster should have, and anew those that nobody may take."""
        for key, sent in list(self.running.items()):
            if sent.where and self._workers.are_gone(sent.where):
                self._forget(key)
                cancel(self._client, [sent.future])
                self._try_again(sent.task)
        taken: list[Task] = []
        while self._backlog and not self._stop.wished:
            threads = max(1, self._workers.count())
            if len(self.running) + len(taken) >= TASKS_AHEAD * threads:
                break
            taken.append(self._backlog.take(threads))
            if len(taken) == AT_ONCE:
                self._submit(taken)
                taken = []
        self._submit(taken)

    def ended(self) -> Iterator[tuple[Task, Result]]:
        """Yield what has ended, but for what another worker is to try."""
        pace = min(PACE_SECONDS, PACE * self._workers.count())
        for future in _ended(self._completed, self._workers.note_sleep, pace):
            told = self._told.take(future.key)
            if future.status == DONE and told is None:
                # Word of it was lost.
                self._fetched.add(future)
            else:
                yield from self._outcome(future, told)
        for future, result in self._fetched.next_batch(block=False):
            yield from self._outcome(future, result)

    def end(self) -> None:
        """Take back what the scheduler has not given away, and listen no more."""
        attempts = (*self.running.values(), *self._outrun.values())
        cancel(self._client, [attempt.future for attempt in attempts])
        self._told.end()

    def back_up_stragglers(self) -> None:
        """Submit each late task to a second worker, and report the late one."""
        if self._stop.wished:
            return
        for key, expected in self._stragglers.find(self.running).items():
            # Of several attempts at a task only the latest one calls for another.
            if self._keys[self.running[key].task.key][-1] == key:
                self._back_up(self.running[key], expected)

    def _back_up(self, attempt: Attempt, expected: float) -> None:
        task, first = attempt.task, not attempt.late
        if first:
            attempt.late = attempt.holder
            self._workers.note_late(attempt.late)
        holders = {self.running[key].holder for key in self._keys[task.key]}
        allowed = self._workers.but(self._barred(task) | holders) or []
        others = [address for address in allowed if address not in holders]
        if first or others:
            more = f" and {len(task.blocks) - 1} more" * (len(task.blocks) > 1)
            self._workers.say(
                f"worker {self._workers.name(attempt.holder)} has had {task.blocks[0]}{more} for "
                f"{lasting(attempt.seconds)}, expected were {lasting(max(1.0, expected))}; "
                + ("a second worker gets the task, too" if others else "there is no other worker")
            )
        if others:
            self._send([task], others)

    def _outcome(self, future: Any, result: Any) -> Iterator[tuple[Task, Result]]:
        """Yield what a task came to, unless another worker is to try it; None was not told."""
        sent = self._forget(future.key)
        if sent is None:
            return
        if future.status == GONE:
            raise self._workers.lost()
        if future.status == LOST and not isinstance(result, (list, Sick)):
            # What it has done is in the store; whoever gets it again finds that.
            cancel(self._client, [future])
            self._try_again(sent.task)
            return
        outcome = _result(future, result)
        if isinstance(outcome, list):
            self._outrun_others(sent.task)
            yield sent.task, outcome
        elif self._keys[sent.task.key]:
            return  # another attempt goes on
        elif not isinstance(outcome, Sick):
            yield sent.task, outcome
        elif not self._goes_elsewhere(sent.task, outcome):
            yield sent.task, outcome.error

    def _forget(self, key: str) -> Attempt | None:
        """Remove an attempt that has ended; return it, unless another one was faster."""
        attempt = self.running.get(key) or self._outrun.get(key)
        if attempt is not None and attempt.late:
            self._workers.note_back(attempt.late)
        self._outrun.pop(key, None)
        found = self.running.pop(key, None)
        if found is not None:
            self._keys[found.task.key].remove(key)
        return found

    def _outrun_others(self, task: Task) -> None:
        """Wait no longer for other attempts at a task that is done."""
        for key in self._keys.pop(task.key, []):
            self._outrun[key] = self.running.pop(key)

    def _try_again(self, task: Task) -> None:
        """Give a task back to the backlog, unless another attempt goes on."""
        if not self._keys[task.key]:
            self._backlog.give_back(task)

    def _submit(self, tasks: list[Task]) -> None:
        alike: dict[tuple[str, ...] | None, list[Task]] = defaultdict(list)
        for task in tasks:
            where = self._workers.but(self._barred(task))
            if where == [] and task.spot:
                continue  # there is no other worker to compare with
            alike[None if where is None else tuple(where)].append(task)
        for only, those in alike.items():
            self._send(those, None if only is None else list(only))

    def _send(self, tasks: list[Task], where: list[str] | None) -> None:
        keys = [f"{self._prefix}-{next(self._number)}" for _ in tasks]
        parcels = [self._packer.pack(task) for task in tasks]
        futures = self._client.map(attempt_packed, parcels, key=keys, pure=False, workers=where)
        for task, future in zip(tasks, futures, strict=True):
            self.running[future.key] = Attempt(task, future, where)
            self._keys[task.key].append(future.key)
        self._completed.update(futures)

    def _barred(self, task: Task) -> set[str]:
        """Return the workers that may not have a task."""
        apart = self._workers.apart_from(task.maker) if task.maker else set()
        return self._tried.get(task.key, set()) | apart

    def _goes_elsewhere(self, task: Task, sick: Sick) -> bool:
        tried = self._tried[task.key]
        tried.add(sick.address)
        if not self._workers.others(sick, tried):
            return False
        self._backlog.give_back(task)
        return True


def cancel(client: Client, futures: list[Any]) -> None:
    """Take back what the scheduler has not given away, if it is still there."""
    if client.status != "running":
        return
    with suppress(OSError):
        client.cancel(futures, force=True)


def _ended(completed: Any, slept: Callable[[float], None], pace: float = 0.0) -> list[Any]:
    """Return what has ended, at the latest when it is time for another look at the workers.

    Where something has, what ends within the pace comes with it. A wait that took far longer is
    told of: the machine, or this process, stood still.
    """
    begun = clock()
    with completed.thread_condition:
        ready = completed.thread_condition.wait_for(completed.has_ready, LOOK_SECONDS)
    if ready:
        time.sleep(pace)
    if (seconds := clock() - begun) > SLEPT_SECONDS:
        slept(seconds)
    ended: list[Any] = completed.next_batch(block=False)
    return ended


def _result(future: Any, result: Any) -> Result | Sick:
    if future.status in (DONE, LOST):
        done: Result | Sick = result
        return done
    error = future.exception() if future.status == "error" else None
    return error or RuntimeError(f"task {future.status}")
