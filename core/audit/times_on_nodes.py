"""What holds for every policy on nodes, straight from starts, ends, states and nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from schedfarm.core.audit.machine_of_nodes import Asks
from schedfarm.core.audit.replay_of_nodes import nodes_of
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.schedule import Schedule, State


def unstarted(schedule: Schedule) -> Fault | None:
    """Return the first job that never started and was not refused what it asked for in advance."""
    work = schedule.workload
    bad = np.flatnonzero((schedule.start < 0) & ((work.reserved < 0) | ~schedule.refused))
    if not bad.size:
        return None
    job = int(bad[0])
    instant = int(work.submit[job])
    why = f"{Asks(work).says(job)} never started after its submission at {instant} s"
    asked = "it is not told to be refused"
    if work.reserved[job] < 0:
        asked = "it asked for no start in advance"
    return Fault(instant, job, "start", f"{why}, and {asked}")


def early(schedule: Schedule) -> Fault | None:
    """Return the first start before its job's submission."""
    work, start = schedule.workload, schedule.start
    bad = np.flatnonzero((start >= 0) & (start < work.submit))
    if not bad.size:
        return None
    job = int(bad[np.argmin(start[bad])])
    instant = int(start[job])
    why = f"started at {instant} s, before its submission at {work.submit[job]}"
    return Fault(instant, job, "submit", f"{Asks(work).says(job)} {why}")


def late(schedule: Schedule) -> Fault | None:
    """Return the first reservation in advance that was not refused and is not on time."""
    work, start = schedule.workload, schedule.start
    due = work.submit + work.reserved
    bad = np.flatnonzero((start >= 0) & (work.reserved >= 0) & (start != due))
    if not bad.size:
        return None
    instants = np.minimum(start, due)
    job = int(bad[np.argmin(instants[bad])])
    why = f"started at {start[job]} s, but it was accepted for {due[job]} s"
    return Fault(int(instants[job]), job, "reserved", f"{Asks(work).says(job)} {why}")


def misplaced(schedule: Schedule) -> Fault | None:
    """Return the first start on nodes, or with processors, that the job may not have."""
    asks, taken = Asks(schedule.workload), nodes_of(schedule)
    parts = schedule.segments
    assert parts is not None
    wrong = {
        job: procs
        for job, procs in zip(parts.job.tolist(), parts.procs.tolist(), strict=True)
        if procs != asks.weight[job]
    }
    faults = []
    for job, start in enumerate(schedule.start.tolist()):
        never_began = is_lost_at_its_start(schedule, job) and not taken[job]
        why = None if never_began else _says_why(asks, job, taken[job], start)
        if why is None and job in wrong:
            why = f"takes {wrong[job]} processors of a node"
        if why is not None:
            instant = max(start, 0)
            faults.append(Fault(instant, job, "segments", f"{asks.says(job)} {why}"))
    return min(faults, key=lambda fault: fault.instant, default=None)


def _says_why(asks: Asks, job: int, nodes: tuple[int, ...], start: int) -> str | None:
    """Say what is wrong with the nodes of a job."""
    last = len(asks.capacities) - 1
    fixed = asks.serial[job] < 0 or asks.reserved[job] >= 0
    if start < 0:
        return "was refused, and has nodes" if nodes else None
    if (fixed and len(nodes) != asks.asked[job]) or not nodes:
        asked = f"{asks.asked[job]}" if fixed else "at least one"
        return f"started at {start} s on {len(nodes)} nodes, where it asks for {asked}"
    if len(set(nodes)) < len(nodes):
        return f"started at {start} s on a node twice"
    for node in nodes:
        if not 0 <= node <= last:
            return f"started at {start} s on node {node}; there are nodes 0 to {last}"
        if not asks.candidates[job][node]:
            has = f"{asks.names((node,))}, which has {asks.capacities[node]} processors"
            within = "" if asks.allows(job, node) else " and is not in its set"
            return f"started at {start} s on {has}{within}"
    return None


