"""Tasks that take far longer than expected, each of which another worker is given, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

MULTIPLE = 10.0
"""A task is late once it has taken so many times what it, and one before it, were expected to."""

LEAST_SECONDS = 120.0
"""No task is late before: kernels may have to be compiled, and other users' jobs slow machines."""


class Waiting(NamedTuple):
    """Hold a task that a worker has.

    key: its key. since: when the worker was given it, s. expected: CPU time, s.
    """

    key: str
    since: float
    expected: float


def late(waiting: Iterable[Waiting], now: float) -> dict[str, float]:
    """Return the keys of late tasks, and how long each was expected to take, s.

    A worker thread has a task at hand and another one waiting, hence the longest one is added.

    Examples
    --------
    >>> late([Waiting("a", 0.0, 5.0), Waiting("b", 90.0, 20.0)], 260.0)
    {'a': 25.0}
    """
    known = list(waiting)
    longest = max((one.expected for one in known), default=0.0)
    return {
        one.key: one.expected + longest
        for one in known
        if now - one.since > max(LEAST_SECONDS, MULTIPLE * (one.expected + longest))
    }
