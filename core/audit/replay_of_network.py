"""Walk through the instants of a schedule on a network and compare every decision with the rule's.

Who runs, and how fast, is known from the starts and the parts before: shares of links are made
again, and with them the end of every job.
"""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.audit.machine_of_network import Clusters, Parts
from schedfarm.core.audit.network import Isolated, Step
from schedfarm.core.audit.order import Past, QueueOrder
from schedfarm.core.audit.times_on_network import parts_of
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule


class NetworkReplay:
    """Follow given starts and parts; what happens beside is known from them and the jobs."""

    def __init__(self, schedule: Schedule, policy: Policy) -> None:
        work = schedule.workload
        self.schedule, self.name = schedule, policy.name
        self.discipline: Isolated = policy.row.find("audit", work.platform.name)(policy)
        self.clusters = Clusters(work)
        self.submit: list[int] = work.submit.tolist()
        self.end: list[int] = schedule.end.tolist()
        self.parts = _parts_by_job(schedule)
        # Orders on a network stay as they are: the place of each job in it, once for all.
        queue = QueueOrder(work, policy, Past()).queue(np.arange(len(work)), 0)
        self.rank = np.empty(len(work), np.int64)
        self.rank[queue] = np.arange(len(work))
        self.by_start: dict[int, list[int]] = {}
        for job, start in enumerate(schedule.start.tolist()):
            self.by_start.setdefault(start, []).append(job)
        self.starts = sorted(self.by_start, reverse=True)
        self.arrivals = 0
        # In queue order.
        self.waiting = np.empty(0, np.int64)

    def first_fault(self, until: int) -> Fault | None:
        """Return the first fault at or before an instant, s, or None.

        Up to that instant what holds for every policy holds here.
        """
        shown = [fault for fault in self.discipline.proofs(self.schedule) if fault]
        shown.sort(key=lambda fault: fault.instant)
        followed = self._follow(min([until] + [fault.instant for fault in shown]))
        if followed is None or (shown and shown[0].job == followed.job):
            return shown[0] if shown else None
        return followed

    def _follow(self, until: int) -> Fault | None:
        clusters = self.clusters
        while True:
            events = self._events()
            while self.starts and self.starts[-1] <= clusters.now:
                self.starts.pop()
            told = [self.end[job] for job in clusters.spread]
            instants = events + self.starts[-1:] + [end for end in told if end > clusters.now]
            if not instants or min(instants) > until:
                return None
            clusters.now = min(instants)
            fault = self._ends() or self._step(clusters.now in events)
            if fault:
                return fault

    def _events(self) -> list[int]:
        end = self.clusters.next_end()
        return self.submit[self.arrivals : self.arrivals + 1] + ([] if end is None else [end])

    def _ends(self) -> Fault | None:
        """Compare the ends of jobs on several clusters with what their links allow."""
        now = self.clusters.now
        for job, one in self.clusters.spread.items():
            told = self.end[job]
            if told != one.end and now in (told, one.end):
                why = f"ends at {told} s, but by its shares of the links its work is done at"
                why = f"{self.clusters.says(job)} {why} {one.end} s"
                return Fault(now, job, "end", why)
        return None

    def _step(self, is_event: bool) -> Fault | None:
        clusters = self.clusters
        given = self.by_start.get(clusters.now, [])
        if not is_event:
            if not given:
                return None
            why = "nothing arrived or ended at that instant, so there was no pass"
            return self._fault(given[0], f"{clusters.says(given[0])} started, but {why}")
        began = {job: self.parts[job] for job in given}
        steps: list[Step] = []
        fault: Fault | None = None
        clusters.complete()
        while True:
            clusters.share_out()
            self._arrive()
            step = Step(clusters, self.waiting, began, self.schedule.start)
            if given or self.discipline.could_start(clusters, self.waiting):
                self.discipline.check(step)
            self.waiting = step.waiting
            steps.append(step)
            clusters.share_out()
            fault = fault or self._ends()
            if not clusters.complete():
                break
        return self._compare(began, steps) or fault

    def _arrive(self) -> None:
        first = self.arrivals
        while self.submit[self.arrivals : self.arrivals + 1] == [self.clusters.now]:
            self.arrivals += 1
        if self.arrivals > first:
            new = np.arange(first, self.arrivals)
            new = new[np.argsort(self.rank[new])]
            at = np.searchsorted(self.rank[self.waiting], self.rank[new])
            self.waiting = np.insert(self.waiting, at, new)

    def _compare(self, given: dict[int, Parts], steps: list[Step]) -> Fault | None:
        """Name the job that a fault of this instant rests on.

        One that started elsewhere comes first, since others may have had to make way; then one
        that started without a right, then one that was left waiting.
        """
        clusters = self.clusters
        started = {job: step for step in steps for job in step.started}
        for job, step in started.items():
            if job in given and given[job] != step.started[job]:
                had, gets = clusters.names(given[job]), clusters.names(step.started[job])
                why = f"was given {had}, but the rule gives it {gets}: {step.why[job]}"
                return self._fault(job, f"{clusters.says(job)} {why}")
        wrong = [j for j in given if j not in started and self.submit[j] <= clusters.now]
        if wrong:
            job = min(wrong, key=lambda job: int(self.rank[job]))
            why = steps[-1].why.get(job, "it is not in the queue")
            return self._fault(job, f"{clusters.says(job)} started, but {why}")
        for job, step in started.items():
            if job not in given:
                why = f"was left waiting, but {step.why[job]}"
                return self._fault(job, f"{clusters.says(job)} {why}")
        return None

    def _fault(self, job: int, what: str) -> Fault:
        now = self.clusters.now
        return Fault(now, job, self.name, f"at {now} s {what}")


def _parts_by_job(schedule: Schedule) -> list[Parts]:
    """Return the parts of each job, by cluster, as the schedule gives them."""
    parts = parts_of(schedule)
    columns: list[Int64] = [parts.job, parts.place, parts.procs]
    found: list[list[tuple[int, int]]] = [[] for _ in range(len(schedule.workload))]
    for job, place, procs in zip(*(column.tolist() for column in columns), strict=True):
        found[job].append((place, procs))
    return [tuple(sorted(one)) for one in found]
