"""Conversion of a policy's queue orders to the rankings of the kernels."""

from __future__ import annotations

from typing import cast

import numpy as np

from schedfarm.core import own
from schedfarm.core.arrays import Int64
from schedfarm.core.durations import seconds_of
from schedfarm.core.engine.associations import copied, unused_weights, weights_of
from schedfarm.core.engine.expressions import (
    ExpressionRankings,
    check_numbers,
    cloned_rankings,
    ranked_by_expression,
)
from schedfarm.core.engine.history import History
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.leaving import STAYING
from schedfarm.core.engine.priority import (
    WeighedRankings,
    Weights,
    charge_ended,
    weigh_waiting,
)
from schedfarm.core.engine.rank import AnyRankings
from schedfarm.core.engine.ranking import KEYED, NO_CELLS, Ranking, Rankings
from schedfarm.core.engine.record import record
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.usage import Passed, Shares, settle_all
from schedfarm.core.engine.user_ranking import (
    NOBODY,
    Line,
    LineState,
    SharedRankings,
    Sharing,
    rank_waiting,
)
from schedfarm.core.policy.functions import OrderFunction
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload


def named_order(workload: Workload, name: str) -> tuple[Ranking, OrderFunction | None]:
    """Return the ranking of a queue order, and its plug-in function to call at each pass, if any.

    The ranking has a key of 0 for each job unless the order is fixed.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 7], estimate=[9, 7], procs=[1, 2],
    ...                           processors=2)
    >>> ranking, function = named_order(w, "spf")
    >>> ranking.code == KEYED, ranking.key.tolist(), function
    (True, [9, 7], None)
    >>> named_order(w, "lxf")[0].code == KEYED
    False
    """
    row = find_order(name)
    width = workload.procs.astype(np.float64) if row.width is None else row.width(workload)
    if (key := row.fixed_key(workload)) is not None:
        return Ranking(KEYED, key, width, NO_CELLS), None
    code = KEYED if row.code is None else cast(int, own.load(row.code))
    ranking = Ranking(code, np.zeros(len(workload), np.int64), width, NO_CELLS)
    return ranking, row.function if row.code is None else None


def sharing_of(workload: Workload, policy: Policy) -> Sharing | None:
    """Return empty usage accounts and lines for a policy; None if no order ranks users.

    All jobs with the unknown user, -1, belong to one user.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 7], estimate=[9, 7], procs=[1, 2],
    ...                           user=[8, -1], processors=2)
    >>> sharing = sharing_of(w, Policy.parse("fair-share+easy,refresh=5m"))
    >>> sharing.shares.user.tolist(), sharing.shares.work.tolist(), sharing.shares.refresh
    ([1, 0], [9, 14], 300)
    >>> sharing_of(w, Policy.parse("fcfs+easy")) is None
    True
    """
    names = (policy.order, policy.backfill or policy.order)
    first, second = (find_order(name).shares for name in names)
    if first is None and second is None:
        return None
    return _sharing(workload, policy, first, second)


def _sharing(workload: Workload, policy: Policy, first: str | None, second: str | None) -> Sharing:
    """Return empty usage accounts, and lines for the codes of two orders; a code may be None."""
    users, person = np.unique(workload.user, return_inverse=True)
    refresh, halflife = (seconds_of(text or "") or 0 for text in (policy.refresh, policy.halflife))
    waited, worked, seen_waited, seen_worked = (np.zeros(users.size, np.int64) for _ in range(4))
    shares = Shares(
        person,
        workload.run * workload.procs,
        waited,
        worked,
        seen_waited,
        seen_worked,
        np.zeros(users.size),
        record(Passed),
        refresh,
        halflife or NEVER,
    )
    # Two equal orders share one key array, so each pass makes their line only once.
    second = None if policy.backfill in (None, policy.order) else second
    return Sharing(shares, _line(first, users.size), _line(second, users.size))


def weighing_of(workload: Workload, policy: Policy) -> tuple[Weights, Weights] | None:
    """Return the weights of both orders; None if neither is Slurm's priority."""
    names = (policy.order, policy.backfill or policy.order)
    first, second = (find_order(name).weighs for name in names)
    if first is None and second is None:
        return None
    # Two equal orders share one key array, so each pass makes their keys only once.
    second = None if names[0] == names[1] else second
    return (
        unused_weights() if first is None else weights_of(workload, first),
        unused_weights() if second is None else weights_of(workload, second),
    )


def _line(code: str | None, users: int) -> Line:
    size = 0 if code is None else users
    user, rank, stamp = (np.zeros(size, np.int64) for _ in range(3))
    known = NOBODY if code is None else cast(int, own.load(code))
    return Line(known, user, rank, stamp, record(LineState))


