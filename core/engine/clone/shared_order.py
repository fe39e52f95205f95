"""Fair start times under all rules in the orders that share by what users have got.

As the kernels of the other orders, with sums of its own for each copy. Keys are worked out before
each pass, here and on a copy alike, so that both may write them into the same arrays.
"""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import planned, reservations
from schedfarm.core.engine.clock import ARRIVED, NOW
from schedfarm.core.engine.clone import planned as fair_plan, reservations as fair_reservations
from schedfarm.core.engine.clone.machine import copy_machine
from schedfarm.core.engine.clone.state import (
    Fair,
    copy_queue,
    fill_in,
    forks_at_arrival,
    forks_before_next,
    is_over,
    turn_alone,
)
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.moving_order import decide, fits_somewhere
from schedfarm.core.engine.plan import COUNT
from schedfarm.core.engine.planned import Bookkeeper
from schedfarm.core.engine.queue import enqueue, gather
from schedfarm.core.engine.ranking import Rankings
from schedfarm.core.engine.reservations import ANEW, BEFORE, SEEN, Planner, pass_over
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.usage import PASSED, SETTLED, Shares, follow
from schedfarm.core.engine.user_ranking import Sharing, rank_by_shares
from schedfarm.core.engine.world import Options, World, starving_before, turn


@verb
def copy_shares(shares: Shares, other: Shares) -> None:
    """Copy what users have got, and what orders see of it."""
    for u in range(shares.waited.size):
        other.waited[u], other.worked[u] = shares.waited[u], shares.worked[u]
        other.seen_waited[u], other.seen_worked[u] = shares.seen_waited[u], shares.seen_worked[u]
        other.quotient[u] = shares.quotient[u]
    for k in range(PASSED):
        other.passed[k] = shares.passed[k]


@verb
def begun_by(shares: Shares, count: int) -> int:
    """Return how many jobs have ever started, if `count` run and all others were counted."""
    return int(shares.passed[SETTLED] + count)


@verb
def make_pass(
    world: World, rankings: Rankings, sharing: Sharing, options: Options, waiting: Int64, now: int
) -> None:
    """Make the pass of this instant, if any job may start in it."""
    jobs, running, queue, _, _ = world
    if not fits_somewhere(queue, running.free[0]):
        return
    count, begun = gather(queue, waiting), begun_by(sharing.shares, running.count[0])
    rank_by_shares(sharing, rankings, jobs, running, begun, waiting, count, now)
    decide(world, rankings, options.rule, now, starving_before(options, now))


@routine
def fork(
    here: World, copy: World, fair: Fair, rankings: Rankings, sharing: tuple[Sharing, Sharing],
    options: Options, waiting: Int64, j: int, now: int, k: int, look: bool,
) -> int:  # fmt: skip
    """Return when job j, which has arrived, starts on a copy of what is here, s.

    The pass of this instant is still to come where `look` says so; job k arrives next. The second
    of the sums is the copy's.
    """
    jobs, running, queue, _, by_age = copy
    own = sharing[1]
    joined, keys = not fair.relaxed, (by_age, by_age)
    copy_machine(here.machine, here.jobs, jobs.start, running)
    copy_queue(here.queue, queue, jobs.start, keys, fair.rank, fair.rank[j] - (not joined))
    copy_shares(sharing[0].shares, own.shares)
    while True:
        if look:
            make_pass(copy, rankings, own, options, waiting, now)
        look = True
        if not joined:
            if queue.size[0] == 0:
                joined = True
                jobs.start[j] = -1
                enqueue(queue, jobs, by_age, j)
                continue
        elif jobs.start[j] >= 0:
            return int(jobs.start[j])
        begun = begun_by(own.shares, running.count[0])
        now, k = turn_alone(copy, by_age, fair, options.per_event, k, j)
        follow(own.shares, jobs, running, begun, now)


