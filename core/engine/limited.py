"""The rules none, aggressive, easy, depth(K) and conservative with limits on jobs.

A pass skips a job that a limit keeps from starting: the job is not the head and has no reservation.
Only the order of the queue is kept between passes. A start or an end may admit or exclude jobs
anywhere in the queue, so each pass makes all reservations again.

Invariant: in one pass starts only increase the use of limits and of the machine. So a skipped job,
or a job that does not fit, cannot start in the rest of the pass.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine.clock import Clock, turn_clock
from schedfarm.core.engine.jit import NEVER, rolled_kernel, routine, verb
from schedfarm.core.engine.leaving import next_due
from schedfarm.core.engine.limits import Counters, add, exceeds, forget_ended
from schedfarm.core.engine.machine import (
    Hold,
    Machine,
    begin,
    has_free,
    most_free,
    place_beside,
    place_for,
    reserve,
    running_count,
)
from schedfarm.core.engine.planning import (
    AnyPlan,
    earliest,
    lay_out,
    place_now,
    put_down,
    step_now,
    take,
)
from schedfarm.core.engine.priority import list_ended
from schedfarm.core.engine.rank import AnyRankings, begun_by, follow_up, rank_list
from schedfarm.core.engine.ranking import Ranking, goes_before
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.reservations import UNSEEN, guard_points
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import NONE, RESERVING, Options, starving_before


class LimitedClock(Clock):
    """Clock of a machine with limits on jobs.

    waiting: number of waiting jobs. outside: number of jobs outside of the queue. turned: whether
    the pass of this instant is pending.
    """

    waiting: int
    outside: int
    turned: int


class Limited(NamedTuple):
    """Hold a machine, its waiting jobs in the order of the last pass, and the use of limits.

    waiting, behind, spare, outside: int64[n]: the queue; the order of backfills; scratch space for
    sorting; and submitted jobs that limits keep out of the queue, by (submit, position). hold: the
    head's reservation. promised: the starts reserved at arrival, s.
    """

    jobs: Jobs
    machine: Machine
    plan: AnyPlan
    hold: Record[Hold]
    waiting: Int64
    behind: Int64
    spare: Int64
    outside: Int64
    running: Counters
    submitted: Counters
    clock: Record[LimitedClock]
    promised: Int64


@verb
def end_jobs(world: Limited, before: int) -> None:
    """Remove the jobs that have just ended from the counters of limits.

    Call this step before the orders track the completions, which deletes the ended jobs on a grid.
    """
    ended = list_ended(world.machine, before, world.spare, 0)
    for p in range(ended):
        j = world.spare[p]
        add(world.running, j, world.jobs.start[j], world.clock[0].now, -1)
        add(world.submitted, j, 0, 0, -1)


@verb
def remove_job(jobs: Int64, count: int, j: int) -> int:
    """Remove a job, if present, from the first `count` of a list; return the new number."""
    kept = 0
    for p in range(count):
        jobs[kept] = jobs[p]
        kept += jobs[p] != j
    return kept


@verb
def withdraw(world: Limited) -> None:
    """Remove the submitted jobs that leave now, inside and outside the queue."""
    clock, jobs = world.clock, world.jobs
    j = next_due(jobs.leaving, jobs.start, clock[0].now)
    while j >= 0:
        waiting = remove_job(world.waiting, clock[0].waiting, j)
        if waiting < clock[0].waiting:
            clock[0].waiting = waiting
            add(world.submitted, j, 0, 0, -1)
        else:
            clock[0].outside = remove_job(world.outside, clock[0].outside, j)
        j = next_due(jobs.leaving, jobs.start, clock[0].now)


@verb
def let_in(world: Limited) -> None:
    """Move jobs from outside into the queue, in order, unless limits keep them out."""
    clock, kept = world.clock, 0
    for p in range(clock[0].outside):
        j = world.outside[p]
        if exceeds(world.submitted, j, 0):
            world.outside[kept] = j
            kept += 1
        else:
            add(world.submitted, j, 0, 0, 1)
            world.waiting[clock[0].waiting] = j
            clock[0].waiting += 1
    clock[0].outside = kept


@verb
def turn(world: Limited, rankings: AnyRankings) -> bool:
    """Go to the next instant, and process completions and arrivals; return False at the end."""
    jobs, machine, clock = world.jobs, world.machine, world.clock
    begun, before, first = begun_by(rankings, machine), running_count(machine), clock[0].arrived
    clock[0].now, clock[0].arrived, _ = turn_clock(jobs, machine, first, False)
    if clock[0].now == NEVER:
        return False
    end_jobs(world, before)
    follow_up(rankings, machine, jobs, begun, clock[0].now)
    forget_ended(machine)
    for j in range(first, clock[0].arrived):
        world.outside[clock[0].outside] = j
        clock[0].outside += 1
    withdraw(world)
    let_in(world)
    return True


@verb
def may_start(world: Limited, j: int, free: int, now: int) -> bool:
    """Return whether limits admit a job to this pass, and the largest free place may suffice."""
    return bool(world.jobs.procs[j] <= free and not exceeds(world.running, j, now))


@verb
def last_to_start(world: Limited, now: int) -> int:
    """Return the last place of the queue with a job that may start, or -1."""
    free = most_free(world.machine)
    for p in range(world.clock[0].waiting - 1, -1, -1):
        j = world.waiting[p]
        if (
            may_start(world, j, free, now)
            and place_for(world.machine, world.jobs.procs[j], now) >= 0
        ):
            return p
    return -1


@verb
def merge_runs(
    source: Int64,
    target: Int64,
    ranking: Ranking,
    jobs: Jobs,
    now: int,
    limit: int,
    first: int,
    middle: int,
    last: int,
) -> None:
    """Merge the sorted jobs first..middle - 1 and middle..last - 1."""
    a, b = first, middle
    for p in range(first, last):
        if a < middle and (
            b >= last or not goes_before(ranking, jobs, now, limit, source[b], source[a])
        ):
            target[p] = source[a]
            a += 1
        else:
            target[p] = source[b]
            b += 1


@verb
def end_of_run(
    source: Int64, ranking: Ranking, jobs: Jobs, now: int, limit: int, first: int, count: int
) -> int:
    """Return the end of the sorted run that begins at `first`."""
    stop = first + 1
    while stop < count and not goes_before(
        ranking, jobs, now, limit, source[stop], source[stop - 1]
    ):
        stop += 1
    return stop


@routine
def sort_jobs(
    source: Int64, spare: Int64, count: int, ranking: Ranking, jobs: Jobs, now: int, limit: int
) -> None:
    """Sort jobs by a ranking, starving jobs first, by a merge sort of the existing runs.

    The order of the last pass has few runs, because all jobs of a user change their ranks together.
    """
    sorted_ = False
    while not sorted_:
        first, runs = 0, 0
        while first < count:
            middle = end_of_run(source, ranking, jobs, now, limit, first, count)
            if middle == count and runs == 0:
                return
            last = middle
            if middle < count:
                last = end_of_run(source, ranking, jobs, now, limit, middle, count)
            merge_runs(source, spare, ranking, jobs, now, limit, first, middle, last)
            first, runs = last, runs + 1
        for p in range(count):
            source[p] = spare[p]
        sorted_ = runs == 1


@verb
def start(world: Limited, j: int, c: int, now: int, backfilled: bool) -> None:
    """Start a job at place c of the machine; it stays in the queue until the end of the pass."""
    world.jobs.backfilled[j] = backfilled
    begin(world.machine, world.jobs, c, j, now)
    add(world.running, j, now, now, 1)


@verb
def leave_queue(world: Limited) -> None:
    """Remove the jobs that have started from the queue."""
    kept = 0
    for p in range(world.clock[0].waiting):
        j = world.waiting[p]
        if world.jobs.start[j] < 0:
            world.waiting[kept] = j
            kept += 1
    world.clock[0].waiting = kept


@verb
def order_behind(
    world: Limited, rankings: AnyRankings, first: int, now: int, limit: int
) -> tuple[int, int]:
    """Write the candidates for backfilling in order; return their first place and the end.

    In queue order, the candidates are the jobs from `first` on; in another order, all waiting jobs.
    """
    count = world.clock[0].waiting
    for p in range(count):
        world.behind[p] = world.waiting[p]
    if not rankings.differ:
        return first, count
    sort_jobs(world.behind, world.spare, count, rankings.backfill, world.jobs, now, limit)
    return 0, count


@verb
def pass_simple(
    world: Limited, rankings: AnyRankings, rule: int, now: int, limit: int, last: int
) -> None:
    """Start heads while they fit, then jobs that fit next to the head's reservation."""
    jobs, machine, hold = world.jobs, world.machine, world.hold
    place, head = 0, -1
    while place <= last:
        j = world.waiting[place]
        place += 1
        if exceeds(world.running, j, now):
            continue
        c = place_for(machine, jobs.procs[j], now)
        if c < 0:
            head = j
            break
        start(world, j, c, now, False)
    if head < 0 or rule == NONE:
        return
    reserve(machine, hold, rule, jobs.procs[head])
    place, count = order_behind(world, rankings, place, now, limit)
    while place < count:
        j = world.behind[place]
        place += 1
        if j == head or jobs.start[j] >= 0:
            continue
        if may_start(world, j, most_free(machine), now):
            c = place_beside(machine, hold, now, jobs.procs[j], jobs.estimate[j])
            if c >= 0:
                start(world, j, c, now, True)


