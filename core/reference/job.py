"""One job as the reference follows it from its arrival to its end."""

from __future__ import annotations

from dataclasses import dataclass

from core.workload.workload import Workload


@dataclass(eq=False)
class Job:
    """Hold what was asked for, and what became of it.

    Parameters
    ----------
    position : int
        Place in (submit, position) order, by which every tie is broken.
    number : int
        Number in the log, for messages.
    submit, run, estimate : int
        Arrival, true and requested run time, s.
    procs : int
        Processors.
    user : int
        Number of the user; -1 where unknown.
    start : int
        When it started, s; -1 as long as it has not.
    place : int
        Index of the cluster in which it started; 0 in a pool.
    promise : int
        Start reserved for it at its arrival, s; -1 for none.
    backfilled : bool
        Whether it started while a job before it in the queue stayed waiting.
    """

    position: int
    number: int
    submit: int
    run: int
    estimate: int
    procs: int
    user: int
    start: int = -1
    place: int = 0
    promise: int = -1
    backfilled: bool = False

    @property
    def end(self) -> int:
        """When it ends, s, which the scheduler does not know."""
        return self.start + self.run

    @property
    def predicted_end(self) -> int:
        """When it ends as far as the scheduler knows, s."""
        return self.start + self.estimate

    @property
    def wait(self) -> int:
        """Time from its arrival to its start, s."""
        return self.start - self.submit


def jobs_of(workload: Workload) -> list[Job]:
    """Return the jobs of a workload one by one.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 5], run=[10, 3], estimate=[20, 3], procs=[2, 4],
    ...                           processors=4)
    >>> [(job.number, job.estimate) for job in jobs_of(w)]
    [(1, 20), (2, 3)]
    """
    return [
        Job(
            position=i,
            number=int(workload.job[i]),
            submit=int(workload.submit[i]),
            run=int(workload.run[i]),
            estimate=int(workload.estimate[i]),
            procs=int(workload.procs[i]),
            user=int(workload.user[i]),
        )
        for i in range(len(workload))
    ]
