"""The rules none, aggressive and easy in orders that change with time, or differ for backfills.

Nothing is sorted. The jobs wait by (submit, position); the head is the best of all, and the next
backfill the best of those that may start. A pass starts about one job, so that two scans of the
queue replace a sort: LXF with EASY runs three times as fast on the KTH log.

Invariants: a job refused once stays refused in a pass, since backfills only take processors. A scan
begins with the head of the previous one, which usually is still first, and skips blocks and cells
that cannot reach its ratio (`core.engine.ranking`). The threshold is the ratio of the best job so
far, so that a skipped job never goes before it; the others are compared exactly. The result does
not depend on the job with which a scan begins.
"""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import ARRIVED, NOW
from schedfarm.core.engine.jit import NEVER, kernel, rolled_kernel, routine, verb
from schedfarm.core.engine.lanes import WORD, first_places, lowest, without
from schedfarm.core.engine.machine import (
    begin,
    candidates,
    most_free,
    place_beside,
    place_for,
    reserve,
    within_reach,
)
from schedfarm.core.engine.queue import (
    SEEN_AT,
    SEEN_FIRST,
    Queue,
    gather,
    head_of,
    last_of,
    still_waits,
    take_out,
)
from schedfarm.core.engine.rank import AnyRankings, begun_by, follow_up, rank_queue
from schedfarm.core.engine.ranking import (
    Ranking,
    bar_of,
    may_have_rivals,
    ranks_before,
    rivals,
)
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import NONE, Options, World, starving_before, turn


@verb
def fits_somewhere(queue: Queue, free: int) -> bool:
    """Return whether some waiting job may fit, by the blocks' minima, which are lower bounds."""
    least = NEVER
    for place in range(queue.size[0]):
        least = min(least, queue.least_need[queue.order[place]])
    return least <= free


@verb
def first_among(
    queue: Queue, jobs: Jobs, ranking: Ranking, now: int, cell: int, word: int, best: int
) -> int:
    """Return the cell that comes first: the best so far, or one of the lane mask from `cell` on."""
    word = without(word, best - cell)
    while word != 0:
        rival = cell + lowest(word)
        if ranks_before(ranking, jobs, now, queue.job[rival], queue.job[best]):
            best = rival
        word &= word - 1
    return best


@verb
def next_rivals(
    ranking: Ranking, queue: Queue, cell: int, stop: int, now: int, bar: tuple[int, int]
) -> tuple[int, int]:
    """Return the next cell from which jobs may reach a threshold, and their lane mask."""
    while cell < stop:
        word = rivals(ranking, queue.submit, queue.estimate, cell, now, bar)
        word &= first_places(stop - cell)
        if word != 0:
            return cell, word
        cell += WORD
    return cell, 0


@verb
def first_of_all(queue: Queue, jobs: Jobs, ranking: Ranking, now: int, limit: int) -> int:
    """Return the cell of the head; a job submitted before `limit` starves and goes first."""
    best = head_of(queue)
    if queue.submit[best] < limit or best == last_of(queue):
        return best
    if still_waits(queue, queue.size[SEEN_FIRST], queue.size[SEEN_AT]):
        best = queue.size[SEEN_AT]
    bar = bar_of(ranking, jobs, now, queue.job[best])
    for place in range(queue.size[0]):
        b = queue.order[place]
        first, stop = queue.first[b], queue.first[b] + queue.length[b]
        oldest, shortest = queue.submit[first], queue.least_estimate[b]
        if not may_have_rivals(ranking, oldest, shortest, now, bar):
            continue
        cell = first
        while cell < stop:
            cell, word = next_rivals(ranking, queue, cell, stop, now, bar)
            found = first_among(queue, jobs, ranking, now, cell, word, best)
            if found != best:
                best, bar = found, bar_of(ranking, jobs, now, queue.job[found])
            cell += WORD
    queue.size[SEEN_FIRST], queue.size[SEEN_AT] = queue.job[best], best
    return best


@verb
def first_backfill(world: World, ranking: Ranking, now: int, limit: int) -> int:
    """Return the cell of the first job that may start behind the head, -1 if none may."""
    jobs, machine, queue, hold, _ = world
    best, bar, free = -1, (0, 1), most_free(machine)
    for place in range(queue.size[0]):
        b = queue.order[place]
        if queue.least_need[b] > free or not within_reach(machine, queue, hold, now, b):
            continue
        stop = queue.first[b] + queue.length[b]
        for cell in range(queue.first[b], stop, WORD):
            word = candidates(machine, queue, hold, now, cell) & first_places(stop - cell)
            if word == 0:
                continue
            if best < 0:
                best = cell + lowest(word)
                if queue.submit[best] < limit:
                    return best
                bar = bar_of(ranking, jobs, now, queue.job[best])
            word &= rivals(ranking, queue.submit, queue.estimate, cell, now, bar)
            found = first_among(queue, jobs, ranking, now, cell, word, best)
            if found != best:
                best, bar = found, bar_of(ranking, jobs, now, queue.job[found])
    return best


