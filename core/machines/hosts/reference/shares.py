"""Jobs' shares of hosts, and the hosts that are free for a share."""

from __future__ import annotations

from dataclasses import dataclass

from schedfarm.core.machines.resources.reference.amounts import Amounts, at_most, less

Places = tuple[int, ...]
"""Numbers of some hosts, ascending."""


@dataclass(frozen=True)
class Hold:
    """Hold the share that a job has, or reserves, on each of some hosts in [begin, end)."""

    begin: int
    end: int
    share: Amounts
    places: Places


@dataclass(frozen=True)
class Closing:
    """Hold an interval [begin, end) in which a window withholds some hosts."""

    begin: int
    end: int
    places: frozenset[int]


@dataclass(frozen=True)
class Farm:
    """Find the free shares of a machine's or partition's hosts, given holds and windows.

    members: the hosts of the partition; None for all hosts.

    Examples
    --------
    >>> holds = [Hold(0, 5, (3, 0), (0, 1)), Hold(2, 9, (1, 2), (1,))]
    >>> farm = Farm(((4, 0), (4, 2)))
    >>> [farm.free_at(1, t, holds) for t in (0, 2, 5, 9)]
    [(1, 2), (0, 0), (3, 0), (4, 2)]
    >>> farm.free_for((1, 0), 1, 3, holds), farm.free_for((1, 0), 5, 9, holds)
    ((0,), (0, 1))
    >>> Farm(farm.capacities, exclusive=True).free_for((1, 0), 5, 9, holds)
    (0,)
    >>> farm = Farm(farm.capacities, closings=(Closing(7, 9, frozenset([0])),))
    >>> [farm.free_for((1, 0), *span, holds) for span in ((5, 7), (5, 8), (9, 12))]
    [(0, 1), (1,), (0, 1)]
    >>> farm = Farm(farm.capacities, members=(1,))
    >>> farm.free_for((1, 0), 5, 9, holds), farm.earliest(1, (4, 0), 2, 0, holds)
    ((1,), (9, (1,)))
    """

    capacities: tuple[Amounts, ...]
    exclusive: bool = False
    closings: tuple[Closing, ...] = ()
    members: Places | None = None

    @property
    def places(self) -> Places:
        """The hosts of the machine or partition."""
        return tuple(range(len(self.capacities))) if self.members is None else self.members

    def request(self, wanted: Amounts, given: int) -> tuple[int, Amounts]:
        """Return the number of hosts that a job takes, and its share of each.

        given: requested number of hosts; -1 for the least number that can hold the share.

        Examples
        --------
        >>> farm = Farm(((4, 0), (4, 0), (3, 1)))
        >>> [farm.request((7, 0), k) for k in (-1, 3)], farm.request((9, 0), -1)
        ([(2, (4, 0)), (3, (3, 0))], (3, (3, 0)))
        >>> Farm(farm.capacities, members=(1, 2)).request((6, 0), -1)
        (2, (3, 0))
        """
        for k in range(1, len(self.places) + 1) if given < 0 else [given]:
            share = tuple((amount + k - 1) // k for amount in wanted)
            if sum(at_most(share, self.capacities[place]) for place in self.places) >= k:
                return k, share
        raise AssertionError("a job that the idle machine cannot hold")

    def free_at(self, place: int, instant: int, holds: list[Hold]) -> Amounts:
        """Return the amounts that holds leave free on a host at an instant."""
        free = self.capacities[place]
        for hold in self.on(place, instant, holds):
            free = less(free, hold.share)
        return free

    def on(self, place: int, instant: int, holds: list[Hold]) -> list[Hold]:
        """Return the holds on a host at an instant."""
        return [one for one in holds if place in one.places and one.begin <= instant < one.end]

    def is_free(self, place: int, share: Amounts, instant: int, holds: list[Hold]) -> bool:
        """Return whether a host is free for a share at an instant."""
        if self.exclusive and self.on(place, instant, holds):
            return False
        return at_most(share, self.free_at(place, instant, holds))

    def withheld(self, begin: int, end: int) -> set[int]:
        """Return the hosts that windows withhold at any instant of [begin, end)."""
        met = [one for one in self.closings if one.begin < end and begin < one.end]
        return {place for one in met for place in one.places}

    def free_for(self, share: Amounts, begin: int, end: int, holds: list[Hold]) -> Places:
        """Return the hosts that are free for a share, and open, in all of [begin, end)."""
        # Free amounts decrease only at the begin of a hold.
        instants = [begin] + [hold.begin for hold in holds if begin < hold.begin < end]
        withheld = self.withheld(begin, end)
        return tuple(
            place
            for place in self.places
            if place not in withheld and all(self.is_free(place, share, t, holds) for t in instants)
        )

    def earliest(
        self, count: int, share: Amounts, lasts: int, now: int, holds: list[Hold]
    ) -> tuple[int, Places]:
        """Return the first instant from which enough hosts are free for `lasts` s, and the hosts.

        The hosts are also open during this time.
        """
        # Free amounts increase only at the end of a hold or a window.
        ends = {hold.end for hold in holds} | {one.end for one in self.closings}
        for instant in sorted({now} | {end for end in ends if end > now}):
            places = self.free_for(share, instant, instant + lasts, holds)
            if len(places) >= count:
                return instant, places[:count]
        raise AssertionError("a job that the idle machine cannot hold")
