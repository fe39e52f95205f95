"""Reference for `demt`: shelves of doubling length on nodes (Eyraud 2006, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedfarm.core.durations import seconds_of
from schedfarm.core.machines.nodes.reference.plan import Plan
from schedfarm.core.machines.nodes.reference.rules import NodesSimulation
from schedfarm.core.machines.nodes.reference.selection import selected
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job
from schedfarm.core.workload.workload import Workload

DAY = 24 * 60 * 60
"""Seconds in a day."""

WORTH: dict[str, Callable[[Job], int]] = {
    "jobs": lambda job: 1,
    "procs": lambda job: job.weight * job.width,
    "area": lambda job: job.weight * job.width * job.lasts,
}
"""Worth of a job, by the policy's option."""


@dataclass
class Shelf:
    """Hold the length of a shelf, s, and its waiting jobs."""

    length: int
    jobs: list[Job]


class Demt(NodesSimulation):
    """Run `demt`: each pass plans waiting jobs again, shelf by shelf."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        self.shelves: list[Shelf] = []
        self.smallest = seconds_of(policy.shelf) or 0
        self.resets = [seconds_of(text) or 0 for text in policy.resets.split(":")]
        # Local time of instant 0, s.
        known = workload.epoch >= 0
        self.midnight = workload.epoch + (seconds_of(policy.utc) or 0) if known else 0
        self.reset_at = -1
        self.counts = {"selections": 0, "given_up": 0}

    def extra_columns(self) -> dict[str, Any]:
        """Add the numbers of selections and of abandoned searches."""
        return {**super().extra_columns(), "counts": self.counts}

    # Shelves.

    def instants(self) -> list[int]:
        """Yield instants, including the next reset if a job waits."""
        instants = super().instants()
        if self.waiting:
            passed = self.now + self.midnight
            instants += [self.now + 1 + (reset - passed - 1) % DAY for reset in self.resets]
        return instants

    def is_reset(self, instant: int) -> bool:
        """Return whether an instant is a local time of resets."""
        return (instant + self.midnight) % DAY in self.resets

    def in_order(self, jobs: list[Job]) -> list[Job]:
        """Return jobs in queue order."""
        return [job for job in self.queue() if job in jobs]

    def planning_order(self) -> list[Job]:
        """Return the waiting jobs shelf by shelf, and in queue order within a shelf."""
        return [job for shelf in self.shelves for job in self.in_order(shelf.jobs)]

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Plan and start jobs, and remove empty shelves."""
        super().scheduling_pass(arrived)
        self.clear()

    def clear(self) -> None:
        """Remove jobs that no longer wait, and shelves without a job."""
        for shelf in self.shelves:
            shelf.jobs = [job for job in shelf.jobs if job in self.waiting]
        self.shelves = [shelf for shelf in self.shelves if shelf.jobs]

    def forget(self, job: Job) -> None:
        """Remove a job that has not started."""
        super().forget(job)
        self.clear()

    def fewest(self, job: Job, length: int) -> int | None:
        """Return the least number of nodes with which a job fits a shelf's length, or None."""
        possible = [job.asked] if job.serial < 0 else range(1, len(self.inventory.allowed(job)) + 1)
        return next((k for k in possible if job.on(job.estimate, k) <= length), None)

    def is_long_enough(self, length: int, jobs: list[Job]) -> bool:
        """Return whether a shelf is long enough for each of some jobs."""
        return all(self.fewest(job, length) is not None for job in jobs)

    def put(self, job: Job, length: int) -> None:
        """Set the number of nodes of a job on a shelf."""
        job.molded = self.fewest(job, length) or 0

    # Arrivals.

    def arrive(self, job: Job) -> None:
        """Put an arriving job on the first suitable shelf, or on a new last shelf."""
        for shelf in self.shelves:
            if self.is_long_enough(shelf.length, [job]):
                self.put(job, shelf.length)
                if self.fit([*self.in_order(shelf.jobs), job]):
                    shelf.jobs.append(job)
                    return
        length = self.smallest
        if self.shelves:
            length = self.shelves[-1].length
            if not self.is_long_enough(length, self.waiting):
                length *= 2
        while not self.is_long_enough(length, [job]):
            length *= 2
        self.put(job, length)
        self.shelves.append(Shelf(length, [job]))

    def fit(self, jobs: list[Job]) -> bool:
        """Return whether some jobs, in order, find nodes at one instant on the idle machine."""
        free = np.array(self.inventory.capacities, np.int64)
        for job in jobs:
            nodes = self.inventory.found(job, free)
            if nodes is None:
                return False
            free[list(nodes)] -= job.weight
        return True

    # Resets.

    def before_pass(self) -> None:
        """Renew all shelves, once per instant, at a reset with a waiting job."""
        if self.waiting and self.is_reset(self.now) and self.reset_at != self.now:
            self.reset_at = self.now
            self.shelves = self.made_again()

    def made_again(self) -> list[Shelf]:
        """Return new shelves with all waiting jobs, each filled for the greatest worth."""
        shelves: list[Shelf] = []
        plan = Plan(self.now, self.inventory, self.held())
        left, begin, length = self.queue(), self.now, self.smallest
        while left:
            candidates = [job for job in left if self.is_long_enough(length, [job])]
            if not candidates:
                length *= 2
                continue
            taken = self.choice(candidates, begin, length, plan)
            if not taken:
                later = [end for end in plan.ends if end > begin]
                if later:
                    begin = min(later)
                    continue
                while not self.is_long_enough(length, left):
                    length *= 2
                taken = left
            shelves.append(Shelf(length, taken))
            for job in taken:
                self.put(job, length)
                entry = plan.put(job)
                if entry:
                    begin = max(begin, entry.end)
            left = [job for job in left if job not in taken]
            if not self.is_long_enough(length, left):
                length *= 2
        return shelves

    def choice(self, candidates: list[Job], begin: int, length: int, plan: Plan) -> list[Job]:
        """Select from a shelf's candidates, by the processors that are free in its whole length."""
        for job in candidates:
            self.put(job, length)
        free = plan.room(begin, begin + length).tolist()
        worth = [WORTH[self.policy.worth](job) for job in candidates]
        budget = int(self.policy.budget)
        taken, given_up = selected(candidates, worth, self.inventory, free, budget)
        self.counts["selections"] += 1
        self.counts["given_up"] += given_up
        return taken