class Orders:
    """Hold the queue order and the backfill order of a policy, and the inputs of their functions.

    In stepwise runs, `call` also ranks by the usage of users, and the kernels do not track this
    usage.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 7], estimate=[9, 7], procs=[1, 2],
    ...                           processors=2)
    >>> orders = Orders(w, Policy.parse("fcfs+easy,backfill=lxf"))
    >>> orders.rankings.moves, orders.rankings.differ, orders.called, orders.sharing is None
    (False, True, False, True)
    """

    def __init__(self, workload: Workload, policy: Policy, *, stepwise: bool = False) -> None:
        names = (policy.order, policy.backfill or policy.order)
        first = named_order(workload, names[0])
        second = first if names[1] == names[0] else named_order(workload, names[1])
        moves = find_order(names[0]).moves
        self.rankings = Rankings(first[0], second[0], moves, names[0] != names[1])
        # Two equal orders share one key array, so each pass calls their function only once.
        self.functions = (first[1], None if second is first else second[1])
        self.sharing = sharing_of(workload, policy)
        self.weighing = weighing_of(workload, policy)
        by_usage = self.sharing is not None or self.weighing is not None
        self._written: ExpressionRankings | None = None
        if not by_usage and not stepwise:
            self._compile(workload, names)
        shared = stepwise and by_usage
        self.called = shared or self.functions != (None, None)
        asked = any(f is not None and f.asks_history for f in self.functions)
        followed = asked or (self.called and by_usage)
        self._history = History(workload) if followed else None
        self._workload, self._policy = workload, policy

    def _compile(self, workload: Workload, names: tuple[str, str]) -> None:
        """Let kernels evaluate the functions, if all are expressions of the instant."""
        first, second = (
            find_order(name).expression if function else None
            for name, function in zip(names, self.functions, strict=True)
        )
        if [first, second].count(None) == self.functions.count(None) < len(names):
            self._written = ranked_by_expression(workload, self.rankings, first, second)
            self._names, self.functions = names, (None, None)

    def check(self) -> None:
        """Raise an error if an expression had no value for a waiting job."""
        if self._written is not None:
            programs = (self._written.first, self._written.second)
            for name, program in zip(self._names, programs, strict=True):
                check_numbers(self._workload, program, name)

    @property
    def ranked(self) -> AnyRankings:
        """Rankings for the kernels, which track the usage of users unless `call` does so."""
        if self._written is not None:
            return self._written
        if self.called or (self.sharing is None and self.weighing is None):
            return self.rankings
        waiting = np.empty(len(self._workload), np.int64)
        if self.weighing is not None:
            sharing = self.sharing or _sharing(self._workload, self._policy, None, None)
            active = np.empty_like(waiting)
            return WeighedRankings(*self.rankings, sharing, waiting, active, *self.weighing)
        assert self.sharing is not None
        return SharedRankings(*self.rankings, self.sharing, waiting)

    def call(self, now: int, waiting: Int64, start: Int64, running: Int64) -> None:
        """Fill in the keys of the waiting jobs, ascending, at an instant, s, before its pass.

        `start` has the start of each job, -1 for jobs that have not started; `running` lists the
        running jobs.
        """
        history = self._history
        if history is not None:
            done = history.note(start, waiting, running)
            if self.sharing is not None:
                self._share(self.sharing, now, waiting, start, done)
            if self.weighing is not None:
                self._weigh(self.weighing, now, waiting, start, done, running)
        if not waiting.size:
            return
        sums = None if history is None else history.of(waiting)
        for ranking, function in zip(self.rankings[:2], self.functions, strict=True):
            if function is not None:
                ranking.key[waiting] = function.key(self._workload, waiting, now, sums)

    def _share(self, sharing: Sharing, now: int, waiting: Int64, start: Int64, done: Int64) -> None:
        """Fill in the keys that depend on the usage of users, in place of the kernels."""
        work, first = self._workload, int(self._workload.submit[0])
        end = start[done] + work.run[done]
        done = done[np.argsort(end, kind="stable")]
        age = start[done] + work.run[done] - first
        settle_all(sharing.shares, done, start[done] - work.submit[done], age, now - first)
        rank_waiting(sharing, self.rankings, waiting)

    def _weigh(
        self,
        weighing: tuple[Weights, Weights],
        now: int,
        waiting: Int64,
        start: Int64,
        done: Int64,
        running: Int64,
    ) -> None:
        """Fill in the keys that are Slurm's priorities, in place of the kernels."""
        work = self._workload
        last_first = np.argsort(-(start[done] + work.run[done]), kind="stable")
        active = np.concatenate((running, done[last_first]))
        started = np.zeros(len(work), np.bool_)
        columns = (work.submit, work.run, work.estimate, work.procs, start, started)
        jobs = Jobs(*columns, np.zeros(1, np.int64), STAYING)
        for tree, ranking in zip(weighing, self.rankings[:2], strict=True):
            if tree.constants.used:
                charge_ended(tree, jobs, active, running.size, now)
                weigh_waiting(tree, waiting, ranking.key)


def cloned(ranked: AnyRankings) -> tuple[AnyRankings, AnyRankings]:
    """Return rankings for a schedule and for its clone, with separate sums and instants.

    Both share ranks and keys, which are made before each pass.
    """
    if isinstance(ranked, ExpressionRankings):
        return ranked, cloned_rankings(ranked)
    if isinstance(ranked, Rankings):
        return ranked, ranked
    shares = ranked.sharing.shares
    own = shares._replace(
        waited=shares.waited.copy(),
        worked=shares.worked.copy(),
        seen_waited=shares.seen_waited.copy(),
        seen_worked=shares.seen_worked.copy(),
        quotient=shares.quotient.copy(),
        passed=shares.passed.copy(),
    )
    sharing = ranked.sharing._replace(shares=own)
    if isinstance(ranked, WeighedRankings):
        first, second = copied(ranked.first), copied(ranked.second)
        return ranked, ranked._replace(sharing=sharing, first=first, second=second)
    return ranked, ranked._replace(sharing=sharing)
