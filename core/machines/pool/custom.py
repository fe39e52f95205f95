"""Simulation on a pool of policies with a plug-in rule, which is called at each pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from schedfarm.core import own
from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.cancel import underway
from schedfarm.core.engine.compiled_order import Orders
from schedfarm.core.engine.custom_code import code_of, in_python
from schedfarm.core.engine.custom_pass import (
    ARRIVALS,
    AT,
    END,
    FAULT,
    IDLE,
    ORDER,
    OUTSIDE,
    OVER,
    PAST,
    RAISED,
    RUNS,
    SIZE,
    TWICE,
    WAITS,
    WIDE,
    View,
    empty_view,
    run_custom,
)
from schedfarm.core.engine.reservations import Planner
from schedfarm.core.engine.run import options_of, unit_of
from schedfarm.core.engine.time_limit import Overrun, Pace, within_limit
from schedfarm.core.engine.world import RESERVING
from schedfarm.core.errors import InputError
from schedfarm.core.machines.pool.simulation import POOL
from schedfarm.core.numerals import counted
from schedfarm.core.policy.custom_rule import (
    Book,
    Columns,
    Profile,
    State,
    fits,
    start,
)
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

SECONDS = 10.0
"""Default of a rule's attribute `seconds`: limit of its CPU time in one pass, s."""

_COLUMNS = ("submit", "estimate", "procs", "job", "user", "group", "queue", "partition")

_SENTENCES = {
    OUTSIDE: "starts a job of index {detail} at {now} s, but only 0 to {last} have arrived, and "
    "job {number} is first in the queue; take indices from state.waiting",
    TWICE: "starts job {number} at {now} s, which has started at {detail} s; a job starts once",
    WIDE: "starts job {number} ({procs} processors) at {now} s, when only {detail} are free; ask "
    "fits(state, j) first",
    IDLE: "starts no job at {now} s, although the machine is idle and job {number} ({procs} "
    "processors) waits; it must start one then, or jobs may wait for ever",
    PAST: "reserves processors for job {number} from {detail} s on, which is before {now} s; take "
    "earliest(state, j), for example",
    OVER: "reserves {procs} processors for job {number} from {detail} s on, at {now} s, but they "
    "are not free for as long; take earliest(state, j), for example",
}


def simulate_custom(workload: Workload, policy: Policy) -> Schedule:
    """Simulate a rule that is called at each pass.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[5, 5, 7], estimate=[9, 5, 7],
    ...                           procs=[3, 4, 1], processors=4)
    >>> rule = "schedfarm.core.machines.pool.custom:first_come"
    >>> simulate_custom(w, Policy.parse(f"fcfs+{rule}")).start.tolist()
    [0, 5, 10]
    """
    jobs = _simulation(workload, policy).run().jobs
    return Schedule(workload, policy.name, jobs.start, jobs.backfilled)


def promise_custom(workload: Workload, policy: Policy) -> Int64:
    """Return the starts that the rule reserves in the passes of jobs' arrivals, s, or -1."""
    return _simulation(workload, policy).run().promised


def why_plain(policy: Policy) -> str | None:
    """Return the reason why a policy's rule runs in plain Python; None for a compiled rule."""
    rule = own.brought("rule", own.RULES, policy.rule)
    return code_of(policy.rule, rule).why or None


def first_come(state: State) -> None:
    """Start the first job while it fits."""
    for j in state.waiting:
        if not fits(state, j):
            break
        start(state, j)


