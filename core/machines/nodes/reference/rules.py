"""Reference simulator of nodes: slow and obvious, with objects and lists.

A job takes a number of processors on each of several nodes. Nodes go down and come up. Some jobs
request advance reservations. A plan contains the starts of waiting jobs, and is replayed to find
their nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.nodes.reference.plan import Entry, Holding, Plan
from schedfarm.core.machines.nodes.reference.timetable import Inventory
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.follow import Given, Replayable, Where
from schedfarm.core.reference.job import Job
from schedfarm.core.schedule import Segments, State
from schedfarm.core.workload.workload import Workload

UP, DOWN = 0, 1
"""Changes of a node; at one instant nodes come up before others go down."""


class NodesSimulation(Replayable):
    """Simulate a machine of nodes."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        if policy.events != "instant":
            raise InputError(
                f"policy {policy.name!r}: events={policy.events} is for pools only; "
                "on nodes leave it out"
            )
        if policy.predict:
            raise InputError(
                f"policy {policy.name!r}: predict={policy.predict} is for pools only; "
                "on nodes leave it out"
            )
        if policy.limits is not None:
            raise InputError(
                f"policy {policy.name!r}: limits are for pools, grids and resources; "
                "on nodes leave them out"
            )
        assert isinstance(workload.platform, Nodes)
        self.places = workload.platform.places
        self.inventory = Inventory(workload.platform)
        # Future changes of nodes: instant, change and node.
        self.changes: list[tuple[int, int, int]] = []
        for node, down, up in workload.platform.outages.tolist():
            self.changes += [(down, DOWN, node), (up, UP, node)]
        # Accepted advance reservations that are not due yet.
        self.booked: dict[Job, Holding] = {}
        # The nodes that are kept for accepted advance reservations.
        self.in_advance = [job for job in self.jobs if job.reserved >= 0]
        self.kept: dict[Job, tuple[int, ...]] = {}
        # The starts of the last plan.
        self.planned: dict[Job, int] = {}

    def extra_columns(self) -> dict[str, Any]:
        """Return ends, states and the nodes of each job."""
        parts = [(job.position, node, job.weight) for job in self.jobs for node in job.nodes]
        columns = np.array(parts, np.int64).reshape(-1, 3).T
        return {
            "end": np.array([job.end for job in self.jobs], np.int64),
            "state": np.array([state_of(job) for job in self.jobs], np.int8),
            "segments": Segments(*columns),
        }

    # The clock.

    def goes_on(self) -> bool:
        """Return whether any job still has to arrive, start or end."""
        return super().goes_on() or bool(self.booked)

    def instants(self) -> list[int]:
        """Yield instants, including changes of nodes and due advance reservations."""
        changes = [instant for instant, _, _ in self.changes]
        return super().instants() + changes + [one.begin for one in self.booked.values()]

    def step(self, ending: list[Job], arriving: list[Job]) -> None:
        """Process completions, changes of nodes, arrivals and reservations; then make a pass."""
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
        """Bring nodes up, then take nodes down and end the jobs on these nodes."""
        for change in sorted(change for change in self.changes if change[0] == self.now):
            self.changes.remove(change)
            _, what, node = change
            if what == UP:
                self.inventory.down.remove(node)
                continue
            self.inventory.down.add(node)
            for job in [job for job in self.running if node in job.nodes]:
                self.running.remove(job)
                self.completed.append(job)
                job.cut = self.now

    def ask_in_advance(self, job: Job) -> None:
        """Accept or refuse an advance reservation."""
        due = job.submit + job.reserved
        free = Plan(self.now, self.inventory, self.held()).free.least(due, due + job.lasts)
        nodes = self.inventory.found(job, free)
        if nodes is None:
            job.refused = True
            return
        job.promise = due
        self.kept[job] = nodes
        self.booked[job] = Holding(due, due + max(job.estimate, 1), nodes, job.weight)

    def start_booked(self) -> None:
        """Start the due advance reservations; a reservation with a node that is down is lost."""
        for job, holding in list(self.booked.items()):
            if holding.begin != self.now:
                continue
            del self.booked[job]
            job.start = self.now
            if self.inventory.down & {*holding.nodes}:
                job.cut = self.now
                self.completed.append(job)
            else:
                job.nodes = holding.nodes
                self.running.append(job)

    def forget(self, job: Job) -> None:
        """Remove a job that has not started."""
        super().forget(job)
        self.booked.pop(job, None)

    # Steps of the rule.

    def arrive(self, job: Job) -> None:
        """Handle a job that has just begun to wait, for the rule."""

    def before_pass(self) -> None:
        """Prepare a pass, for the rule."""

    def planning_order(self) -> list[Job]:
        """Return the waiting jobs in the order of their insertion into a plan."""
        raise NotImplementedError

    # Plans.

    def held(self) -> list[Holding]:
        """Return the holds of running jobs and advance reservations, by predicted ends."""
        running = [
            Holding(job.start, job.predicted_end, job.nodes, job.weight) for job in self.running
        ]
        return running + list(self.booked.values())

    def scheduling_pass(self, arrived: list[Job]) -> None:
        """Plan all waiting jobs again; start the jobs with a start now and free nodes."""
        order = self.planning_order()
        if self.sought is not None:
            order = self.up_to_the_last_that_could_start(order)
        plan = Plan(self.now, self.inventory, self.held())
        for job in order:
            plan.put(job)
        got = {entry.job: entry for entry in plan.entries}
        self.planned = {job: entry.start for job, entry in got.items()}
        for job in arrived:
            if job in got:
                job.promise = got[job].start
        passed = False
        for job in order:
            if job in got and got[job].start == self.now and self.are_free(got[job]):
                job.nodes = got[job].nodes
                self.start(job, backfilled=passed)
                names = self.names(job.nodes)
                self.reason[job] = f"its start in the plan of the pass is this instant on {names}"
            else:
                passed = True

    def up_to_the_last_that_could_start(self, order: list[Job]) -> list[Job]:
        """Return the jobs up to the last that could start now, or that a schedule starts.

        The jobs behind cannot start now. The insertion of a job never changes the nodes of entries
        that start now. So the pass has the same result without the jobs behind.
        """
        free = self.free_now()
        last = 0
        for i, job in enumerate(order, 1):
            if job in (self.sought or ()) or self.inventory.found(job, free):
                last = i
        return order[:last]

    def free_now(self) -> Int64:
        """Return the number of physically free processors of each node."""
        free = np.array(self.inventory.capacities, np.int64)
        for job in self.running:
            free[list(job.nodes)] -= job.weight
        return free

    def are_free(self, entry: Entry) -> bool:
        """Return whether an entry's processors are free, also of jobs with run time 0."""
        return bool((self.free_now()[list(entry.nodes)] >= entry.job.weight).all())

    # A replay.

    def says(self, job: Job) -> str:
        """Name a job in a sentence."""
        return f"job {job.number} ({job.width} x {job.weight} processors)"

    def where(self, job: Job) -> Where:
        """Return the nodes of a job."""
        return job.nodes

    def where_given(self, given: Given, job: Job) -> Where:
        """Return the nodes of a job in a schedule."""
        return given.nodes(job)

    def names(self, where: Where) -> str:
        """Name nodes."""
        return ", ".join(self.places[node] for node in where if 0 <= node < len(self.places))

    def refusal(self, job: Job, where: Where) -> str:
        """Describe a job's start in the last plan for a message."""
        if job not in self.planned:
            return "while nodes are down there is no start for it in the plan of the pass"
        if self.planned[job] == self.now:
            return "a job that started at this instant still has its nodes"
        return f"its start in the plan of the pass is {self.planned[job]}"

    def starts_itself(self, job: Job) -> bool:
        """Return whether a job has no advance reservation."""
        return job.reserved < 0

    def differs_outside_passes(self, given: Given) -> tuple[Job, str] | None:
        """Return the first advance reservation with a different outcome."""
        for job in self.in_advance:
            due = job.submit + job.reserved
            if self.now == job.submit:
                why = self._differs_when_asked(job, given.refused[job.position], due)
                if why is None and not job.refused:
                    why = self._differs_in_nodes(job, given.nodes(job))
                if why:
                    return job, f"{self.says(job)} {why}"
            if self.now == due and not job.refused and given.nodes(job) != job.nodes:
                down = [node for node in self.kept[job] if node in self.inventory.down]
                state = f"{self.names(tuple(down))} is down" if down else "none of them is down"
                what = f"{'started' if down else 'was lost'}, but of the nodes kept for it"
                return job, f"{self.says(job)} {what}, {self.names(self.kept[job])}, {state}"
        return None

    def _differs_when_asked(self, job: Job, refused: bool, due: int) -> str | None:
        if refused == job.refused:
            return None
        if refused:
            return f"was refused, but there was room for it at {due} s on " + self.names(
                self.kept[job]
            )
        return f"was accepted, but it requested {due} s, when too few nodes have room for it"

    def _differs_in_nodes(self, job: Job, had: Where) -> str | None:
        if had in (self.kept[job], ()):
            return None
        names = self.names(had) or "no node"
        return f"was given {names}, but the rule gives it {self.names(self.kept[job])}"


class Reserving(NodesSimulation):
    """Run `conservative`: each pass plans all waiting jobs again, in queue order."""

    def planning_order(self) -> list[Job]:
        """Return the waiting jobs in queue order."""
        return self.queue()


def state_of(job: Job) -> State:
    """Return the final state of a job.

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
