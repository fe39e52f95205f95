"""Workers of a cluster: number, preflight checks, quarantine, and the loss of the last worker."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from schedfarm.core.errors import InputError
from schedfarm.core.numerals import lasting
from schedfarm.farm.execution.cancellation import COORDINATOR_POLL_SECONDS, CancellationToken
from schedfarm.farm.execution.messages import WorkerFault, worker_name
from schedfarm.farm.store.files import StaleRun
from schedfarm.farm.store.place import Place
from schedfarm.farm.store.provenance import Foreign, Program, check_program

if TYPE_CHECKING:
    from distributed import Client

COUNT_SECONDS = 5.0
"""Interval at which the scheduler is asked for the number of worker threads, s: a request takes
2 ms of CPU, and workers come and go within seconds."""

TRIES = 2
"""Number of workers that try a task after a lack of memory or of a package."""

MOST_SHOWN = 3
"""Number of workers whose reasons are shown if no worker is usable."""

PREFLIGHT_SECONDS = 30.0
"""Longest wait for the answers to a preflight check, s. Deficiencies of a slower worker appear in
its first task."""

PROOFS = (ModuleNotFoundError, AttributeError)
"""Errors that prove that schedfarm, or this check, is missing on a worker. A lost connection and a
lack of memory prove nothing: the run continues without the worker, or its first task fails."""


class SchedulerLost(InputError):
    """Report that a run ended because its scheduler was lost."""


@dataclass(frozen=True)
class RunContext:
    """Hold the store, the name and the program of a run, which all its workers share."""

    store: Place
    run: str
    program: Program | None


class Preflight(NamedTuple):
    """Hold a worker's host and process, and a sentence on its deficiency; empty without one."""

    worker: str
    lacks: str


def preflight(
    client: Client, addresses: Iterable[str], context: RunContext
) -> dict[str, Preflight]:
    """Return the conclusive results of the preflight check by the worker's address."""
    answers: dict[str, Any] = {}

    def ask() -> None:
        # If a worker dies during the check, the run handles its death.
        with suppress(Exception):
            found = client.run(check_worker, context, workers=list(addresses), on_error="return")
            answers.update(found)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(PREFLIGHT_SECONDS)
    found: dict[str, Preflight] = {}
    for address, one in list(answers.items()):
        if isinstance(one, Preflight):
            found[address] = one
        elif _is_proof(one):
            why = f"worker {address} cannot run this schedfarm ({one}); install it there"
            found[address] = Preflight(address, why)
    return found


def check_worker(context: RunContext) -> Preflight:
    """Check that this worker has a run's program and its store."""
    return Preflight(worker_name(), _lack(context, f"worker {worker_name()}"))


def _lack(context: RunContext, worker: str) -> str:
    store = context.store
    try:
        check_program(context.program)
        with store.fenced(context.run):
            return ""
    except Foreign as error:
        return str(error)
    except StaleRun:
        return f"{worker} has another folder at {store} than this run: the run's lock is not in it"
    except OSError as error:
        return f"{worker} cannot use {error.filename or store} ({error.strerror or error})"


def _is_proof(answer: object) -> bool:
    """Return whether an answer proves that a worker's schedfarm is missing or too old."""
    # An error that Dask cannot serialise arrives as an Exception with its text.
    texts = tuple(f"{error.__name__}(" for error in PROOFS)
    as_text = type(answer) is Exception and str(answer).startswith(texts)
    return isinstance(answer, PROOFS) or as_text


