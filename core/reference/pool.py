"""The reference simulator: slow, obvious, objects and lists.

It is the specification in code. It shares nothing with the compiled simulator, not even a
helper, so that an agreement of the two on random workloads says something about both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from core.arrays import NO_PROMISE, Int64
from core.policy.orders import find_order
from core.policy.policy import Policy
from core.schedule import Schedule
from core.workload.workload import Workload


@dataclass(eq=False)
class _Job:
    index: int
    submit: int
    run: int
    estimate: int
    procs: int
    user: int
    start: int = -1
    promised: int = NO_PROMISE
    backfilled: bool = False

    @property
    def end(self) -> int:
        return self.start + self.run


@dataclass(frozen=True)
class _Block:
    """Processors that are taken in [begin, end)."""

    begin: int
    end: int
    procs: int


def _expansion(job: _Job, now: int) -> Fraction:
    length = max(job.estimate, 1)
    return Fraction(now - job.submit + length, length)


_KEYS: dict[str, Callable[[_Job, int], int | Fraction]] = {
    "fcfs": lambda job, now: job.submit,
    "lcfs": lambda job, now: -job.submit,
    "spf": lambda job, now: job.estimate,
    "lpf": lambda job, now: -job.estimate,
    "sqf": lambda job, now: job.procs,
    "lqf": lambda job, now: -job.procs,
    "saf": lambda job, now: job.estimate * job.procs,
    "laf": lambda job, now: -job.estimate * job.procs,
    "lxf": lambda job, now: -_expansion(job, now),
    "sxf": lambda job, now: _expansion(job, now),
}
"""Keys of the orders that whole numbers decide, smallest first."""


def simulate_reference(workload: Workload, policy: Policy | str) -> Schedule:
    """Simulate a workload under a policy, slowly, as SEMANTICS says it.

    Parameters
    ----------
    workload : Workload
        The jobs and the machine.
    policy : Policy or str
        What the scheduler does, or its name.

    Returns
    -------
    Schedule
        The same as that of `core.simulate`, in time that grows with the cube of the queue.

    Raises
    ------
    InputError
        If the policy's name is not understood.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0, 1], run=[9, 5, 8], estimate=[9, 5, 8],
    ...                           procs=[2, 3, 1], processors=3)
    >>> simulate_reference(w, "fcfs+easy").start.tolist()
    [0, 9, 1]
    """
    simulation = _simulated(workload, policy)
    return Schedule(
        workload=workload,
        policy=simulation.policy.name,
        start=np.array([job.start for job in simulation.jobs], np.int64),
        backfilled=np.array([job.backfilled for job in simulation.jobs], np.bool_),
    )


def promises_reference(workload: Workload, policy: Policy | str) -> Int64:
    """Return the start that a rule reserves for each job at its arrival, slowly.

    Parameters
    ----------
    workload, policy
        As for `simulate_reference`.

    Returns
    -------
    int64[n]
        The same as `core.promises`.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1], run=[4, 2], estimate=[9, 2], procs=[2, 2],
    ...                           processors=2)
    >>> promises_reference(w, "fcfs+conservative").tolist()
    [0, 9]
    """
    return np.array([job.promised for job in _simulated(workload, policy).jobs], np.int64)


def _simulated(workload: Workload, policy: Policy | str) -> _Simulation:
    if isinstance(policy, str):
        policy = Policy.parse(policy)
    simulation = (_Planned if policy.rule == "planned" else _Queued)(workload, policy)
    simulation.run()
    return simulation


class _Simulation:
    """The clock and the machine; what a pass does is left to the rule."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        columns = (workload.submit, workload.run, workload.estimate, workload.procs, workload.user)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        self.jobs = [_Job(index, *row) for index, row in enumerate(rows)]
        self.workload = workload
        self.policy = policy
        self.processors = workload.processors
        self.threshold = policy.threshold_seconds(workload.max_estimate)
        self.now = 0
        self.coming = list(self.jobs)
        self.waiting: list[_Job] = []
        self.running: list[_Job] = []

    def run(self) -> None:
        while self.coming or self.waiting or self.running:
            self.now = min(self.instants())
            ending = [job for job in self.jobs if job in self.running and job.end == self.now]
            arriving = [job for job in self.coming if job.submit == self.now]
            if self.policy.events == "instant":
                self.step(ending, arriving)
            elif arriving:
                self.step([], arriving[:1])
            else:
                self.step(ending[:1], [])

    def instants(self) -> list[int]:
        """When something may happen next; a run of 0 makes the present instant come again."""
        return [job.submit for job in self.coming] + [job.end for job in self.running]

    def step(self, ending: list[_Job], arriving: list[_Job]) -> None:
        for job in ending:
            self.running.remove(job)
        self.after_completions(ending)
        for job in arriving:
            self.coming.remove(job)
            self.waiting.append(job)
        self.scheduling_pass(arriving)

    def after_completions(self, ended: list[_Job]) -> None:
        """Do what the rule does between completions and arrivals."""

    def scheduling_pass(self, arrived: list[_Job]) -> None:
        raise NotImplementedError

    def start(self, job: _Job, *, backfilled: bool) -> None:
        job.start = self.now
        job.backfilled = backfilled
        self.waiting.remove(job)
        self.running.append(job)

    def fits(self, job: _Job) -> bool:
        """Whether the processors that are physically free now are enough."""
        return job.procs <= self.processors - sum(other.procs for other in self.running)

    def predicted(self) -> list[_Block]:
        return [_Block(job.start, job.start + job.estimate, job.procs) for job in self.running]

    def earliest(self, job: _Job, blocks: list[_Block]) -> int:
        """First instant from now on with the job's processors free for its estimate."""
        instants = sorted({self.now} | {b.end for b in blocks if b.end > self.now})
        length = max(job.estimate, 1)
        return next(t for t in instants if self.is_free(job.procs, t, t + length, blocks))

    def is_free(self, procs: int, begin: int, end: int, blocks: list[_Block]) -> bool:
        """Whether so many processors are free in all of [begin, end)."""
        # The use of a set of blocks grows only where one of them begins.
        changes = {begin} | {b.begin for b in blocks}
        instants = [t for t in changes if begin <= t < end]
        return all(procs <= self.processors - _used(blocks, t) for t in instants)


