"""Slurm's main scheduler, at events and ticks, and its backfill cycles.

A tick without an event is left out if no job can start at it, provided that limits still hold the
same jobs; the use of a limit may fall with time. There are two cases. First case: no job that
limits admit fits the free processors. Second case: the order of the queue is unchanged, and a cycle
since the last event has started no job (a tick, if there are no cycles). A withdrawal also counts
as an event.

Proof of the second case. Let the cycle be at T and the tick at T' > T, and let all tested jobs have
reservations in the map of T. The running jobs are the same at both instants, and none has a
predicted end before T', because its end would be an event. By induction in queue order, each job is
tested at both instants, and its reservation r > T is the same at T'. The preceding jobs take the
same part of the map from T' on. So the earliest start of the job from T' on is either r or T' < r.
T' is impossible: the step of the map at T' begins at some s < T', so that the job would also fit
from max(s, T) < r on. The later end of the window changes nothing. The head also waits, since every
map leaves it at least the free processors. The proof excludes jobs beyond the window, whose later
reservations move others.

With partitions, the main scheduler continues behind the head. It ignores reservations, and may
start a job that a cycle does not start. So, in the second case, a tick since the last event must
also have started no job: the next tick has the same jobs in the same order, and the same free
processors. A job that would run into a window also waits at the next tick, at which it would end
even later.

Proof without cycles. A tick considers all jobs in queue order. If it starts no job, either limits
hold all jobs, or the first job without a limit does not fit. Without an event, the same processors
are free at the next tick. Limits hold the same jobs until the use of a limit falls.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import turn_clock
from schedfarm.core.engine.jit import NEVER, rolled_kernel, verb
from schedfarm.core.engine.leaving import next_leave
from schedfarm.core.engine.limited import (
    Limited,
    LimitedClock,
    end_jobs,
    end_of_run,
    last_to_start,
    leave_queue,
    let_in,
    put_last,
    sort_jobs,
    start,
    withdraw,
)
from schedfarm.core.engine.limits import allowed_from, exceeds, forget_ended
from schedfarm.core.engine.machine import (
    has_free,
    next_end,
    place_for,
    put_back,
    running_count,
    set_aside,
)
from schedfarm.core.engine.plan import rounded
from schedfarm.core.engine.planning import earliest, lay_out_rounded, take
from schedfarm.core.engine.rank import AnyRankings, begun_by, follow_up, rank_list, settled_until
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.world import Options, starving_before


class CadenceClock(LimitedClock):
    """Clock of both schedulers.

    event: whether jobs completed, arrived or entered the queue at this instant. cycle: when the
    next cycle is due, s. tests: number of tests in the last cycle. quiet: whether the last cycle
    (without cycles, the last tick) started no job, without an event or a withdrawal since, and
    limits still hold the same jobs. idle: whether a tick has started no job since the last event,
    withdrawal, start or loosening of a limit. looser: the first instant at which limits hold fewer
    jobs, s.
    until: the instant up to which ticks are left out, s.
    """

    event: int
    cycle: int
    tests: int
    quiet: int
    idle: int
    looser: int
    until: int


class CadenceWorld(Limited):
    """A `Limited` with the clock of both schedulers."""

    clock: Record[CadenceClock]


class Cadence(NamedTuple):
    """Hold the options of both schedulers; an interval, s, is NEVER if there is none.

    depth: number of jobs that the main scheduler considers at an event. tests: largest number of
    tests in a cycle. of_user: largest number of tests per user in a cycle, 0 without a limit.
    window, unit: s. rate: tests per second, 0 if a cycle takes no time. loosens: whether the use of
    a limit falls with time. parts: whether the main scheduler continues behind a job that does not
    fit, with jobs of other partitions.
    """

    main: int
    depth: int
    interval: int
    tests: int
    of_user: int
    window: int
    unit: int
    rate: int
    loosens: bool
    parts: bool


class Users(NamedTuple):
    """Hold the user of each job, int64[n], -1 if unknown, and tests in a cycle, int64[users]."""

    user: Int64
    tests: Int64


@verb
def length_of(cadence: Cadence, tests: int) -> int:
    """Return the duration of a cycle, s."""
    return (tests + cadence.rate - 1) // cadence.rate if cadence.rate > 0 else 0


@verb
def skip_cycles(cadence: Cadence, clock: Record[CadenceClock], until: int) -> None:
    """Leave out the cycles before an instant, s, each with as many tests as the last cycle."""
    if clock[0].cycle < until and cadence.interval < NEVER:
        period = cadence.interval + length_of(cadence, clock[0].tests)
        clock[0].cycle += (until - clock[0].cycle + period - 1) // period * period


@verb
def next_tick(world: CadenceWorld, cadence: Cadence, event: int) -> int:
    """Return the next tick that is not left out, s; NEVER if the next event, s, comes first."""
    clock, first = world.clock, world.jobs.submit[0]
    after = clock[0].until if clock[0].waiting > 0 else NEVER
    if after >= event:
        skip_cycles(cadence, clock, event)
        return NEVER
    skip_cycles(cadence, clock, after)
    tick = clock[0].cycle
    if cadence.main < NEVER:
        begin = max(clock[0].now + 1, after) - first
        tick = min(tick, first + (begin + cadence.main - 1) // cadence.main * cadence.main)
    return int(tick)


@verb
def turn(world: CadenceWorld, rankings: AnyRankings, cadence: Cadence) -> bool:
    """Go to the next event, withdrawal or tick; return False at the end."""
    jobs, machine, clock = world.jobs, world.machine, world.clock
    begun, before, first = begun_by(rankings, machine), running_count(machine), clock[0].arrived
    event = jobs.submit[first] if first < jobs.submit.size else NEVER
    event = min(event, next_end(machine))
    change = min(event, next_leave(jobs.leaving, jobs.start))
    tick = NEVER
    if clock[0].waiting > 0 or change < NEVER:
        tick = next_tick(world, cadence, change)
    if min(change, tick) == NEVER:
        return False
    clock[0].event = event <= min(change, tick)
    if tick < change:
        clock[0].now = tick
    else:
        clock[0].now, clock[0].arrived, _ = turn_clock(jobs, machine, first, False)
        clock[0].quiet = clock[0].idle = 0
        end_jobs(world, before)
    follow_up(rankings, machine, jobs, begun, clock[0].now)
    forget_ended(machine)
    for j in range(first, clock[0].arrived):
        world.outside[clock[0].outside] = j
        clock[0].outside += 1
    if change <= tick:
        withdraw(world)
        waiting = clock[0].waiting
        let_in(world)
        clock[0].event |= clock[0].waiting > waiting
    return True


@verb
def start_heads(world: CadenceWorld, now: int, last: int, most: int) -> int:
    """Start jobs in the order of the queue, of at most some jobs; count them.

    A job that does not fit withholds all processors that it could use from the jobs behind it.
    """
    place, looked, started = 0, 0, 0
    while place <= last and looked < most:
        j = world.waiting[place]
        place += 1
        if exceeds(world.running, j, now):
            continue
        looked += 1
        c = place_for(world.machine, world.jobs.procs[j], now)
        if c >= 0:
            start(world, j, c, now, False)
            started += 1
        elif not set_aside(world.machine, world.jobs.procs[j]):
            break
    if started < looked:
        put_back(world.machine)
    return started


@verb
def is_passed_over(cadence: Cadence, users: Users, j: int) -> bool:
    """Return whether the limit of tests of the job's user is reached; else count a test."""
    user = users.user[j]
    if cadence.of_user == 0 or user < 0:
        return False
    if users.tests[user] == cadence.of_user:
        return True
    users.tests[user] += 1
    return False


