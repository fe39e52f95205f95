"""All rules in the orders that share by what users have got: keys are worked out at each pass."""

from __future__ import annotations

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.engine import planned, reservations
from schedfarm.core.engine.clock import ARRIVED, NOW
from schedfarm.core.engine.jit import kernel, routine, verb
from schedfarm.core.engine.moving_order import advance, decide
from schedfarm.core.engine.plan import COUNT
from schedfarm.core.engine.planned import Bookkeeper
from schedfarm.core.engine.queue import gather
from schedfarm.core.engine.ranking import Rankings
from schedfarm.core.engine.reservations import BEFORE, Planner, pass_over
from schedfarm.core.engine.user_ranking import Sharing, rank_by_shares
from schedfarm.core.engine.world import Options, World, starving_before


@routine
def run_events(
    world: World,
    clock: Int64,
    rankings: Rankings,
    sharing: Sharing,
    options: Options,
    waiting: Int64,
) -> None:
    """Go through all events, each with its pass."""
    jobs, running = world.jobs, world.machine
    while advance(world, clock, options.per_event):
        now, count = clock[NOW], gather(world.queue, waiting)
        rank_by_shares(
            sharing, rankings, jobs, running, clock[ARRIVED] - count, waiting, count, now
        )
        decide(world, rankings, options.rule, now, starving_before(options, now))


@kernel
def run_shared(
    world: World,
    clock: Int64,
    rankings: Rankings,
    sharing: Sharing,
    options: Options,
    waiting: Int64,
) -> None:
    """Do as `run_moving`, under none, aggressive and easy; waiting: int64[n], to write on."""
    run_events(world, clock, rankings, sharing, options, waiting)


@routine
def run_reserving_events(
    planner: Planner, rankings: Rankings, sharing: Sharing, options: Options, promises: bool
) -> None:
    """Go through all events, each with its pass, of a machine with reservations."""
    jobs, running, plan, clock, promised = planner
    while jobs.leave[0] == 0 and reservations.turn(planner, rankings, options.per_event):
        now, count = clock[NOW], plan.state[COUNT]
        if count == 0:
            continue
        waiting = plan.job[plan.front[0] :]
        rank_by_shares(
            sharing, rankings, jobs, running, clock[ARRIVED] - count, waiting, count, now
        )
        pass_over(planner, rankings, options, promises)
        if promises:
            for j in range(clock[BEFORE], clock[ARRIVED]):
                promised[j] = max(promised[j], NO_PROMISE)


@kernel
def run_reserving_shared(
    planner: Planner, rankings: Rankings, sharing: Sharing, options: Options, promises: bool
) -> None:
    """Do as `run_reserving`, under depth(K) and conservative."""
    run_reserving_events(planner, rankings, sharing, options, promises)


@verb
def rank_book(keeper: Bookkeeper, rankings: Rankings, sharing: Sharing) -> None:
    """Give all who hold a reservation their keys."""
    jobs, running, book, clock, _ = keeper
    count = book.state[planned.COUNT]
    begun = clock[planned.ARRIVED] - count
    rank_by_shares(sharing, rankings, jobs, running, begun, book.job, count, clock[planned.NOW])


@routine
def run_planned_events(
    keeper: Bookkeeper, rankings: Rankings, sharing: Sharing, options: Options, walk: int
) -> None:
    """Go through all events of a machine with a plan that is kept."""
    clock, ranking = keeper.clock, rankings.queue
    while keeper.jobs.leave[0] == 0 and planned.turn(keeper, options.per_event):
        if clock[planned.EARLY] == 1:
            rank_book(keeper, rankings, sharing)
            planned.compact(keeper, ranking, options, walk)
        planned.enter_all(keeper, options.per_event)
        if keeper.book.state[planned.DUE] <= clock[planned.NOW]:
            rank_book(keeper, rankings, sharing)
            planned.start_due(keeper, ranking, options)


@kernel
def run_planned_shared(
    keeper: Bookkeeper, rankings: Rankings, sharing: Sharing, options: Options, walk: int
) -> None:
    """Do as `run_planned`."""
    run_planned_events(keeper, rankings, sharing, options, walk)