def _used(blocks: list[_Block], instant: int) -> int:
    return sum(b.procs for b in blocks if b.begin <= instant < b.end)


class _Queued(_Simulation):
    """The rules that make every decision anew at each pass."""

    def scheduling_pass(self, arrived: list[_Job]) -> None:
        queue = self.ordered(self.waiting, self.policy.order)
        behind = self.ordered(self.waiting, self.policy.backfill or self.policy.order)
        if self.policy.rule == "conservative" or self.policy.rule.startswith("depth"):
            self.reserve(queue, behind, arrived)
            return
        while queue and self.fits(queue[0]):
            self.start(queue.pop(0), backfilled=False)
        behind = [job for job in behind if job in queue and job is not queue[0]]
        if self.policy.rule == "aggressive":
            self.fill(behind)
        elif self.policy.rule == "easy" and queue:
            self.fill_around(queue[0], behind)

    def ordered(self, jobs: list[_Job], order: str) -> list[_Job]:
        """Jobs in this order, but those that starve first, in order of arrival."""
        theta = self.threshold
        starving = [j for j in jobs if theta is not None and self.now - j.submit > theta]
        keys = self.keys(jobs, order)
        others = [job for job in jobs if job not in starving]
        others.sort(key=lambda job: (keys[job.index], job.index))
        return sorted(starving, key=lambda job: job.index) + others

    def keys(self, jobs: list[_Job], order: str) -> dict[int, int | Fraction]:
        if order in _KEYS:
            return {job.index: _KEYS[order](job, self.now) for job in jobs}
        indices = np.array([job.index for job in jobs], np.int64)
        row = find_order(order)
        known = row.fixed_key(self.workload)
        if known is None:
            assert row.function is not None
            key = row.function.key(self.workload, indices, self.now)
        else:
            key = known[indices]
        return dict(zip(indices.tolist(), key.tolist(), strict=True))

    def fill(self, behind: list[_Job]) -> None:
        for job in behind:
            if self.fits(job):
                self.start(job, backfilled=True)

    def fill_around(self, head: _Job, behind: list[_Job]) -> None:
        shadow = self.earliest(head, self.predicted())
        extra = self.processors - _used(self.predicted(), shadow) - head.procs
        for job in behind:
            if not self.fits(job):
                continue
            if self.now + job.estimate <= shadow:
                self.start(job, backfilled=True)
            elif job.procs <= extra:
                self.start(job, backfilled=True)
                extra -= job.procs

    def reserve(self, queue: list[_Job], behind: list[_Job], arrived: list[_Job]) -> None:
        depth = len(queue) if self.policy.depth < 0 else self.policy.depth
        held: list[tuple[_Job, int]] = []
        while queue and len(held) < depth:
            job = queue.pop(0)
            planned = [_Block(t, t + other.estimate, other.procs) for other, t in held]
            instant = self.earliest(job, self.predicted() + planned)
            if job in arrived:
                job.promised = instant
            if instant == self.now and self.fits(job):
                self.start(job, backfilled=bool(held))
            else:
                held.append((job, instant))
        # Easy does not let a job pass over the shadow of a head with estimate 0, which occupies
        # nothing; so that easy is depth(1), such a holder blocks here the instant of its start.
        planned = [_Block(t, t + max(other.estimate, 1), other.procs) for other, t in held]
        for job in [job for job in behind if job in queue]:
            end = self.now + job.estimate
            free = self.is_free(job.procs, self.now, end, self.predicted() + planned)
            if free and self.fits(job):
                self.start(job, backfilled=True)


class _Planned(_Simulation):
    """The rule that keeps a plan: a reservation at arrival, earlier after early completions."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        super().__init__(workload, policy)
        self.plan: dict[int, int] = {}

    def instants(self) -> list[int]:
        """Also the reservations: after a walk by arrival one may begin where nothing ends."""
        return super().instants() + [t for t in self.plan.values() if t > self.now]

    def place(self, job: _Job) -> None:
        self.plan.pop(job.index, None)
        planned = [
            _Block(t, t + self.jobs[index].estimate, self.jobs[index].procs)
            for index, t in self.plan.items()
        ]
        self.plan[job.index] = self.earliest(job, self.predicted() + planned)

    def after_completions(self, ended: list[_Job]) -> None:
        if not any(job.run < job.estimate for job in ended):
            return
        walk = sorted(self.waiting, key=lambda job: job.index)
        if self.policy.walk == "start":
            walk.sort(key=lambda job: self.plan[job.index])
        for job in walk:
            self.place(job)

    def scheduling_pass(self, arrived: list[_Job]) -> None:
        for job in arrived:
            self.place(job)
            job.promised = self.plan[job.index]
        passed = False
        for job in list(self.waiting):
            if self.plan[job.index] <= self.now and self.fits(job):
                self.start(job, backfilled=passed)
                del self.plan[job.index]
            else:
                passed = True
