"""The reference for fair start times: every job by a simulation of its own, as SEMANTICS says it.

Like the reference simulator on which it stands it is slow and obvious, knows every policy, and
shares no step with the compiled kernels.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.arrays import Int64
from core.policy.policy import Policy
from core.reference.pool import _Job, _Planned, _Queued
from core.workload.workload import Workload


def fair_start_reference(
    workload: Workload, policy: Policy, relaxed: bool, jobs: Iterable[int], rank: Int64
) -> list[int]:
    """Return the fair start time of each of some jobs, s, as `core.fair_start_times` does.

    Parameters
    ----------
    workload : Workload
        The jobs and the machine.
    policy : Policy
        What the scheduler does.
    relaxed : bool
        Whether a job joins only when all those before it have started.
    jobs : iterable of int
        Indices of the jobs to do it for.
    rank : int64[n]
        Place of each job in the fair order.

    Returns
    -------
    list of int
        In the order of `jobs`.

    Examples
    --------
    >>> import numpy as np
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[6, 4, 9], estimate=[9, 4, 9],
    ...                           procs=[2, 3, 1], processors=3)
    >>> fair_start_reference(w, Policy.parse("fcfs+easy"), False, range(3), np.arange(3))
    [0, 6, 10]
    """
    return [_FairRun(workload, policy, index, rank.tolist()).start(relaxed) for index in jobs]


class _FairRun:
    """The real schedule up to the arrival of one job; from then on without those later than it."""

    def __init__(self, workload: Workload, policy: Policy, index: int, rank: list[int]) -> None:
        self.simulation = (_Planned if policy.rule == "planned" else _Queued)(workload, policy)
        self.job = self.simulation.jobs[index]
        self.rank = rank

    def start(self, relaxed: bool) -> int:
        simulation, job = self.simulation, self.job
        while True:
            ending, arriving = self.events()
            if job in arriving:
                break
            simulation.step(ending, arriving)
        self.forget_the_later()
        arriving = [one for one in arriving if self.goes_before(one)]
        if not relaxed:
            simulation.step(ending, [*arriving, job])
        else:
            # The job itself comes only when nobody waits before it.
            simulation.coming.remove(job)
            simulation.step(ending, arriving)
            while simulation.waiting:
                simulation.step(*self.events())
            simulation.coming.append(job)
            simulation.step([], [job])
        while job.start < 0:
            simulation.step(*self.events())
        return job.start

    def events(self) -> tuple[list[_Job], list[_Job]]:
        """Go to the next instant; return what completes and what arrives, to be taken together."""
        simulation = self.simulation
        simulation.now = min(simulation.instants())
        ending = [x for x in simulation.running if x.end == simulation.now]
        ending.sort(key=lambda x: x.index)
        arriving = [x for x in simulation.coming if x.submit == simulation.now]
        if simulation.policy.events == "instant":
            return ending, arriving
        return ([], arriving[:1]) if arriving else (ending[:1], [])

    def goes_before(self, other: _Job) -> bool:
        return self.rank[other.index] < self.rank[self.job.index]

    def forget_the_later(self) -> None:
        simulation = self.simulation
        simulation.coming = [x for x in simulation.coming if x is self.job or self.goes_before(x)]
        simulation.waiting = [x for x in simulation.waiting if self.goes_before(x)]
        if isinstance(simulation, _Planned):
            waiting = {x.index for x in simulation.waiting}
            simulation.plan = {i: t for i, t in simulation.plan.items() if i in waiting}
