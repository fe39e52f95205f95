"""The rules none, aggressive and easy in orders that change with time, or differ for backfills.

No queue is sorted. The jobs wait by (submit, position). The head is the best of all jobs, and the
next backfill is the best of the jobs that may start. A pass starts about one job, so that two scans
of the queue replace a sort: LXF with EASY runs three times as fast on the KTH log.

Invariants: a job that does not fit once does not fit later in the same pass, since backfills only
take processors. A scan begins with the head of the previous scan, which is usually still first. It
skips blocks and cells that cannot reach the threshold of the best job so far, a ratio or a key
(`core.engine.ranking`, `core.engine.expressions`). So a skipped job never precedes the best job;
the other jobs are compared exactly. The first job of a scan does not affect the result.
"""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import Clock
from schedfarm.core.engine.jit import NEVER, kernel, rolled_kernel, routine, verb
from schedfarm.core.engine.lanes import WORD, first_places, least, lowest, up_to, without
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
    BLOCK,
    Queue,
    gather,
    head_of,
    last_of,
    still_waits,
    take_out,
)
from schedfarm.core.engine.rank import (
    ANY,
    AnyRankings,
    begun_by,
    follow_removal,
    follow_up,
    may_come_first,
    rank_queue,
    set_keys,
)
from schedfarm.core.engine.ranking import (
    Ranking,
    bar_of,
    ranks_before,
    rivals,
)
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import NONE, Options, World, starving_before, turn


@verb
def fits_somewhere(queue: Queue, free: int) -> bool:
    """Return whether a waiting job may fit, by the blocks' minima, which are lower bounds."""
    least = NEVER
    for place in range(queue.state[0].blocks):
        least = min(least, queue.least_need[queue.order[place]])
    return least <= free


@verb
def first_among(
    queue: Queue, jobs: Jobs, ranking: Ranking, now: int, cell: int, word: int, best: int
) -> int:
    """Return the cell that comes first among `best` and the lane mask from `cell` on."""
    word = without(word, best - cell)
    if word != 0 and ranking.cell.size > 0:
        # Cells are in order of arrival, so the result is the first cell with the least key.
        rival = cell + lowest(word & up_to(ranking.cell, cell, least(ranking.cell, cell, word)))
        earlier = queue.job[rival] < queue.job[best]
        return rival if earlier or ranking.cell[rival] < ranking.cell[best] else best
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
    """Return the next cell with jobs that may reach a threshold, and their lane mask."""
    while cell < stop:
        word = rivals(ranking, queue.submit, queue.estimate, cell, now, bar)
        word &= first_places(stop - cell)
        if word != 0:
            return cell, word
        cell += WORD
    return cell, 0


