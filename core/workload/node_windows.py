"""Conversion of windows that name nodes of partitions to windows of regions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from schedfarm.core.machines.resources.windows import Row

Hosts = frozenset[str]


class Withheld(NamedTuple):
    """Hold a window and its nodes; a window that names regions has no nodes.

    row: the times of the window, and its amounts except for the processors of these nodes. whole:
    whether the window withholds the whole machine.
    """

    row: Row
    hosts: Hosts
    whole: bool = False


def rows_by_region(
    windows: Sequence[Withheld], region_of: Mapping[str, str], cpus_of: Mapping[str, int]
) -> list[Row]:
    """Return rows with processors of regions in place of nodes; `region_of` names the regions.

    A node that two windows withhold at the same time is withheld only once. For this, the times of
    both windows are cut at the begin and end of the other window.

    Examples
    --------
    >>> both = [Withheld((0, 60, 0, 1, ()), frozenset(["n1", "n2"])),
    ...         Withheld((30, 70, 0, 1, ()), frozenset(["n1"]))]
    >>> rows_by_region(both, {"n1": "a", "n2": "a"}, {"n1": 4, "n2": 4})
    [(0, 60, 0, 1, (('a', 8),)), (60, 70, 0, 1, (('a', 4),))]
    """

    def amounts(hosts: Hosts, whole: bool) -> tuple[tuple[str, int], ...]:
        found: dict[str, int] = {}
        # A row without amounts withholds the whole machine.
        for host in () if whole else hosts:
            label = region_of[host]
            found[label] = found.get(label, 0) + cpus_of[host]
        return tuple(sorted(found.items()))

    named = [one for one in windows if one.hosts]
    if not _meet(named):
        return [(*row[:4], row[4] + amounts(hosts, whole)) for row, hosts, whole in windows]
    # Amounts of other resources add up, as without partitions.
    rest = [row for row, hosts, _ in windows if row[4] or not hosts]
    cut = separate(named)
    return rest + [(begin, end, 0, 1, amounts(held, whole)) for begin, end, held, whole in cut]


def _intervals(windows: Sequence[Withheld]) -> list[tuple[int, int, Withheld]]:
    """Return every interval, in order of time."""
    found = []
    for one in windows:
        begin, end, every, times, _ = one.row
        found += [(begin + k * every, end + k * every, one) for k in range(times)]
    return sorted(found, key=lambda interval: interval[:2])


def _meet(windows: Sequence[Withheld]) -> bool:
    """Return whether two windows withhold a node at the same time."""
    until: dict[str, int] = {}
    for begin, end, one in _intervals(windows):
        for host in one.hosts:
            if until.get(host, 0) > begin:
                return True
            until[host] = end
    return False


def separate(windows: Sequence[Withheld]) -> Iterator[tuple[int, int, Hosts, bool]]:
    """Yield intervals without overlaps, each with all its withheld nodes.

    The last value is whether the whole machine is withheld.

    Examples
    --------
    >>> both = [Withheld((0, 60, 0, 1, ()), frozenset("ab")),
    ...         Withheld((9, 60, 0, 1, ()), frozenset("c"))]
    >>> [(begin, end, sorted(hosts)) for begin, end, hosts, _ in separate(both)]
    [(0, 9, ['a', 'b']), (9, 60, ['a', 'b', 'c'])]
    """
    ahead = _intervals(windows)[::-1]
    now: list[tuple[int, int, Withheld]] = []
    begun, hosts, whole = 0, Hosts(), False
    for instant in sorted({instant for begin, end, _ in ahead for instant in (begin, end)}):
        now = [one for one in now if one[1] > instant]
        while ahead and ahead[-1][0] == instant:
            now.append(ahead.pop())
        found = Hosts().union(*(one.hosts for _, _, one in now))
        all_of_it = any(one.whole for _, _, one in now)
        if (found, all_of_it) != (hosts, whole):
            if hosts:
                yield begun, instant, hosts, whole
            begun, hosts, whole = instant, found, all_of_it
