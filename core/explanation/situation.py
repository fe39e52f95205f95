"""The machine and the queue around one job: at its submission, while it waited, at its start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.audit.kinds import KINDS
from schedfarm.core.audit.limits import Totals
from schedfarm.core.audit.machine import Machine, Pass
from schedfarm.core.audit.orders import Past, QueueOrder
from schedfarm.core.audit.pool import Replay
from schedfarm.core.explanation.window import Window
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.numerals import grouped
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.follow import follow
from schedfarm.core.schedule import Schedule, Segments

NO_REASON = "the replay finds another job at fault"

FOLLOWED = 1_500
"""Largest number of jobs for a replay by the reference; with more, a replay takes seconds."""

RUNNING, AHEAD, LATER, PASSED = "running", "ahead", "later", "passed"

ROLES = {
    RUNNING: "ran at its submission",
    AHEAD: "was ahead of it in the queue at its submission",
    LATER: "was submitted after it, and started before it from ahead of it in the queue",
    PASSED: "started before it from behind it in the queue",
}
"""Meaning of each role of another job."""


class Usage(NamedTuple):
    """Hold the use of a cluster, a node or a resource: name, unit, amount in use, and total."""

    name: str
    unit: str
    used: int
    of: int


@dataclass(frozen=True)
class Held:
    """Hold the reason why a job did not start in a pass.

    Parameters
    ----------
    instant : int
        Instant of the pass, s.
    used : int
        Processors in use after the pass.
    why : str, optional
        Reason as a clause; None if it is unknown.
    unknown : str, optional
        Clause that explains why the reason is unknown.
    in_use : tuple of Usage
        Use of each cluster, node or other resource of the machine.
    head : int, optional
        Index of the head after the pass, under rules with reservations: the first job of the queue
        that limits admit.
    shadow : int, optional
        Shadow time of the head, s.
    extra : int, optional
        Extra processors at the shadow time.
    """

    instant: int
    used: int
    why: str | None
    unknown: str | None = None
    in_use: tuple[Usage, ...] = ()
    head: int | None = None
    shadow: int | None = None
    extra: int | None = None


class Situation:
    """Hold the jobs of a window around the explained job, by indices of the whole workload."""

    def __init__(self, schedule: Schedule, policy: Policy, job: int, window: Window) -> None:
        self.schedule, self.policy, self.job, self.window = schedule, policy, job, window
        self.submit = int(schedule.workload.submit[job])
        self.start = int(schedule.start[job])
        self.starts, self.ends = schedule.start[window.jobs], schedule.end[window.jobs]
        self.submits = schedule.workload.submit[window.jobs]
        self.entries = self._entries()
        # The jobs that can affect the explained job.
        origin = schedule.workload.origin
        self.rival = origin == origin[job] if policy.row.apart else np.ones(origin.size, np.bool_)

    def running(self) -> Int64:
        """Return the jobs that run after the pass of the submission."""
        return self._which((self.starts <= self.submit) & (self.submit < self.ends))

    def ahead(self) -> Int64:
        """Return the jobs ahead of the job after the pass of its submission, in queue order."""
        waiting = self._which(self._in_queue(self.submit) & (self.starts > self.submit))
        queue = _Queue(self.schedule, self.policy).at(waiting, self.submit)
        return queue[: _place(queue, self.job)]

    def passed(self) -> tuple[Int64, Int64]:
        """Return the jobs that overtook the explained job while it waited, in two groups.

        Jobs of the first group were submitted later, but were ahead in the queue when they started.
        Jobs of the second group started from behind in the queue.
        """
        began = (self.starts >= self.submit) & (self.starts < self.start)
        later, passed, queue = [_NO_JOBS], [_NO_JOBS], _Queue(self.schedule, self.policy)
        for now in np.unique(self.starts[began]).tolist():
            waiting = self._which(self._in_queue(now) & (self.starts >= now))
            if (self.schedule.start[waiting] == now).any():
                line = queue.at(waiting, now)
                place = _place(line, self.job)
                front, behind = line[:place], line[place + 1 :]
                passed.append(behind[self.schedule.start[behind] == now])
                later.append(front[(self.schedule.start[front] == now) & (front > self.job)])
        return np.concatenate(later), np.concatenate(passed)

    def ended(self) -> Int64:
        """Return the jobs that ended at the start of the job."""
        return self._which((self.ends == self.start) & (self.starts < self.start))

    def arrived(self) -> Int64:
        """Return the jobs that were submitted at the start of the job."""
        return np.flatnonzero((self.schedule.workload.submit == self.start) & self.rival)

    def last_event(self) -> int:
        """Return the last instant before the start at which a job arrived, started or ended, s."""
        times = np.concatenate((self.submits, self.starts, self.ends))
        return int(times[times < self.start].max())

    def held(self, instant: int) -> Held:
        """Return the reason against a start of the job at an instant, s."""
        on = np.zeros(len(self.schedule.workload), np.bool_)
        on[self.window.jobs[(self.starts <= instant) & (instant < self.ends)]] = True
        used = int(self.schedule.taken[on].sum())
        found = self._judged(instant, used)
        return replace(found, in_use=usage(self.schedule, on))

    def _judged(self, instant: int, used: int) -> Held:
        kind = KINDS[self.schedule.workload.platform.name]()
        if not kind.judges(self.policy):
            return Held(instant, used, None, f"no audit replays the rule {self.policy.rule}")
        state_is_enough = self.policy.events == "instant" and not self.policy.row.keeps_plan
        if kind.needs == "audit" and state_is_enough:
            return self._by_state(instant, used)
        if (jobs := self.window.jobs.size) > FOLLOWED:
            unknown = (
                f"a replay of {grouped(jobs)} jobs would take seconds; the limit is "
                f"{grouped(FOLLOWED)}"
            )
            return Held(instant, used, None, unknown)
        if kind.needs == "audit":
            return self._by_replay(instant, used)
        fault = follow(self._supposed(instant), self.policy, instant)
        if fault is None or fault.job != self.job:
            return Held(instant, used, None, NO_REASON)
        return Held(instant, used, _reason(fault.why))

    def _by_state(self, instant: int, used: int) -> Held:
        """Check one pass by the auditor, from the jobs that wait and run at the instant."""
        whole, starts, ends = self.schedule, self.schedule.start, self.schedule.end
        queue = _Queue(whole, self.policy)
        present = self.window.jobs[
            (self.submits <= instant) & ((self.ends > instant) | (self.starts >= instant))
        ]
        # Sums over completed jobs need all jobs from the first submission on.
        jobs = np.arange(present.max() + 1) if queue.by_end.size else np.sort(present)
        start = starts[jobs].copy()
        place = _place(jobs, self.job)
        start[place] = instant
        machine = Machine(_part(whole, jobs, start, self.policy), self.policy)
        is_running = (start < instant) & (ends[jobs] > instant)
        for job in np.flatnonzero(is_running)[np.argsort(start[is_running], kind="stable")]:
            machine.now = int(start[job])
            machine.limits.enter(int(job))
            machine.begin(int(job))
        machine.now = instant
        queue.complete(instant, machine.past)
        submitted = np.flatnonzero((start >= instant) & (whole.workload.submit[jobs] <= instant))
        outside = np.isin(jobs[submitted], self.window.jobs[self.entries > instant])
        for job in submitted[~outside].tolist():
            machine.limits.enter(job)
        machine.waiting, machine.limits.outside = submitted[~outside], submitted[outside].tolist()
        step = Pass(machine)
        step.keep_out()
        kind = self.policy.row.find("audit", whole.workload.platform.name)
        kind(self.policy).check(step)
        machine.leave_queue(step.started)
        return self._held(machine, instant, used, step.refused.get(place), jobs)

    def _by_replay(self, instant: int, used: int) -> Held:
        """Replay the window by the auditor, for rules with state between passes."""
        window, place = self.window, int(self.window.place[self.job])
        start = self.starts.copy()
        start[place] = instant
        given: dict[str, Any] = {}
        if window.workload.platform.keeps:
            given["place"] = window.place_given
        never = np.zeros(start.size, np.bool_)
        supposed = Schedule(window.workload, self.policy.name, start, never, **given)
        replay = Replay(supposed, self.policy)
        fault = replay.first_fault(instant)
        why = _reason(fault.why) if fault is not None and fault.job == place else None
        return self._held(replay.machine, instant, used, why, window.jobs)

    def _held(
        self, machine: Machine, instant: int, used: int, why: str | None, jobs: Int64
    ) -> Held:
        if why is None:
            return Held(instant, used, None, NO_REASON)
        if self.policy.row.holds == 0:
            return Held(instant, used, why)
        queue = machine.order.queue(machine.waiting, instant).tolist()
        free = (job for job in queue if machine.limits.holds(job, instant) is None)
        if (head := next(free, None)) is None:
            return Held(instant, used, why)
        _, shadow, extra = machine.shadow(head)
        return Held(instant, used, why, head=int(jobs[head]), shadow=shadow, extra=extra)

    def _supposed(self, instant: int) -> Schedule:
        """Return the schedule up to the window's end, with a start of the job at an instant, s."""
        whole, last = self.schedule, self.window.jobs.size
        start, end = whole.start[:last].copy(), whole.end[:last].copy()
        end[self.job] += instant - start[self.job]
        start[self.job] = instant
        given: dict[str, Any] = {
            "end": end,
            "state": whole.state[:last],
            "place": whole.place[:last],
        }
        if whole.segments is not None:
            kept = whole.segments.job < last
            parts = (whole.segments.job, whole.segments.place, whole.segments.procs)
            given["segments"] = Segments(*(part[kept] for part in parts))
        jobs = whole.workload.take(slice(last))
        return Schedule(jobs, self.policy.name, start, whole.backfilled[:last], **given)

    def _in_queue(self, now: int) -> Bool:
        """Return the mask of jobs that have entered the queue, including the explained job."""
        entered: Bool = (self.entries <= now) | (self.window.jobs == self.job)
        return entered & (self.submits <= now)

    def _entries(self) -> Int64:
        """Return the instant at which each job of the window entered the queue, s.

        Limits on submitted jobs keep some jobs out of the queue after their submission. Jobs that
        run at the window's cut have already entered the queue.
        """
        whole, jobs, entered = self.schedule, self.window.jobs, self.submits.copy()
        totals = Totals(whole.workload, self.policy)
        if not totals.keeps_jobs_out:
            return entered
        place = {job: k for k, job in enumerate(jobs.tolist())}
        early = jobs < self.window.cut
        for job in jobs[early].tolist():
            totals.enter(job)
        entered[~early] = np.iinfo(np.int64).max
        events = np.unique(np.concatenate((self.submits[~early], self.starts, self.ends)))
        for now in events[events < self.start].tolist():
            ended = jobs[(self.ends == now) & (self.starts < now)].tolist()
            arrived = np.sort(jobs[~early & (self.submits == now)]).tolist()
            # Jobs with run time 0 end at once, so that other jobs may enter the queue.
            brief = {*jobs[(self.ends == now) & (self.starts == now)].tolist()}
            while ended or arrived:
                for job in ended:
                    totals.complete(job, int(whole.start[job]))
                for job in totals.let_in(arrived):
                    entered[place[job]] = now
                ended, arrived = [job for job in brief if entered[place[job]] <= now], []
                brief -= {*ended}
            # In a schedule of another policy, a job may start before it has entered the queue.
            for job in [job for job in totals.outside if whole.start[job] <= now]:
                totals.outside.remove(job)
                totals.enter(job)
                entered[place[job]] = now
        return entered

    def _which(self, chosen: Bool) -> Int64:
        jobs = self.window.jobs[chosen]
        return np.sort(jobs[self.rival[jobs]])


