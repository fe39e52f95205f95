"""Orders as expressions that change over time, evaluated for the waiting jobs in each pass.

The cells of the queue hold the columns of their jobs: on the log CTC, reading columns by job at
each pass took half of the time for the keys. A block of the queue is evaluated when a scan reaches
it, unless a bound of its keys shows that none of its jobs comes first. If keys only fall with time,
the bound is the least key at an instant some passes ahead, and holds until that instant
(`core.engine.trends`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import rank
from schedfarm.core.engine.evaluation import Program, ProgramState, place_of, write_keys
from schedfarm.core.engine.instructions import Lowering
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import (
    WORD,
    first_places,
    lowest,
    move_down,
    not_numbers,
)
from schedfarm.core.engine.machine import Machine
from schedfarm.core.engine.queue import BLOCK, Queue, blocks_of, cells_of, least_of
from schedfarm.core.engine.ranking import Ranking, Rankings, block_may_have_rivals
from schedfarm.core.engine.record import record
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.trends import RISES, UNKNOWN, trend_of
from schedfarm.core.errors import InputError
from schedfarm.core.policy.expression import Expression, evaluate
from schedfarm.core.workload.workload import Workload

NO_JOB = -1

STRIDE = BLOCK + WORD
"""Room of a column for each block of the queue; a shift of the last cells reads one word more."""

INSTANT = 0
"""Index of the instant in the array `now`."""

FIRST, LENGTH, LAST, KEYED_IN, UNTIL, BOUND, FIELDS = 0, 1, 2, 3, 4, 5, 8
"""Fields of a block.

FIRST, LENGTH, LAST: its first cell, its length and its last job when its columns were written.
KEYED_IN: the pass for which its cells have keys. UNTIL, BOUND: the last instant at which the bound
holds, s, and a lower bound of its keys. FIELDS: number of fields, a cache line.
"""

PERIOD = 16
"""Number of passes ahead for which a bound of a block's keys is computed."""

UNSET, UNTRIED = -(2**63), 1 - 2**63
"""Values of UNTIL that precede all instants: UNSET for a changed block, UNTRIED for a block that
was read since its change. UNSET is also the value of KEYED_IN without keys, and a bound of all
keys."""


class ExpressionRankings(NamedTuple):
    """Hold `Rankings` of which at least one is an expression of the instant.

    now: int64[1], the instant of the pass, s.
    """

    queue: Ranking
    backfill: Ranking
    moves: bool
    differ: bool
    first: Program
    second: Program
    now: Int64


def program_of(workload: Workload, expression: Expression | None) -> Program:
    """Return an expression's instructions for the jobs of a workload; none for None.

    Examples
    --------
    >>> from schedfarm.core.engine.instructions import ELAPSED_QUOTIENT
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 7], estimate=[9, 7], procs=[1, 2],
    ...                           processors=2)
    >>> program = program_of(w, Expression.parse("-(now - submit) / (2 * procs)", ("now", "submit",
    ...                                                                            "procs")))
    >>> program.steps[::5].tolist() == [ELAPSED_QUOTIENT], program.trend
    (True, -1)
    >>> program.column.tolist()
    [0.0, -2.0, 1.0, -4.0]
    """
    lowering = Lowering()
    if expression is not None:
        lowering.load(expression.tree)
        lowering.place(expression.tree)
    columns, blocks = len(lowering.columns), blocks_of(len(workload))
    with np.errstate(all="ignore"):
        found = [
            evaluate(tree, {name: getattr(workload, name) for name in tree.names})
            for tree in lowering.columns
        ]
    begin = (1 + lowering.count) * BLOCK
    place = BLOCK * (np.arange(1 + columns + lowering.count) - columns)
    place[: columns + 1] = begin + STRIDE * blocks * np.arange(-1, columns)
    place[0] = 0
    moves = np.zeros_like(place)
    moves[1 : columns + 1] = -1
    register = np.empty(begin + columns * STRIDE * blocks)
    for constant, value in lowering.constants.items():
        register[place[constant] : place[constant] + BLOCK] = value
    state = record(ProgramState)
    state[0].failed_job = NO_JOB
    return Program(
        np.array(lowering.fused(), np.int64).reshape(-1),
        np.stack(found, axis=-1).reshape(-1) if found else np.zeros(0),
        columns,
        place,
        moves,
        register,
        register.view(np.int64),
        np.zeros(FIELDS * blocks, np.int64),
        state,
        trend_of(lowering.steps, found, lowering.constants, workload.submit),
        follows=True,
    )


