"""The rule `planned` by its text alone: every second is looked at, every search begins anew.

It is for workloads of a dozen jobs and a minute. What is free is a list with one number for each
second; a reservation is found by trying every second from now on; whether something happens is
asked of every second. It knows nothing of how the other simulators carry the rule out.

What the text leaves open is decided as follows.

- All completions of an instant go before one compression, which goes before the arrivals; with
  `events=per-event` each completion has a compression of its own.
- A compression is one walk, in the order that held when it began.
- Jobs that arrive together get their reservations by position, and those whose reservations are
  due start in queue order, so that it decides who finds the processors free.
- An estimate of 0 reserves nothing, so others may reserve its instant: its reservation is kept
  even so, never moved later, and due in every pass from its instant on.
- Completions of one instant go in the sequence in which the jobs were started, and who is predicted
  to have ended counts as free for starts as it does for reservations (`events=per-event`): so does
  the family of simulators that this clock is for.
- Whether a job was backfilled is seen at the end of the pass that started it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job, jobs_of
from schedfarm.core.reference.orders import keys
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload


def simulate_planned(workload: Workload, policy: Policy | str) -> Schedule:
    """Simulate a workload under classical conservative backfilling, second by second.

    Parameters
    ----------
    workload : Workload
        The jobs and the machine.
    policy : Policy or str
        The order, threshold, walk and clock, or the policy's name; its rule is not looked at.

    Returns
    -------
    Schedule
        Starts of all jobs, s, and whether each was backfilled.

    Raises
    ------
    InputError
        If the policy's name is not understood.
    RuntimeError
        If a job does not start, which is a mistake of this program.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[1, 2, 3, 3], run=[3, 3, 2, 2], estimate=[5, 3, 2, 2],
    ...                           procs=[3, 2, 4, 2], processors=4)
    >>> simulate_planned(w, "fcfs+planned,walk=arrival").start.tolist()
    [1, 4, 8, 4]
    """
    policy = _policy(policy)
    jobs = jobs_of(workload)
    _run(_scheduler(workload, policy, jobs))
    return Schedule(
        workload=workload,
        policy=policy.name,
        start=np.array([job.start for job in jobs], np.int64),
        backfilled=np.array([job.backfilled for job in jobs], np.bool_),
    )


def promises_planned(workload: Workload, policy: Policy | str) -> Int64:
    """Return the start reserved for each job at its arrival.

    Parameters
    ----------
    workload : Workload
        The jobs and the machine.
    policy : Policy or str
        As for `simulate_planned`.

    Returns
    -------
    int64[n]
        Start, s.

    Raises
    ------
    InputError
        If the policy's name is not understood.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0, 1], run=[6, 5, 8], estimate=[9, 5, 8],
    ...                           procs=[2, 3, 1], processors=3)
    >>> promises_planned(w, "fcfs+planned").tolist()
    [0, 9, 1]
    """
    jobs = jobs_of(workload)
    _run(_scheduler(workload, _policy(policy), jobs))
    return np.array([job.promise for job in jobs], np.int64)


def fair_starts_planned(workload: Workload, policy: Policy | str, kind: str) -> Int64:
    """Return the fair start time of each job: when it starts if nobody arrives after it.

    Parameters
    ----------
    workload : Workload
        The jobs and the machine.
    policy : Policy or str
        As for `simulate_planned`.
    kind : {"strict", "relaxed"}
        Whether the job is in the queue from its arrival, or joins it when all jobs that were
        queued before it have started.

    Returns
    -------
    int64[n]
        Start, s.

    Raises
    ------
    InputError
        If the policy's name or the kind is not understood.

    References
    ----------
    G. Sabin, P. Sadayappan, Unfairness metrics for space-sharing parallel job schedulers,
    JSSPP 2005, figure 6.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[6, 5, 2], estimate=[9, 5, 2],
    ...                           procs=[2, 3, 1], processors=3)
    >>> fair_starts_planned(w, "fcfs+planned", "strict").tolist()
    [0, 6, 2]
    >>> fair_starts_planned(w, "fcfs+planned", "relaxed").tolist()
    [0, 6, 11]
    """
    kinds = {"strict": _strict, "relaxed": _relaxed}
    if kind not in kinds:
        raise InputError(f"fair start {kind!r} is unknown; known: {', '.join(kinds)}")
    policy = _policy(policy)
    starts = [kinds[kind](workload, policy, j) for j in range(len(workload))]
    return np.array(starts, np.int64)


def _policy(policy: Policy | str) -> Policy:
    return Policy.parse(policy) if isinstance(policy, str) else policy


def _strict(workload: Workload, policy: Policy, j: int) -> int:
    """Start of job j in the trace that is cut after it."""
    jobs = jobs_of(workload)
    _run(_scheduler(workload, policy, jobs[: j + 1]))
    return jobs[j].start


def _relaxed(workload: Workload, policy: Policy, j: int) -> int:
    """Start of job j if it joins, in a second pass, when all before it have started."""
    jobs = jobs_of(workload)
    job = jobs[j]
    scheduler = _scheduler(workload, policy, jobs[:j])
    for now in scheduler.seconds():
        scheduler.second(now)
        if now == job.submit:
            scheduler.schedule(now)
            scheduler.settle(now)
        if now >= job.submit and not scheduler.waiting and job.promise < 0:
            scheduler.arrive(job, now)
            scheduler.schedule(now)
            scheduler.settle(now)
    scheduler.check_started([job])
    return job.start


def _run(scheduler: _Scheduler) -> None:
    for now in scheduler.seconds():
        scheduler.second(now)
    scheduler.check_started(scheduler.everyone)


def _scheduler(workload: Workload, policy: Policy, jobs: list[Job]) -> _Scheduler:
    # Nothing is planned later than one job after the other from the last arrival on.
    last = max(workload.submit.tolist(), default=0)
    horizon = last + sum(workload.estimate.tolist()) + 2
    clock = {"instant": _Scheduler, "per-event": _PerEvent}[policy.events]
    return clock(
        everyone=jobs,
        coming=list(jobs),
        processors=workload.processors,
        order=policy.order,
        threshold=policy.threshold_seconds(workload.max_estimate),
        walk=policy.walk,
        horizon=horizon,
    )


@dataclass
class _Scheduler:
    """All that is known at a moment: who is to come, waits, runs or has ended, and the plan."""

    everyone: list[Job]
    coming: list[Job]
    processors: int
    order: str
    threshold: int | None
    walk: str
    horizon: int
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    completed: list[Job] = field(default_factory=list)
    reserved: dict[Job, int] = field(default_factory=dict)

    def seconds(self) -> range:
        """Every second from 0 to where all must be over."""
        return range(self.horizon)

    def second(self, now: int) -> None:
        """Let happen what is due in this second, if anything is."""
        if self.arriving(now) or self.ending(now) or now in self.reserved.values():
            self.events(now)
            self.check_kept(now)

    # The clock: completions, arrivals, a pass, and again while what was started ends.

    def events(self, now: int) -> None:
        """Let everything of an instant happen."""
        self.complete(self.ending(now), now)
        for job in self.arriving(now):
            self.arrive(job, now)
        self.schedule(now)
        self.settle(now)

    def settle(self, now: int) -> None:
        """End what has started and ends in this instant, and pass again, until nothing does."""
        while ended := self.ending(now):
            self.complete(ended, now)
            self.schedule(now)

    def complete(self, ended: list[Job], now: int) -> None:
        """End jobs, and compress the plan if one of them ended before its estimate."""
        for job in ended:
            self.end(job)
        if any(job.run < job.estimate for job in ended):
            self.compress(now)

    # What happens to one job.

    def arriving(self, now: int) -> list[Job]:
        """Those who are to come in this second, by position."""
        return [job for job in self.coming if job.submit == now]

    def ending(self, now: int) -> list[Job]:
        """Those who run and end in this second."""
        return [job for job in self.running if job.end == now]

    def arrive(self, job: Job, now: int) -> None:
        """Queue a job, with the earliest reservation."""
        if job in self.coming:
            self.coming.remove(job)
        job.promise = self.earliest(job, now)
        self.reserved[job] = job.promise
        self.waiting.append(job)

    def start(self, job: Job, now: int, backfilled: bool) -> None:
        """Give a job its processors."""
        job.start = now
        job.backfilled = backfilled
        del self.reserved[job]
        self.waiting.remove(job)
        self.running.append(job)

    def end(self, job: Job) -> None:
        """Take a job's processors back."""
        self.running.remove(job)
        self.completed.append(job)

    # The queue and a pass through it.

    def queue(self, now: int) -> list[Job]:
        """Those who wait, in queue order: first those beyond the threshold, as they came."""
        key = keys(self.order, self.everyone, self.waiting, self.completed, now)
        starving = [job for job in self.waiting if self.is_starving(job, now)]
        others = [job for job in self.waiting if job not in starving]
        starving.sort(key=lambda job: job.position)
        others.sort(key=lambda job: (key[job], job.position))
        return starving + others

    def is_starving(self, job: Job, now: int) -> bool:
        """Whether a waiting job has waited longer than the threshold."""
        return self.threshold is not None and now - job.submit > self.threshold

    def schedule(self, now: int) -> None:
        """Start, in queue order, all whose reservation is due and whose processors are free."""
        somebody_stayed = False
        for job in self.queue(now):
            if self.reserved[job] <= now and job.procs <= self.physically_free(now):
                self.start(job, now, backfilled=somebody_stayed)
            else:
                somebody_stayed = True

    def physically_free(self, now: int) -> int:
        """Processors that no running job holds."""
        return self.processors - sum(job.procs for job in self.running)

    # The plan.

    def free_by_second(self, now: int) -> list[int]:
        """Processors that nobody is predicted to hold or has reserved, in each second from now."""
        free = [self.processors] * (self.horizon - now)
        for job in self.running:
            _take(free, 0, job.predicted_end - now, job.procs)
        for job, start in self.reserved.items():
            _take(free, start - now, start - now + job.estimate, job.procs)
        return free

    def earliest(self, job: Job, now: int) -> int:
        """First second from now on at which a job fits for as long as its estimate.

        One of estimate 0 has to fit in that second alone.
        """
        free = self.free_by_second(now)
        length = max(job.estimate, 1)
        for after in range(len(free) - length + 1):
            if min(free[after : after + length]) >= job.procs:
                return now + after
        raise RuntimeError(f"job {job.number}: no reservation found before second {self.horizon}")

    def compress(self, now: int) -> None:
        """Lift each reservation out and put it into its earliest gap."""
        for job in self.walked(now):
            before = self.reserved.pop(job)
            # A reservation that took its seconds finds at least these free again.
            self.reserved[job] = min(before, self.earliest(job, now))

    def walked(self, now: int) -> list[Job]:
        """Those who wait, in the order in which they are lifted."""
        if self.walk == "queue":
            return self.queue(now)
        if self.walk == "arrival":
            return sorted(self.waiting, key=lambda job: job.position)
        return sorted(self.waiting, key=lambda job: (self.reserved[job], job.position))

    # What must be so.

    def check_kept(self, now: int) -> None:
        """Raise an error if a reservation that took processors was due and is not kept."""
        for job, start in self.reserved.items():
            if job.estimate > 0 and start <= now:
                raise RuntimeError(f"job {job.number}, reserved for {start}, waits after {now}")

    def check_started(self, jobs: list[Job]) -> None:
        """Raise an error if a job did not start."""
        for job in jobs:
            if job.start < 0:
                raise RuntimeError(f"job {job.number} never starts")


class _PerEvent(_Scheduler):
    """The clock that passes after each single event, submissions before completions."""

    def events(self, now: int) -> None:
        if not self.arriving(now) and not self.ending(now):
            self.schedule(now)
        for job in self.arriving(now):
            self.arrive(job, now)
            self.schedule(now)
        self.settle(now)

    def settle(self, now: int) -> None:
        while ended := self.ending(now):
            # Those who run are listed as they were started.
            self.end(ended[0])
            self.compress(now)
            self.schedule(now)

    def physically_free(self, now: int) -> int:
        return self.processors - sum(job.procs for job in self.running if job.predicted_end > now)


def _take(free: list[int], begin: int, end: int, procs: int) -> None:
    for after in range(max(begin, 0), max(end, 0)):
        free[after] -= procs
