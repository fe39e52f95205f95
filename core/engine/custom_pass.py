"""Passes of a plug-in rule: the kernel copies the state, then checks and executes decisions.

The rule gets copies, so that its writes do not change the simulation. The kernel calls a compiled
rule by its address (`core.engine.custom_code`); for other rules it returns to Python at each call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Float64, Int64
from schedfarm.core.engine.indirect import call_address
from schedfarm.core.engine.jit import kernel, verb
from schedfarm.core.engine.machine import begin, has_free, most_free, running_count
from schedfarm.core.engine.plan import remove
from schedfarm.core.engine.rank import AnyRankings, rank_list
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.reservations import Planner, arrange, turn
from schedfarm.core.engine.world import Options, starving_before
from schedfarm.core.policy.custom_rule import FREE, LATE, LATE_AT, OVERBOOKED, STARTS, TALLY

END, ORDER, RULE, FAULT = range(4)
"""Reasons for a return of the kernel.

END: the simulation has ended. ORDER: Python must compute the order's keys. RULE: Python must
compute the rule's decisions. FAULT: the rule made a mistake.
"""

AT, SIZE, ARRIVALS, WAITS, RUNS, CALLS, INSIDE, ROOM, MEMORY, ADDRESSES = range(10)
"""Fields of a desk: the instant, s; processors; numbers of arrived, waiting and running jobs;
number of calls of the rule; whether a call is in progress; room for jobs; size of the rule's
memory; and the address of the first array."""

ARRAYS = 12
"""Number of arrays with addresses on the desk."""

OUTSIDE, TWICE, WIDE, IDLE, PAST, OVER, RAISED = range(1, 8)
"""Mistakes of a rule.