@verb
def put_last(plan: AnyPlan, jobs: Jobs, j: int) -> int:
    """Put a job behind the reserved ones of a plan; return its place."""
    i = plan.state[0].waiting
    cell = plan.front[0] + i
    plan.job[cell], plan.submit[cell] = j, jobs.submit[j]
    plan.need[cell], plan.length[cell] = jobs.procs[j], jobs.estimate[j]
    return int(i)


@verb
def reserve_next(world: Limited, j: int, now: int) -> None:
    """Find a job's earliest start given earlier reservations; start the job now, or reserve."""
    jobs, machine, plan = world.jobs, world.machine, world.plan
    i, need, length = put_last(plan, jobs, j), jobs.procs[j], jobs.estimate[j]
    c, t, step = earliest(machine, plan, i, now)
    if world.promised[j] == UNSEEN:
        world.promised[j] = t
    take(machine, plan, c, step, t, length, need)
    if t == now and has_free(machine, c, need):
        start(world, j, c, now, i > 0)
        return
    plan.state[0].waiting = plan.state[0].planned = i + 1
    plan.state[0].points += length == 0
    plan.at[i] = t
    put_down(machine, plan, i, c)
    world.behind[i] = j


@verb
def pass_reserving(
    world: Limited,
    rankings: AnyRankings,
    depth: int,
    now: int,
    limit: int,
    last: int,
    promises: bool,
) -> None:
    """Reserve for the first `depth` jobs that limits admit, up to the last that may start."""
    jobs, machine, plan = world.jobs, world.machine, world.plan
    plan.front[0] = plan.state[0].waiting = plan.state[0].planned = plan.state[0].kept = 0
    plan.state[0].points = 0
    lay_out(machine, plan, now)
    place, stop = 0, world.clock[0].waiting if promises else last + 1
    while place < stop and plan.state[0].waiting < depth:
        j = world.waiting[place]
        place += 1
        if not exceeds(world.running, j, now):
            reserve_next(world, j, now)
    if place >= stop:
        return
    if plan.state[0].points > 0:
        guard_points(machine, plan)
    holders = plan.state[0].waiting
    for i in range(holders):
        # Reserved jobs are marked as started, so that the order of backfills skips them.
        jobs.start[plan.job[i]] = now
    place, count = order_behind(world, rankings, place, now, limit)
    while place < count:
        j = world.behind[place]
        place += 1
        if jobs.start[j] >= 0 or not may_start(world, j, most_free(machine), now):
            continue
        c = place_now(machine, plan, now, put_last(plan, jobs, j))
        if c >= 0:
            take(machine, plan, c, step_now(machine, plan, c), now, jobs.estimate[j], jobs.procs[j])
            start(world, j, c, now, holders > 0)
    for i in range(holders):
        jobs.start[plan.job[i]] = -1


