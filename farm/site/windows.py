"""Reservations of a site, as windows in which their nodes run no other jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.machines.hosts.windows import hosts_text
from schedfarm.core.numerals import counted
from schedfarm.core.workload.node_windows import Hosts as HostNames, Withheld, separate
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.dump.facts import Fact
from schedfarm.farm.site.dump.reservations import Reservation
from schedfarm.farm.site.dump.sinfo import Nodes
from schedfarm.farm.site.notes import Note
from schedfarm.farm.site.stocks import STOCKS

TOLERATED = 0.1
"""Share of the withheld processor time that jobs of the log may use."""

CONTRADICTED = "more processors run jobs in the log than these nodes would leave"
"""Reason for leaving out windows in which the log's jobs use more than the tolerated time."""


@dataclass(frozen=True)
class Maintained:
    """Hold an interval of the log, s, its nodes, and the reservations that withhold these nodes.

    for_users: whether one of the reservations is not for maintenance, so that jobs may run in it.
    """

    begin: int
    end: int
    hosts: HostNames
    source: str
    for_users: bool


def are_apart(log: Path, reservations: Iterable[Reservation]) -> bool:
    """Return whether some reservation is for users, and the accounting names reservations."""
    known = any(one.hosts and not one.maintenance and not one.loose for one in reservations)
    # Only the first line is read, since the accounting may have gigabytes.
    with log.open(encoding="utf-8", errors="replace") as file:
        return known and "reservation" in file.readline().strip().lower().split("|")


def maintained_of(
    jobs: Workload, reservations: Iterable[Reservation], there: HostNames, *, apart: bool
) -> tuple[list[Maintained], list[Note]]:
    """Return the intervals in which nodes were withheld from jobs, and notes on other reservations.

    there: the simulated nodes. apart: whether jobs in reservations for some users are left out;
    these reservations then withhold their nodes, too. A reservation outside of the log's period has
    no effect. A reservation that lasts longer ends with the last job.
    """
    known: list[Reservation] = []
    others: list[Reservation] = []
    for one in reservations:
        withholds = one.maintenance or (apart and not one.loose)
        (known if withholds and one.hosts else others).append(one)
    last = int(run_of(jobs)[1].max())
    withheld = [
        Withheld((begin, end, 0, 1, ()), hosts)
        for one in known
        if (hosts := one.hosts & there)
        and (begin := max(one.start - jobs.epoch, 0)) < (end := min(one.end - jobs.epoch, last))
    ]
    found = []
    for begin, end, hosts, _ in separate(withheld):
        first, stop = begin + jobs.epoch, end + jobs.epoch
        during = [o for o in known if o.start < stop and o.end > first and o.hosts & hosts]
        source = "; ".join(f"{one.where}, {one.name}" for one in during)
        for_users = not all(one.maintenance for one in during)
        found.append(Maintained(begin, end, hosts, source, for_users))
    return found, [*_notes(jobs, others, there), *_missing(known + others)]


def run_of(jobs: Workload) -> tuple[Int64, Int64]:
    """Return begin and end of each job in the log, s; both are equal for a job without a start."""
    begin: Int64 = jobs.submit + jobs.logged_wait.clip(0)
    end: Int64 = begin + np.where(jobs.logged_wait < 0, 0, jobs.run)
    return begin, end


def _notes(jobs: Workload, others: Iterable[Reservation], there: HostNames) -> Iterator[Note]:
    """Yield a note on all reservations of one name: the share of the node time that they hold."""
    first, last = (jobs.epoch + int(end) for end in (jobs.submit[0], jobs.submit[-1]))
    by_name: dict[str, list[tuple[Reservation, int, int]]] = {}
    for one in others:
        within = min(one.end, last) - max(one.start, first)
        held = len(one.hosts & there) if one.hosts else one.nodes
        if within > 0 and (held or not one.hosts):
            by_name.setdefault(one.name, []).append((one, within, held))
    for name, several in by_name.items():
        hours = sum(within for _, within, _ in several) / 3600
        time = sum(within * held for _, within, held in several)
        most = max(held for _, _, held in several)
        effect = (
            f"other jobs may use its {counted(most, 'node')} for {hours:.0f} h of the log, "
            f"{100 * time / (len(there) * (last - first)):.1f} % of the time of all nodes, so that "
            "they wait less"
            if most
            else "it names no nodes, so that its effect is unknown"
        )
        yield Note(f"reservation {name}", several[0][0].where, effect)


