"""Shelves as the auditor rebuilds them: they follow from who arrived, started and ended before."""

from __future__ import annotations

from dataclasses import dataclass

from schedfarm.core.audit.replay_of_nodes import NodesDiscipline, NodesReplay
from schedfarm.core.audit.shelf_choice import choice
from schedfarm.core.durations import DAY, seconds_of
from schedfarm.core.policy.policy import Policy


@dataclass
class Shelf:
    """Hold how long a shelf is, s, and who was put into it."""

    length: int
    jobs: list[int]


class Shelves(NodesDiscipline):
    """Keep the shelves of `demt`."""

    def __init__(self, policy: Policy) -> None:
        self.shelves: list[Shelf] = []
        self.smallest = seconds_of(policy.shelf) or 0
        self.resets = {seconds_of(text) for text in policy.resets.split(":")}
        self.utc = seconds_of(policy.utc) or 0
        self.worth, self.budget = policy.worth, int(policy.budget)

    def due(self, replay: NodesReplay) -> list[int]:
        """Return the next reset."""
        local = self._local(replay)
        return [replay.now + ((reset or 0) - local - 1) % DAY + 1 for reset in self.resets]

    def order(self, replay: NodesReplay) -> list[int]:
        """Return who waits, shelf by shelf."""
        queue = replay.queue()
        self.shelves = [s for s in self.shelves if any(job in s.jobs for job in queue)]
        return [job for shelf in self.shelves for job in queue if job in shelf.jobs]

    def arrived(self, replay: NodesReplay, job: int) -> None:
        """Put a newcomer into the first shelf that takes it, or into a new last one."""
        queue = replay.queue()
        self.order(replay)
        for shelf in self.shelves:
            if self._takes(replay, shelf, [one for one in queue if one in shelf.jobs], job):
                shelf.jobs.append(job)
                return
        length = self.smallest
        if self.shelves:
            length = self.shelves[-1].length
            if not all(self._is_for(replay, one, length) for one in queue):
                length *= 2
        length = self._long_enough(replay, length, [job])
        self._mold(replay, job, length)
        self.shelves.append(Shelf(length, [job]))

    def before_pass(self, replay: NodesReplay) -> None:
        """Make the shelves anew at a reset at which somebody waits."""
        if not replay.waiting or self._local(replay) not in self.resets:
            return
        self.shelves = []
        plan, ends = replay.plan(), dict[int, int]()
        left, begin, length = replay.queue(), replay.now, self.smallest
        while left:
            candidates = [job for job in left if self._is_for(replay, job, length)]
            if not candidates:
                length *= 2
                continue
            for job in candidates:
                self._mold(replay, job, length)
            worth = {job: self._value(replay, job) for job in candidates}
            room = plan.room(begin, begin + length)
            taken = choice(replay.asks, candidates, worth, room, self.budget)
            if not taken:
                later = [instant for instant in plan.ends if instant > begin]
                if later:
                    begin = min(later)
                    continue
                length, taken = self._long_enough(replay, length, left), left
            self.shelves.append(Shelf(length, taken))
            for job in taken:
                self._mold(replay, job, length)
                put = plan.put(job)
                if put is not None:
                    ends[job] = put.end
            left = [job for job in left if job not in taken]
            begin = max([begin, *(ends[job] for job in taken if job in ends)])
            if not all(self._is_for(replay, job, length) for job in left):
                length *= 2

    def _local(self, replay: NodesReplay) -> int:
        """Return the local time of day, s; where nobody knows it, instant 0 is midnight."""
        ahead = replay.epoch + self.utc if replay.epoch >= 0 else 0
        return (replay.now + ahead) % DAY

    def _takes(self, replay: NodesReplay, shelf: Shelf, there: list[int], job: int) -> bool:
        """Mold a newcomer to a shelf and tell whether it fits there beside the others."""
        if not self._is_for(replay, job, shelf.length):
            return False
        self._mold(replay, job, shelf.length)
        asks = replay.asks
        room = asks.capacities * replay.up
        for one in [*there, job]:
            nodes = asks.picks(one, room)
            if nodes is None:
                return False
            room[list(nodes)] -= asks.weight[one]
        return True

    def _is_for(self, replay: NodesReplay, job: int, length: int) -> bool:
        """Whether a shelf is long enough for a job."""
        asks = replay.asks
        width = asks.asked[job] if asks.serial[job] < 0 else int(asks.candidates[job].sum())
        return asks.on(job, asks.estimate[job], width) <= length

    def _mold(self, replay: NodesReplay, job: int, length: int) -> None:
        """Give a moldable job the fewest nodes with which it is no longer than a shelf."""
        asks = replay.asks
        if asks.serial[job] >= 0:
            asks.width[job] = 1
            while asks.lasts(job) > length:
                asks.width[job] += 1

    def _long_enough(self, replay: NodesReplay, length: int, jobs: list[int]) -> int:
        while not all(self._is_for(replay, job, length) for job in jobs):
            length *= 2
        return length

    def _value(self, replay: NodesReplay, job: int) -> int:
        asks = replay.asks
        procs = asks.width[job] * asks.weight[job]
        values: dict[str, int] = {"jobs": 1, "procs": procs, "area": procs * asks.lasts(job)}
        return values[self.worth]
