"""Replay a schedule on a pool or a grid, and compare the starts of every pass with the rule's."""

from __future__ import annotations

from collections import deque

import numpy as np

from schedfarm.core.audit.machine import Machine, Pass
from schedfarm.core.audit.rules import Discipline
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule


def _leaving(schedule: Schedule) -> list[tuple[int, int]]:
    """Return the jobs that leave the queue before they start, with the instant of each."""
    work, start = schedule.workload, schedule.start
    instant = work.submit + work.leave
    jobs = np.flatnonzero((work.leave >= 0) & ((start < 0) | (start >= instant)))
    return sorted(zip(instant[jobs].tolist(), jobs.tolist(), strict=True))


class Replay:
    """Move the machine from instant to instant by the given times."""

    def __init__(self, schedule: Schedule, policy: Policy) -> None:
        self.machine = Machine(schedule, policy)
        kind = policy.row.find("audit", schedule.workload.platform.name)
        self.discipline: Discipline = kind(policy)
        self.name, self.places = policy.name, schedule.place
        self.per_event = policy.events == "per-event"
        self.leaving = deque(_leaving(schedule))
        by_start: list[int] = schedule.start.argsort(kind="stable").tolist()
        gone = {job for _, job in self.leaving}
        self.by_start = [job for job in by_start if job not in gone]
        self.arrived = self.begun = 0

    def first_fault(self, until: int) -> Fault | None:
        """Return the first fault at or before an instant, s, or None.

        The caller has checked that, up to the instant, every start is at or after its submission.
        """
        while True:
            instant = self._next_instant()
            if instant is None or instant > until:
                return None
            self.machine.now = instant
            given = self._given()
            if not self._calls_for_pass():
                why = "nothing arrived or ended at that instant, so there was no pass"
                return self._fault(given[0], f"{self.machine.says(given[0])} started, but {why}")
            passes = self._passes(given)
            fault = self._judge(given, passes)
            if fault:
                return fault

    def _next_instant(self) -> int | None:
        machine = self.machine
        instants = machine.submit[self.arrived : self.arrived + 1]
        instants += [end for end, _, _ in machine.ending[:1]]
        instants += [machine.start[job] for job in self.by_start[self.begun : self.begun + 1]]
        instants += [self.leaving[0][0]] if self.leaving else []
        due = self.discipline.due(machine.now)
        return min(instants if due is None else [*instants, due], default=None)

    def _given(self) -> list[int]:
        """Take the jobs that start at this instant in the schedule."""
        machine, first = self.machine, self.begun
        while self.begun < len(self.by_start) and (
            machine.start[self.by_start[self.begun]] == machine.now
        ):
            self.begun += 1
        return self.by_start[first : self.begun]

    def _submits(self) -> bool:
        machine = self.machine
        return machine.submit[self.arrived : self.arrived + 1] == [machine.now]

    def _calls_for_pass(self) -> bool:
        now = self.machine.now
        happens = self._submits() or self.machine.ends_now() or self._leaves()
        return happens or self.discipline.due(now - 1) == now

    def _leaves(self) -> bool:
        return bool(self.leaving) and self.leaving[0][0] == self.machine.now

    def _passes(self, given: list[int]) -> list[Pass]:
        """Process the events of this instant, with a pass after each event or after all events."""
        machine = self.machine
        passes: list[Pass] = []
        while not passes or machine.ends_now() or self._submits():
            machine.give_back()
            if not self.per_event:
                self._complete(None)
                self._arrive(None)
            elif self._submits():
                self._arrive(1)
            else:
                self._complete(1)
                self._arrive(0)
            step = Pass(machine)
            step.keep_out()
            # Most passes find a full machine: no job started, and none could have.
            if given or self.discipline.judges_all or machine.could_start():
                self.discipline.check(step)
                machine.leave_queue(step.started)
            passes.append(step)
        return passes

    def _complete(self, most: int | None) -> None:
        self.discipline.completed(self.machine, self.machine.complete(most))

    def _withdrawn(self) -> list[int]:
        """Take the jobs that leave at this instant."""
        jobs: list[int] = []
        while self._leaves():
            jobs.append(self.leaving.popleft()[1])
        return jobs

    def _arrive(self, most: int | None) -> None:
        """Process arrivals and withdrawals, and admit the jobs that limits no longer keep out."""
        jobs: list[int] = []
        while self._submits() and len(jobs) != most:
            jobs.append(self.arrived)
            self.arrived += 1
        gone, arriving = set(self._withdrawn()), set(jobs)
        self.machine.withdraw(sorted(gone - arriving))
        entering = self.machine.arrive(sorted(arriving - gone))
        self.discipline.arrived(self.machine, sorted({*jobs, *entering}))

    def _judge(self, given: list[int], passes: list[Pass]) -> Fault | None:
        """Return the job responsible for a fault of this instant.

        A job that must not start has precedence over a job that was left waiting.
        """
        machine = self.machine
        started = {job for step in passes for job in step.started}
        refused = passes[-1].refused
        wrong = [j for j in given if j not in started and machine.submit[j] <= machine.now]
        for step in passes:
            # A job's place may be occupied because of an earlier wrong decision.
            blamed = [j for j in step.refused if j in step.misplaced or j in wrong]
            if step.misplaced:
                job = blamed[0]
                where = f" on {self._given_place(job)}" * (job in step.misplaced)
                what = f"{machine.says(job)} started{where}, but {step.refused[job]}"
                return self._fault(job, what)
        if wrong:
            job = min(wrong, key=list(refused).index)
            return self._fault(job, f"{machine.says(job)} started, but {refused[job]}")
        for step in passes:
            for job, why in step.left.items():
                return self._fault(job, f"{machine.says(job)} was left waiting, but {why}")
        return None

    def _given_place(self, job: int) -> str:
        """Return the name of the place where a job ran by the schedule."""
        names = [site.name for site in self.machine.sites]
        given = int(self.places[job])
        return names[given] if 0 <= given < len(names) else f"place {given}, which does not exist"

    def _fault(self, job: int, what: str) -> Fault:
        now = self.machine.now
        return Fault(now, job, self.name, f"at {now} s {what}")