class Workers:
    """Count the worker threads of a cluster, and select the workers that may get a task."""

    def __init__(
        self,
        client: Client,
        token: CancellationToken,
        say: Callable[[str], None],
        context: RunContext,
        quarantined: Collection[str] = (),
    ) -> None:
        self.address = client.scheduler.address if client.scheduler else "its address"
        self._client, self._token, self.say = client, token, say
        self._context = context
        self._checked: set[str] = set()
        self._asked = -math.inf
        self._count = 0
        self._threads: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._unfit: set[str] = set()
        self._quarantined = quarantined
        self._late: Counter[str] = Counter()
        self._suspended = ""
        self._before: int | None = None

    def count(self) -> int:
        """Return the number of usable worker threads, some seconds old."""
        now = time.monotonic()
        if now - self._asked > (COUNT_SECONDS if self._count else COORDINATOR_POLL_SECONDS):
            self._count, self._asked = self._ask(), now
            self._report_change(self._before, self._count)
            self._before = self._count
        return self._count

    def note_suspension(self, seconds: float) -> None:
        """Report that this machine was suspended for some seconds.

        The cluster may have given up connections and workers during the suspension. The run notices
        their loss only afterwards.
        """
        self._suspended = f"this machine was suspended for {lasting(seconds)}"
        self._asked = -math.inf
        self.say(f"{self._suspended}; the run continues if the cluster does")

    def lost(self) -> SchedulerLost:
        """Return the error for a lost scheduler."""
        why = f" after {self._suspended}" * bool(self._suspended)
        return SchedulerLost(
            f"the scheduler at {self.address} was lost{why}; the same command continues from here, "
            "once a scheduler is running"
        )

    def allowed(self, tried: set[str]) -> list[str] | None:
        """Return the workers that may get a task after some have tried it; None for all workers."""
        barred = (self._excluded | tried) & self._threads.keys()
        # If all remaining workers are late, each may get the task.
        late = self._late.keys() & self._threads.keys() - barred
        if late < self._threads.keys() - barred:
            barred |= late
        return [one for one in self._threads if one not in barred] if barred else None

    def too_near(self, maker: str) -> set[str]:
        """Return the workers that may not check the results of a worker (host and process).

        If another host has a worker, all workers of the same host are returned, since they share
        the host's memory.
        """
        host = maker.rpartition(":")[0]
        near = {one for one, name in self._names.items() if name.rpartition(":")[0] == host}
        if self._threads.keys() - self._excluded - near:
            return near
        return {one for one, name in self._names.items() if name == maker}

    @property
    def _excluded(self) -> set[str]:
        """Workers that get no task: unfit workers, and workers in quarantine."""
        found = {one for one, name in self._names.items() if name in self._quarantined}
        return self._unfit | found

    def name(self, address: str) -> str:
        """Return a worker's host and process, or its address if these are unknown."""
        return self._names.get(address, address)

    def note_late(self, address: str) -> None:
        """Give a worker no other task until it has ended its late task."""
        self._late[address] += 1

    def note_back(self, address: str) -> None:
        """Make a worker eligible for other tasks after the end of its late task."""
        self._late[address] -= 1
        if not self._late[address]:
            del self._late[address]

    def are_prompt(self, where: list[str] | None) -> bool:
        """Return whether any of the given workers (None: of all) is not late with a task."""
        return bool((self._threads.keys() if where is None else set(where)) - self._late.keys())

    def are_gone(self, where: list[str]) -> bool:
        """Return whether all of the given workers have left."""
        return not self._threads.keys() & set(where)

    def others_may_try(self, fault: WorkerFault, tried: set[str]) -> bool:
        """Exclude a worker with a permanent fault; return whether another may try its task.

        A task is given up after a fault of the store itself, or after the fault of a second worker.
        """
        if fault.is_lasting and fault.address not in self._excluded:
            self._unfit.add(fault.address)
            self._asked = -math.inf
            left = [one for one in self._threads if one not in self._excluded]
            if left:
                self.say(f"{fault}; it is quarantined, the others continue")
        for_all = isinstance(fault.error, OSError) and not fault.is_lasting
        again = fault.is_lasting or (not for_all and len(tried) < TRIES)
        return again and self.allowed(tried) != []

    def _ask(self) -> int:
        try:
            self._threads = dict(self._client.nthreads())
        except (OSError, RuntimeError):  # raised by a client whose connection is closed
            raise self.lost() from None
        self._check(self._threads.keys() - self._checked)
        return sum(n for one, n in self._threads.items() if one not in self._excluded)

    def _check(self, joined: set[str]) -> None:
        """Exclude unusable workers before they get a task."""
        self._checked |= joined
        if not joined:
            return
        answers = preflight(self._client, joined, self._context)
        self._names |= {address: answer.worker for address, answer in answers.items()}
        reasons = {address: one.lacks for address, one in answers.items() if one.lacks}
        self._unfit |= reasons.keys()
        if reasons and not self._threads.keys() - self._excluded:
            raise InputError(_together(reasons.values()))
        for reason in reasons.values():
            self.say(f"{reason}; it is quarantined, the others continue")

    def _report_change(self, before: int | None, now: int) -> None:
        if self._token.requested:
            return
        if before == 0 and now:
            self.say(f"a worker of {self.address} has joined; the run continues")
        elif before != 0 and not now:
            lack = "all workers of {} are gone" if before else "{} has no worker"
            self.say(f"{lack.format(self.address)}; waiting for one (Ctrl-C stops)")


def _together(reasons: Collection[str]) -> str:
    """Return one sentence with the reasons of all workers."""
    each = list(dict.fromkeys(reasons))
    more = f"; so do {len(reasons) - MOST_SHOWN} more" * (len(each) > MOST_SHOWN)
    return "no worker is usable: " + "; ".join(each[:MOST_SHOWN]) + more
