"""Fair start times under depth(K) and conservative, in any order."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clone.machine import copy_machine, latest_running, withdraw
from schedfarm.core.engine.clone.state import (
    GONE,
    Fair,
    answer,
    coming,
    fill_in,
    forks_at_arrival,
    forks_before_next,
    is_over,
    needs_copy,
)
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.machine import give_back, next_end
from schedfarm.core.engine.plan import void
from schedfarm.core.engine.plan_queue import insert, place_by_key
from schedfarm.core.engine.planning import AnyPlan
from schedfarm.core.engine.rank import AnyRankings, begun_by, copy_usage, follow_up
from schedfarm.core.engine.reservations import (
    Planner,
    complete,
    pass_over,
    turn,
)
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import Options


@verb
def copy_plan(plan: AnyPlan, other: AnyPlan, start: Int64, rank: Int64, bar: int) -> None:
    """Copy the waiting jobs with a rank of at most `bar`; their reservations are made again."""
    state, kept, starving = other.state, 0, 0
    state[0].points = other.front[0] = 0
    for i in range(plan.state[0].waiting):
        cell = plan.front[0] + i
        j = plan.job[cell]
        if rank[j] > bar:
            start[j] = GONE
            continue
        start[j] = -1
        other.job[kept], other.submit[kept] = j, plan.submit[cell]
        other.need[kept], other.length[kept] = plan.need[cell], plan.length[cell]
        state[0].points += plan.length[cell] == 0
        starving += i < plan.state[0].starving
        kept += 1
    state[0].waiting, state[0].starving = kept, starving
    void(other)


@verb
def enter(copy: Planner, rankings: AnyRankings, j: int) -> None:
    """Queue job j; a moving order sorts it later."""
    copy.jobs.start[j] = -1
    last = copy.plan.state[0].waiting
    place = last if rankings.moves else place_by_key(copy.plan, rankings.queue.key, j)
    insert(copy.plan, copy.jobs, j, place)


@verb
def turn_alone(
    copy: Planner, rankings: AnyRankings, fair: Fair, per_event: bool, k: int, j: int
) -> int:
    """Go to the next instant, or event, of a clone for job j; return the next arrival."""
    jobs, machine, plan, clock, _ = copy
    k = coming(fair, jobs.start, k, j)
    due, end = jobs.submit[k] if k < fair.until[j] else NEVER, next_end(machine)
    now = min(due, end)
    clock[0].now = now
    if plan.state[0].points > 0:
        void(plan)
    if per_event:
        give_back(machine, now)
    begun = begun_by(rankings, machine)
    if end == now and not (per_event and due == now):
        complete(plan, jobs, machine, now, per_event)
    follow_up(rankings, machine, jobs, begun, now)
    while k < fair.until[j] and jobs.submit[k] == now:
        enter(copy, rankings, k)
        k = coming(fair, jobs.start, k + 1, j)
        if per_event:
            break
    return k


@routine
def fork(
    here: Planner, whole: Planner, fair: Fair, rankings: tuple[AnyRankings, AnyRankings],
    options: Options, fst: Int64, first: int, j: int, look: bool,
) -> None:  # fmt: skip
    """Find the fair start of job j, which has arrived, on a clone of the state.

    Also find the fair starts of the jobs from `first` on for which the clone is valid. `look` tells
    whether the pass of this instant is pending. The second rankings are the clone's.
    """
    submit, run, estimate, procs, start, backfilled, leave, leaving = whole.jobs
    # Starvation examines every job of the columns, so that later jobs are cut off.
    jobs = Jobs(submit[: fair.until[j]], run, estimate, procs, start, backfilled, leave, leaving)
    copy = Planner(jobs, whole.machine, whole.plan, whole.clock, whole.promised)
    joined, k, own = not fair.relaxed, here.clock[0].arrived, rankings[1]
    copy.clock[0].now, copy.clock[0].seen = here.clock[0].now, here.clock[0].seen
    copy_machine(here.machine, here.jobs, start, copy.machine)
    if fair.patient:
        withdraw(copy.machine, here.jobs, j + joined)
    if options.threshold < NEVER:
        for i in range(here.clock[0].seen, k):
            start[i] = here.jobs.start[i]
    copy_plan(here.plan, copy.plan, start, fair.rank, fair.rank[j] - (not joined))
    copy_usage(rankings[0], own)
    while True:
        if look and copy.plan.state[0].waiting > 0:
            copy.clock[0].full = 1
            pass_over(copy, own, options, False)
        look = True
        alone = joined or copy.plan.state[0].waiting == 0
        head = NEVER if alone else copy.plan.job[copy.plan.front[0]]
        first = answer(start, fst, first, j + joined, head)
        if first > j:
            return
        if alone and not joined:
            joined = True
            enter(copy, own, j)
            # The pass of this instant has already examined all earlier jobs; the queue was empty.
            copy.plan.state[0].starving += j < copy.clock[0].seen
            continue
        k = turn_alone(copy, own, fair, options.per_event, k, j)


@verb
def settle(
    here: Planner, copy: Planner, fair: Fair, rankings: tuple[AnyRankings, AnyRankings],
    options: Options, fst: Int64, known: int,
) -> int:  # fmt: skip
    """Make clones for the jobs from `known` on that a later one has overtaken; return the next job.

    Invariant: first come, first served, no waiting job affects an earlier one. Until a later job
    starts, the schedule is therefore the clone of every job, and the pass that starts the later job
    still decides on earlier jobs as their clones would. One clone is made for the last of these
    jobs, and another one for jobs that are overtaken on the first.
    """
    latest = latest_running(here.machine, known - 1)
    plan = here.plan
    head = plan.job[plan.front[0]] if plan.state[0].waiting > 0 else fst.size
    for j in range(min(latest, fair.last - 1), known - 1, -1):
        if needs_copy(here.jobs, fair, fst, j, head):
            fork(here, copy, fair, rankings, options, fst, known, j, False)
    return latest + 1


# Without unrolled loops, fair starts on KTH-SP2 took 1.06 to 1.11 times as long.
@kernel
def fair_reserving(
    here: Planner,
    copy: Planner,
    fair: Fair,
    rankings: tuple[AnyRankings, AnyRankings],
    options: Options,
    fst: Int64,
) -> None:
    """Simulate the schedule, and clones as needed; fill `fst`, all -1, for the wanted jobs."""
    jobs, running, plan, clock, _ = here
    known = 0
    while True:
        if not fair.patient and forks_before_next(jobs, running, fair, fst, clock[0].arrived):
            j = clock[0].arrived - 1
            fork(here, copy, fair, rankings, options, fst, j, j, False)
        if is_over(jobs, fair, fst, clock[0].arrived):
            break
        turn(here, rankings[0], options.per_event)
        if not fair.patient:
            for j in range(clock[0].before, clock[0].arrived):
                if forks_at_arrival(fair, j, clock[0].arrived):
                    fork(here, copy, fair, rankings, options, fst, j, j, True)
        if plan.state[0].waiting > 0:
            pass_over(here, rankings[0], options, False)
        if fair.patient:
            known = settle(here, copy, fair, rankings, options, fst, known)
    fill_in(jobs, fair, fst)
