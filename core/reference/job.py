"""Jobs of the reference, from arrival to end."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from schedfarm.core.workload.workload import Workload

WHOLE_SPEED = 2**30
"""Units of work per second of a job that no link slows down."""


@dataclass(eq=False)
class Job:
    """Hold the request of a job, and its state.

    Parameters
    ----------
    position : int
        Index in (submit, position) order, which breaks all ties.
    number : int
        Number in the log, for messages.
    submit, run, estimate : int
        Arrival, true and requested run time, s.
    procs : int
        Processors.
    user : int
        Number of the user; -1 where unknown.
    group, queue, partition : int
        Numbers in the log; -1 where unknown.
    weight, properties, reserved, serial : int
        Requests on nodes, as in the columns with the same names.
    origin, communication, bandwidth, alltoall : int
        Requests on a network, as in the columns with the same names.
    leave : int
        Wait after which the job is withdrawn unless it has started, s; -1 for never.
    killed : bool
        Whether the job ends by a kill at its estimate.
    start : int
        Start, s; -1 before the start.
    place : int
        Index of the cluster of the start; 0 on a pool.
    promise : int
        Start that was reserved at the arrival, s; -1 for none.
    backfilled : bool
        Whether the job started while an earlier job of the queue continued to wait.
    molded : int
        Number of nodes given to a moldable job; 0 for the requested number.
    nodes : tuple of int
        Indices of the job's nodes, ascending; empty on a pool or a grid.
    cut : int
        Instant at which the job was cut off before its end, s; -1 if the job was not cut off.
    refused : bool
        Whether the job never starts.
    parts : tuple of int
        Processors on each cluster of a network; empty on other platforms.
    demands : tuple of int
        Demand on the link of each of these clusters, kbit/s.
    speed : int
        Present units of work per second, on a network.
    done, counted : int
        Units of work done by the instant `counted`, and this instant, s.
    prediction : int
        Run time that the scheduler predicts, s; -1 if the scheduler uses the estimate.
    corrections : int
        Number of corrections of the prediction.
    """

    position: int
    number: int
    submit: int
    run: int
    estimate: int
    procs: int
    user: int
    group: int = -1
    queue: int = -1
    partition: int = -1
    weight: int = 1
    properties: int = -1
    reserved: int = -1
    serial: int = -1
    origin: int = 0
    communication: int = 0
    bandwidth: int = 0
    alltoall: int = 0
    leave: int = -1
    killed: bool = False
    start: int = -1
    place: int = 0
    promise: int = -1
    backfilled: bool = False
    molded: int = 0
    nodes: tuple[int, ...] = ()
    cut: int = -1
    refused: bool = False
    parts: tuple[int, ...] = ()
    demands: tuple[int, ...] = ()
    speed: int = WHOLE_SPEED
    done: int = 0
    counted: int = -1
    prediction: int = -1
    corrections: int = 0

    @property
    def expected(self) -> int:
        """Run time in the scheduler's plans, s."""
        return self.estimate if self.prediction < 0 else self.prediction

    @property
    def end(self) -> int:
        """True end, s, which the scheduler does not know; -1 for a refused job."""
        if self.refused or self.cut >= 0:
            return self.cut
        if self.parts:
            return self.finish(self.run)
        return self.start + self.on(self.run, self.width)

    @property
    def predicted_end(self) -> int:
        """Predicted end, s."""
        if self.parts:
            return self.finish(self.estimate)
        return self.start + self.lasts

    def finish(self, seconds: int) -> int:
        """Return the first second by which `seconds` of work are done at the present speed.

        Examples
        --------
        >>> job = Job(0, 1, 0, 5, 9, 4, -1, start=3, counted=3, speed=WHOLE_SPEED // 2 + 1)
        >>> job.finish(0), job.finish(1), job.finish(5)
        (3, 5, 13)
        """
        return self.counted - (self.done - seconds * WHOLE_SPEED) // self.speed

    @property
    def is_spread(self) -> bool:
        """Whether the job runs on processors of several clusters."""
        return sum(procs > 0 for procs in self.parts) > 1

    @property
    def lasts(self) -> int:
        """Expected run time on the job's present number of nodes, s."""
        return self.on(self.expected, self.width)

    @property
    def asked(self) -> int:
        """Number of requested nodes."""
        return self.procs // self.weight

    @property
    def width(self) -> int:
        """Number of nodes that the job has, or will have."""
        return self.molded or self.asked

    def on(self, seconds: int, nodes: int) -> int:
        """Return the time of work on some nodes, given its time on the requested nodes, s.

        Examples
        --------
        >>> job = Job(0, 1, 0, 90, 100, 4, -1, serial=500_000)
        >>> [job.on(100, nodes) for nodes in (1, 2, 4, 8)]
        [160, 120, 100, 90]
        """
        if nodes == self.asked:
            return seconds
        # By Amdahl's law, a part S of the work is serial, and the rest is divided.
        alone = Fraction(self.serial, 10**6)
        return ceil(seconds * (alone + (1 - alone) / nodes) / (alone + (1 - alone) / self.asked))

    @property
    def wait(self) -> int:
        """Time from the arrival to the start, s."""
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
            group=int(workload.group[i]),
            queue=int(workload.queue[i]),
            partition=int(workload.partition[i]),
            weight=int(workload.weight[i]),
            properties=int(workload.properties[i]),
            reserved=int(workload.reserved[i]),
            serial=int(workload.serial[i]),
            origin=int(workload.origin[i]),
            communication=int(workload.communication[i]),
            bandwidth=int(workload.bandwidth[i]),
            alltoall=int(workload.alltoall[i]),
            leave=int(workload.leave[i]),
            killed=bool(workload.killed[i]),
        )
        for i in range(len(workload))
    ]
