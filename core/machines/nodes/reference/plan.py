"""Plan of starts on nodes, with the nodes of each job."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from schedfarm.core.arrays import Int64
from schedfarm.core.machines.nodes.reference.timetable import Inventory, Timetable
from schedfarm.core.reference.job import Job


@dataclass(frozen=True)
class Holding:
    """Hold the processors that a job has, or reserves, on some nodes in [begin, end)."""

    begin: int
    end: int
    nodes: tuple[int, ...]
    weight: int


@dataclass
class Entry:
    """Hold a job of a plan: its start and end, s, and its nodes."""

    job: Job
    start: int
    end: int
    nodes: tuple[int, ...]


class Plan:
    """Insert jobs one by one, each at the first start that keeps the plan executable.

    Parameters
    ----------
    now : int
        The first instant of the plan, s.
    inventory : Inventory
        The nodes.
    held : iterable of Holding
        The running jobs and the advance reservations.
    """

    def __init__(self, now: int, inventory: Inventory, held: Iterable[Holding]) -> None:
        self.now, self.inventory = now, inventory
        # Entries in order of start; with equal starts, in the order of insertion.
        self.entries: list[Entry] = []
        # Processors that the running jobs, the reservations and the whole plan leave free.
        self.free = Timetable(now, inventory.capacities)
        self.ends: set[int] = set()
        for one in held:
            self.free.take(one.begin, one.end, one.nodes, one.weight)
            self.ends.add(one.end)

    def put(self, job: Job) -> Entry | None:
        """Insert a job and return its entry; None if it has no start because of outages.

        An entry that starts later than the new job holds no nodes at the new job's start. So the
        whole plan shows the instants with enough free nodes. Entries that start before or with the
        new job keep their nodes, and later entries search for nodes again.
        """
        instants = sorted({self.now} | {end for end in self.ends if end > self.now})
        there = [node for node in self.inventory.allowed(job) if node not in self.inventory.down]
        enough = self.free.nodes_with(job.weight, there) >= job.width
        wanted = [t for t in instants if enough[self.free.step(t)]]
        before = bisect_right(self.entries, min(wanted, default=0), key=lambda entry: entry.start)
        free = self.free.copy()
        for entry in self.entries[before:]:
            free.take(entry.start, entry.end, entry.nodes, -entry.job.weight)
        for instant in wanted:
            while before < len(self.entries) and self.entries[before].start <= instant:
                _take(free, self.entries[before])
                before += 1
            end = instant + job.lasts
            nodes = self.inventory.found(job, free.least(instant, end))
            if nodes is None:
                continue
            entry = Entry(job, instant, end, nodes)
            # A job with length 0 holds no processors, so the other jobs keep their nodes.
            if job.lasts == 0 or self._carried_out(free, entry, self.entries[before:]):
                self.entries.insert(before, entry)
                self.ends.add(end)
                return entry
        return None

    def room(self, begin: int, end: int) -> Int64:
        """Return the least number of free processors of every node in [begin, end)."""
        return self.inventory.up(self.free.least(begin, end))

    def _carried_out(self, free: Timetable, new: Entry, later: list[Entry]) -> bool:
        """Assign nodes to the entries behind a new one; return None if an entry finds too few."""
        free = free.copy()
        _take(free, new)
        found: list[tuple[int, ...]] = []
        for entry in later:
            nodes = self.inventory.found(entry.job, free.least(entry.start, entry.end))
            if nodes is None and entry.end > entry.start:
                return False
            found.append(nodes or ())
            free.take(entry.start, entry.end, found[-1], entry.job.weight)
        for entry, nodes in zip(later, found, strict=True):
            entry.nodes = nodes
        self.free = free
        return True


def _take(free: Timetable, entry: Entry) -> None:
    free.take(entry.start, entry.end, entry.nodes, entry.job.weight)