@kernel
def fair_shared(
    here: World, copy: World, fair: Fair, rankings: Rankings, sharing: tuple[Sharing, Sharing],
    options: Options, waiting: Int64, fst: Int64,
) -> None:  # fmt: skip
    """Do as `fair_moving`; `waiting`, int64[n], is to write in."""
    jobs, running, _, _, _ = here
    shares, arrived = sharing[0].shares, 0
    while True:
        if forks_before_next(jobs, running, fair, fst, arrived):
            j = arrived - 1
            fst[j] = fork(
                here, copy, fair, rankings, sharing, options, waiting, j, 0, arrived, False
            )
        if is_over(jobs, fair, fst, arrived):
            break
        first, begun = arrived, begun_by(shares, running.count[0])
        now, arrived = turn(here, first, options.per_event)
        follow(shares, jobs, running, begun, now)
        for j in range(first, arrived):
            if forks_at_arrival(fair, j, arrived):
                fst[j] = fork(
                    here, copy, fair, rankings, sharing, options, waiting, j, now, arrived, True
                )
        make_pass(here, rankings, sharing[0], options, waiting, now)
    fill_in(jobs, fair, fst)


@verb
def rank_plan(planner: Planner, jobs: Jobs, rankings: Rankings, sharing: Sharing) -> None:
    """Give all who wait their keys; `jobs` are those of the workload."""
    running, plan = planner.machine, planner.plan
    begun = begun_by(sharing.shares, running.count[0])
    now, count = planner.clock[NOW], plan.state[COUNT]
    waiting = plan.job[plan.front[0] :]
    rank_by_shares(sharing, rankings, jobs, running, begun, waiting, count, now)


@routine
def fork_plan(
    here: Planner, whole: Planner, fair: Fair, rankings: Rankings,
    sharing: tuple[Sharing, Sharing], options: Options, j: int, look: bool,
) -> int:  # fmt: skip
    """Return when job j, which has arrived, starts on a copy of what is here, as `fork` does."""
    submit, run, estimate, procs, start, backfilled, leave = whole.jobs
    # Starvation looks at every job of the columns: none may be there that does not exist.
    jobs = Jobs(submit[: fair.until[j]], run, estimate, procs, start, backfilled, leave)
    copy = Planner(jobs, whole.machine, whole.plan, whole.clock, whole.promised)
    own, joined, k = sharing[1], not fair.relaxed, here.clock[ARRIVED]
    copy.clock[NOW], copy.clock[SEEN] = here.clock[NOW], here.clock[SEEN]
    copy_machine(here.machine, here.jobs, start, copy.machine)
    if options.threshold < NEVER:
        for i in range(here.clock[SEEN], k):
            start[i] = here.jobs.start[i]
    bar = fair.rank[j] - (not joined)
    fair_reservations.copy_plan(here.plan, copy.plan, start, fair.rank, bar)
    copy_shares(sharing[0].shares, own.shares)
    while True:
        if look and copy.plan.state[COUNT] > 0:
            copy.clock[ANEW] = 1
            rank_plan(copy, whole.jobs, rankings, own)
            pass_over(copy, rankings, options, False)
        look = True
        if not joined:
            if copy.plan.state[COUNT] == 0:
                joined = True
                fair_reservations.enter(copy, rankings, j)
                continue
        elif start[j] >= 0:
            return int(start[j])
        begun = begun_by(own.shares, copy.machine.count[0])
        k = fair_reservations.turn_alone(copy, rankings, fair, options.per_event, k, j)
        follow(own.shares, whole.jobs, copy.machine, begun, copy.clock[NOW])


@kernel
def fair_reserving_shared(
    here: Planner, copy: Planner, fair: Fair, rankings: Rankings,
    sharing: tuple[Sharing, Sharing], options: Options, fst: Int64,
) -> None:  # fmt: skip
    """Do as `fair_reserving`; no order by shares is patient."""
    jobs, running, plan, clock, _ = here
    shares = sharing[0].shares
    while True:
        if forks_before_next(jobs, running, fair, fst, clock[ARRIVED]):
            j = clock[ARRIVED] - 1
            fst[j] = fork_plan(here, copy, fair, rankings, sharing, options, j, False)
        if is_over(jobs, fair, fst, clock[ARRIVED]):
            break
        begun = begun_by(shares, running.count[0])
        reservations.turn(here, rankings, options.per_event)
        follow(shares, jobs, running, begun, clock[NOW])
        for j in range(clock[BEFORE], clock[ARRIVED]):
            if forks_at_arrival(fair, j, clock[ARRIVED]):
                fst[j] = fork_plan(here, copy, fair, rankings, sharing, options, j, True)
        if plan.state[COUNT] > 0:
            rank_plan(here, jobs, rankings, sharing[0])
            pass_over(here, rankings, options, False)
    fill_in(jobs, fair, fst)