def _missing(reservations: Iterable[Reservation]) -> Iterator[Note]:
    for one in reservations:
        if one.repeated:
            yield Note(
                f"past occurrences of reservation {one.name}",
                one.where,
                "scontrol prints the next one only; print the table of sacctmgr, as the script of "
                "`farm site --script` does",
            )


def agreeing(
    jobs: Workload, found: Iterable[Maintained], nodes: Nodes, processors: int
) -> tuple[list[Maintained], list[Maintained]]:
    """Return the intervals in which the log's jobs leave the nodes free, and the other intervals.

    A few jobs may use the nodes, since some reservations ignore running jobs. processors: number of
    processors of the machine.
    """
    kept: list[Maintained] = []
    others: list[Maintained] = []
    begin, end = run_of(jobs)
    for one in found:
        cpus = sum(nodes.nodes[host].cpus for host in one.hosts)
        inside = (begin < one.end) & (end > one.begin)
        instants = np.concatenate((begin[inside].clip(one.begin), end[inside].clip(None, one.end)))
        change = np.concatenate((jobs.procs[inside], -jobs.procs[inside]))
        order = np.argsort(instants, kind="stable")
        over = (np.cumsum(change[order])[:-1] - (processors - cpus)).clip(0)
        used = int((over * np.diff(instants[order])).sum())
        (others if used > TOLERATED * cpus * (one.end - one.begin) else kept).append(one)
    return kept, others


def unsimulated(found: Iterable[Maintained], why: str) -> Iterator[Note]:
    """Yield one note on maintenance that is not simulated, with the reason."""
    sources = [one.source for one in found]
    if sources:
        what = f"maintenance in {counted(len(sources), 'interval')}"
        effect = f"{why}; jobs may start on these nodes, so that they wait less"
        yield Note(what, sources[0].partition(",")[0], effect)


Amounts = Callable[[HostNames], dict[str, Any] | None]
"""Function from withheld nodes to the amounts of a window: {} for everything, None for nothing."""


def windows_of(found: Iterable[Maintained], amounts: Amounts) -> list[Fact[dict[str, Any]]]:
    """Return each window as a table of a campaign, with its source."""
    return [
        Fact({"from": one.begin, "until": one.end} | held, one.source)
        for one in found
        if (held := amounts(one.hosts)) is not None
    ]


def in_regions(
    nodes: Nodes, region_of: Mapping[str, str], capacities: Mapping[str, Fact[int]]
) -> Amounts:
    """Return a function from nodes to the amounts of a window in terms of regions.

    region_of: the region of each simulated node. A window of all nodes withholds everything.
    """

    def amounts(hosts: HostNames) -> dict[str, Any] | None:
        if hosts >= region_of.keys():
            return {}
        regions: dict[str, int] = {}
        for host in sorted(hosts & region_of.keys()):
            cpus = nodes.nodes[host].cpus
            regions[region_of[host]] = regions.get(region_of[host], 0) + cpus
        stocks = {
            name: min(sum(STOCKS[name].of(nodes.nodes[host]) for host in hosts), fact.value)
            for name, fact in capacities.items()
        }
        held = {name: amount for name, amount in stocks.items() if amount}
        return held | {"regions": regions} if any(regions.values()) else None

    return amounts


def of_hosts(number_of: Mapping[str, int]) -> Amounts:
    """Return a function from nodes to the hosts of a window; number_of: the number of each node.

    Examples
    --------
    >>> withheld = of_hosts({"a": 0, "b": 1, "c": 2})
    >>> withheld(frozenset("abx")), withheld(frozenset("abc")), withheld(frozenset("x"))
    ({'hosts': '0-1'}, {}, None)
    """

    def amounts(hosts: HostNames) -> dict[str, Any] | None:
        if not (there := [number_of[host] for host in hosts & number_of.keys()]):
            return None
        text = hosts_text("a window", there, len(number_of))
        return {"hosts": text} if text else {}

    return amounts


def sourced(
    tables: Iterable[dict[str, Any]], windows: Iterable[Fact[dict[str, Any]]]
) -> list[Fact[dict[str, Any]]]:
    """Return tables of windows with sources, which are found by the times of the windows."""
    of = {(fact.value["from"], fact.value["until"]): fact.source for fact in windows}
    return [Fact(table, of[table["from"], table["until"]]) for table in tables]