OUTSIDE, TWICE, WIDE: start of a job that has not arrived, has already started, or does not fit.
IDLE: no start on an idle machine. PAST, OVER: a reservation in the past, or of processors that are
not free. RAISED: an exception.
"""


class Fault:
    """A mistake of a rule.

    kind: its code. job: the job. detail: a number for its sentence.
    """

    kind: int
    job: int
    detail: int


class View(NamedTuple):
    """Hold the copies for a rule, the records of its decisions, and the kernel's own arrays.

    desk: int64, scalars, then the addresses of the arrays from `columns` on. active: int64[n], the
    running jobs, the soonest predicted end first. before: float64, the memory before the call, to
    repeat it. columns: int64[8, n], of all jobs. The others are those of
    `core.policy.custom_rule.State`.
    """

    desk: Int64
    active: Int64
    fault: Record[Fault]
    before: Float64
    columns: Int64
    waiting: Int64
    running: Int64
    ends: Int64
    time: Int64
    free: Int64
    size: Int64
    memory: Float64
    tally: Int64
    decided: Int64
    started: Int64
    reserved: Int64


def empty_view(columns: Int64, processors: int, memory: int) -> View:
    """Return a view for jobs with these columns, int64[8, n], on an idle machine."""
    n = columns.shape[1]
    view = View(
        np.zeros(ADDRESSES + ARRAYS, np.int64),
        np.empty(n, np.int64),
        record(Fault),
        np.zeros(memory),
        columns,
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(4 * n + 16, np.int64),
        np.empty(4 * n + 16, np.int64),
        np.ones(1, np.int64),
        np.zeros(memory),
        np.zeros(TALLY, np.int64),
        np.empty(n + 1, np.int64),
        np.zeros(n, np.int64),
        np.empty(n, np.int64),
    )
    view.desk[[SIZE, ROOM, MEMORY]] = processors, n, memory
    view.desk[ADDRESSES:] = [array.ctypes.data for array in view[4:]]
    return view


@verb
def show_running(planner: Planner, view: View, unit: int) -> None:
    """Copy the running jobs, and lay out the profile of their predicted ends."""
    jobs, machine, _, clock, _ = planner
    active, time, free = view.active, view.time, view.free
    now, kept, step = clock[0].now, 0, 0
    time[0], free[0] = now, most_free(machine) * unit
    for place in range(view.desk[RUNS]):
        j = active[place]
        # A job that ends now has completed: completions come first.
        if jobs.start[j] + jobs.run[j] <= now:
            continue
        end = jobs.start[j] + jobs.estimate[j]
        active[kept], view.running[kept], view.ends[kept] = j, j, end
        kept += 1
        if end > time[step]:
            step += 1
            time[step], free[step] = end, free[step - 1]
        free[step] += jobs.procs[j] * unit
    view.desk[RUNS], view.size[0] = kept, step + 1


@verb
def show(planner: Planner, view: View, unit: int) -> None:
    """Copy the state of this instant for the rule, with empty records."""
    _, _, plan, clock, _ = planner
    count, front, desk = plan.state[0].waiting, plan.front[0], view.desk
    for i in range(count):
        j = plan.job[front + i]
        view.waiting[i], view.reserved[j], view.started[j] = j, NO_PROMISE, 0
    show_running(planner, view, unit)
    desk[AT], desk[ARRIVALS], desk[WAITS] = clock[0].now, clock[0].arrived, count
    for k in range(TALLY):
        view.tally[k] = 0
    view.tally[FREE] = view.free[0]
    for k in range(view.memory.size):
        view.before[k] = view.memory[k]
    desk[CALLS] += 1


@verb
def blame(view: View, kind: int, j: int, detail: int) -> bool:
    """Record a mistake; return False."""
    view.fault[0].kind, view.fault[0].job, view.fault[0].detail = kind, j, detail
    return False


@verb
def note_start(planner: Planner, view: View, j: int) -> None:
    """Insert a job into the list of running jobs, by its predicted end."""
    jobs, active = planner.jobs, view.active
    end, place = jobs.start[j] + jobs.estimate[j], view.desk[RUNS]
    while place > 0 and jobs.start[active[place - 1]] + jobs.estimate[active[place - 1]] > end:
        active[place] = active[place - 1]
        place -= 1
    active[place] = j
    view.desk[RUNS] += 1


@verb
def start_decided(planner: Planner, view: View, unit: int) -> bool:
    """Start the jobs that the rule has decided on, in its order.

    Stop at the first job that may not start, and return whether there was no such job.
    """
    jobs, machine, plan, clock, _ = planner
    head = plan.front[0]
    for k in range(min(view.tally[STARTS], view.decided.size)):
        j = view.decided[k]
        if j < 0 or j >= clock[0].arrived:
            return blame(view, OUTSIDE, plan.job[plan.front[0]], j)
        if jobs.start[j] >= 0:
            return blame(view, TWICE, j, jobs.start[j])
        if not has_free(machine, 0, jobs.procs[j]):
            return blame(view, WIDE, j, most_free(machine) * unit)
        while jobs.start[plan.job[head]] >= 0:
            head += 1
        jobs.backfilled[j] = plan.job[head] != j
        begin(machine, jobs, 0, j, clock[0].now)
        note_start(planner, view, j)
    return True


@verb
def check_reserved(planner: Planner, view: View) -> bool:
    """Return whether reservations lie in the future, and hold only free processors."""
    plan, now, tally = planner.plan, planner.clock[0].now, view.tally
    for i in range(plan.state[0].waiting):
        j = plan.job[plan.front[0] + i]
        at = view.reserved[j]
        if j == tally[LATE] - 1:
            return blame(view, PAST, j, tally[LATE_AT])
        # The rule can also write to its records.
        if at != NO_PROMISE and at < now:
            return blame(view, PAST, j, at)
        if j == tally[OVERBOOKED] - 1:
            return blame(view, OVER, j, at)
    return True


@verb
def promise(planner: Planner, view: View) -> None:
    """Record the starts or reservations of the jobs that arrived at this instant."""
    jobs, _, _, clock, promised = planner
    for j in range(clock[0].before, clock[0].arrived):
        promised[j] = clock[0].now if jobs.start[j] >= 0 else view.reserved[j]


@verb
def judge(planner: Planner, view: View, unit: int) -> bool:
    """Carry out the decisions of the rule; return whether all are allowed."""
    jobs, machine, plan, _, _ = planner
    if not start_decided(planner, view, unit) or not check_reserved(planner, view):
        return False
    promise(planner, view)
    if view.tally[STARTS] > 0:
        for i in range(plan.state[0].waiting - 1, -1, -1):
            if jobs.start[plan.job[plan.front[0] + i]] >= 0:
                remove(plan, i)
    if plan.state[0].waiting > 0 and running_count(machine) == 0:
        return blame(view, IDLE, plan.job[plan.front[0]], 0)
    return True


@kernel
def run_custom(
    planner: Planner,
    rankings: AnyRankings,
    options: Options,
    view: View,
    unit: int,
    address: int,
    desk: int,
    ordered: bool,
    decided: bool,
) -> int:
    """Run events and passes until Python must call the rule or an order, or to the end.

    address: that of the compiled rule, which is called with the address of the desk; 0 if Python
    calls the rule. ordered: whether Python computes the keys of the waiting jobs. decided: whether
    Python has just called the rule.
    """
    jobs, _, plan, clock, _ = planner
    if decided and not judge(planner, view, unit):
        return FAULT
    while True:
        if clock[0].turned == 0:
            if jobs.leave[0] != 0 or not turn(planner, rankings, options.per_event):
                return END
            if ordered:
                clock[0].turned = 1
                return ORDER
        clock[0].turned = 0
        if plan.state[0].waiting == 0:
            continue
        limit = starving_before(options, clock[0].now)
        rank_list(rankings, plan.job[plan.front[0] :], plan.state[0].waiting)
        arrange(planner, rankings, limit)
        show(planner, view, unit)
        if address == 0:
            return RULE
        view.desk[INSIDE] = 1
        failed = call_address(address, desk)
        view.desk[INSIDE] = 0
        if failed != 0:
            blame(view, RAISED, view.waiting[0], 0)
            return FAULT
        if not judge(planner, view, unit):
            return FAULT
