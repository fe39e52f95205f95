"""Mapping of the row of a queue order to the rankings of the kernels."""

from __future__ import annotations

from typing import cast

import numpy as np

from schedfarm.core import own
from schedfarm.core.arrays import Int64
from schedfarm.core.durations import seconds_of
from schedfarm.core.engine.expressions import (
    ExpressionRankings,
    check_numbers,
    ranked_by_expression,
)
from schedfarm.core.engine.history import History
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.rank import AnyRankings
from schedfarm.core.engine.ranking import KEYED, Ranking, Rankings
from schedfarm.core.engine.usage import PASSED, Shares, settle_all
from schedfarm.core.engine.user_ranking import (
    NOBODY,
    Line,
    SharedRankings,
    Sharing,
    rank_waiting,
)
from schedfarm.core.policy.functions import OrderFunction
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload


def named_order(workload: Workload, name: str) -> tuple[Ranking, OrderFunction | None]:
    """Return the ranking of a queue order, and a user's function to call at each pass, if any.

    The key is that of a fixed order, and else zeros.

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
        return Ranking(KEYED, key, width), None
    code = KEYED if row.code is None else cast(int, own.load(row.code))
    ranking = Ranking(code, np.zeros(len(workload), np.int64), width)
    return ranking, row.function if row.code is None else None


def sharing_of(workload: Workload, policy: Policy) -> Sharing | None:
    """Return empty usage accounts and lines for a policy; None if no order ranks users.

    The unknown user, -1, is one user.

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
        np.zeros(PASSED, np.int64),
        refresh,
        halflife or NEVER,
    )
    # One order has one key array for both: its line is made once a pass.
    second = None if names[0] == names[1] else second
    return Sharing(shares, _line(first, users.size), _line(second, users.size))


def _line(code: str | None, users: int) -> Line:
    size = 0 if code is None else users
    user, rank, stamp = (np.zeros(size, np.int64) for _ in range(3))
    known = NOBODY if code is None else cast(int, own.load(code))
    return Line(known, user, rank, stamp, np.zeros(2, np.int64))


class Orders:
    """Hold the queue order and the backfill order of a policy, and the inputs of their functions.

    Stepwise, `call` also ranks by the usage of users, for kernels that do not follow it.

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
        # One order has one key array for both: its function is called once a pass.
        self.functions = (first[1], None if second is first else second[1])
        self.sharing = sharing_of(workload, policy)
        self._written: ExpressionRankings | None = None
        if self.sharing is None and not stepwise:
            self._compile(workload, names)
        shared = stepwise and self.sharing is not None
        self.called = shared or self.functions != (None, None)
        asked = any(f is not None and f.asks_history for f in self.functions)
        followed = asked or (self.called and self.sharing is not None)
        self._history = History(workload) if followed else None
        self._workload = workload

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
        """Refuse the simulation if an expression had no value for a waiting job."""
        if self._written is not None:
            programs = (self._written.first, self._written.second)
            for name, program in zip(self._names, programs, strict=True):
                check_numbers(self._workload, program, name)

    @property
    def ranked(self) -> AnyRankings:
        """Rankings of the kernels, which follow the usage of users unless `call` does."""
        if self._written is not None:
            return self._written
        if self.sharing is None or self.called:
            return self.rankings
        waiting = np.empty(len(self._workload), np.int64)
        return SharedRankings(*self.rankings, self.sharing, waiting)

    def call(self, now: int, waiting: Int64, start: Int64, running: Int64) -> None:
        """Fill in the keys of the waiting jobs, ascending, at an instant, s, before its pass.

        `start` is that of each job, -1 for none yet, and `running` lists those that run.
        """
        history = self._history
        if history is not None:
            done = history.note(start, waiting, running)
            if self.sharing is not None:
                self._share(self.sharing, now, waiting, start, done)
        if not waiting.size:
            return
        sums = None if history is None else history.of(waiting)
        for ranking, function in zip(self.rankings[:2], self.functions, strict=True):
            if function is not None:
                ranking.key[waiting] = function.key(self._workload, waiting, now, sums)

    def _share(self, sharing: Sharing, now: int, waiting: Int64, start: Int64, done: Int64) -> None:
        """Fill in the keys that depend on the usage of users, next to a function that is called."""
        work, first = self._workload, int(self._workload.submit[0])
        end = start[done] + work.run[done]
        done = done[np.argsort(end, kind="stable")]
        age = start[done] + work.run[done] - first
        settle_all(sharing.shares, done, start[done] - work.submit[done], age, now - first)
        rank_waiting(sharing, self.rankings, waiting)


def cloned(ranked: AnyRankings) -> tuple[AnyRankings, AnyRankings]:
    """Return rankings for a schedule and for its clone, with sums and an instant of its own.

    Ranks and keys are made before each pass, and shared.
    """
    if isinstance(ranked, ExpressionRankings):
        return ranked, ranked._replace(now=ranked.now.copy())
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
    return ranked, ranked._replace(sharing=ranked.sharing._replace(shares=own))