@verb
def start_due(keeper: Bookkeeper, rankings: Rankings, sharing: Sharing, options: Options) -> None:
    """Start the jobs whose reservation has come and who fit, in queue order."""
    if keeper.book.state[planned.DUE] <= keeper.clock[planned.NOW]:
        rank_book(keeper, rankings, sharing)
        planned.start_due(keeper, rankings.queue, options)


@verb
def rank_book(keeper: Bookkeeper, rankings: Rankings, sharing: Sharing) -> None:
    """Give all who hold a reservation their keys."""
    jobs, running, book, clock, _ = keeper
    begun = begun_by(sharing.shares, running.count[0])
    now, count = clock[planned.NOW], book.state[planned.COUNT]
    rank_by_shares(sharing, rankings, jobs, running, begun, book.job, count, now)


@verb
def turn_plan(
    keeper: Bookkeeper, rankings: Rankings, sharing: Sharing, options: Options, walk: int
) -> None:
    """Go to the next instant, or event, its completions and the walk that these ask for."""
    jobs, running, _, clock, _ = keeper
    begun = begun_by(sharing.shares, running.count[0])
    planned.turn(keeper, options.per_event)
    follow(sharing.shares, jobs, running, begun, clock[planned.NOW])
    if clock[planned.EARLY] == 1:
        rank_book(keeper, rankings, sharing)
        planned.compact(keeper, rankings.queue, options, walk)


@routine
def fork_book(
    here: Bookkeeper, copy: Bookkeeper, rankings: Rankings, sharing: tuple[Sharing, Sharing],
    options: Options, walk: int, j: int, joined: bool,
) -> int:  # fmt: skip
    """Return when job j starts on a copy of what is here, to which nobody comes, s.

    The pass of this instant is still to come. A job that has not joined comes when all those
    who wait have started.
    """
    start, book, clock, own = copy.jobs.start, copy.book, copy.clock, sharing[1]
    copy_machine(here.running, here.jobs, start, copy.running)
    fair_plan.copy_book(here.book, book, start)
    copy_shares(sharing[0].shares, own.shares)
    clock[planned.NOW], clock[planned.ARRIVED] = here.clock[planned.NOW], start.size
    start[j] = -1
    while True:
        start_due(copy, rankings, own, options)
        if not joined and book.state[planned.COUNT] == 0:
            joined = True
            planned.enter(copy, j)
            start_due(copy, rankings, own, options)
        if start[j] >= 0:
            return int(start[j])
        turn_plan(copy, rankings, own, options, walk)


@kernel
def fair_planned_shared(
    here: Bookkeeper, copy: Bookkeeper, fair: Fair, rankings: Rankings,
    sharing: tuple[Sharing, Sharing], options: Options, walk: int, fst: Int64,
) -> None:  # fmt: skip
    """Do as `fair_planned`."""
    jobs, _, book, clock, _ = here
    while not is_over(jobs, fair, fst, clock[planned.ARRIVED]):
        turn_plan(here, rankings, sharing[0], options, walk)
        while planned.is_coming(here):
            j = clock[planned.ARRIVED]
            if j > 0 and fair.wanted[j - 1] and fst[j - 1] < 0 and jobs.start[j - 1] < 0:
                fst[j - 1] = fork_book(here, copy, rankings, sharing, options, walk, j - 1, True)
            if fair.relaxed and fair.wanted[j] and book.state[planned.COUNT] > 0:
                fst[j] = fork_book(here, copy, rankings, sharing, options, walk, j, False)
            planned.enter(here, j)
            clock[planned.ARRIVED] = j + 1
            if options.per_event:
                break
        start_due(here, rankings, sharing[0], options)
    fill_in(jobs, fair, fst)