def overload(schedule: Schedule) -> Fault | None:
    """Return the first instant with more processors in use on a node than it has."""
    asks, taken = Asks(schedule.workload), nodes_of(schedule)
    uses: dict[int, list[tuple[int, int, int]]] = {}
    for job, (start, end) in enumerate(_times(schedule)):
        if 0 <= start < end:
            for node in taken[job]:
                uses.setdefault(node, []).append((start, end, job))
    faults = [
        fault
        for node, jobs in sorted(uses.items())
        if 0 <= node < len(asks.capacities)
        for fault in _overload(asks, node, jobs)
    ]
    return min(faults, key=lambda fault: (fault.instant, fault.job), default=None)


def _overload(asks: Asks, node: int, jobs: list[tuple[int, int, int]]) -> Iterator[Fault]:
    """Find the first job, by start, that comes to a node which is too full for it."""
    capacity = int(asks.capacities[node])
    used, running = 0, list[tuple[int, int]]()
    for start, end, job in sorted(jobs, key=lambda one: (one[0], one[2])):
        used -= sum(asks.weight[other] for until, other in running if until <= start)
        running = [(until, other) for until, other in running if until > start]
        used += asks.weight[job]
        running.append((end, job))
        if used > capacity:
            why = f"started at {start} s, when the jobs that run on {asks.names((node,))} need"
            who = asks.says(job)
            yield Fault(start, job, "capacity", f"{who} {why} {used} of {capacity} processors")
            return


def cut(schedule: Schedule) -> Fault | None:
    """Return the first job that runs on a node that is down."""
    asks, taken = Asks(schedule.workload), nodes_of(schedule)
    faults = []
    for job, (start, end) in enumerate(_times(schedule)):
        if start < 0:
            continue
        for node, first, until in asks.platform.outages.tolist():
            # A job of run time 0 has its nodes at its instant.
            if node in taken[job] and first < max(end, start + 1) and start < until:
                why = f"ran on {asks.names((node,))}, which was down from {first} s until {until}"
                faults.append(Fault(max(first, start), job, "down", f"{asks.says(job)} {why}"))
    return min(faults, key=lambda fault: fault.instant, default=None)


def ended(schedule: Schedule) -> Fault | None:
    """Return the first job that does not end when its run time is over or its node goes down."""
    asks, taken = Asks(schedule.workload), nodes_of(schedule)
    downs = {(node, first) for node, first, _ in asks.platform.outages.tolist()}
    faults = []
    for job, (start, end) in enumerate(_times(schedule)):
        asks.width[job] = len(taken[job]) if asks.serial[job] >= 0 else asks.asked[job]
        if not asks.width[job] or (is_lost_at_its_start(schedule, job) and not taken[job]):
            continue
        due = start + asks.runs(job) if start >= 0 else -1
        state = State(int(schedule.state[job]))
        said = _says_end(asks, job, due, (state, end))
        if state == State.LOST and start >= 0:
            gone = any((node, end) in downs for node in taken[job])
            said = (
                None
                if gone and start < end < due
                else f"is lost at {end} s, when none of its nodes went down"
            )
        if said is not None:
            instant = max(min(end, due), start, 0)
            faults.append(Fault(instant, job, "end", f"{asks.says(job)} {said}"))
    return min(faults, key=lambda fault: fault.instant, default=None)


def _says_end(asks: Asks, job: int, due: int, told: tuple[State, int]) -> str | None:
    """Say what is wrong with the end of a job that was not lost."""
    state, end = told
    if due < 0:
        return None if end == -1 else f"was refused, and ends at {end} s"
    if end != due:
        return f"ends at {end} s, but its run time is over at {due} s"
    right = State.KILLED if asks.killed[job] else State.DONE
    return None if state == right else f"ends {state.name.lower()}, not {right.name.lower()}"


def is_lost_at_its_start(schedule: Schedule, job: int) -> bool:
    """Whether a reservation in advance is told to have met a node that was down."""
    work, start = schedule.workload, int(schedule.start[job])
    is_lost = schedule.state[job] == State.LOST and schedule.end[job] == start
    return bool(is_lost and work.reserved[job] >= 0)


def _times(schedule: Schedule) -> list[tuple[int, int]]:
    return list(zip(schedule.start.tolist(), schedule.end.tolist(), strict=True))
