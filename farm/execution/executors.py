"""Executors of a run's tasks: in this process, or on the workers of a Dask cluster.

`serial` is the specification. `on_dask` keeps a bounded window of tasks in flight, with backups for
stragglers.
"""

from __future__ import annotations

import math
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from schedfarm.core.numerals import lasting
from schedfarm.farm.clock import SUSPENDED_SECONDS, active_seconds, uptime
from schedfarm.farm.execution.cancellation import (
    COORDINATOR_POLL_SECONDS,
    CancellationToken,
    abandoned_text,
    in_thread,
)
from schedfarm.farm.execution.messages import Done, ResultEvents, TaskEncoder, WorkerFault
from schedfarm.farm.execution.monitor import REPORT_SECONDS, Monitor
from schedfarm.farm.execution.task_progress import TaskReport, abandon, polled
from schedfarm.farm.execution.worker import run_message, run_task
from schedfarm.farm.execution.workers import RunContext, Workers
from schedfarm.farm.planning.backlog import Backlog
from schedfarm.farm.planning.tasks import Task

if TYPE_CHECKING:
    from distributed import Client

Result = Done | BaseException
"""Result of a task, or the error that ended it."""

REPORT_SHARE = 0.01
"""Largest share of the time for requests for progress: two workers answer in 5 ms."""

ABANDON_SECONDS = 2.0
"""Longest wait for workers to confirm that they abandon a run, s; a hung worker never does."""

TASKS_AHEAD = 2
"""Tasks submitted for each worker thread: one task runs and one waits, so that no thread idles
while the coordinator refills. The scheduler's memory is independent of the number of tasks."""

AT_ONCE = 100
"""Most tasks in one message: each message costs both ends 2 ms, each task 10 kB."""

PACE = 0.0005
"""Time for each worker thread, s, during which the coordinator collects further results after the
first one, to handle them together. For 1,000 threads the sum is 0.5 s of the 20 s of a task."""

PACE_SECONDS = 0.5
"""Upper bound of the time for further results, s."""

STRAGGLER_MULTIPLE = 10.0
"""A task is late after this multiple of the sum of two expected times: its own, and that of the
longest task in flight. Each worker thread has a running task and a queued task."""

STRAGGLER_SECONDS = 120.0
"""Least time after which a task is late: kernels may be compiled, and machines may be shared."""

HOLDERS_SECONDS = 10.0
"""Interval at which the scheduler is queried for the workers of the tasks, s."""

FINISHED = "finished"
"""State of a future whose task has returned."""

CANCELLED = "cancelled"
"""State of a future whose scheduler is lost."""

LOST = "lost"
"""State of a future whose worker left the cluster before it transferred the result."""


class _Overdue(Exception):
    """Report a task that has not ended in time after the run was asked to stop."""


def serial(
    backlog: Backlog,
    token: CancellationToken,
    run: str,
    monitor: Monitor,
    say: Callable[[str], None],
) -> Generator[tuple[Task, Result], None, None]:
    """Yield the tasks of a run with their results, in order: the specification of executors.

    A task runs in a separate thread. This thread handles signals, updates the monitor every few
    seconds, and abandons a task that hangs when the run stops.
    """
    updated = time.monotonic()

    def poll() -> None:
        nonlocal updated
        now = time.monotonic()
        found = polled(run, token.grace if token.requested else None)
        if token.is_overdue:
            raise _Overdue
        if now - updated >= REPORT_SECONDS or updated < token.since < math.inf:
            updated = now
            monitor.update(found, 1)

    try:
        while backlog and not token.requested:
            task = backlog.take()
            try:
                run_it = partial(run_task, task)
                result: Result = in_thread(run_it, poll, COORDINATOR_POLL_SECONDS)
            except _Overdue:
                abandon(run)
                say(abandoned_text())
                return
            except Exception as error:
                result = error
            yield task, result
    except BaseException:
        # After a second interrupt, the simulation's thread must not continue for minutes.
        abandon(run)
        raise