class _Queue:
    """Put waiting jobs into queue order, at instants that never decrease."""

    def __init__(self, schedule: Schedule, policy: Policy) -> None:
        self.schedule, self.past = schedule, Past((schedule.start, schedule.end))
        self.order = QueueOrder(schedule.workload, policy, self.past)
        self.by_end = _NO_JOBS
        orders = [find_order(name) for name in (policy.order, policy.backfill) if name]
        if any(order.remembers for order in orders):
            self.by_end = np.argsort(schedule.end, kind="stable")
            self.by_end = self.by_end[~schedule.refused[self.by_end]]
        self.added = 0
        jobs, ended = schedule.workload, self.by_end
        self.ends = schedule.end[ended]
        columns = (jobs.user, schedule.wait, jobs.run * jobs.procs, schedule.end)
        self.rows = list(zip(*(column[ended].tolist() for column in columns), strict=True))

    def at(self, waiting: Int64, now: int) -> Int64:
        """Return the waiting jobs in queue order at an instant, s."""
        self.complete(now, self.past)
        return self.order.queue(waiting, now)

    def complete(self, now: int, past: Past) -> None:
        """Add the jobs that ended by an instant, s, to the users' history."""
        last = int(np.searchsorted(self.ends, now, "right"))
        for user, wait, work, end in self.rows[self.added : last]:
            past.add(user, wait, work, end)
        self.added = last


