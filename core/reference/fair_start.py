"""Reference for fair start times, with a separate simulation for every job.

This program uses the reference simulator. Both are slow and obvious, support every policy, and
share nothing with the compiled kernels.
"""

from __future__ import annotations

from collections.abc import Iterable

from schedfarm.core.arrays import Int64
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.loop import Simulation, simulation_of
from schedfarm.core.workload.workload import Workload


def fair_start_reference(
    workload: Workload, policy: Policy, relaxed: bool, jobs: Iterable[int], rank: Int64
) -> list[int]:
    """Return the fair start times of some jobs, s, as `core.fair_start_times` does.

    For a relaxed fair start, a job joins only when all earlier jobs of the fair order have started.
    `rank` is the position of each job in the fair order, int64[n]. A refused job has -1.

    Examples
    --------
    >>> import numpy as np
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[6, 4, 9], estimate=[9, 4, 9],
    ...                           procs=[2, 3, 1], processors=3)
    >>> fair_start_reference(w, Policy.parse("fcfs+easy"), False, range(3), np.arange(3))
    [0, 6, 10]
    """
    fair_start = _relaxed if relaxed else _strict
    found = []
    for index in jobs:
        simulation = simulation_of(workload, policy)
        found.append(fair_start(simulation, simulation.jobs[index], rank.tolist()))
    return found


def _strict(simulation: Simulation, job: Job, rank: list[int]) -> int:
    """Simulate with the job added at its arrival, and without later jobs."""
    ending, arriving = _until_arrival(simulation, job)
    _forget_the_later(simulation, job, rank)
    simulation.step(ending, [other for other in arriving if other in simulation.coming])
    return _until_start(simulation, job)


def _relaxed(simulation: Simulation, job: Job, rank: list[int]) -> int:
    """Simulate with the job added, with its own submit time, when no earlier job waits."""
    ending, arriving = _until_arrival(simulation, job)
    _forget_the_later(simulation, job, rank)
    simulation.coming.remove(job)
    simulation.step(ending, [other for other in arriving if other in simulation.coming])
    while simulation.waiting or simulation.outside:
        simulation.step(*simulation.next_event())
    simulation.coming.append(job)
    simulation.step([], [job])
    return _until_start(simulation, job)


def _until_arrival(simulation: Simulation, job: Job) -> tuple[list[Job], list[Job]]:
    """Simulate up to the event of the job's arrival; return this event before it is processed."""
    while True:
        ending, arriving = simulation.next_event()
        if job in arriving:
            return ending, arriving
        simulation.step(ending, arriving)


def _forget_the_later(simulation: Simulation, job: Job, rank: list[int]) -> None:
    for other in simulation.coming + simulation.outside + simulation.waiting:
        if rank[other.position] > rank[job.position]:
            simulation.forget(other)


def _until_start(simulation: Simulation, job: Job) -> int:
    while job.start < 0 and not job.refused:
        simulation.step(*simulation.next_event())
    return job.start
