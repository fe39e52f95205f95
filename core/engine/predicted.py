"""Simulation of policies with predictions on one pool."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from schedfarm.core import own
from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.cancel import underway
from schedfarm.core.engine.predicting import (
    ADDED,
    CALLED,
    MADE,
    UNRESERVED,
    Lists,
    Predicting,
    PredictingClock,
    predict_all,
    run_predicting,
)
from schedfarm.core.engine.profile import empty_profile
from schedfarm.core.engine.record import record
from schedfarm.core.engine.run import idle_jobs, options_of
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import RESERVING
from schedfarm.core.policy.functions import OrderFunction
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.predictions import (
    CORRECTIONS,
    KNOWN_AT_SUBMISSION,
    OwnPredictor,
    find_predictor,
    is_predicted,
)
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload


class _Keyed(NamedTuple):
    """Hold the keys of an order, its code, and a function for the keys of arriving jobs."""

    key: Int64
    code: int
    function: OrderFunction | None


class _Predicted:
    """Hold the columns for orders, with predictions in place of estimates."""

    def __init__(self, workload: Workload, estimate: Int64) -> None:
        self._workload, self.estimate = workload, estimate

    def __getattr__(self, name: str) -> Any:
        """Return another column."""
        return getattr(self._workload, name)


class _Past:
    """Hold the columns of the completed jobs in order of completion, for predictors."""

    def __init__(self, workload: Workload, jobs: Jobs) -> None:
        columns = {name: getattr(workload, name) for name in KNOWN_AT_SUBMISSION}
        self._from = {**columns, "start": jobs.start, "run": workload.run}
        self._to = {name: np.empty(len(workload), np.int64) for name in self._from}
        self._count = 0

    def until(self, completed: Int64) -> dict[str, Int64]:
        """Return the columns of completed jobs, which include the jobs of the last call."""
        new, found = completed[self._count :], {}
        for name, column in self._to.items():
            column[self._count : completed.size] = self._from[name][new]
            found[name] = column[: completed.size]
            found[name].flags.writeable = False
        # A job with run time 0 may still complete at this instant, and precede others of the
        # instant.
        end = self._from["start"][completed] + self._from["run"][completed]
        self._count = int(np.searchsorted(end, end[-1])) if end.size else 0
        return found


def simulate_predicted(workload: Workload, policy: Policy, code: int) -> Schedule:
    """Simulate the rule with a code, with predictions in place of estimates.

    Examples
    --------
    >>> from schedfarm.core.engine.world import EASY
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[5, 5, 7], estimate=[9, 5, 9],
    ...                           procs=[3, 4, 1], processors=4)
    >>> simulate_predicted(w, Policy.parse("fcfs+easy,predict=perfect"), EASY).start.tolist()
    [0, 5, 10]
    """
    jobs, _ = _run(workload, policy, code, promises=False)
    return Schedule(workload, policy.name, jobs.start, jobs.backfilled)


def promise_predicted(workload: Workload, policy: Policy) -> Int64:
    """Return the starts that a rule with predictions reserves at arrival, s."""
    return _run(workload, policy, RESERVING, promises=True)[1].promised


def _run(workload: Workload, policy: Policy, code: int, *, promises: bool) -> tuple[Jobs, Lists]:
    """Run the simulation; return the jobs with their starts, and the lists with the promises."""
    jobs = idle_jobs(workload, workload.procs)._replace(estimate=workload.estimate.copy())
    predicting = _predicting(workload, policy)
    orders = _orders(workload, policy)
    lists = _lists(len(workload), *orders, reserves=code == RESERVING, promises=promises)
    clock = record(PredictingClock)
    clock[0].free = workload.processors
    options = options_of(workload, policy, code)
    called = predicting.code == CALLED
    stepwise = called or any(order.function for order in orders)
    predictor = OwnPredictor(str(policy.predict)) if called else None
    past = _Past(workload, jobs) if called else None
    seen = _Predicted(workload, jobs.estimate)
    while run_predicting(predicting, jobs, lists, clock, options, stepwise):
        arriving = np.arange(clock[0].before, clock[0].arrived)
        if predictor is not None and past is not None:
            completed = lists.completed[: clock[0].completed]
            for j in arriving.tolist():
                _ask(predictor, past, workload, jobs, completed, j)
        for order in orders:
            if order.function is not None:
                order.key[arriving] = order.function.key(cast(Any, seen), arriving)
    underway().check()
    return jobs, lists


def predictions(schedule: Schedule) -> Int64:
    """Return the run time predicted for each job at its submission, int64[n], s.

    Without `predict=` in the policy, the prediction is the estimate. Predictions are computed from
    the starts.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0, 9], run=[5, 8, 7], estimate=[9, 9, 9],
    ...                           procs=[1, 1, 1], processors=2)
    >>> predictions(simulate(w, "fcfs+easy,predict=last2")).tolist()
    [9, 9, 6]
    """
    workload, policy = schedule.workload, _policy_of(schedule)
    if policy is None or policy.predict is None:
        return workload.estimate
    jobs = idle_jobs(workload, workload.procs)._replace(
        estimate=workload.estimate.copy(), start=schedule.start
    )
    predicting = _predicting(workload, policy)
    ends = np.lexsort((np.arange(len(workload)), schedule.end))
    if predicting.code != CALLED:
        predict_all(predicting, jobs, ends, np.zeros(len(workload), np.int64))
        return jobs.estimate
    predictor, past = OwnPredictor(policy.predict), _Past(workload, jobs)
    done = schedule.end[ends]
    for j in range(len(workload)):
        now = workload.submit[j]
        completed = ends[: np.searchsorted(done, now, side="right")]
        completed = completed[schedule.start[completed] < now]
        _ask(predictor, past, workload, jobs, completed, j)
    return jobs.estimate


def _policy_of(schedule: Schedule) -> Policy | None:
    """Return the policy named by a schedule; None for schedules from files, which name none."""
    return Policy.parse(schedule.policy) if is_predicted(schedule.policy) else None


def _ask(
    predictor: OwnPredictor, past: _Past, workload: Workload, jobs: Jobs, completed: Int64, j: int
) -> None:
    """Fill in the prediction of a job by a plug-in predictor."""
    one = {name: getattr(workload, name)[j : j + 1] for name in KNOWN_AT_SUBMISSION}
    seconds = predictor.ask(one, past.until(completed), int(workload.job[j]))
    jobs.estimate[j] = min(max(int(seconds // 1), 1), int(workload.estimate[j]))


def _predicting(workload: Workload, policy: Policy) -> Predicting:
    row = find_predictor(str(policy.predict))
    users, person = np.unique(workload.user, return_inverse=True)
    n = len(workload)
    return Predicting(
        cast(int, own.load(row.code)),
        row.jobs,
        cast(int, own.load(CORRECTIONS[policy.correct].code)),
        workload.estimate,
        ADDED,
        np.zeros(n, np.int64),
        person,
        np.full(users.size, -1, np.int64),
        np.full(n, -1, np.int64),
    )


def _orders(workload: Workload, policy: Policy) -> tuple[_Keyed, _Keyed]:
    names = (policy.order, policy.backfill or policy.order)
    first, second = (_keyed(workload, name) for name in names)
    return first, second


def _keyed(workload: Workload, name: str) -> _Keyed:
    row, n = find_order(name), len(workload)
    if row.predicted is not None:
        return _Keyed(np.zeros(n, np.int64), cast(int, own.load(row.predicted)), None)
    if row.function is not None and "estimate" in row.function.asks:
        return _Keyed(np.zeros(n, np.int64), MADE, row.function)
    return _Keyed(cast(Int64, row.fixed_key(workload)), MADE, None)


def _lists(n: int, queue: _Keyed, behind: _Keyed, *, reserves: bool, promises: bool) -> Lists:
    completed, running, waiting, others, line = (np.empty(n, np.int64) for _ in range(5))
    return Lists(
        completed,
        running,
        waiting,
        others,
        line,
        queue.key,
        behind.key,
        queue.code,
        behind.code,
        # A step for each running job, and two for each reservation.
        empty_profile(2 * n + 2 if reserves else 0),
        np.full(n, UNRESERVED, np.int64),
        np.full(n if promises else 0, NO_PROMISE, np.int64),
    )
