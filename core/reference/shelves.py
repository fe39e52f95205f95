"""The reference for `demt`: shelves of doubling length on nodes (Eyraud 2006, section 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schedfarm.core.durations import seconds_of
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.nodes import NodesSimulation, Plan
from schedfarm.core.reference.selection import selected
from schedfarm.core.workload.workload import Workload

DAY = 24 * 60 * 60
"""Seconds of a day."""

WORTH: dict[str, Callable[[Job], int]] = {
    "jobs": lambda job: 1,
    "procs": lambda job: job.weight * job.width,
    "area": lambda job: job.weight * job.width * job.lasts,
}
"""What a job is worth, by the policy's word."""


@dataclass
class Shelf:
    """Hold a length, s, and the jobs that wait in it."""

    length: int
    jobs: list[Job]


class Demt(NodesSimulation):
    """`demt`: a plan is made anew each pass, shelf by shelf."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        self.shelves: list[Shelf] = []
        self.smallest = seconds_of(policy.shelf) or 0
        self.resets = [seconds_of(text) or 0 for text in policy.resets.split(":")]
        # What local time is at instant 0.
        known = workload.epoch >= 0
        self.midnight = workload.epoch + (seconds_of(policy.utc) or 0) if known else 0
        self.reset_at = -1
        self.counts = {"selections": 0, "given_up": 0}

    def told(self) -> dict[str, Any]:
        """Add how many selections were made, and in how many the search was given up."""
        return {**super().told(), "counts": self.counts}

    # Shelves.

    def instants(self) -> list[int]:
        """Add the next reset, which is an event where somebody waits."""
        instants = super().instants()
        if self.waiting:
            passed = self.now + self.midnight
            instants += [self.now + 1 + (reset - passed - 1) % DAY for reset in self.resets]
        return instants

    def is_reset(self, instant: int) -> bool:
        """Whether an instant is one of the local times at which shelves are made anew."""
        return (instant + self.midnight) % DAY in self.resets

    def in_order(self, jobs: list[Job]) -> list[Job]:
        """Return jobs in queue order."""
        return [job for job in self.queue() if job in jobs]

    def planning_order(self) -> list[Job]:
        """Return the waiting jobs shelf by shelf, within each in queue order."""
        return [job for shelf in self.shelves for job in self.in_order(shelf.jobs)]

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Plan and start; a shelf in which nobody waits any more is gone."""
        super().scheduling_pass(arrived)
        self.clear()

    def clear(self) -> None:
        """Leave out who does not wait any more, and shelves without a job."""
        for shelf in self.shelves:
            shelf.jobs = [job for job in shelf.jobs if job in self.waiting]
        self.shelves = [shelf for shelf in self.shelves if shelf.jobs]

    def forget(self, job: Job) -> None:
        """Let a job that has not started never have been."""
        super().forget(job)
        self.clear()

    def fewest(self, job: Job, length: int) -> int | None:
        """Return with how few nodes a job is no longer than a shelf; None if with none."""
        possible = [job.asked] if job.serial < 0 else range(1, len(self.rooms.allowed(job)) + 1)
        return next((k for k in possible if job.on(job.estimate, k) <= length), None)

    def is_long_enough(self, length: int, jobs: list[Job]) -> bool:
        """Whether a shelf is long enough for each of some jobs."""
        return all(self.fewest(job, length) is not None for job in jobs)

    def put(self, job: Job, length: int) -> None:
        """Give a job as many nodes as it has on a shelf."""
        job.molded = self.fewest(job, length) or 0

    # Newcomers.

    def arrive(self, job: Job) -> None:
        """Put a newcomer into the first shelf in which it fits, or into a new last one."""
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
        """Whether jobs in turn find their nodes at once where nobody runs."""
        room = self.rooms.rooms(0, 0, [])
        for job in jobs:
            nodes = self.rooms.picked(job, job.width, room)
            if nodes is None:
                return False
            for node in nodes:
                room[node] -= job.weight
        return True

    # Resets.

    def before_pass(self) -> None:
        """Make all shelves anew at a reset at which somebody waits, once an instant."""
        if self.waiting and self.is_reset(self.now) and self.reset_at != self.now:
            self.reset_at = self.now
            self.shelves = self.made_anew()

    def made_anew(self) -> list[Shelf]:
        """Return shelves of all who wait, each filled for the greatest worth."""
        shelves: list[Shelf] = []
        plan: Plan = []
        left, begin, length = self.queue(), self.now, self.smallest
        while left:
            candidates = [job for job in left if self.is_long_enough(length, [job])]
            if not candidates:
                length *= 2
                continue
            taken = self.choice(candidates, begin, length, plan)
            if not taken:
                later = [end for end in self.ends(plan) if end > begin]
                if later:
                    begin = min(later)
                    continue
                while not self.is_long_enough(length, left):
                    length *= 2
                taken = left
            shelves.append(Shelf(length, taken))
            for job in taken:
                self.put(job, length)
                plan = self.with_job(plan, job)
            left = [job for job in left if job not in taken]
            begin = max([begin] + [start + job.lasts for start, job in plan if job in taken])
            if not self.is_long_enough(length, left):
                length *= 2
        return shelves

    def choice(self, candidates: list[Job], begin: int, length: int, plan: Plan) -> list[Job]:
        """Select from the candidates of a shelf, with what room is left all through it."""
        for job in candidates:
            self.put(job, length)
        got = self.carried_out(plan)
        assert got is not None
        room = self.rooms.rooms(begin, begin + length, self.held() + list(got.values()))
        worth = [WORTH[self.policy.worth](job) for job in candidates]
        taken, given_up = selected(candidates, worth, self.rooms, room, int(self.policy.budget))
        self.counts["selections"] += 1
        self.counts["given_up"] += given_up
        return taken