def on_dask(
    client: Client,
    backlog: Backlog,
    token: CancellationToken,
    context: RunContext,
    monitor: Monitor,
    say: Callable[[str], None],
    quarantined: Collection[str] = (),
) -> Generator[tuple[Task, Result], None, None]:
    """Yield the tasks of a run with their results, in order of completion, as `serial` does.

    The workers need schedfarm and access to the store. `quarantined` names workers (host and
    process) that get no task; the collection may grow. After cancellation, running tasks are
    awaited while they have workers and time. Raises `SchedulerLost`, or `InputError` if no worker
    passes preflight.
    """
    workers = Workers(client, token, say, context, quarantined)
    poller = _Poller(client, token, context.run)
    window = Window(client, backlog, token, workers)
    try:
        window.refill()
        while window.running and (workers.count() or not token.requested):
            if token.is_overdue:
                _abandon(client, context.run)
                say(abandoned_text())
                break
            yield from window.ended()
            window.back_up_stragglers()
            window.refill()
            if (found := poller.latest()) is not None:
                monitor.update(found, workers.count())
    except BaseException:
        # If the cluster outlives the run, its workers must not continue for minutes.
        _abandon(client, context.run)
        raise
    finally:
        poller.close()
        window.close()


def _abandon(client: Client, run: str) -> None:
    """Have all workers cancel the tasks of a run, without waiting for hung workers."""

    def request() -> None:
        with suppress(Exception):
            client.run(abandon, run, on_error="ignore")

    thread = threading.Thread(target=request, daemon=True)
    thread.start()
    thread.join(ABANDON_SECONDS)


class _Poller:
    """Ask all workers for their progress at intervals, in a thread, since a worker may hang."""

    def __init__(self, client: Client, token: CancellationToken, run: str) -> None:
        self._client, self._token, self._run = client, token, run
        self._found: list[TaskReport] | None = None
        self._closed = threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def latest(self) -> list[TaskReport] | None:
        """Return the reports since the last call; None if no request was made."""
        found, self._found = self._found, None
        return found

    def close(self) -> None:
        """Stop the requests."""
        self._closed.set()

    def _work(self) -> None:
        asked, wait = time.monotonic(), REPORT_SECONDS
        while not self._closed.wait(COORDINATOR_POLL_SECONDS):
            stopping = self._token.requested
            if time.monotonic() - asked < (COORDINATOR_POLL_SECONDS if stopping else wait):
                continue
            asked, grace = time.monotonic(), self._token.grace if stopping else None
            # If a worker dies during the request, the window handles its death.
            with suppress(Exception):
                answers = self._client.run(polled, self._run, grace, on_error="ignore")
                self._found = [one for found in answers.values() for one in found]
            wait = max(REPORT_SECONDS, (time.monotonic() - asked) / REPORT_SHARE)


@dataclass
class Attempt:
    """Hold one attempt at a task.

    where: addresses of the workers that may get the task, None for all. holder: address of the
    worker that has the task, or empty. since: active time at which the holder got the task, s.
    late: address of a worker that was late with the task, or empty.
    """

    task: Task
    future: Any
    where: list[str] | None
    holder: str = ""
    since: float = math.inf
    late: str = ""

    @property
    def seconds(self) -> float:
        """Time since the holder got the task, s; 0 without a holder."""
        return max(0.0, active_seconds() - self.since)


