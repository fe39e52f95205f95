"""Vectors of resources, and the claims on them."""

from __future__ import annotations

from dataclasses import dataclass

Amounts = tuple[int, ...]
"""Amounts, one for each resource of the machine."""


def at_most(one: Amounts, other: Amounts) -> bool:
    """Return whether each entry of a vector is 0 or at most the entry of another vector.

    Reservations with estimate 0 may together exceed the capacity, which leaves negative amounts.

    Examples
    --------
    >>> at_most((1, 0), (1, -1)), at_most((0, 2), (9, 1))
    (True, False)
    """
    return all(mine == 0 or mine <= limit for mine, limit in zip(one, other, strict=True))


def less(one: Amounts, other: Amounts) -> Amounts:
    """Subtract the second vector from the first, entry by entry."""
    return tuple(mine - taken for mine, taken in zip(one, other, strict=True))


@dataclass(frozen=True)
class Hold:
    """Hold the resources that a job has, or reserves, in [begin, end)."""

    begin: int
    end: int
    amounts: Amounts
    place: int = 0


@dataclass(frozen=True)
class Stock:
    """Compute the amounts of a machine's capacities that holds leave free.

    Examples
    --------
    >>> holds = [Hold(0, 5, (3, 0)), Hold(2, 9, (1, 2))]
    >>> [Stock((4, 2)).free_at(t, holds) for t in (0, 2, 5, 9)]
    [(1, 2), (0, 0), (3, 0), (4, 2)]
    """

    capacities: Amounts

    def free_at(self, instant: int, holds: list[Hold]) -> Amounts:
        """Return the amounts that the holds leave free at an instant."""
        free = self.capacities
        for hold in holds:
            if hold.begin <= instant < hold.end:
                free = less(free, hold.amounts)
        return free

    def are_free(self, amounts: Amounts, begin: int, end: int, holds: list[Hold]) -> bool:
        """Return whether the holds leave a request free in all of [begin, end)."""
        # Free amounts decrease only at the begin of a hold.
        falls = [begin] + [hold.begin for hold in holds if begin < hold.begin]
        return all(at_most(amounts, self.free_at(t, holds)) for t in falls if t < end)

    def earliest(self, amounts: Amounts, lasts: int, now: int, holds: list[Hold]) -> int:
        """Return the first instant from now on at which a request is free for `lasts` s.

        A request for 0 s needs to be free only at this instant.
        """
        # Free amounts increase only at the end of a hold.
        rises = {now} | {hold.end for hold in holds if hold.end > now}
        for instant in sorted(rises):
            if self.are_free(amounts, instant, instant + max(lasts, 1), holds):
                return instant
        raise AssertionError("a request that the idle machine cannot hold")

    def shadow(self, amounts: Amounts, now: int, holds: list[Hold]) -> tuple[int, Amounts]:
        """Return the shadow time of a request, s, and the extra amounts then."""
        ends = {now} | {hold.end for hold in holds if hold.end > now}
        shadow = min(t for t in ends if at_most(amounts, self.free_at(t, holds)))
        return shadow, less(self.free_at(shadow, holds), amounts)