@verb
def first_of_all(queue: Queue, jobs: Jobs, rankings: AnyRankings, now: int, limit: int) -> int:
    """Return the cell of the head; a job submitted before `limit` starves and comes first."""
    best, ranking = head_of(queue), rankings.queue
    if queue.submit[best] < limit or best == last_of(queue):
        return best
    if still_waits(queue, queue.state[0].seen, queue.state[0].seen_at):
        best = queue.state[0].seen_at
    set_keys(rankings, queue, best // BLOCK, now)
    bar = bar_of(ranking, queue.submit, queue.estimate, best, now)
    for place in range(queue.state[0].blocks):
        b = queue.order[place]
        if not may_come_first(rankings, False, queue, b, now, bar):
            continue
        cell, stop = queue.first[b], queue.first[b] + queue.length[b]
        while cell < stop:
            cell, word = next_rivals(ranking, queue, cell, stop, now, bar)
            found = first_among(queue, jobs, ranking, now, cell, word, best)
            if found != best:
                best, bar = found, bar_of(ranking, queue.submit, queue.estimate, found, now)
            cell += WORD
    queue.state[0].seen, queue.state[0].seen_at = queue.job[best], best
    return best


@verb
def first_backfill(world: World, rankings: AnyRankings, now: int, limit: int) -> int:
    """Return the cell of the first backfill behind the head, or -1."""
    jobs, machine, queue, hold, _ = world
    ranking = rankings.backfill
    best, bar, free = -1, (0, 1), most_free(machine)
    for place in range(queue.state[0].blocks):
        b = queue.order[place]
        if queue.least_need[b] > free or not within_reach(machine, queue, hold, now, b):
            continue
        stop, keyed = queue.first[b] + queue.length[b], False
        for cell in range(queue.first[b], stop, WORD):
            word = candidates(machine, queue, hold, now, cell) & first_places(stop - cell)
            if word == 0:
                continue
            first = best < 0
            if first:
                best = cell + lowest(word)
                if queue.submit[best] < limit:
                    return best
            reach = ANY if first else bar
            if not keyed and not may_come_first(rankings, True, queue, b, now, reach):
                break
            if first:
                bar = bar_of(ranking, queue.submit, queue.estimate, best, now)
            keyed = True
            word &= rivals(ranking, queue.submit, queue.estimate, cell, now, bar)
            found = first_among(queue, jobs, ranking, now, cell, word, best)
            if found != best:
                best, bar = found, bar_of(ranking, queue.submit, queue.estimate, found, now)
    return best


@verb
def decide(world: World, rankings: AnyRankings, rule: int, now: int, limit: int) -> None:
    """Run one pass: heads in queue order while they fit, then backfills in backfill order.

    The caller has found with `fits_somewhere` that a job may fit. One loop starts both heads and
    backfills, since each call of a step is inlined.

    The world's key is 0 for each job, so that all jobs wait by (submit, position).
    """
    jobs, machine, queue, hold, _ = world
    ranked = reserved = False
    while True:
        if not ranked:
            rank_queue(rankings, queue)
        if not reserved:
            cell = first_of_all(queue, jobs, rankings, now, limit)
            c = place_for(machine, queue.need[cell], now)
            if c < 0 and rule == NONE:
                return
            if c < 0:
                reserve(machine, hold, rule, queue.need[cell])
                reserved = True
        if reserved:
            cell = first_backfill(world, rankings, now, limit)
            if cell < 0:
                return
            c = place_beside(machine, hold, now, queue.need[cell], queue.estimate[cell])
            jobs.backfilled[queue.job[cell]] = True
        blocks = queue.state[0].blocks
        begin(machine, jobs, c, queue.job[cell], now)
        take_out(queue, cell)
        ranked = follow_removal(rankings, queue, cell, blocks)
        if not fits_somewhere(queue, most_free(machine)):
            return


@verb
def turn_moving(
    world: World, rankings: AnyRankings, arrived: int, per_event: bool
) -> tuple[int, int]:
    """Call `turn`, then add completions to the usage of users for the orders."""
    begun = begun_by(rankings, world.machine)
    now, arrived = turn(world, arrived, per_event)
    if now < NEVER:
        follow_up(rankings, world.machine, world.jobs, begun, now)
    return now, arrived


@verb
def advance(world: World, rankings: AnyRankings, clock: Record[Clock], per_event: bool) -> bool:
    """Turn the clock to the next pass that may start a job; return False if there is none."""
    while world.jobs.leave[0] == 0:
        clock[0].now, clock[0].arrived = turn_moving(world, rankings, clock[0].arrived, per_event)
        if clock[0].now == NEVER:
            break
        if fits_somewhere(world.queue, most_free(world.machine)):
            return True
    return False


@verb
def make_pass(world: World, rankings: AnyRankings, options: Options, now: int) -> None:
    """Run one pass in which a job may fit."""
    decide(world, rankings, options.rule, now, starving_before(options, now))


@routine
def run_events(world: World, clock: Record[Clock], rankings: AnyRankings, options: Options) -> None:
    """Go through all events, each with its pass."""
    while advance(world, rankings, clock, options.per_event):
        make_pass(world, rankings, options, clock[0].now)


@rolled_kernel
def run_moving(world: World, clock: Record[Clock], rankings: AnyRankings, options: Options) -> None:
    """Fill `start` (all -1) and `backfilled` (all False) of the jobs by the clock of SEMANTICS.

    The jobs wait by (submit, position), because all keys of the world are equal.
    """
    run_events(world, clock, rankings, options)


@kernel
def next_pass(
    world: World, clock: Record[Clock], rankings: AnyRankings, options: Options, waiting: Int64
) -> int:
    """Call `advance`; write the waiting jobs, ascending, and return their number, 0 at the end."""
    more = advance(world, rankings, clock, options.per_event)
    return gather(world.queue, waiting) if more else 0


@kernel
def run_pass(world: World, rankings: AnyRankings, options: Options, now: int) -> None:
    """Run one pass with the present keys of the orders."""
    make_pass(world, rankings, options, now)