@verb
def pass_over(world: Limited, rankings: AnyRankings, options: Options, promises: bool) -> None:
    """Make the pass of this instant."""
    now, count = world.clock[0].now, world.clock[0].waiting
    limit = starving_before(options, now)
    reserving = options.rule == RESERVING
    if not (promises and reserving) and last_to_start(world, now) < 0:
        return
    rank_list(rankings, world.waiting, count)
    sort_jobs(world.waiting, world.spare, count, rankings.queue, world.jobs, now, limit)
    last = last_to_start(world, now)
    if reserving:
        pass_reserving(world, rankings, options.depth, now, limit, last, promises)
    else:
        pass_simple(world, rankings, options.rule, now, limit, last)
    leave_queue(world)


@rolled_kernel
def run_limited(
    world: Limited, rankings: AnyRankings, options: Options, promises: bool, stepwise: bool
) -> bool:
    """Run every instant and its pass to the last completion; return False then, or if cancelled.

    With `stepwise`, return True before each pass, so that the caller computes the keys of the
    waiting jobs.
    """
    clock = world.clock
    while True:
        if clock[0].turned == 0:
            if world.jobs.leave[0] != 0 or not turn(world, rankings):
                return False
            if stepwise:
                clock[0].turned = 1
                return True
        clock[0].turned = 0
        if clock[0].waiting > 0:
            pass_over(world, rankings, options, promises)
        if promises:
            for p in range(clock[0].waiting):
                j = world.waiting[p]
                if world.promised[j] == UNSEEN:
                    world.promised[j] = NO_PROMISE
