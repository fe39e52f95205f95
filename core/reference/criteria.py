"""Comparison of two plans by exact fractions of waits, slowdowns and fairness."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

ROUNDING = Fraction(1, 10**12)
"""Lower bound that a sum of gains must exceed."""


class Stay(NamedTuple):
    """Hold a job of a plan: its wait and length, s, processors and user."""

    wait: int
    length: int
    procs: int
    user: int


def slowdown(stays: list[Stay]) -> Fraction:
    """Return the sum of bounded slowdowns, with 1 s as the shortest length.

    Examples
    --------
    >>> slowdown([Stay(5, 10, 1, 7), Stay(3, 0, 1, 7), Stay(0, 0, 1, 7)])
    Fraction(11, 2)
    """
    each = (Fraction(stay.wait + stay.length, max(stay.length, 1)) for stay in stays)
    return sum((max(one, Fraction(1)) for one in each), Fraction(0))


def wait(stays: list[Stay]) -> Fraction:
    """Return the sum of waits, s."""
    return Fraction(sum(stay.wait for stay in stays))


def response(stays: list[Stay]) -> Fraction:
    """Return the sum of responses, s."""
    return Fraction(sum(stay.wait + stay.length for stay in stays))


def normalised_wait(waited: int, worked: int) -> Fraction:
    """Return a user's waits, s, divided by the completed work, processor-seconds, at least 1.

    Examples
    --------
    >>> normalised_wait(6, 4), normalised_wait(6, 0), normalised_wait(0, 0)
    (Fraction(3, 2), Fraction(6, 1), Fraction(0, 1))
    """
    return Fraction(waited, max(1, worked))


def unfairness(stays: list[Stay], raised: bool = False) -> Fraction:
    """Return F, the sum over users of the squared distance from the mean normalised wait.

    If `raised`, 1 is added to each distance.

    Examples
    --------
    User 1 waits 1 s per processor-second, user 2 never.

    >>> stays = [Stay(4, 2, 2, 1), Stay(0, 5, 1, 2)]
    >>> unfairness(stays), unfairness(stays, raised=True)
    (Fraction(1, 2), Fraction(5, 2))
    """
    normalised = []
    for user in sorted({stay.user for stay in stays}):
        theirs = [stay for stay in stays if stay.user == user]
        area = sum(stay.length * stay.procs for stay in theirs)
        normalised.append(normalised_wait(sum(stay.wait for stay in theirs), area))
    if not normalised:
        return Fraction(0)
    mean = sum(normalised, Fraction(0)) / len(normalised)
    return sum(((int(raised) + mean - one) ** 2 for one in normalised), Fraction(0))


JOBS: tuple[Callable[[list[Stay]], Fraction], ...] = (slowdown, wait, response)
"""The criteria by job; the criterion by user comes after these."""


def gain(best: Fraction, other: Fraction) -> Fraction:
    """Return the relative gain of another value over the best value so far.

    Examples
    --------
    >>> none, some = Fraction(0), Fraction(4)
    >>> gain(some, Fraction(3)), gain(none, none), gain(none, some)
    (Fraction(1, 4), Fraction(0, 1), Fraction(-1, 1))
    """
    if best == 0:
        return Fraction(0) if other == 0 else Fraction(-1)
    return (best - other) / best


def is_better(best: list[Fraction], other: list[Fraction], weights: list[Fraction]) -> bool:
    """Return whether another plan is better than the best plan so far, by their criteria.

    The values are slowdown, wait, response and F of each plan, in the order of the weights.

    References
    ----------
    D. Klusacek and H. Rudova, "Performance and fairness for users in parallel job scheduling",
    2012, Algorithm 1 (SELECTBETTER).

    Examples
    --------
    A quarter less wait for a fifth more slowdown.

    >>> best, other = [Fraction(5), Fraction(4)], [Fraction(6), Fraction(3)]
    >>> is_better(best, other, [Fraction(1), Fraction(1)])
    True
    >>> is_better(best, other, [Fraction("1.5"), Fraction(1)])
    False
    """
    gains = [gain(a, b) for a, b in zip(best, other, strict=True)]
    return sum(weight * one for weight, one in zip(weights, gains, strict=True)) > ROUNDING
