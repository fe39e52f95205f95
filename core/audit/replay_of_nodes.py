"""Walk through the instants of a schedule on nodes and compare every decision with the rule's."""

from __future__ import annotations

import numpy as np

from schedfarm.core.audit.carrying_out import CarriedOut
from schedfarm.core.audit.machine_of_nodes import Asks, Levels, NodesTaken
from schedfarm.core.audit.order import Past, QueueOrder
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule, State


class NodesDiscipline:
    """Say in which order a rule plans the waiting jobs; by default in queue order."""

    def __init__(self, policy: Policy) -> None:
        """Keep what of the policy's options the rule needs."""

    def due(self, replay: NodesReplay) -> list[int]:
        """Return the next instants at which the rule itself calls for a pass, s."""
        return []

    def arrived(self, replay: NodesReplay, job: int) -> None:
        """Take note of a job that begins to wait; it is in the queue already."""

    def before_pass(self, replay: NodesReplay) -> None:
        """Do what the rule does before the first pass of an instant."""

    def order(self, replay: NodesReplay) -> list[int]:
        """Return the waiting jobs in the order in which they are planned."""
        return replay.queue()


class NodesReplay:
    """Follow given starts and nodes; what happens beside is known from them and the jobs."""

    def __init__(self, schedule: Schedule, policy: Policy) -> None:
        work = schedule.workload
        self.name, self.policy, self.epoch = policy.name, policy, work.epoch
        self.discipline: NodesDiscipline = policy.row.find("audit", work.platform.name)(policy)
        self.asks = Asks(work)
        self.queue_order = QueueOrder(work, policy, Past())
        self.start: list[int] = schedule.start.tolist()
        self.refused: list[bool] = (schedule.state == State.REFUSED).tolist()
        self.nodes = nodes_of(schedule)
        self.now = -1
        self.arrivals = 0
        self.waiting: list[int] = []
        # Of all that run, their true ends, s, and their nodes.
        self.running: dict[int, tuple[int, NodesTaken]] = {}
        # Reservations in advance that are not due yet, and what they keep.
        self.booked: dict[int, NodesTaken] = {}
        self.up = np.ones(len(self.asks.capacities), np.bool_)
        self.by_start: dict[int, list[int]] = {}
        for job, start in enumerate(self.start):
            if start >= 0 and self.asks.reserved[job] < 0:
                self.by_start.setdefault(start, []).append(job)
        outages = self.asks.platform.outages.tolist()
        self.changes = sorted(
            [(until, True, node) for node, _, until in outages]
            + [(begin, False, node) for node, begin, _ in outages],
            key=lambda change: (change[0], not change[1]),
        )
        self.starts = sorted(self.by_start, reverse=True)

    def first_fault(self, until: int) -> Fault | None:
        """Return the first fault at or before an instant, s, or None."""
        while True:
            events = self._events()
            while self.starts and self.starts[-1] <= self.now:
                self.starts.pop()
            instants = events + self.starts[-1:]
            if not instants or min(instants) > until:
                return None
            self.now = min(instants)
            if self.now not in events:
                job = self.by_start[self.now][0]
                why = "nothing happened at that instant, so there was no pass"
                return self._fault(job, f"{self.asks.says(job)} started, but {why}")
            fault = self._step()
            if fault:
                return fault

    # What goes on.

    def _events(self) -> list[int]:
        asks = self.asks
        instants = asks.submit[self.arrivals : self.arrivals + 1]
        instants += [end for end, _ in self.running.values()]
        instants += [self._due(job) for job in self.booked]
        if instants or self.waiting:
            instants += [instant for instant, _, _ in self.changes[:1]]
        return instants + (self.discipline.due(self) if self.waiting else [])

    def _step(self) -> Fault | None:
        self._complete()
        self._change_nodes()
        fault = self._arrive() or self._start_booked()
        if fault is None:
            self.discipline.before_pass(self)
            fault = self._passes()
        return fault

    def _complete(self) -> bool:
        ended = [job for job, (end, _) in self.running.items() if end == self.now]
        for job in ended:
            del self.running[job]
        return bool(ended)

    def _change_nodes(self) -> None:
        while self.changes and self.changes[0][0] == self.now:
            _, is_up, node = self.changes.pop(0)
            self.up[node] = is_up
            if not is_up:
                self.running = {j: one for j, one in self.running.items() if node not in one[1]}

    def _arrive(self) -> Fault | None:
        asks = self.asks
        while asks.submit[self.arrivals : self.arrivals + 1] == [self.now]:
            job = self.arrivals
            self.arrivals += 1
            if asks.reserved[job] < 0:
                self.waiting.append(job)
                self.discipline.arrived(self, job)
                continue
            fault = self._judge_reservation(job)
            if fault:
                return fault
        return None

    def _judge_reservation(self, job: int) -> Fault | None:
        due, asks = self._due(job), self.asks
        room = self.levels().least(due, due + asks.estimate[job]) * self.up
        nodes = asks.picks(job, room)
        if nodes is None:
            if self.refused[job]:
                return None
            why = f"it asked for {due} s in advance, when too few nodes have room for it"
            return self._fault(job, f"{asks.says(job)} was accepted, but {why}")
        if self.refused[job]:
            why = f"there was room for it at {due} s on {asks.names(nodes)}"
            return self._fault(job, f"{asks.says(job)} was refused, but {why}")
        if self.nodes[job] not in (nodes, ()):
            return self._elsewhere(job, nodes)
        self.booked[job] = nodes
        return None

    def _start_booked(self) -> Fault | None:
        """Start who is due; one with a node that is down is lost, and never has its nodes."""
        for job in [job for job in self.booked if self._due(job) == self.now]:
            nodes = self.booked.pop(job)
            self.start[job] = self.now
            down = tuple(node for node in nodes if not self.up[node])
            if self.nodes[job] != (() if down else nodes):
                state = f"{self.asks.names(down)} is down" if down else "none of them is down"
                who, names = self.asks.says(job), self.asks.names(nodes)
                lost = "started" if down else "was lost"
                return self._fault(
                    job, f"{who} {lost}, but of the nodes kept for it, {names}, {state}"
                )
            if not down:
                self.running[job] = self.now + self.asks.runs(job), nodes
        return None

    def _due(self, job: int) -> int:
        return self.asks.submit[job] + self.asks.reserved[job]

    # What a rule asks.

    def queue(self) -> list[int]:
        """Return the waiting jobs in queue order."""
        waiting = np.array(sorted(self.waiting), np.int64)
        queue: list[int] = self.queue_order.queue(waiting, self.now).tolist()
        return queue

    def levels(self) -> Levels:
        """Return what running jobs and reservations in advance leave, from now on."""
        asks, made = self.asks, Levels(self.now, self.asks.capacities)
        for begin, end, job, nodes in self._held():
            made.take(begin, end, nodes, asks.weight[job])
        return made

    def plan(self) -> CarriedOut:
        """Return an empty plan."""
        ends = (end for _, end, _, _ in self._held())
        return CarriedOut(self.asks, self.levels(), ends, self.up)

    def _held(self) -> list[tuple[int, int, int, NodesTaken]]:
        asks = self.asks
        held = [
            (self.start[job], self.start[job] + asks.lasts(job), job, nodes)
            for job, (_, nodes) in self.running.items()
        ]
        for job, nodes in self.booked.items():
            due = self._due(job)
            held.append((due, due + max(asks.estimate[job], 1), job, nodes))
        return held

    # The passes of an instant.

    def _passes(self) -> Fault | None:
        """Make the passes of this instant, and compare who starts with who did."""
        given = self.by_start.get(self.now, [])
        started: dict[int, NodesTaken] = {}
        why: dict[int, str] = {}
        goes_on = True
        while goes_on:
            why = {}
            begun = self._pass(given, why)
            for job, nodes in begun.items():
                self.waiting.remove(job)
                self.running[job] = self.now + self.asks.runs(job), nodes
                # Of who starts by the rule and not as given the fault is named below.
                self.start[job] = self.now
            started |= begun
            goes_on = self._complete()
        return self._compare(given, started, why)

    def _pass(self, given: list[int], why: dict[int, str]) -> dict[int, NodesTaken]:
        """Return who starts in one pass and on which nodes; note why others do not."""
        asks, free = self.asks, self.asks.capacities * self.up
        for job, (_, nodes) in self.running.items():
            free[list(nodes)] -= asks.weight[job]
        order = self.discipline.order(self) if self.waiting else []
        look = [i for i, job in enumerate(order) if job in given or asks.picks(job, free)]
        if not look:
            return {}
        # What is planned behind the last job that could start is never seen by anyone.
        plan = self.plan()
        begun: dict[int, NodesTaken] = {}
        for job in order[: look[-1] + 1]:
            put = plan.put(job)
            if put is None:
                why[job] = "while nodes are down there is no start for it in the plan of the pass"
            elif put.start > self.now:
                why[job] = f"its start in the plan of the pass is {put.start}"
        for put in plan.jobs:
            if put.start != self.now:
                break
            if (free[list(put.nodes)] >= asks.weight[put.job]).all():
                begun[put.job] = put.nodes
                free[list(put.nodes)] -= asks.weight[put.job]
            else:
                why[put.job] = "one that started at this instant still has its nodes"
        return begun

    def _compare(
        self, given: list[int], started: dict[int, NodesTaken], why: dict[int, str]
    ) -> Fault | None:
        asks = self.asks
        for job in given:
            if job not in started and asks.submit[job] <= self.now:
                because = why.get(job, "it is not in the queue")
                return self._fault(job, f"{asks.says(job)} started, but {because}")
        for job, nodes in started.items():
            if job not in given:
                because = (
                    f"its start in the plan of the pass is this instant on {asks.names(nodes)}"
                )
                return self._fault(job, f"{asks.says(job)} was left waiting, but {because}")
            if self.nodes[job] != nodes:
                return self._elsewhere(job, nodes)
        return None

    def _elsewhere(self, job: int, nodes: NodesTaken) -> Fault:
        asks, last = self.asks, len(self.asks.capacities)
        there = [node for node in self.nodes[job] if 0 <= node < last]
        on = asks.names(tuple(there)) or "no node"
        return self._fault(
            job, f"{asks.says(job)} was given {on}, but the rule gives it {asks.names(nodes)}"
        )

    def _fault(self, job: int, what: str) -> Fault:
        return Fault(self.now, job, self.name, f"at {self.now} s {what}")


def nodes_of(schedule: Schedule) -> list[NodesTaken]:
    """Return the nodes of each job, ascending, as the schedule gives them."""
    parts = schedule.segments
    assert parts is not None
    found: list[list[int]] = [[] for _ in range(len(schedule.workload))]
    for job, node in zip(parts.job.tolist(), parts.place.tolist(), strict=True):
        found[job].append(node)
    return [tuple(sorted(nodes)) for nodes in found]