@verb
def forget_tests(world: CadenceWorld, users: Users) -> None:
    """Forget the tests of the waiting jobs' users."""
    for p in range(world.clock[0].waiting):
        user = users.user[world.waiting[p]]
        if user >= 0:
            users.tests[user] = 0


@verb
def lay_out_map(world: CadenceWorld, cadence: Cadence, now: int) -> None:
    """Lay out the map of the running jobs."""
    plan = world.plan
    plan.front[0] = plan.state[0].waiting = plan.state[0].planned = plan.state[0].kept = 0
    plan.state[0].points = 0
    lay_out_rounded(world.machine, plan, now, cadence.unit)


@verb
def try_job(world: CadenceWorld, cadence: Cadence, j: int, now: int) -> tuple[bool, bool]:
    """Find a job's earliest start; return whether this is now, and whether in the map."""
    plan, need = world.plan, world.jobs.procs[j]
    c, t, step = earliest(world.machine, plan, put_last(plan, world.jobs, j), now)
    reserved = t - now <= cadence.window
    if reserved:
        end = rounded(t + world.jobs.estimate[j], cadence.unit)
        take(world.machine, plan, c, step, t, end - t, need)
    return bool(t == now and has_free(world.machine, c, need)), bool(reserved)


@verb
def run_cycle(world: CadenceWorld, cadence: Cadence, users: Users, now: int, last: int) -> bool:
    """Test the jobs of the queue; return whether no job has started or lacks a reservation.

    Behind the last place with a job that may start, tests are only counted, if they take time.
    """
    if last >= 0:
        lay_out_map(world, cadence, now)
    place, stop = 0, world.clock[0].waiting if cadence.rate > 0 else last + 1
    tests, behind, quiet = 0, False, True
    while place < stop and tests < cadence.tests:
        j = world.waiting[place]
        place += 1
        if world.jobs.start[j] >= 0 or exceeds(world.running, j, now):
            continue
        if is_passed_over(cadence, users, j):
            behind = True
            continue
        tests += 1
        if place > last + 1:
            continue
        starts, reserved = try_job(world, cadence, j, now)
        quiet &= reserved and not starts
        behind |= not starts
        if starts:
            start(world, j, 0, now, behind)
    world.clock[0].tests = tests
    if cadence.of_user > 0:
        forget_tests(world, users)
    return quiet


