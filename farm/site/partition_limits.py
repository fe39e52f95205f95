"""Limits of a site's partitions, MaxTime and MaxNodes, that all its jobs observe."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.durations import duration
from schedfarm.core.numerals import counted
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.dump.conf import Conf, seconds_in
from schedfarm.farm.site.dump.facts import UNLIMITED, Fact, whole
from schedfarm.farm.site.notes import Note


def used_of(jobs: Workload, chosen: frozenset[str]) -> dict[str, int]:
    """Return the numbers of the chosen partitions with jobs, by name."""
    there = set(np.unique(jobs.partition).tolist())
    return {
        name: number
        for number, name in jobs.names.get("partition", {}).items()
        if name in chosen and number in there
    }


def partition_limits(
    jobs: Workload, conf: Conf, used: Mapping[str, int]
) -> tuple[dict[str, Fact[str]], dict[str, Fact[int]], list[Note]]:
    """Return MaxTime and MaxNodes by partition, if simulated, and notes on the others.

    used: partitions with jobs, and their numbers.
    """
    longest, long = _limits(jobs, conf, used, "MaxTime", jobs.estimate, seconds_in)
    widest, wide = _limits(jobs, conf, used, "MaxNodes", jobs.nodes, _whole)
    times = {name: Fact(duration(one.value), one.source) for name, one in longest.items()}
    return times, {} if (jobs.nodes < 0).all() else widest, long + wide


def _whole(key: str, given: Fact[str]) -> int:
    return whole(f"{given.source}: {key}", given.value)


def _limits(
    jobs: Workload,
    conf: Conf,
    used: Mapping[str, int],
    key: str,
    values: Int64,
    read: Callable[[str, Fact[str]], int],
) -> tuple[dict[str, Fact[int]], list[Note]]:
    """Return a limit of each partition if no started job exceeds it, and notes on the others."""
    found: dict[str, Fact[int]] = {}
    notes: list[Note] = []
    for name, number in sorted(used.items()):
        line = conf.partitions.get(name)
        text = line.value.get(key.lower(), "") if line else ""
        if line is None or text.lower() in UNLIMITED:
            continue
        most = read(key, Fact(text, line.source))
        over = int(((values > most) & (jobs.partition == number) & (jobs.leave < 0)).sum())
        if over:
            effect = f"{counted(over, 'job')} of the log {'is' if over == 1 else 'are'} above it"
            notes.append(Note(f"{key}={text} of partition {name}", line.source, effect))
        elif most:
            found[name] = Fact(most, line.source)
    return found, notes
