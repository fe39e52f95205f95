"""Repeated simulations without some jobs, from the last instant with a known state.

Two facts limit such a simulation to a window of jobs. First, decisions do not depend on later jobs:
the start of a job does not change if jobs with a submission at or after this start are removed.
Second, if no job waits at an instant, the further decisions of most rules depend only on the
running jobs. A window consists of these running jobs, submitted at their own starts, and of later
jobs. The schedule of a window is that of the whole workload, even if the same later jobs are
removed from both. Before a window is used, it is simulated once with all its jobs and compared with
the schedule.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

OVERHEAD = 0.15e-3
"""Constant part of the CPU time of a simulation, s."""


def job_seconds(policy: Policy) -> float:
    """Return the CPU time per job of a simulation, s, by the rates of the rule and its orders.

    Examples
    --------
    >>> [round(1e6 * job_seconds(Policy.parse(p)), 1) for p in ("fcfs+easy", "fcfs+planned")]
    [0.2, 3.8]
    """
    orders = [find_order(name) for name in (policy.order, policy.backfill) if name]
    rates = [policy.row.cost.simulation, *(order.cost.simulation for order in orders)]
    return 1e-6 * sum(rate.job + rate.waiting * orders[0].share for rate in rates)


def is_restartable(workload: Workload, policy: Policy) -> bool:
    """Return whether the running jobs determine a simulation at an instant without waiting jobs.

    With the per-event clock, the order of the starts of one instant also matters. Predictions
    depend on completed jobs.
    """
    orders = [find_order(name) for name in (policy.order, policy.backfill) if name]
    plain = policy.events == "instant" and policy.predict is None and not workload.platform.asks
    return plain and policy.row.forgets and not any(order.remembers for order in orders)


def cuts_of(submit: Int64, start: Int64) -> Int64:
    """Return the jobs at which the log can be cut, ascending.

    Before the submission of such a job, all earlier jobs have started.

    Examples
    --------
    >>> cuts_of(np.array([0, 1, 3, 6]), np.array([0, 4, 5, 9])).tolist()
    [0, 1, 3]
    """
    latest = np.maximum.accumulate(start)
    return np.flatnonzero(np.concatenate(([True], latest[:-1] < submit[1:]))[: start.size])


class Window:
    """Hold the jobs from a cut on that may affect a job, and the jobs that run at the cut.

    jobs: indices of these jobs in the workload, ascending by submission in the window.
    """

    def __init__(self, schedule: Schedule, policy: Policy, cut: int, last: int) -> None:
        self.policy, self.cut = policy, cut
        whole, early = schedule.workload, slice(0, cut)
        running = np.flatnonzero(schedule.end[early] >= whole.submit[cut]) if cut else _NO_JOBS
        running = running[np.argsort(schedule.start[running], kind="stable")]
        self.jobs = np.concatenate((running, np.arange(cut, last)))
        submit = whole.submit[self.jobs]
        submit[: running.size] = schedule.start[running]
        self.workload = whole.take(self.jobs, submit=submit)
        # Sets of removed jobs contain no jobs before the cut.
        self.place = np.full(last, -1)
        self.place[cut:last] = np.arange(running.size, self.jobs.size)
        self.given, self.place_given = schedule.start[self.jobs], schedule.place[self.jobs]

    @property
    def work(self) -> float:
        """Estimated CPU time of a simulation of the window, s."""
        return OVERHEAD + self.jobs.size * job_seconds(self.policy)

    def departs(self, until: int) -> int | None:
        """Return the first job before an instant, s, with another start than the schedule's."""
        found = simulate(self.workload, self.policy)
        first = np.minimum(found.start, self.given)
        wrong = (found.start != self.given) | (
            (found.place != self.place_given) & bool(self.workload.platform.keeps)
        )
        wrong &= first < until
        if not wrong.any():
            return None
        return int(self.jobs[np.flatnonzero(wrong)[np.argmin(first[wrong])]])

    def without(self, removed: Iterable[int]) -> tuple[Workload, Bool]:
        """Return the window without some jobs from the cut on, and the mask of remaining jobs."""
        kept = np.ones(self.jobs.size, np.bool_)
        kept[self.place[[*removed]]] = False
        return self.workload.take(kept), kept

    def start_without(self, job: int, removed: Iterable[int]) -> int:
        """Return the start of a job without some others, s."""
        jobs, kept = self.without(removed)
        place = int(np.count_nonzero(kept[: self.place[job]]))
        return int(simulate(jobs, self.policy).start[place])

    def forgets(self, removed: int, schedule: Schedule) -> bool:
        """Return whether the removal of a job leaves the state at the window's end unchanged.

        The state is unchanged if no job waits then, and the same jobs run and started at the same
        instants. The end is a cut of the schedule.
        """
        end = self.cut + int(self.jobs.size - np.count_nonzero(self.jobs < self.cut))
        if end >= len(schedule.workload):
            return False
        instant = int(schedule.workload.submit[end])
        jobs, kept = self.without([removed])
        found = simulate(jobs, self.policy)
        if schedule.end[removed] >= instant or (found.start >= instant).any():
            return False
        given, place = self.given[kept], self.place_given[kept]
        held = schedule.end[self.jobs[kept]]
        same = (found.start == given) & (found.place == place)
        return bool(same[(held >= instant) | (found.end >= instant)].all())


_NO_JOBS = np.empty(0, np.int64)
