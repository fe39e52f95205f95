"""Jobs of logs or models on a network: what links carry, and what jobs ask of them.

No log says how its jobs communicate: it is given, by parameters that are all here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from core.arrays import Int64
from core.checks import share, whole
from core.errors import InputError
from core.workload.workload import THOUSAND

COMPUTATION = 0.7
"""Part of a job's run time that is computation, K of Jones and Ligon (2005)."""

BANDWIDTH = 50_000
"""What each processor sends, kbit/s, ours: the paper prints none. It is half of Fast Ethernet."""

ALLTOALL = 0.5
"""Part of that which goes to all others alike, ours: the paper prints none."""

T = TypeVar("T")
Numbers = float | Sequence[float]
"""One number for all clusters, or one for each."""


def each(what: str, value: object, count: int, check: Callable[[str, object], T]) -> tuple[T, ...]:
    """Return a parameter as one value for each cluster, each checked.

    Raises
    ------
    InputError
        If it is a list of another length, and as `check`.

    Examples
    --------
    >>> each("least", 10, 3, whole), each("least", [1, 2, 3], 3, whole)
    ((10, 10, 10), (1, 2, 3))
    >>> each("least", [1, 2], 3, whole)
    Traceback (most recent call last):
    core.errors.InputError: least=[1, 2]: give one number, or 3, one for each cluster
    """
    if isinstance(value, str) or not isinstance(value, Sequence):
        return (check(what, value),) * count
    if len(value) != count:
        raise InputError(
            f"{what}={list(value)!r}: give one number, or {count}, one for each cluster"
        )
    return tuple(check(what, one) for one in value)


def asked_of_links(
    origin: Int64,
    count: int,
    computation: Numbers,
    bandwidth: Numbers,
    alltoall: Numbers,
    *,
    within: str = "",
) -> dict[str, Int64]:
    """Return the columns that say what jobs ask of links, by the cluster of which each comes.

    Parameters
    ----------
    origin : int64[n]
        Cluster of each job.
    count : int
        Number of clusters.
    computation, bandwidth, alltoall
        As for `OnNetwork`.
    within : str
        What stands before the name of a parameter in errors.

    Returns
    -------
    dict of str to int64[n]
        `communication`, `bandwidth` and `alltoall`.

    Raises
    ------
    InputError
        If a part is not from 0 to 1, a bandwidth is no whole number from 0 on, or there is not one
        for each cluster.

    Examples
    --------
    >>> asked = asked_of_links(np.array([0, 1, 0]), 2, [0.7, 0.4], 1000, 0.5)
    >>> asked["communication"].tolist(), asked["bandwidth"].tolist(), asked["alltoall"].tolist()
    ([300, 600, 300], [1000, 1000, 1000], [500, 500, 500])
    """
    computed = each(f"{within}computation", computation, count, share)
    sent = each(f"{within}bandwidth", bandwidth, count, _bandwidth)
    to_all = each(f"{within}alltoall", alltoall, count, share)
    found = {
        "communication": [round((1 - part) * THOUSAND) for part in computed],
        "bandwidth": sent,
        "alltoall": [round(part * THOUSAND) for part in to_all],
    }
    return {name: np.array(values, np.int64)[origin] for name, values in found.items()}


def _bandwidth(what: str, value: object) -> int:
    return whole(what, value, least=0)
