"""The reasons for the start of a job, collected in one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedfarm.core.arrays import NO_PROMISE
from schedfarm.core.checks import whole
from schedfarm.core.engine.promises import promises
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.explanation.causes import EFFORT, CauseSet, Trials, cause_of
from schedfarm.core.explanation.situation import AHEAD, LATER, PASSED, RUNNING, Held, Situation
from schedfarm.core.explanation.window import Window
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule


@dataclass(frozen=True)
class Other:
    """Hold the relation of another job to the explained job.

    Parameters
    ----------
    job : int
        Index of the other job.
    roles : tuple of str
        Any of ``running`` (ran at the submission of the explained job), ``ahead`` (was ahead in the
        queue at the submission), ``later`` (was submitted later, but was ahead in the queue when it
        started first) and ``passed`` (started first from behind in the queue).
    gain : int, optional
        Time by which the explained job starts earlier without the other job, s; None if not tried.
    """

    job: int
    roles: tuple[str, ...]
    gain: int | None


@dataclass(frozen=True)
class Explanation:
    """Hold the reasons for the start of a job.

    Parameters
    ----------
    schedule : Schedule
        The schedule that is explained.
    policy : Policy
        The policy of the schedule.
    job : int
        Index of the job.
    promised : int, optional
        Start reserved for the job at its submission, s; None without a reservation.
    fair : int, optional
        Strict fair start time, s: the job's start if no later job existed.
    held : tuple of Held
        Reasons against a start of the job at its submission, and in the last pass before its start.
    ended, arrived : tuple of int
        Indices of the jobs that ended, and that were submitted, at the start of the job.
    others : tuple of Other
        Related jobs: jobs that ran at its submission or were then ahead in the queue; jobs that
        were submitted later, or were behind in the queue, and started first; and all jobs without
        which the job starts earlier.
    cause : CauseSet, optional
        The smallest set of jobs without which the job starts earlier; None if the job never waited,
        was refused, or if `departure` gives a reason.
    departure : str, optional
        Sentence that names the first job with a start that differs from the policy's. After this
        start no cause can be simulated.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 5, 5], estimate=[9, 5, 5],
    ...                           procs=[3, 4, 1], processors=4)
    >>> found = explain(simulate(w, "fcfs+easy"), 1)
    >>> found.wait, found.fair, found.cause.jobs, found.cause.start
    (8, 9, (0,), 1)
    """

    schedule: Schedule
    policy: Policy
    job: int
    promised: int | None = None
    fair: int | None = None
    held: tuple[Held, ...] = ()
    ended: tuple[int, ...] = ()
    arrived: tuple[int, ...] = ()
    others: tuple[Other, ...] = ()
    cause: CauseSet | None = None
    departure: str | None = None

    @property
    def submit(self) -> int:
        """Submission, s."""
        return int(self.schedule.workload.submit[self.job])

    @property
    def start(self) -> int:
        """Start, s; -1 if the job was refused."""
        return int(self.schedule.start[self.job])

    @property
    def wait(self) -> int:
        """Wait, s."""
        return int(self.schedule.wait[self.job])

    def facts(self) -> dict[str, Any]:
        """Return the explanation as plain values for JSON; job numbers identify jobs.

        Returns
        -------
        dict
            The explanation, with times in s.
        """
        from schedfarm.core.explanation.report import facts

        return facts(self)

    def text(self, top: int = 10) -> str:
        """Return the explanation as a readable report.

        Parameters
        ----------
        top : int
            Number of other jobs to list.

        Returns
        -------
        str
            Lines of the report.
        """
        from schedfarm.core.explanation.report import text

        return text(self, top)

    def __str__(self) -> str:
        return self.text()


def explain(
    schedule: Schedule, job: int, policy: Policy | str | None = None, *, effort: float = EFFORT
) -> Explanation:
    """Explain the start of a job in a schedule.

    Parameters
    ----------
    schedule : Schedule
        A schedule from `simulate`, from a store, or recorded in a log.
    job : int
        Index of the job in the workload.
    policy : Policy or str, optional
        The policy; by default that of the schedule.
    effort : float
        Limit of the search for the smallest set: CPU time, s, estimated from the speed of the rule.
        With ``math.inf`` all sets of up to three jobs are tried.

    Returns
    -------
    Explanation
        The rule's reasons, the related jobs, and the smallest set of jobs without which the
        explained job starts earlier.

    Raises
    ------
    InputError
        If the job or the policy is unknown, or the policy replays a log.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9, 5, 5], estimate=[9, 5, 5],
    ...                           procs=[3, 4, 1], processors=4)
    >>> explain(simulate(w, "fcfs+easy"), 1).held[0].why
    'it needs 4 processors, 1 are free'
    """
    chosen = _chosen(schedule, policy)
    schedule.workload.refuse_leaving("an explanation")
    if chosen.predict is not None:
        raise InputError(
            f"policy {chosen.name!r}: explanations support estimates only; "
            f"leave out predict={chosen.predict}"
        )
    index = whole("job", job, least=0)
    if index >= len(schedule.workload):
        raise InputError(
            f"job={job}: the workload has jobs 0 to {len(schedule.workload) - 1}, by index"
        )
    if schedule.refused[index] or schedule.wait[index] <= 0:
        return Explanation(schedule, chosen, index)
    trials = Trials(schedule, chosen, index, effort)
    window = trials.window(index)
    if window is None:
        made = Window(schedule, chosen, trials.cut_before(index), trials.last)
        return _around(Situation(schedule, chosen, index, made), departure=_departure(trials, made))
    cause = cause_of(trials)
    place = int(window.place[index])
    before = int(np.searchsorted(window.workload.submit, window.workload.submit[place], "right"))
    promised = int(promises(window.workload.take(slice(before)), chosen)[place])
    return _around(
        Situation(schedule, chosen, index, window),
        trials.gains,
        cause=cause,
        promised=None if promised == NO_PROMISE else promised,
        fair=int(simulate(window.workload.take(slice(place + 1)), chosen).start[place]),
    )


def _chosen(schedule: Schedule, policy: Policy | str | None) -> Policy:
    if isinstance(policy, Policy):
        chosen = policy
    elif policy or schedule.policy:
        chosen = Policy.parse(policy or schedule.policy)
    else:
        raise InputError("the schedule does not name its policy; give policy=, such as 'fcfs+easy'")
    if chosen.row.of_log:
        raise InputError(
            f"rule {chosen.rule!r} takes starts from the log and decides nothing; give the policy "
            "by which to explain the starts, such as 'fcfs+easy'"
        )
    return chosen


def _around(situation: Situation, gains: dict[int, int] | None = None, **found: Any) -> Explanation:
    roles: dict[int, list[str]] = {}
    later, passed = situation.passed()
    named = {RUNNING: situation.running(), AHEAD: situation.ahead(), LATER: later, PASSED: passed}
    for role, jobs in named.items():
        for job in jobs.tolist():
            roles.setdefault(job, []).append(role)
    gain = gains or {}
    cause = found.get("cause")
    for job in (*(one for one in gain if gain[one]), *(cause.jobs if cause else ())):
        roles.setdefault(job, [])
    instants = dict.fromkeys((situation.submit, situation.last_event()))
    return Explanation(
        situation.schedule,
        situation.policy,
        situation.job,
        held=tuple(situation.held(instant) for instant in instants),
        ended=tuple(situation.ended().tolist()),
        arrived=tuple(situation.arrived().tolist()),
        others=tuple(Other(job, tuple(had), gain.get(job)) for job, had in roles.items()),
        **found,
    )


def _departure(trials: Trials, window: Window) -> str:
    """Name the first job of a window with a start that differs from the policy's."""
    schedule, job = trials.schedule, window.departs(trials.start)
    assert job is not None
    jobs = schedule.workload
    return (
        f"the schedule is not that of {trials.policy.name}: job {jobs.job[job]}, submitted at "
        f"{jobs.submit[job]} s, starts at {schedule.start[job]} s, and the policy, from "
        f"{int(jobs.submit[window.cut])} s on, decides otherwise; no set of jobs can be found"
    )
