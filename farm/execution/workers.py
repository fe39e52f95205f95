"""The workers of a cluster: how many there are, which are set aside, when none is left."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from schedfarm.core.errors import InputError
from schedfarm.core.numerals import lasting
from schedfarm.farm.execution.rollcall import Errand, call_roll
from schedfarm.farm.execution.sick import Sick
from schedfarm.farm.execution.stop import Stop

if TYPE_CHECKING:
    from distributed import Client

LOOK_SECONDS = 1.0
"""Time between two looks at whether to stop, and at a cluster that has no worker."""

COUNT_SECONDS = 5.0
"""Time between two questions for the number of worker threads: each is a round trip to the
scheduler, 2 ms of CPU, and workers come and go in seconds."""

TRIES = 2
"""So many workers try what one has too little memory for, or lacks a package for."""


MOST_TOLD = 3
"""Of so many workers that can do nothing it is said why, where none can."""


class SchedulerLost(InputError):
    """Say that a run ended because its scheduler did."""


class Workers:
    """Know how many worker threads a cluster has, as of a moment ago, and say when none is left."""

    def __init__(
        self,
        client: Client,
        stop: Stop,
        say: Callable[[str], None],
        errand: Errand,
        quarantined: Collection[str] = (),
    ) -> None:
        self.address = client.scheduler.address if client.scheduler else "its address"
        self._client, self._stop, self.say = client, stop, say
        self._errand = errand
        self._greeted: set[str] = set()
        self._asked = -math.inf
        self._count = 0
        self._threads: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._unfit: set[str] = set()
        self._quarantined = quarantined
        self._late: Counter[str] = Counter()
        self._slept = ""
        self._before: int | None = None

    def count(self) -> int:
        """Return how many threads they have, as of some seconds ago."""
        now = time.monotonic()
        if now - self._asked > (COUNT_SECONDS if self._count else LOOK_SECONDS):
            self._count, self._asked = self._ask(), now
            self._tell(self._before, self._count)
            self._before = self._count
        return self._count

    def note_sleep(self, seconds: float) -> None:
        """Take note that nothing was heard for so long since this machine stood still, and say so.

        Connections and workers that others gave up meanwhile are lost only after it.
        """
        self._slept = f"this machine stood still for {lasting(seconds)}"
        self._asked = -math.inf
        self.say(f"{self._slept}; the run goes on if the cluster does")

    def lost(self) -> SchedulerLost:
        """Return the sentence for a scheduler that is no more."""
        why = f" after {self._slept}" * bool(self._slept)
        return SchedulerLost(
            f"the scheduler at {self.address} was lost{why}; the same command goes on from here, "
            "once one runs"
        )

    def but(self, tried: set[str]) -> list[str] | None:
        """Return the workers that a task may go to; None for all."""
        barred = (self._aside | tried) & self._threads.keys()
        # Where all that are left are late, none is kept from work.
        late = self._late.keys() & self._threads.keys() - barred
        if late < self._threads.keys() - barred:
            barred |= late
        return [one for one in self._threads if one not in barred] if barred else None

    def apart_from(self, maker: str) -> set[str]:
        """Return the workers that may not check what one has made, by its host and process.

        All of its host, whose memory they share, where there is a worker on another one.
        """
        host = maker.rpartition(":")[0]
        near = {one for one, name in self._names.items() if name.rpartition(":")[0] == host}
        if self._threads.keys() - self._aside - near:
            return near
        return {one for one, name in self._names.items() if name == maker}

    @property
    def _aside(self) -> set[str]:
        """Workers that get no task: those that could do none, and those in quarantine."""
        found = {one for one, name in self._names.items() if name in self._quarantined}
        return self._unfit | found

    def name(self, address: str) -> str:
        """Return a worker's host and process, or its address where it has not told them."""
        return self._names.get(address, address)

    def note_late(self, address: str) -> None:
        """Give a worker no other task until it has ended the one with which it is late."""
        self._late[address] += 1

    def note_back(self, address: str) -> None:
        """Let a worker that has ended a late task have others again."""
        self._late[address] -= 1
        if not self._late[address]:
            del self._late[address]

    def are_gone(self, where: list[str]) -> bool:
        """Tell whether none of some workers is there any more, as of the last look."""
        return not self._threads.keys() & set(where)

    def others(self, sick: Sick, tried: set[str]) -> bool:
        """Set a worker aside that can do nothing; return whether another is to try its task.

        What the store itself lacks, and what a second worker could not do either, stays undone.
        """
        if sick.sets_aside and sick.address not in self._aside:
            self._unfit.add(sick.address)
            self._asked = -math.inf
            left = [one for one in self._threads if one not in self._aside]
            if left:
                self.say(f"{sick}; it is set aside, the others go on")
        for_all = isinstance(sick.error, OSError) and not sick.sets_aside
        again = sick.sets_aside or (not for_all and len(tried) < TRIES)
        return again and self.but(tried) != []

    def _ask(self) -> int:
        try:
            self._threads = dict(self._client.nthreads())
        except (OSError, RuntimeError):  # what a client raises whose connection is closed
            raise self.lost() from None
        self._greet(self._threads.keys() - self._greeted)
        return sum(n for one, n in self._threads.items() if one not in self._aside)

    def _greet(self, newcomers: set[str]) -> None:
        """Set aside whoever could do nothing, before he is given a task."""
        self._greeted |= newcomers
        if not newcomers:
            return
        answers = call_roll(self._client, newcomers, self._errand)
        self._names |= {address: answer.who for address, answer in answers.items()}
        reasons = {address: one.lacks for address, one in answers.items() if one.lacks}
        self._unfit |= reasons.keys()
        if reasons and not self._threads.keys() - self._aside:
            raise InputError(_together(reasons.values()))
        for reason in reasons.values():
            self.say(f"{reason}; it is set aside, the others go on")

    def _tell(self, before: int | None, now: int) -> None:
        if self._stop.wished:
            return
        if before == 0 and now:
            self.say(f"a worker of {self.address} is there; the run goes on")
        elif before != 0 and not now:
            lack = "all workers of {} are gone" if before else "{} has no worker"
            self.say(f"{lack.format(self.address)}; waiting for one (Ctrl-C stops)")


def _together(reasons: Collection[str]) -> str:
    """Return one sentence for what all workers lack."""
    each = list(dict.fromkeys(reasons))
    more = f"; so do {len(reasons) - MOST_TOLD} more" * (len(each) > MOST_TOLD)
    return "no worker can do anything: " + "; ".join(each[:MOST_TOLD]) + more