@verb
def pass_over(
    world: CadenceWorld, rankings: AnyRankings, options: Options, cadence: Cadence, users: Users
) -> None:
    """Run the schedulers that are due at this instant."""
    clock, now, count = world.clock, world.clock[0].now, world.clock[0].waiting
    since = now - world.jobs.submit[0]
    tick = cadence.main < NEVER and since > 0 and since % cadence.main == 0
    main = tick or (cadence.main < NEVER and clock[0].event == 1)
    due = clock[0].cycle == now
    if now >= clock[0].looser:
        clock[0].quiet = clock[0].idle = 0
    last = last_to_start(world, now)
    if last >= 0 and (main or due):
        limit = starving_before(options, now)
        rank_list(rankings, world.waiting, count)
        if end_of_run(world.waiting, rankings.queue, world.jobs, now, limit, 0, count) < count:
            sort_jobs(world.waiting, world.spare, count, rankings.queue, world.jobs, now, limit)
            clock[0].quiet = clock[0].idle = 0
        last = last_to_start(world, now)
        if main and start_heads(world, now, last, count if tick else cadence.depth) > 0:
            clock[0].quiet = clock[0].idle = 0
            last = last_to_start(world, now)
        elif tick:
            clock[0].idle = 1
            clock[0].quiet |= cadence.interval == NEVER
    if due:
        if clock[0].quiet == 0:
            quiet = run_cycle(world, cadence, users, now, last)
            clock[0].quiet = quiet and last >= 0
            clock[0].idle &= quiet
        clock[0].cycle = now + length_of(cadence, clock[0].tests) + cadence.interval
    leave_queue(world)


@verb
def first_loosening(world: CadenceWorld, now: int) -> int:
    """Return the first instant, s, at which limits hold fewer of the waiting jobs, or NEVER."""
    first = NEVER
    for p in range(world.clock[0].waiting):
        instant = allowed_from(world.running, world.waiting[p], now)
        if instant > now:
            first = min(first, instant)
    return first


@verb
def look_ahead(
    world: CadenceWorld, rankings: AnyRankings, options: Options, cadence: Cadence, users: Users
) -> None:
    """Set the instant up to which ticks are left out, and the tests of the cycles there."""
    clock, now = world.clock, world.clock[0].now
    clock[0].until, clock[0].looser = now, NEVER
    if clock[0].waiting == 0:
        clock[0].tests = 0
        return
    idle = last_to_start(world, now) < 0
    if cadence.loosens and (idle or clock[0].quiet == 1 or (cadence.parts and clock[0].idle == 1)):
        clock[0].looser = first_loosening(world, now)
    if idle:
        if cadence.rate > 0:
            run_cycle(world, cadence, users, now, -1)
        clock[0].until = clock[0].looser
    elif (
        clock[0].quiet == 1
        and options.threshold == NEVER
        and (clock[0].idle == 1 or not cadence.parts or cadence.main == NEVER)
    ):
        clock[0].until = min(settled_until(rankings, now), clock[0].looser)


@rolled_kernel
def run_cadence(
    world: CadenceWorld,
    rankings: AnyRankings,
    options: Options,
    cadence: Cadence,
    users: Users,
    stepwise: bool,
) -> bool:
    """Run every event and tick to the last completion; return False then, or if cancelled.

    With `stepwise`, return True before each pass, so that the caller computes the keys.
    """
    clock = world.clock
    while True:
        if clock[0].turned == 0:
            if world.jobs.leave[0] != 0 or not turn(world, rankings, cadence):
                return False
            if stepwise:
                clock[0].turned = 1
                return True
        clock[0].turned = 0
        pass_over(world, rankings, options, cadence, users)
        look_ahead(world, rankings, options, cadence, users)
