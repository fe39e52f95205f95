"""Partitions of jobs by the names in a log, and limits of each partition."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.checks import is_whole, shown
from schedfarm.core.durations import duration, seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.names import choices
from schedfarm.core.numerals import counted
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.select import keep_jobs
from schedfarm.core.workload.workload import Workload

LONGER = "above the time limit of their partition"
WIDER = "above the node limit of their partition"
"""Reasons to drop jobs."""


MAX_TIME, MAX_NODES = "{short = '2h'}", "{short = 4}"
"""Examples of tables of limits, for messages."""


def whole_from_1(what: str, value: object) -> int:
    """Return a whole number from 1 on; refuse other values."""
    if not is_whole(value) or not 0 < value < HORIZON:  # type: ignore[operator]
        raise InputError(f"{what} is {shown(value)}; give a whole number from 1, below 2^62")
    return int(value)  # type: ignore[call-overload, no-any-return]


def time_limit(what: str, value: object) -> str:
    """Return a duration in its canonical form; refuse 0 and other texts."""
    seconds = seconds_of(value) if isinstance(value, str) else None
    if not seconds:
        raise InputError(f"{what} is {shown(value)}; give a duration such as '2h'")
    return duration(seconds)


def table_of(of: Callable[[str, object], object], such: str) -> Callable[[str, object], object]:
    """Return the check of a table by a check of its values; None counts as an empty table."""

    def check(what: str, given: object) -> object:
        given = {} if given is None else given
        if not isinstance(given, Mapping):
            raise InputError(f"{what} is {shown(given)}; give a table such as {such}")
        for key in given:
            if not isinstance(key, str) or not key.strip():
                raise InputError(f"{what} has the name {key!r}; give a table such as {such}")
        return {key: of(f"{what}: {key}", value) for key, value in given.items()}

    return check


def check_names(within: str, limits: Mapping[str, object], known: Collection[str]) -> None:
    """Refuse limits of partitions that are not declared."""
    for what, table in limits.items():
        for name in table:  # type: ignore[attr-defined]
            if name not in known:
                none = f"declare it in {within}.partitions"
                hint = choices(name, known) if known else none
                raise InputError(f"{within}: {what} is for {name!r}; {hint}")


def labels_of(within: str, workload: Workload, known: Collection[str]) -> dict[int, str]:
    """Return the partition, or list of partitions, for each number in the log.

    within: name in messages of the table that declares the partitions. Unknown partitions raise
    `InputError`.
    """
    numbers, counts = np.unique(workload.partition, return_counts=True)
    names, found = workload.names.get("partition", {}), {}
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        label = names.get(number, "" if number == UNKNOWN else str(number))
        parts = [name.strip() for name in label.split(",")]
        for name in parts:
            if name not in known:
                said = f"the partition {name!r}" if name else "no partition"
                raise InputError(
                    f"{within}: {counted(count, 'job')} of {workload.name!r} "
                    f"{'has' if count == 1 else 'have'} {said}, which is not declared; declare it, "
                    f"or select jobs with select.partitions; {choices(name, known)}"
                )
        found[number] = ",".join(parts)
    return found


def each(workload: Workload, of: Mapping[int, int]) -> Int64:
    """Return the value that a table has for each job's partition, int64[n]."""
    numbers, which = np.unique(workload.partition, return_inverse=True)
    values: Int64 = np.array([of[number] for number in numbers.tolist()], np.int64)[which.ravel()]
    return values


def within_limits(
    within: str,
    workload: Workload,
    labels: Mapping[int, str],
    max_time: Mapping[str, str],
    max_nodes: Mapping[str, int],
) -> Workload:
    """Drop the jobs that exceed a limit in all of their partitions.

    labels: the names of the partitions for each number.
    """
    times = {name: seconds_of(text) or 0 for name, text in max_time.items()}
    if max_nodes and (workload.nodes < 0).all():
        raise InputError(
            f"{within}: max_nodes is given, but the log {workload.name!r} does not have the "
            "nodes of jobs; leave it out"
        )
    longest, widest = (
        {
            number: max(table.get(name, HORIZON) for name in label.split(","))
            for number, label in labels.items()
        }
        for table in (times, max_nodes)
    )
    some = keep_jobs(workload, workload.estimate <= each(workload, longest), LONGER)
    allowed: Bool = some.nodes <= each(some, widest)
    return keep_jobs(some, allowed, WIDER)
