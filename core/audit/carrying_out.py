"""A plan of starts on nodes as the auditor makes it: who is put where, and who is in the way."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.audit.machine_of_nodes import Asks, Levels, NodesTaken


@dataclass(order=True)
class Planned:
    """One job of a plan: its start, s, how many were put in before it, and what it finds."""

    start: int
    turn: int
    job: int
    end: int
    nodes: NodesTaken


class CarriedOut:
    """Put jobs one by one into a plan; each at the first instant at which all can be carried out.

    Parameters
    ----------
    asks : Asks
        The jobs and the nodes.
    levels : Levels
        What running jobs and reservations in advance leave, from now on.
    ends : iterable of int
        When those end, s.
    up : bool[nodes]
        Which nodes are not down.
    """

    def __init__(
        self, asks: Asks, levels: Levels, ends: Iterable[int], up: npt.NDArray[Any]
    ) -> None:
        self.asks, self.levels, self.up = asks, levels, up
        self.now = levels.times[0]
        self.instants = sorted({self.now, *(end for end in ends if end > self.now)})
        # In order of start, of one instant as they were put in.
        self.jobs: list[Planned] = []
        # What they leave of the levels.
        self.all = levels

    def put(self, job: int) -> Planned | None:
        """Put a job in and return its place, or None where nodes that are down leave none."""
        asks, lasts = self.asks, self.asks.lasts(job)
        instants = self._open(job)
        before, levels = self._until(instants[0]) if instants else (0, self.levels)
        for instant in instants:
            while before < len(self.jobs) and self.jobs[before].start <= instant:
                self._take(levels, self.jobs[before])
                before += 1
            nodes = asks.picks(job, self._room(levels, instant, instant + lasts))
            if nodes is None:
                continue
            new = Planned(instant, len(self.jobs), job, instant + lasts, nodes)
            if lasts == 0 or self._moves(levels, new, self.jobs[before:]):
                self.jobs.insert(before, new)
                if new.end not in self.instants:
                    insort(self.instants, new.end)
                return new
        return None

    def _open(self, job: int) -> list[int]:
        """Return the instants at which as many nodes as a job needs have its processors.

        Who starts later holds nothing then, so that all of the plan may be looked at together.
        """
        asks, levels = self.asks, self.all
        fits = (levels.free >= asks.weight[job]) & (asks.candidates[job] & self.up)
        enough = np.count_nonzero(fits, axis=1) >= asks.width[job]
        return [t for t in self.instants if enough[bisect_right(levels.times, t) - 1]]

    def _until(self, instant: int) -> tuple[int, Levels]:
        """Return how many jobs of the plan start by an instant, and what these leave."""
        before = bisect_right(self.jobs, instant, key=lambda one: one.start)
        if before < len(self.jobs) - before:
            return 0, self.levels.copy()
        levels = self.all.copy()
        for one in self.jobs[before:]:
            levels.take(one.start, one.end, one.nodes, -self.asks.weight[one.job])
        return before, levels

    @property
    def ends(self) -> list[int]:
        """When running jobs, reservations in advance and jobs of the plan end, after now, s."""
        return [instant for instant in self.instants if instant > self.now]

    def room(self, begin: int, end: int) -> Int64:
        """Return the room of every node beside all of the plan."""
        return self._room(self.all, begin, end)

    def _moves(self, levels: Levels, new: Planned, later: list[Planned]) -> bool:
        """Give those behind a new one the nodes that are left, if that works out for all."""
        levels, found = levels.copy(), []
        self._take(levels, new)
        for one in later:
            nodes = self.asks.picks(one.job, self._room(levels, one.start, one.end))
            # Who has no length holds nothing, and is in nobody's way.
            if nodes is None and one.end > one.start:
                return False
            found.append(nodes or ())
            levels.take(one.start, one.end, nodes or (), self.asks.weight[one.job])
        for one, nodes in zip(later, found, strict=True):
            one.nodes = nodes
        self.all = levels
        return True

    def _take(self, levels: Levels, one: Planned) -> None:
        levels.take(one.start, one.end, one.nodes, self.asks.weight[one.job])

    def _room(self, levels: Levels, begin: int, end: int) -> Int64:
        room: Int64 = levels.least(begin, end) * self.up
        return room