class Window:
    """Keep a few tasks for each worker thread in flight."""

    def __init__(
        self, client: Client, backlog: Backlog, token: CancellationToken, workers: Workers
    ) -> None:
        from distributed import as_completed

        self.running: dict[str, Attempt] = {}
        self._keys = defaultdict[tuple[object, ...], list[str]](list)
        self._outrun: dict[str, Attempt] = {}
        self._stragglers = Stragglers(client, backlog)
        self._client, self._backlog, self._token = client, backlog, token
        self._workers = workers
        self._tried = defaultdict[tuple[object, ...], set[str]](set)
        self._number, self._encoder = count(), TaskEncoder()
        # Keys differ between runs: a scheduler that outlives a run must not return old results.
        self._prefix = f"cells-{uuid.uuid4().hex[:12]}"
        self._events = ResultEvents(client, lambda key: key.startswith(self._prefix))
        self._completed: Any = as_completed(loop=client.loop)
        self._fetched: Any = as_completed(with_results=True, raise_errors=False, loop=client.loop)

    def refill(self) -> None:
        """Fill the window, and resubmit tasks whose allowed workers have all left."""
        for key, sent in list(self.running.items()):
            if sent.where and self._workers.are_gone(sent.where):
                self._forget(key)
                cancel(self._client, [sent.future])
                self._try_again(sent.task)
        taken: list[Task] = []
        while self._backlog and not self._token.requested:
            threads = max(1, self._workers.count())
            if len(self.running) + len(taken) >= TASKS_AHEAD * threads:
                break
            taken.append(self._backlog.take(threads))
            if len(taken) == AT_ONCE:
                self._submit(taken)
                taken = []
        self._submit(taken)

    def ended(self) -> Iterator[tuple[Task, Result]]:
        """Yield ended tasks with their results, except tasks that another worker will try."""
        pace = min(PACE_SECONDS, PACE * self._workers.count())
        for future in _ended(self._completed, self._workers.note_suspension, pace):
            published = self._events.take(future.key)
            if future.status == FINISHED and published is None:
                # The event was lost.
                self._fetched.add(future)
            else:
                yield from self._outcome(future, published)
        for future, result in self._fetched.next_batch(block=False):
            yield from self._outcome(future, result)

    def close(self) -> None:
        """Cancel the tasks that no worker has begun, and receive no more events."""
        attempts = (*self.running.values(), *self._outrun.values())
        cancel(self._client, [attempt.future for attempt in attempts])
        self._events.close()

    def back_up_stragglers(self) -> None:
        """Submit each late task to a second worker, and report the late worker."""
        if self._token.requested:
            return
        for key, expected in self._stragglers.find(self.running).items():
            attempt = self.running.get(key)
            # Of several attempts at a task, only the latest one leads to a further attempt.
            if attempt is not None and self._keys[attempt.task.key][-1] == key:
                self._back_up(attempt, expected)

    def _back_up(self, attempt: Attempt, expected: float) -> None:
        task, first = attempt.task, not attempt.late
        if first:
            attempt.late = attempt.holder
            self._workers.note_late(attempt.late)
        holders = {self.running[key].holder for key in self._keys[task.key]}
        allowed = self._workers.allowed(self._barred(task) | holders) or []
        others = [address for address in allowed if address not in holders]
        if first or others:
            more = f" and {len(task.blocks) - 1} more" * (len(task.blocks) > 1)
            self._workers.say(
                f"worker {self._workers.name(attempt.holder)} has had {task.blocks[0]}{more} for "
                f"{lasting(attempt.seconds)} instead of {lasting(max(1.0, expected))}; "
                + ("a second worker gets a copy of it" if others else "there is no other worker")
            )
        if others:
            self._send([task], others)
        elif task.spots:
            self._stop_waiting(task)  # the run does not wait for a comparison

    def _outcome(self, future: Any, result: Any) -> Iterator[tuple[Task, Result]]:
        """Yield the result of a task, unless another worker will try it."""
        sent = self._forget(future.key)
        if sent is None:
            return
        if future.status == CANCELLED:
            raise self._workers.lost()
        if future.status == LOST and not isinstance(result, (list, WorkerFault)):
            # Its finished blocks are in the store, where the next worker finds them.
            cancel(self._client, [future])
            self._try_again(sent.task)
            return
        outcome = _result(future, result)
        if isinstance(outcome, list):
            self._stop_waiting(sent.task)
            yield sent.task, outcome
        elif self._keys[sent.task.key]:
            return  # another attempt is running
        elif not isinstance(outcome, WorkerFault):
            yield sent.task, outcome
        elif not self._goes_elsewhere(sent.task, outcome):
            yield sent.task, outcome.error

    def _forget(self, key: str) -> Attempt | None:
        """Remove an ended attempt and return it; return None if another attempt was faster."""
        attempt = self.running.get(key) or self._outrun.get(key)
        if attempt is not None and attempt.late:
            self._workers.note_back(attempt.late)
        self._outrun.pop(key, None)
        found = self.running.pop(key, None)
        if found is not None:
            self._keys[found.task.key].remove(key)
        return found

    def _stop_waiting(self, task: Task) -> None:
        """Stop waiting for all attempts at a task."""
        for key in self._keys.pop(task.key, []):
            self._outrun[key] = self.running.pop(key)

    def _try_again(self, task: Task) -> None:
        """Return a task to the backlog, unless another attempt is running."""
        if not self._keys[task.key]:
            self._backlog.give_back(task)

    def _submit(self, tasks: list[Task]) -> None:
        alike: dict[tuple[str, ...] | None, list[Task]] = defaultdict(list)
        for task in tasks:
            where = self._workers.allowed(self._barred(task))
            if task.spots and not self._workers.are_prompt(where):
                continue  # a comparison needs another worker
            alike[None if where is None else tuple(where)].append(task)
        for only, group in alike.items():
            self._send(group, None if only is None else list(only))

    def _send(self, tasks: list[Task], where: list[str] | None) -> None:
        keys = [f"{self._prefix}-{next(self._number)}" for _ in tasks]
        messages = [self._encoder.encode(task) for task in tasks]
        futures = self._client.map(run_message, messages, key=keys, pure=False, workers=where)
        for task, future in zip(tasks, futures, strict=True):
            self.running[future.key] = Attempt(task, future, where)
            self._keys[task.key].append(future.key)
        self._completed.update(futures)

    def _barred(self, task: Task) -> set[str]:
        """Return the workers that may not have a task."""
        near = self._workers.too_near(task.maker) if task.maker else set()
        return self._tried.get(task.key, set()) | near

    def _goes_elsewhere(self, task: Task, fault: WorkerFault) -> bool:
        tried = self._tried[task.key]
        tried.add(fault.address)
        if not self._workers.others_may_try(fault, tried):
            return False
        self._backlog.give_back(task)
        return True


