"""Nodes of which jobs take several at once: how much room they have, and which ones a job finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedfarm.core.machines.nodes.platform import ANY, Nodes
from schedfarm.core.reference.job import Job


@dataclass(frozen=True)
class Holding:
    """Processors that someone has, or is to have, on each of some nodes in [begin, end)."""

    begin: int
    end: int
    nodes: tuple[int, ...]
    weight: int


class Rooms:
    """Know the nodes and which of them are down; what is held of them is told with each question.

    Examples
    --------
    >>> rooms = Rooms(Nodes([2, 3], ["a", "b"]))
    >>> held = [Holding(5, 9, (0,), 1), Holding(0, 4, (1,), 2)]
    >>> [rooms.room(0, *interval, held) for interval in ((0, 5), (0, 6), (9, 12), (5, 5))]
    [2, 1, 2, 1]
    >>> rooms.down.add(1)
    >>> rooms.room(1, 4, 9, held)
    0
    """

    def __init__(self, platform: Nodes) -> None:
        self.capacities = list(platform.capacities)
        self.everywhere = range(len(self.capacities))
        self.sets = [{i for i in self.everywhere if row[i]} for row in platform.members.tolist()]
        self.down: set[int] = set()

    def room(self, node: int, begin: int, end: int, held: Iterable[Holding]) -> int:
        """Return the least number of a node's free processors at any instant of [begin, end)."""
        if node in self.down:
            return 0
        here = [one for one in held if node in one.nodes]
        # Only where somebody begins does the number of free processors fall.
        falls = {begin} | {one.begin for one in here if begin < one.begin < end}
        return min(
            self.capacities[node] - sum(one.weight for one in here if one.begin <= t < one.end)
            for t in falls
        )

    def in_sets(self, node: int) -> tuple[int, ...]:
        """Return the sets that a node is in."""
        return tuple(i for i, members in enumerate(self.sets) if node in members)

    def allowed(self, job: Job) -> list[int]:
        """Return the nodes of a job's set that have its processors, down or not, as declared."""
        members = set(self.everywhere) if job.properties == ANY else self.sets[job.properties]
        return [node for node in sorted(members) if self.capacities[node] >= job.weight]

    def picked(self, job: Job, width: int, room: list[int]) -> tuple[int, ...] | None:
        """Return so many nodes for a job where each has some room, ascending; None if too few do.

        Those with the least room go first, of these the ones in the fewest sets.
        """
        enough = [node for node in self.allowed(job) if room[node] >= job.weight]
        enough.sort(key=lambda node: (room[node], len(self.in_sets(node)), node))
        return tuple(sorted(enough[:width])) if len(enough) >= width else None

    def rooms(self, begin: int, end: int, held: list[Holding]) -> list[int]:
        """Return the room of every node over an interval."""
        return [self.room(node, begin, end, held) for node in self.everywhere]

    def found(self, job: Job, instant: int, held: list[Holding]) -> tuple[int, ...] | None:
        """Return the nodes that a job finds at an instant, beside what is held; None for none."""
        return self.picked(job, job.width, self.rooms(instant, instant + job.lasts, held))
