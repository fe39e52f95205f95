"""Checks of schedules on nodes from the columns alone, for every policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from schedfarm.core.audit import times
from schedfarm.core.audit.times import Evidence
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.nodes.reference.timetable import Inventory
from schedfarm.core.reference.job import Job, jobs_of
from schedfarm.core.schedule import Schedule, State

CHECKS = ("start", "submit", "reserved", "segments", "end", "down", "capacity")
"""Names of the checks."""


def naming(schedule: Schedule, job: int) -> str:
    """Return the words for a job in a message: its number, nodes, and processors on each."""
    work, parts = schedule.workload, schedule.segments
    nodes = int(work.procs[job] // work.weight[job])
    if work.serial[job] >= 0 and parts is not None:
        nodes = int(np.count_nonzero(parts.job == job)) or nodes
    return f"job {work.job[job]} ({nodes} x {work.weight[job]} processors)"


def unstarted(evidence: Evidence) -> Fault | None:
    """Return the first job that never started, except jobs with refused advance reservations."""
    work, schedule = evidence.schedule.workload, evidence.schedule
    bad = np.flatnonzero((schedule.start < 0) & ((work.reserved < 0) | ~schedule.refused))
    if not bad.size:
        return None
    job = int(bad[0])
    instant = int(work.submit[job])
    asked = "was not refused" if work.reserved[job] >= 0 else "requested no start in advance"
    why = f"never started after its submission at {instant} s, and it {asked}"
    return Fault(instant, job, "start", f"{evidence.says(job)} {why}")


@dataclass(frozen=True)
class Stay:
    """Hold the entries of a schedule for one job."""

    job: Job
    start: int
    end: int
    state: State
    nodes: tuple[int, ...]
    procs: tuple[int, ...]

    @property
    def is_lost_at_its_start(self) -> bool:
        """Whether the job lost its advance reservation because a node was down."""
        return self.state == State.LOST and self.end == self.start and self.job.reserved >= 0

    @property
    def due(self) -> int:
        """End of the job's run time on its nodes, s; -1 for a refused job."""
        width = len(self.nodes) if self.job.serial >= 0 else self.job.asked
        return self.start + self.job.on(self.job.run, width) if self.start >= 0 else -1


def _stays(schedule: Schedule) -> Iterator[Stay]:
    parts = schedule.segments
    assert parts is not None
    order = np.lexsort((parts.place, parts.job))
    edges = np.searchsorted(parts.job[order], np.arange(len(schedule.workload) + 1))
    place, procs = parts.place[order].tolist(), parts.procs[order].tolist()
    for job in jobs_of(schedule.workload):
        i = job.position
        mine = slice(int(edges[i]), int(edges[i + 1]))
        state = State(int(schedule.state[i]))
        yield Stay(
            job,
            int(schedule.start[i]),
            int(schedule.end[i]),
            state,
            tuple(place[mine]),
            tuple(procs[mine]),
        )


Found = tuple[int, str] | None
"""Instant of a fault, s, and a clause on the job's behaviour."""


class _Checks:
    def __init__(self, platform: Nodes) -> None:
        self.places, self.inventory = platform.places, Inventory(platform)
        self.outages: dict[int, list[tuple[int, int]]] = {}
        for node, first, until in platform.outages.tolist():
            self.outages.setdefault(node, []).append((first, until))

    def reserved(self, stay: Stay) -> Found:
        """Look for an accepted advance reservation that does not start on time."""
        due = stay.job.submit + stay.job.reserved
        if stay.start < 0 or stay.job.reserved < 0 or stay.start == due:
            return None
        what = f"started at {stay.start} s, but it was accepted for {due} s"
        return min(stay.start, due), what

    def segments(self, stay: Stay) -> Found:
        """Look for invalid nodes of the job, or processors on them."""
        what = self._wrong_nodes(stay)
        if what is None and {*stay.procs} - {stay.job.weight}:
            wrong = next(procs for procs in stay.procs if procs != stay.job.weight)
            what = f"takes {wrong} processors of a node"
        if what is None or (stay.is_lost_at_its_start and not stay.nodes):
            return None
        return max(stay.start, 0), what

    def _wrong_nodes(self, stay: Stay) -> str | None:
        job, nodes, started = stay.job, stay.nodes, f"started at {stay.start} s on"
        if stay.start < 0:
            return "was refused, and has nodes" if nodes else None
        fixed = job.serial < 0 or job.reserved >= 0
        if (fixed and len(nodes) != job.asked) or not nodes:
            asked = job.asked if fixed else "at least one"
            return f"{started} {len(nodes)} nodes, where it requests {asked}"
        if len({*nodes}) < len(nodes):
            return f"{started} a node twice"
        for node in nodes:
            if not 0 <= node < len(self.places):
                return f"{started} node {node}; there are nodes 0 to {len(self.places) - 1}"
            if node not in self.inventory.allowed(job):
                has = f"{self.places[node]}, which has {self.inventory.capacities[node]} processors"
                inside = job.properties < 0 or node in self.inventory.sets[job.properties]
                return f"{started} {has}{'' if inside else ' and is not in its set'}"
        return None

    def end(self, stay: Stay) -> Found:
        """Look for an end that neither the run time nor a node that goes down explains."""
        if not (stay.nodes or stay.job.serial < 0) or (
            stay.is_lost_at_its_start and not stay.nodes
        ):
            return None
        due, what = stay.due, None
        if stay.state == State.LOST and stay.start >= 0:
            downs = {first for node in stay.nodes for first, _ in self.outages.get(node, ())}
            if stay.end not in downs or not stay.start < stay.end < due:
                what = f"is lost at {stay.end} s, when none of its nodes went down"
        elif stay.start < 0:
            what = None if stay.end == -1 else f"was refused, and ends at {stay.end} s"
        elif stay.end != due:
            what = f"ends at {stay.end} s, but its run time is over at {due} s"
        else:
            right = State.KILLED if stay.job.killed else State.DONE
            if stay.state != right:
                what = f"ends {stay.state.name.lower()}, not {right.name.lower()}"
        return None if what is None else (max(min(stay.end, due), stay.start, 0), what)

    def down(self, stay: Stay) -> Found:
        """Look for a node that is down while the job runs on it."""
        if stay.start < 0:
            return None
        found = [
            (max(first, stay.start), f"ran on {self.places[node]}, which was down from {first} s "
             f"until {until}")
            for node in stay.nodes
            for first, until in self.outages.get(node, ())
            # A job with run time 0 has its nodes at the instant of its start.
            if first < max(stay.end, stay.start + 1) and stay.start < until
        ]  # fmt: skip
        return min(found, default=None)


def proofs(evidence: Evidence) -> Iterator[Fault | None]:
    """Yield the first fault of each kind."""
    yield times.early(evidence)
    platform = evidence.schedule.workload.platform
    assert isinstance(platform, Nodes)
    checks = _Checks(platform)
    stays = list(_stays(evidence.schedule))
    kinds: tuple[Callable[[Stay], Found], ...] = (
        checks.reserved,
        checks.segments,
        checks.end,
        checks.down,
    )
    for check in kinds:
        yield times.first(
            Fault(found[0], i, check.__name__, f"{evidence.says(i)} {found[1]}")
            for i, stay in enumerate(stays)
            if (found := check(stay)) is not None
        )
    yield times.overload(evidence)