def usage(schedule: Schedule, on: Bool) -> tuple[Usage, ...]:
    """Return the use of each place, or other resource, of a machine by some jobs.

    The result is empty on a pool.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> from schedfarm.core.machines.grid.platform import Grid
    >>> w = Workload.from_columns(submit=[0, 0], run=[9, 9], estimate=[9, 9], procs=[2, 1],
    ...                           platform=Grid([2, 2], ["a", "b"]))
    >>> usage(simulate(w, "fcfs+easy"), np.array([False, True]))
    (Usage(name='a', unit='processors', used=0, of=2), Usage(name='b', unit='processors', used=1, \
of=2))
    """
    jobs, platform = schedule.workload, schedule.workload.platform
    if len(platform.places) > 1:
        # This module has kernels, and imports numba.
        from schedfarm.core.placement import parts_of

        job, place, procs = parts_of(schedule)
        used = np.zeros(len(platform.places), np.int64)
        np.add.at(used, place[on[job]], procs[on[job]])
        rows = zip(platform.places, used.tolist(), platform.sizes, strict=True)
        return tuple(Usage(name, "processors", held, of) for name, held, of in rows)
    if isinstance(platform, Hosts):
        count, share = platform.requests(jobs)
        taken = (count[:, None] * share)[on].sum(axis=0).tolist()[1:]
        stocks = zip(platform.stocks, taken, strict=True)
        return tuple(Usage(name, unit, used, of) for (name, unit, of), used in stocks)
    if not isinstance(platform, Resources):
        return ()
    held = platform.requests(jobs)[on].sum(axis=0).tolist()
    each = zip(platform.names, platform.units, held, platform.amounts, strict=True)
    return tuple(Usage(name, unit, used, of) for name, unit, used, of in each)[1:]


def _part(schedule: Schedule, jobs: Int64, start: Int64, policy: Policy) -> Schedule:
    """Return some jobs of a schedule on a pool or a grid, with other starts."""
    work = schedule.workload.take(jobs)
    given: dict[str, Any] = {"place": schedule.place[jobs]} if work.platform.keeps else {}
    return Schedule(work, policy.name, start, schedule.backfilled[jobs], **given)


def _place(queue: Int64, job: int) -> int:
    return int(np.flatnonzero(queue == job)[0])


def _reason(why: str) -> str:
    """Return the reason against a start from the sentence of a fault."""
    return why.partition(", but ")[2]


_NO_JOBS = np.empty(0, np.int64)