def clone_of(program: Program) -> Program:
    """Return a program for clones of the queue; it writes all columns again in each pass."""
    register = np.empty_like(program.register)
    begin = register.size - program.columns * STRIDE * (program.block.size // FIELDS)
    register[:begin] = program.register[:begin]
    return program._replace(
        register=register,
        bits=register.view(np.int64),
        block=np.zeros_like(program.block),
        state=program.state.copy(),
        follows=False,
    )


@verb
def hold(program: Program, j: int, at: int) -> None:
    """Write the columns of a job into a cell."""
    begin = j * program.columns
    for k in range(program.columns):
        program.register[place_of(program, k + 1, at)] = program.column[begin + k]


@verb
def rank_cells(
    program: Program, now: int, at: int, m: int, key: Int64, to: int, jobs: Int64, i: int, skip: int
) -> None:
    """Write the keys of m jobs, m <= BLOCK, and fill up the last word.

    The jobs are ``jobs[i : i + m]``, with columns from cell `at` on and keys from place `to` on.
    The first `skip` places, less than a word, hold no jobs.
    """
    write_keys(program, now, at, m, key, to)
    if program.trend == UNKNOWN:
        report_missing(program, now, m, key, to, jobs, i, skip)


@verb
def report_missing(
    program: Program, now: int, m: int, key: Int64, to: int, jobs: Int64, i: int, skip: int
) -> None:
    """Record the first of m jobs, after the first `skip`, with NaN as its value."""
    state = program.state
    for k in range(0, m, WORD):
        missing = not_numbers(key, to + k) & first_places(m - k) & ~first_places(max(skip - k, 0))
        if missing != 0 and state[0].failed_job == NO_JOB:
            state[0].failed_job, state[0].failed_at = jobs[i + k + lowest(missing)], now


@verb
def held_in(program: Program, queue: Queue, b: int) -> int:
    """Return the number of leading cells of a block with the columns of their jobs.

    The last of these jobs and their number identify all of them: no job is inserted before the last
    one, so that the number only decreases.
    """
    s, first = b * FIELDS, queue.first[b]
    count = program.block[s + LENGTH]
    if not program.follows or program.block[s + FIRST] != first:
        return 0
    if count == 0 or count > queue.length[b]:
        return 0
    return int(count) if queue.job[first + count - 1] == program.block[s + LAST] else 0


@verb
def hold_block(program: Program, queue: Queue, b: int) -> None:
    """Write the missing columns of the jobs of a block."""
    s, first, length = b * FIELDS, queue.first[b], queue.length[b]
    count = held_in(program, queue, b)
    if count < length:
        for cell in range(first + count, first + length):
            hold(program, queue.job[cell], cell + b * WORD)
        program.block[s + FIRST], program.block[s + LENGTH] = first, length
        program.block[s + LAST] = queue.job[first + length - 1]
        program.block[s + UNTIL] = UNSET


@verb
def rank_block(program: Program, now: int, queue: Queue, b: int, key: Int64) -> None:
    """Write the keys of the jobs of a block at an instant."""
    skip = queue.first[b] % WORD
    to = queue.first[b] - skip
    m = skip + queue.length[b]
    rank_cells(program, now, to + b * WORD, m, key, to, queue.job, to, skip)


@verb
def may_reach(program: Program, now: int, queue: Queue, b: int, key: Int64, bar: int) -> bool:
    """Return whether a block may have a job with a key up to `bar`; if so, write its keys.

    If `bar` is NEVER, no bound is used. A changed block gets a bound at the second read without
    another change. One loop writes both the keys of the bound and the present keys, since each call
    of a step is inlined.
    """
    s, block, instant = b * FIELDS, program.block, now
    if block[s + KEYED_IN] == program.state[0].passes:
        return True
    hold_block(program, queue, b)
    bounds = program.follows and program.trend != UNKNOWN and bar != NEVER
    if bounds and block[s + UNTIL] == UNSET:
        block[s + UNTIL], bounds = UNTRIED, False
    if bounds and now <= block[s + UNTIL]:
        if block[s + BOUND] > bar:
            return False
        bounds = False
    if bounds and program.trend != RISES:
        # Rising keys are least now, and other keys at the end of the period.
        instant = now + program.state[0].span
    while True:
        rank_block(program, instant, queue, b, key)
        if bounds:
            first = queue.first[b]
            block[s + BOUND] = least_of(key, first, first + queue.length[b])
            block[s + UNTIL] = NEVER if program.trend == RISES else instant
            if block[s + BOUND] > bar:
                return False
        bounds = False
        if instant == now:
            block[s + KEYED_IN] = program.state[0].passes
            return True
        instant = now


@verb
def begin_pass(program: Program, now: int, queue: Queue, key: Int64) -> None:
    """Begin a pass, in which no key is valid yet; write all keys if one of them may be NaN."""
    state = program.state
    state[0].passes += 1
    if state[0].passes % PERIOD == 1:
        state[0].span = now - state[0].mark if state[0].passes > PERIOD else 0
        state[0].mark = now
    # A single waiting job needs no key.
    single = queue.state[0].blocks == 1 and queue.length[queue.order[0]] == 1
    if program.steps.size > 0 and program.trend == UNKNOWN and not single:
        for place in range(queue.state[0].blocks):
            may_reach(program, now, queue, queue.order[place], key, NEVER)


@verb
def rank_in_list(program: Program, now: int, waiting: Int64, count: int, key: Int64) -> None:
    """Set the keys of the first `count` waiting jobs to the values of an expression."""
    if program.steps.size == 0:
        return
    # Lists have no cells: one block takes the columns, and its keys replace its values.
    last = program.place[program.place.size - 1]
    begin = 0
    while begin < count:
        m = min(BLOCK, count - begin)
        for p in range(m):
            hold(program, waiting[begin + p], p)
        rank_cells(program, now, 0, m, program.bits, last, waiting, begin, 0)
        for p in range(m):
            key[waiting[begin + p]] = program.bits[last + p]
        begin += BLOCK


@verb
def is_without(queue: Queue, b: int, cell: int, first: int, count: int, last: int) -> bool:
    """Return whether a block still has its earlier jobs up to `last`, except for one removed job.

    The block had count + 1 jobs up to `last`, from cell `first` on. If the first job leaves, no
    other job is shifted.
    """
    here = queue.first[b]
    if here != first + (cell == first) or queue.length[b] < count:
        return False
    if cell < first + count:
        return bool(queue.job[here + count - 1] == last)
    if count > 0 and queue.job[here + count - 1] >= last:
        return False
    return bool(queue.length[b] == count or queue.job[here + count] > last)


@verb
def close_up(program: Program, queue: Queue, cell: int) -> None:
    """Move the columns behind a removed cell, as the queue moved the jobs."""
    b = cell // BLOCK
    s, block = b * FIELDS, program.block
    block[s + KEYED_IN] = UNSET
    first, count = block[s + FIRST], block[s + LENGTH] - 1
    if program.steps.size == 0 or not first <= cell <= first + count:
        return
    if not is_without(queue, b, cell, first, count, block[s + LAST]):
        return
    if cell > first:
        for k in range(program.columns):
            begin = place_of(program, k + 1, b * WORD)
            for at in range(cell, first + count, WORD):
                move_down(program.bits, begin + at)
    block[s + FIRST], block[s + LENGTH] = queue.first[b], count
    if count > 0:
        block[s + LAST] = queue.job[queue.first[b] + count - 1]


@rank.begun_by.of(ExpressionRankings)
def begun_by(rankings: ExpressionRankings, machine: Machine) -> int:
    """Return 0, because completions are not tracked."""
    return 0


@rank.follow_up.of(ExpressionRankings)
def follow_up(
    rankings: ExpressionRankings, machine: Machine, jobs: Jobs, begun: int, now: int
) -> None:
    """Record the instant of the next pass."""
    rankings.now[INSTANT] = now


@rank.rank_queue.of(ExpressionRankings)
def rank_queue(rankings: ExpressionRankings, queue: Queue) -> None:
    """Begin a pass."""
    now = rankings.now[INSTANT]
    begin_pass(rankings.first, now, queue, rankings.queue.cell)
    if rankings.differ:
        begin_pass(rankings.second, now, queue, rankings.backfill.cell)


@rank.set_keys.of(ExpressionRankings)
def set_keys(rankings: ExpressionRankings, queue: Queue, b: int, now: int) -> None:
    """Set the keys of a block."""
    if rankings.first.steps.size > 0:
        may_reach(rankings.first, now, queue, b, rankings.queue.cell, NEVER)


@rank.may_come_first.of(ExpressionRankings)
def may_come_first(
    rankings: ExpressionRankings, backfills: bool, queue: Queue, b: int, now: int,
    bar: tuple[int, int],
) -> bool:  # fmt: skip
    """Set the keys of a block unless all are above the threshold."""
    program = rankings.second if backfills else rankings.first
    if program.steps.size == 0:
        return backfills or block_may_have_rivals(rankings.queue, queue, b, now, bar)
    key = rankings.backfill.cell if backfills else rankings.queue.cell
    return may_reach(program, now, queue, b, key, bar[0])


@rank.follow_removal.of(ExpressionRankings)
def follow_removal(rankings: ExpressionRankings, queue: Queue, cell: int, blocks: int) -> bool:
    """Move the columns of the removed cell's block; return False if blocks were joined."""
    if queue.state[0].blocks != blocks:
        return False
    close_up(rankings.first, queue, cell)
    if rankings.differ:
        close_up(rankings.second, queue, cell)
    return True


@rank.rank_list.of(ExpressionRankings)
def rank_list(rankings: ExpressionRankings, waiting: Int64, count: int) -> None:
    """Set the keys of some waiting jobs."""
    if count == 1:
        return
    now = rankings.now[INSTANT]
    rank_in_list(rankings.first, now, waiting, count, rankings.queue.key)
    if rankings.differ:
        rank_in_list(rankings.second, now, waiting, count, rankings.backfill.key)


@rank.settled_until.of(ExpressionRankings)
def settled_until(rankings: ExpressionRankings, now: int) -> int:
    """Return now, because values change with the instant."""
    return now


@rank.copy_usage.of(ExpressionRankings)
def copy_instant(rankings: ExpressionRankings, other: ExpressionRankings) -> None:
    """Copy the instant; clones share keys, which are made before each pass."""
    other.now[INSTANT] = rankings.now[INSTANT]


def ranked_by_expression(
    workload: Workload, rankings: Rankings, first: Expression | None, second: Expression | None
) -> ExpressionRankings:
    """Return rankings with the programs of two orders; an order without a program has None."""
    queue, backfill, moves, differ = rankings
    if first is not None:
        queue = queue._replace(cell=cells_of(len(workload)))
    if second is not None:
        backfill = backfill._replace(cell=cells_of(len(workload)))
    one = program_of(workload, first)
    other = program_of(workload, second) if differ else one
    backfill = backfill if differ else queue
    return ExpressionRankings(queue, backfill, moves, differ, one, other, np.zeros(1, np.int64))


def cloned_rankings(rankings: ExpressionRankings) -> ExpressionRankings:
    """Return rankings for clones of the queue, which share keys made in each pass."""
    first = clone_of(rankings.first)
    second = clone_of(rankings.second) if rankings.differ else first
    return rankings._replace(first=first, second=second, now=rankings.now.copy())


def check_numbers(workload: Workload, program: Program, order: str) -> None:
    """Refuse a simulation in which an expression had no value for a waiting job."""
    job, now = int(program.state[0].failed_job), int(program.state[0].failed_at)
    if job != NO_JOB:
        raise InputError(
            f"order {order!r} gave NaN for job {workload.job[job]} at {now} s; it must give a "
            "number for each job, so keep 0 from denominators and logarithms, as by max(..., 1)"
        )
