"""Joins of workloads on a network; each workload belongs to one cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.workload.columns import COLUMNS
from schedfarm.core.workload.resample_weeks import whole_weeks
from schedfarm.core.workload.select import select_weeks
from schedfarm.core.workload.workload import Names, Workload

NUMBERED = ("user", "group", "queue", "partition")
"""Columns with numbers that are valid only within one log; numbers below 0 mean unknown."""


def join(parts: Sequence[Workload], network: Network, name: str) -> Workload:
    """Join workloads, one for each cluster of a network, into one workload.

    Parts are in the order of the network's clusters. Number k of a user, group, queue, partition or
    job in part c (from 0) of K parts becomes k x K + c. So no two parts share a number, and
    ``divmod`` gives k and c. Unknown numbers (below 0) become -1, except for jobs. Names get the
    cluster's name as a prefix. Jobs are in order of (submit, cluster, position), with `origin`.
    Dropped and unasked jobs are added up. The largest estimate is the largest one of all parts, and
    the time of day is unknown. The platforms of the parts are ignored.

    Examples
    --------
    >>> one, two = (Workload.from_columns(submit=[0, 9], run=[1, 1], estimate=[1, 1],
    ...                                   procs=[1, 1], processors=4, user=[user, -1])
    ...             for user in (1, 7))
    >>> both = join([one, two], Network([4, 4], ["north", "south"]), "both")
    >>> both.submit.tolist(), both.origin.tolist()
    ([0, 0, 9, 9], [0, 1, 0, 1])
    >>> both.user.tolist(), both.job.tolist()
    ([2, 15, -1, -1], [2, 3, 4, 5])
    """
    count = len(network.places)
    if len(parts) != count:
        raise InputError(f"{len(parts)} workloads for {count} clusters; give one for each")
    order = np.argsort(np.concatenate([part.submit for part in parts]), kind="stable")
    columns: dict[str, Any] = {}
    for key in COLUMNS:
        values = [_apart(part, key, c, count) for c, part in enumerate(parts)]
        columns[key] = np.concatenate(values)[order]
        columns[key].flags.writeable = False
    dropped: Counter[str] = Counter()
    ignored: Counter[str] = Counter()
    for part in parts:
        dropped.update(part.dropped)
        ignored.update(part.ignored)
    return Workload(
        **columns,
        platform=network,
        name=name,
        max_estimate=max(part.max_estimate for part in parts),
        dropped=dropped,
        ignored=ignored,
        unasked=(sum(part.unasked[0] for part in parts), sum(part.unasked[1] for part in parts)),
        names=_names(parts, network),
    )


def aligned(parts: Sequence[Workload]) -> list[Workload]:
    """Shift first submissions to 0, and cut workloads to the whole weeks of the shortest.

    Later jobs are dropped as ``outside weeks``.

    Examples
    --------
    >>> one, two = (Workload.from_columns(submit=[5, last], run=[1, 1], estimate=[1, 1],
    ...                                   procs=[1, 1], processors=4)
    ...             for last in (700_000, 9_000_000))
    >>> [part.submit.tolist() for part in aligned([one, two])]
    [[0], [0]]
    """
    weeks = min(whole_weeks(part.submit) for part in parts)
    kept = (select_weeks(part, 0, weeks) for part in parts)
    return [part.take(slice(None), submit=part.submit - part.submit[0]) for part in kept]


def _apart(part: Workload, key: str, place: int, count: int) -> Int64:
    """Return a column of a part as numbers that are unique among the parts."""
    values: Int64 = getattr(part, key)
    if key == "origin":
        return np.full(len(part), place, np.int64)
    if key not in (*NUMBERED, "job"):
        return values
    if len(part) and max(int(values.max()), -int(values.min())) >= 2**62 // count:
        raise InputError(
            f"workload {part.name!r}: {key} {int(np.abs(values).max())} is too large to be "
            f"distinguished from those of {count - 1} other logs; give "
            f"numbers below {2**62 // count}"
        )
    own: Int64 = values * count + place
    return own if key == "job" else np.where(values < 0, -1, own)


def _names(parts: Sequence[Workload], network: Network) -> Names:
    names: dict[str, dict[int, str]] = {}
    for place, (part, cluster) in enumerate(zip(parts, network.places, strict=True)):
        for key, known in part.names.items():
            own = {n * len(parts) + place: f"{cluster}/{name}" for n, name in known.items()}
            names.setdefault(key, {}).update(own)
    return names
