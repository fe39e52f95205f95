"""Maintenance reservations of a site, as windows in which its nodes run no jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedfarm.core.numerals import counted
from schedfarm.core.workload.node_windows import Hosts, Withheld, separate
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.dump.facts import Fact
from schedfarm.farm.site.dump.reservations import Reservation
from schedfarm.farm.site.dump.sinfo import Nodes
from schedfarm.farm.site.notes import Note
from schedfarm.farm.site.stocks import STOCKS


@dataclass(frozen=True)
class Maintained:
    """Hold an interval of the log, s, its nodes, and the reservations that withhold them."""

    begin: int
    end: int
    hosts: Hosts
    source: str


def maintained_of(
    jobs: Workload, reservations: Sequence[Reservation], there: Hosts
) -> tuple[list[Maintained], list[Note]]:
    """Return when nodes of a site were under maintenance, and notes on other reservations.

    there: the nodes that are simulated. A reservation outside the period of the log has no effect.
    """
    known = [one for one in reservations if one.maintenance and one.hosts]
    withheld = [
        Withheld((begin, end, 0, 1, ()), hosts)
        for one in known
        if (hosts := one.hosts & there)
        and (begin := max(one.start - jobs.epoch, 0)) < (end := one.end - jobs.epoch)
        and begin < _last(jobs)
    ]
    found = [
        Maintained(begin, end, hosts, _names(known, begin + jobs.epoch, end + jobs.epoch, hosts))
        for begin, end, hosts, _ in separate(withheld)
    ]
    return found, [_note(jobs, one, there) for one in reservations if one not in known]


def _last(jobs: Workload) -> int:
    """Return the end of the last job of the log, s."""
    return int((jobs.submit + jobs.logged_wait.clip(0) + jobs.run).max())


def _names(of: Iterable[Reservation], begin: int, end: int, hosts: Hosts) -> str:
    during = [one for one in of if one.start < end and one.end > begin and one.hosts & hosts]
    return "; ".join(f"{one.where}, {one.name}" for one in during)


def _note(jobs: Workload, one: Reservation, there: Hosts) -> Note:
    """Return the effect of a reservation: the part of the site's node time that it holds."""
    what = f"reservation {one.name}"
    first, last = (jobs.epoch + int(end) for end in (jobs.submit[0], jobs.submit[-1]))
    within = max(min(one.end, last) - max(one.start, first), 0)
    if not within:
        effect = "it is outside the period of the log, and has no effect on this comparison"
        return Note(what, one.where, effect)
    held = len(one.hosts & there) if one.hosts else one.nodes
    part = f", {100 * held * within / (len(there) * (last - first)):.1f} % of the time of all nodes"
    return Note(
        what,
        one.where,
        f"other jobs may use its {counted(held, 'node')} for {within / 3600:.0f} h of the "
        f"log{part}, so that they wait less",
    )


def unsimulated(found: Iterable[Maintained], why: str) -> Iterator[Note]:
    """Yield a note on all maintenance if it is not simulated, for a reason."""
    sources = [one.source for one in found]
    if sources:
        what = f"maintenance in {counted(len(sources), 'interval')}"
        effect = f"{why}; jobs run on the nodes meanwhile, so that they wait less"
        yield Note(what, sources[0].partition(",")[0], effect)


def tables(
    found: Iterable[Maintained],
    nodes: Nodes,
    region_of: Mapping[str, str],
    capacities: Mapping[str, Fact[int]],
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each window as a table of a campaign, with its source.

    region_of: the label of each simulated node. A window of all nodes withholds everything.
    """
    for one in found:
        times = {"from": one.begin, "until": one.end}
        if one.hosts >= region_of.keys():
            yield times, one.source
            continue
        regions: dict[str, int] = {}
        for host in sorted(one.hosts & region_of.keys()):
            cpus = nodes.nodes[host].cpus
            regions[region_of[host]] = regions.get(region_of[host], 0) + cpus
        amounts = {
            name: min(sum(STOCKS[name].of(nodes.nodes[host]) for host in one.hosts), fact.value)
            for name, fact in capacities.items()
        }
        held = {name: amount for name, amount in amounts.items() if amount}
        if any(regions.values()):
            yield times | held | {"regions": regions}, one.source
