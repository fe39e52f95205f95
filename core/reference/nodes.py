"""The reference simulator of nodes: slow, obvious, objects and lists.

A job takes so many processors on each of several nodes. Nodes go down and come up; some jobs ask
for a start in advance. A plan gives starts to waiting jobs, and is carried out to see on which
nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.rooms import Holding, Rooms
from schedfarm.core.reference.simulation import Simulation
from schedfarm.core.schedule import Segments, State
from schedfarm.core.workload.workload import Workload

Plan = list[tuple[int, Job]]
"""Starts and jobs, in the order in which the jobs were put into it."""

UP, DOWN = 0, 1
"""What becomes of a node; at one instant nodes come up before others go down."""


class NodesSimulation(Simulation):
    """The machine is nodes."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        if policy.events != "instant":
            raise InputError(
                f"policy {policy.name!r}: events={policy.events} is for pools only; "
                "on nodes leave it out"
            )
        assert isinstance(workload.platform, Nodes)
        self.rooms = Rooms(workload.platform)
        # What becomes of which node, and when, as far as it has not happened yet.
        self.changes: list[tuple[int, int, int]] = []
        for node, down, up in workload.platform.outages.tolist():
            self.changes += [(down, DOWN, node), (up, UP, node)]
        # Reservations in advance that were accepted and are not due yet.
        self.booked: dict[Job, Holding] = {}

    def told(self) -> dict[str, Any]:
        """Return ends, states and the nodes of each job."""
        parts = [
            (job.position, node, job.weight) for job in self.jobs for node in sorted(job.nodes)
        ]
        columns = np.array(parts, np.int64).reshape(-1, 3).T
        return {
            "end": np.array([job.end for job in self.jobs], np.int64),
            "state": np.array([state_of(job) for job in self.jobs], np.int8),
            "segments": Segments(*columns),
        }

    # The clock.

    def goes_on(self) -> bool:
        """Whether a job is yet to arrive, to start or to end."""
        return super().goes_on() or bool(self.booked)

    def instants(self) -> list[int]:
        """Add when nodes go down or come up, and when reservations in advance are due."""
        changes = [instant for instant, _, _ in self.changes]
        return super().instants() + changes + [one.begin for one in self.booked.values()]

    def step(self, ending: list[Job], arriving: list[Job]) -> None:
        """Take completions, nodes, arrivals one by one and reservations; then make one pass."""
        for job in ending:
            self.running.remove(job)
            self.completed.append(job)
        self.change_nodes()
        for job in sorted(arriving, key=lambda job: job.position):
            self.coming.remove(job)
            if job.reserved >= 0:
                self.ask_in_advance(job)
            else:
                self.waiting.append(job)
                self.arrive(job)
        self.start_booked()
        self.before_pass()
        self.scheduling_pass(arriving)

    def change_nodes(self) -> None:
        """Let nodes come up and go down, which cuts off whoever runs there."""
        for change in sorted(change for change in self.changes if change[0] == self.now):
            self.changes.remove(change)
            _, what, node = change
            if what == UP:
                self.rooms.down.remove(node)
                continue
            self.rooms.down.add(node)
            for job in [job for job in self.running if node in job.nodes]:
                self.running.remove(job)
                self.completed.append(job)
                job.cut = self.now

    def ask_in_advance(self, job: Job) -> None:
        """Accept a reservation in advance, or refuse it."""
        due = job.submit + job.reserved
        nodes = self.rooms.found(job, due, self.held())
        if nodes is None:
            job.refused = True
            return
        job.promise = due
        self.booked[job] = Holding(due, due + max(job.estimate, 1), nodes, job.weight)

    def start_booked(self) -> None:
        """Start the reservations in advance that are due; one whose node is down is lost."""
        for job, holding in list(self.booked.items()):
            if holding.begin != self.now:
                continue
            del self.booked[job]
            job.start = self.now
            if self.rooms.down & {*holding.nodes}:
                job.cut = self.now
                self.completed.append(job)
            else:
                job.nodes = holding.nodes
                self.running.append(job)

    def forget(self, job: Job) -> None:
        """Let a job that has not started never have been."""
        super().forget(job)
        self.booked.pop(job, None)

    # What the rule adds.

    def arrive(self, job: Job) -> None:
        """Do what the rule does with a job that has just begun to wait."""

    def before_pass(self) -> None:
        """Do what the rule does before a pass."""

    def planning_order(self) -> list[Job]:
        """Return the waiting jobs in the order in which they are put into a plan."""
        raise NotImplementedError

    # Plans.

    def held(self) -> list[Holding]:
        """Return what running jobs and reservations in advance hold, as the scheduler knows it."""
        running = [
            Holding(job.start, job.predicted_end, job.nodes, job.weight) for job in self.running
        ]
        return running + list(self.booked.values())

    def carried_out(self, plan: Plan) -> dict[Job, Holding] | None:
        """Return what each job of a plan gets; None if one does not find its nodes.

        A job with estimate 0 that does not find them, since others came after it, gets nothing.
        """
        held, got = self.held(), dict[Job, Holding]()
        for start, job in sorted(plan, key=lambda entry: entry[0]):
            nodes = self.rooms.found(job, start, held)
            if nodes is None and job.lasts > 0:
                return None
            if nodes is None:
                continue
            got[job] = Holding(start, start + job.lasts, nodes, job.weight)
            held.append(got[job])
        return got

    def ends(self, plan: Plan) -> set[int]:
        """Return when running jobs, reservations in advance and jobs of a plan end."""
        return {one.end for one in self.held()} | {start + job.lasts for start, job in plan}

    def with_job(self, plan: Plan, job: Job) -> Plan:
        """Put a job into a plan at the first instant at which that can be carried out."""
        for instant in sorted({self.now} | self.ends(plan)):
            longer = [*plan, (instant, job)]
            if instant >= self.now and job in (self.carried_out(longer) or {}):
                return longer
        return plan

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Plan all who wait anew; start those whose start is now and whose nodes are free."""
        plan: Plan = []
        for job in self.planning_order():
            plan = self.with_job(plan, job)
        got = self.carried_out(plan)
        assert got is not None
        for start, job in plan:
            if job in arrived:
                job.promise = start
        passed = False
        for job in self.planning_order():
            if job in got and got[job].begin == self.now and self.are_free(got[job]):
                job.nodes = got[job].nodes
                self.start(job, backfilled=passed)
            else:
                passed = True

    def are_free(self, holding: Holding) -> bool:
        """Whether nobody who still has processors is in the way, as a job of run time 0 may be."""
        return all(
            sum(job.weight for job in self.running if node in job.nodes) + holding.weight
            <= self.rooms.capacities[node]
            for node in holding.nodes
        )


class Reserving(NodesSimulation):
    """`conservative`: all who wait are planned anew each pass, in queue order."""

    def planning_order(self) -> list[Job]:
        """Return the waiting jobs in queue order."""
        return self.queue()


def state_of(job: Job) -> State:
    """Return how a job ended.

    Examples
    --------
    >>> state_of(Job(0, 1, 0, 5, 5, 1, -1, start=3, cut=4)).name
    'LOST'
    """
    if job.refused:
        return State.REFUSED
    if job.cut >= 0:
        return State.LOST
    return State.KILLED if job.killed else State.DONE