def cancel(client: Client, futures: list[Any]) -> None:
    """Cancel futures, if the scheduler still exists."""
    if client.status != "running":
        return
    with suppress(OSError):
        client.cancel(futures, force=True)


def _ended(completed: Any, suspended: Callable[[float], None], pace: float = 0.0) -> list[Any]:
    """Return the futures that end within the polling interval, possibly none.

    After the first future, others that end within the pace are awaited. A much longer wait is
    reported as a suspension of the machine or of this process.
    """
    begun = uptime()
    with completed.thread_condition:
        condition, wait = completed.thread_condition, COORDINATOR_POLL_SECONDS
        ready = condition.wait_for(completed.has_ready, wait)
    if ready:
        time.sleep(pace)
    if (seconds := uptime() - begun) > SUSPENDED_SECONDS:
        suspended(seconds)
    ended: list[Any] = completed.next_batch(block=False)
    return ended


def _result(future: Any, result: Any) -> Result | WorkerFault:
    if future.status in (FINISHED, LOST):
        done: Result | WorkerFault = result
        return done
    error = future.exception() if future.status == "error" else None
    return error or RuntimeError(f"task {future.status}")


class Stragglers:
    """Find late tasks among those in flight."""

    def __init__(self, client: Client, backlog: Backlog) -> None:
        self._client, self._backlog = client, backlog
        self._asked = active_seconds()

    def find(self, running: Mapping[str, Attempt]) -> dict[str, float]:
        """Return the keys of late tasks, with the expected CPU time of each, s.

        Within `HOLDERS_SECONDS` of the last request, return nothing and send no request to the
        scheduler.
        """
        now = active_seconds()
        if now - self._asked < HOLDERS_SECONDS:
            return {}
        self._asked = now
        try:
            held = self._client.processing()
        except (OSError, RuntimeError):
            # The count of the workers reports a lost scheduler.
            return {}
        holders = {key: address for address, keys in held.items() for key in keys}
        for key, attempt in running.items():
            holder = holders.get(key, "")
            if holder != attempt.holder:
                attempt.holder, attempt.since = holder, now if holder else math.inf
        expected = {key: self._backlog.expected(one.task.blocks) for key, one in running.items()}
        longest = max(expected.values(), default=0.0)
        return {
            key: seconds
            for key, seconds in expected.items()
            if is_late(running[key].seconds, seconds + longest)
        }


def is_late(seconds: float, expected: float) -> bool:
    """Return whether a task is late, given the time since its start and its expected time, s.

    Examples
    --------
    >>> is_late(119.0, 1.0), is_late(121.0, 1.0), is_late(121.0, 30.0), is_late(301.0, 30.0)
    (False, True, False, True)
    """
    return seconds > max(STRAGGLER_SECONDS, STRAGGLER_MULTIPLE * expected)
