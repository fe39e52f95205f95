"""Renewal of shelves: waiting jobs, selected by worth, are put on shelves of doubling length.

Source: Eyraud (2006), section 4; Dutot, Eyraud, Mounie and Trystram (2004), Bi-criteria algorithm
for scheduling jobs on cluster platforms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.machines.nodes.kernels.plan import put_each, room_over
from schedfarm.core.machines.nodes.kernels.shelves import fewest_each, give_each
from schedfarm.core.machines.nodes.kernels.world import World
from schedfarm.core.machines.nodes.selection import Wish, select

Worth = Callable[[Int64, Int64], tuple[Int64, Int64]]
"""Function from processors and estimates, s, to jobs' worth, and ranks by worth per processor."""

WORTHS: dict[str, Worth] = {
    "jobs": lambda procs, estimate: (np.ones_like(procs), procs),
    "procs": lambda procs, estimate: (procs, np.zeros_like(procs)),
    "area": lambda procs, estimate: (procs * estimate, -estimate),
}
"""Definitions of the worth, which the jobs of a shelf maximise."""


@dataclass
class Renewal:
    """Renew the shelves of a world, and count the selections.

    Parameters
    ----------
    world : World
        The nodes and the waiting jobs.
    key : int64[n]
        Key of the jobs in the queue.
    worth : Worth
        The definition of worth.
    budget : int
        Largest number of examined ways to fill one shelf.
    """

    world: World
    key: Int64
    worth: Worth
    budget: int
    selections: int = 0
    given_up: int = 0

    def renew(self) -> None:
        """Put all waiting jobs on new shelves, at a reset; the plan has only running jobs."""
        world = self.world
        left = np.sort(world.waiting.job[: world.waiting.count[0]])
        left = left[np.argsort(self.key[left], kind="stable")]
        now, length = int(world.clock[0].now), int(world.shelves.smallest[0])
        world.shelves.count[0] = world.waiting.count[0] = 0
        at = now
        while left.size:
            fits = np.flatnonzero(self._fewest(left, length)[0])
            if not fits.size:
                length *= 2
                continue
            after = int(room_over(world.site, world.plan, at, length))
            chosen = self._select(left[fits], length)
            if chosen.any():
                taken, left = left[fits[chosen]], np.delete(left, fits[chosen])
                self._stock(taken, length)
                at = max(at, int(put_each(world.site, world.plan, taken, now)))
                if not self._long_enough(left, length):
                    length *= 2
            elif after < NEVER:
                at = after
            else:
                while not self._long_enough(left, length):
                    length *= 2
                self._stock(left, length)
                return

    def _fewest(self, jobs: Int64, length: int) -> tuple[Int64, Int64]:
        nodes, estimate = np.zeros(jobs.size, np.int64), np.zeros(jobs.size, np.int64)
        fewest_each(self.world.shelves, self.world.site.asks, jobs, length, nodes, estimate)
        return nodes, estimate

    def _long_enough(self, jobs: Int64, length: int) -> bool:
        return bool(self._fewest(jobs, length)[0].all())

    def _select(self, jobs: Int64, length: int) -> np.ndarray:
        asks = self.world.site.asks
        nodes, estimate = self._fewest(jobs, length)
        weight = asks["weight"][jobs]
        worth, rank = self.worth(nodes * weight, estimate)
        wish = Wish(asks["row"][jobs], nodes, weight, worth, rank)
        members, room = self.world.site.machine.members, self.world.plan.room
        chosen, given_up = select(members, room, wish, self.budget)
        self.selections += 1
        self.given_up += given_up
        return chosen

    def _stock(self, jobs: Int64, length: int) -> None:
        """Put jobs, in queue order, on a new last shelf."""
        world, shelves = self.world, self.world.shelves
        s, count = int(shelves.count[0]), int(world.waiting.count[0])
        give_each(shelves, world.site.asks, jobs, self._fewest(jobs, length)[0])
        shelves.of[jobs] = s
        shelves.length[s], shelves.waiting[s] = length, jobs.size
        shelves.count[0] = s + 1
        world.waiting.job[count : count + jobs.size] = jobs
        world.waiting.count[0] = count + jobs.size