@verb
def follow_cells(ranking: Ranking, queue: Queue) -> None:
    """Write the keys of the cells again, from which jobs were taken or moved."""
    if ranking.cell.size > 0:
        for place in range(queue.size[0]):
            first = queue.first[queue.order[place]]
            for cell in range(first, first + queue.length[queue.order[place]]):
                ranking.cell[cell] = ranking.key[queue.job[cell]]


@verb
def start_waiting(world: World, c: int, cell: int, now: int) -> None:
    """Start the job of a cell at place c, and remove it from the queue."""
    begin(world.machine, world.jobs, c, world.queue.job[cell], now)
    take_out(world.queue, cell)


@verb
def decide(world: World, rankings: AnyRankings, rule: int, now: int, limit: int) -> None:
    """Run one pass: the head while it fits, in the one order; then backfills, in the other.

    Some job fits, by `fits_somewhere`.

    The world's key is 0 for each job, so that all wait by (submit, position).
    """
    jobs, machine, queue, hold, _ = world
    while True:
        head = first_of_all(queue, jobs, rankings.queue, now, limit)
        c = place_for(machine, queue.need[head])
        if c < 0:
            break
        start_waiting(world, c, head, now)
        if not fits_somewhere(queue, most_free(machine)):
            return
        follow_cells(rankings.queue, queue)
        if rankings.differ:
            follow_cells(rankings.backfill, queue)
    if rule == NONE:
        return
    reserve(machine, hold, rule, queue.need[head])
    while True:
        cell = first_backfill(world, rankings.backfill, now, limit)
        if cell < 0:
            return
        c = place_beside(machine, hold, now, queue.need[cell], queue.estimate[cell])
        jobs.backfilled[queue.job[cell]] = True
        start_waiting(world, c, cell, now)
        if not fits_somewhere(queue, most_free(machine)):
            return
        follow_cells(rankings.backfill, queue)


@verb
def turn_moving(
    world: World, rankings: AnyRankings, arrived: int, per_event: bool
) -> tuple[int, int]:
    """Do as `turn`, and charge completions to users for the orders."""
    begun = begun_by(rankings, world.machine)
    now, arrived = turn(world, arrived, per_event)
    if now < NEVER:
        follow_up(rankings, world.machine, world.jobs, begun, now)
    return now, arrived


@verb
def advance(world: World, rankings: AnyRankings, clock: Int64, per_event: bool) -> bool:
    """Go on to the next pass that may start a job; return False if there is none."""
    while world.jobs.leave[0] == 0:
        clock[NOW], clock[ARRIVED] = turn_moving(world, rankings, clock[ARRIVED], per_event)
        if clock[NOW] == NEVER:
            break
        if fits_somewhere(world.queue, most_free(world.machine)):
            return True
    return False


@verb
def make_pass(world: World, rankings: AnyRankings, options: Options, now: int) -> None:
    """Run one pass, in which some job fits, with the present keys."""
    rank_queue(rankings, world.queue)
    decide(world, rankings, options.rule, now, starving_before(options, now))


@routine
def run_events(world: World, clock: Int64, rankings: AnyRankings, options: Options) -> None:
    """Go through all events, each with its pass."""
    while advance(world, rankings, clock, options.per_event):
        make_pass(world, rankings, options, clock[NOW])


@rolled_kernel
def run_moving(world: World, clock: Int64, rankings: AnyRankings, options: Options) -> None:
    """Fill `start` (all -1) and `backfilled` (all False) of the jobs by the clock of SEMANTICS.

    Jobs wait by (submit, position): all keys of the world are the same.
    """
    run_events(world, clock, rankings, options)


@kernel
def next_pass(
    world: World, clock: Int64, rankings: AnyRankings, options: Options, waiting: Int64
) -> int:
    """Go on as `advance`; write the waiting jobs, ascending, and return their number or 0."""
    more = advance(world, rankings, clock, options.per_event)
    return gather(world.queue, waiting) if more else 0


@kernel
def run_pass(world: World, rankings: AnyRankings, options: Options, now: int) -> None:
    """Run one pass with the present orders."""
    make_pass(world, rankings, options, now)