class _Simulation:
    """Run one simulation of a policy, with the kernel's arguments and the rule in Python."""

    def __init__(self, workload: Workload, policy: Policy, rule: Any) -> None:
        self._workload, self._policy = workload, policy
        self._orders = Orders(workload, policy)
        self._planner: Planner = POOL.planner(workload, NO_PROMISE)
        columns = np.array([getattr(workload, name) for name in _COLUMNS], np.int64)
        memory = _attribute(policy.rule, rule, "memory", 0, int)
        self._view: View = empty_view(columns, workload.processors, int(memory))
        self._code = code_of(policy.rule, rule)
        python = getattr(rule, "py_func", rule)
        self._python: Callable[[State], Any] = python() if isinstance(python, type) else python
        seconds = _attribute(policy.rule, rule, "seconds", SECONDS, float)
        self._pace = Pace(self._view.desk, seconds)

    def run(self) -> Planner:
        """Simulate with a limit on a pass's CPU time; return the machine after all completions."""
        here = underway()
        if not within_limit(self._go, self._pace):
            raise InputError(
                f"{self._name} has taken more than {self._pace.seconds:g} s of CPU for its pass "
                f"{self._at}; it may not return, or needs a larger limit in its attribute seconds"
            )
        here.check()
        self._orders.check()
        return self._planner

    def _go(self) -> None:
        orders, planner, decided = self._orders, self._planner, False
        while True:
            why = self._run(self._code.address, decided)
            decided = False
            if why == ORDER:
                plan, first = planner.plan, planner.plan.front[0]
                waiting = np.sort(plan.job[first : first + plan.state[0].waiting])
                running = planner.machine.running_jobs()
                orders.call(int(planner.clock[0].now), waiting, planner.jobs.start, running)
            elif why == FAULT:
                self._refuse()
            elif why == END:
                return
            else:
                self._call()
                decided = True

    def _run(self, address: int, decided: bool) -> int:
        """Run the kernel, which calls the rule at an address or returns to Python for each call."""
        view, orders = self._view, self._orders
        return run_custom(
            self._planner,
            orders.ranked,
            options_of(self._workload, self._policy, RESERVING),
            view,
            unit_of(self._workload),
            address,
            view.desk.ctypes.data,
            orders.called,
            decided,
        )

    def _call(self) -> None:
        """Call the rule in this pass, in Python or by its machine code."""
        call = self._code.call
        with self._pace:
            if call is None:
                self._ask()
            elif call(self._view.desk.ctypes.data):
                self._ask_why()

    def _ask(self) -> None:
        try:
            said = self._python(self._state())
        except Overrun:
            raise
        except BaseException as error:  # A user's rule may raise any error, even by sys.exit().
            raise own.RaisedError.of(self._name, error, self._at) from error
        if said is not None:
            raise InputError(
                f"{self._name} returned {type(said).__name__} {self._at}; it must return nothing: "
                "it decides by start(state, j) and reserve(state, j, at)"
            )

    def _ask_why(self) -> None:
        """Repeat the call of a compiled rule in Python, to find its error and the line.

        The rule gets the original state, since the first call may have changed the rule's memory
        and records.
        """
        self._view.memory[:] = self._view.before
        self._planner.clock[0].turned = 1
        self._run(0, False)
        self._python = in_python(self._python)
        self._ask()
        raise InputError(
            f"{self._name} raised an exception {self._at} when compiled, not in Python"
        )

    @property
    def _name(self) -> str:
        return f"rule {self._policy.rule!r}"

    @property
    def _at(self) -> str:
        return f"at {self._view.desk[AT]} s, {self._queue}"

    @property
    def _queue(self) -> str:
        # The state is not taken from the view, since the rule may have written to the view.
        plan = self._planner.plan
        first, count = self._workload.job[plan.job[plan.front[0]]], int(plan.state[0].waiting)
        return f"with {counted(count, 'job')} in the queue, first job {first}"

    def _state(self) -> State:
        view, desk = self._view, self._view.desk
        arrived, waits, runs = desk[ARRIVALS], desk[WAITS], desk[RUNS]
        return State(
            int(desk[AT]),
            int(desk[SIZE]),
            view.waiting[:waits],
            view.running[:runs],
            view.ends[:runs],
            Columns(*view.columns[:, :arrived]),
            Profile(view.time, view.free, view.size),
            view.memory,
            Book(view.tally, view.decided, view.started[:arrived], view.reserved[:arrived]),
        )

    def _refuse(self) -> None:
        """Raise an error for the mistake of the rule."""
        fault = self._view.fault
        if fault[0].kind == RAISED:
            with self._pace:
                self._ask_why()
        work, j = self._workload, fault[0].job
        text = _SENTENCES[int(fault[0].kind)].format(
            now=self._view.desk[AT],
            number=work.job[j],
            procs=work.procs[j],
            detail=fault[0].detail,
            last=self._view.desk[ARRIVALS] - 1,
        )
        raise InputError(f"{self._name} {text}")


def _simulation(workload: Workload, policy: Policy) -> _Simulation:
    rule = own.brought("rule", own.RULES, policy.rule)
    return _Simulation(workload, policy, rule)


def _attribute(name: str, rule: object, what: str, default: float, kind: type) -> float:
    """Return an attribute of a rule, a number from 0 to 10^6; `seconds` is above 0."""
    value: float = getattr(rule, what, default)
    # A bool is an int, and a NaN fails every comparison.
    number = isinstance(value, (int, kind)) and not isinstance(value, bool)
    if not (number and 0 <= value <= 10**6 and (value > 0 or kind is int)):
        least = "a whole number from 0" if kind is int else "a number above 0, and up"
        raise InputError(
            f"rule {name!r}: its attribute {what} is {value!r}; it must be {least} to 10^6"
        )
    return value
