"""The waiting jobs in queue order, as a chain of short blocks.

One flat sorted array is as fast up to some 100 waiting jobs. At load 1.1, the KTH log has 420
waiting jobs on average, and shifting them at each arrival halves the speed. A chain of blocks
shifts one block only, and a scan skips a block if its smallest need exceeds the free processors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import WORD, carry, first_places, least, room, slide
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.running import Jobs

BLOCK = 64
"""Cells in a block; 32 and 128 are 5 to 10 % slower at load 1.1."""

MERGE = 48
"""Largest number of jobs in two neighbouring blocks that are joined."""

STEPS = 12
"""Number of cells that are searched one by one; bisection of these cells, too, is 4 % slower."""


class QueueState:
    """State of a queue.

    blocks: number of blocks in the chain. seen: the first job at the last search, -1 for none.
    seen_at: the cell of this job at the last search.
    """

    blocks: int
    seen: int
    seen_at: int


class Queue(NamedTuple):
    """Blocks of waiting jobs; the first ``state.blocks`` entries of `order` are the chain.

    Invariant: the minima are lower bounds of the needs and estimates of a block, so that a block
    whose minimum is too large may be skipped. `close_cell` does not update the minima; `take_out`
    and a scan make them exact. The jobs of block b are ``job[first[b] : first[b] + length[b]]``, in
    queue order, within the cells ``b * BLOCK`` to ``(b + 1) * BLOCK``. So the head leaves without a
    shift.
    """

    state: Record[QueueState]
    order: Int64
    first: Int64
    length: Int64
    least_need: Int64
    least_estimate: Int64
    job: Int64
    need: Int64
    estimate: Int64
    submit: Int64


def blocks_of(most: int) -> int:
    """Return the number of blocks for `most` jobs.

    Two neighbouring blocks always have at least BLOCK / 2 jobs together: a split leaves BLOCK / 2
    jobs on each side, and `tidy` follows a removal. So most / 16 + 2 blocks are enough.
    """
    return most // (BLOCK // 4) + 2


def cells_of(most: int) -> Int64:
    """Return a column for the cells of a queue with room for `most` jobs."""
    return np.empty(room(blocks_of(most) * BLOCK), np.int64)


def empty_queue(most: int) -> Queue:
    """Return a queue with room for `most` jobs."""
    blocks, state = blocks_of(most), record(QueueState)
    state[0].seen = -1
    return Queue(
        state,
        np.arange(blocks),
        np.empty(blocks, np.int64),
        np.zeros(blocks, np.int64),
        np.empty(blocks, np.int64),
        np.empty(blocks, np.int64),
        *(cells_of(most) for _ in range(4)),
    )


@verb
def head_of(queue: Queue) -> int:
    """Return the cell of the first waiting job."""
    return int(queue.first[queue.order[0]])


@verb
def still_waits(queue: Queue, j: int, cell: int) -> bool:
    """Return whether job `j` still waits in this cell."""
    b = cell // BLOCK
    first = queue.first[b]
    return bool(first <= cell < first + queue.length[b] and queue.job[cell] == j)


@verb
def last_of(queue: Queue) -> int:
    """Return the cell of the last waiting job."""
    b = queue.order[queue.state[0].blocks - 1]
    return int(queue.first[b] + queue.length[b] - 1)


@verb
def gather(queue: Queue, waiting: Int64) -> int:
    """Write the waiting jobs, in queue order; return their number."""
    count = 0
    for place in range(queue.state[0].blocks):
        b = queue.order[place]
        for cell in range(queue.first[b], queue.first[b] + queue.length[b]):
            waiting[count] = queue.job[cell]
            count += 1
    return count


@verb
def precedes(key: Int64, i: int, j: int) -> bool:
    """Return whether job `i` comes before job `j`: by key, then by (submit, position)."""
    return bool((key[i] < key[j]) | ((key[i] == key[j]) & (i < j)))


@verb
def find_place(queue: Queue, key: Int64, j: int) -> int:
    """Return the place in the chain of the block where job `j` is or belongs."""
    low, high = 0, queue.state[0].blocks - 1
    while low < high:
        middle = (low + high) // 2
        b = queue.order[middle]
        if precedes(key, queue.job[queue.first[b] + queue.length[b] - 1], j):
            low = middle + 1
        else:
            high = middle
    return low


@verb
def find_cell(queue: Queue, key: Int64, b: int, j: int) -> int:
    """Return the first cell of block `b` with a job that does not precede job `j`."""
    low = queue.first[b]
    high = low + queue.length[b]
    while high - low > STEPS:
        middle = (low + high) // 2
        if precedes(key, queue.job[middle], j):
            low = middle + 1
        else:
            high = middle
    while low < high and precedes(key, queue.job[low], j):
        low += 1
    return int(low)


@verb
def open_block(queue: Queue, place: int) -> None:
    """Put an empty block into the chain at `place`."""
    order = queue.order
    fresh = order[queue.state[0].blocks]
    for p in range(queue.state[0].blocks, place, -1):
        order[p] = order[p - 1]
    order[place] = fresh
    queue.state[0].blocks += 1
    queue.first[fresh] = fresh * BLOCK
    queue.length[fresh] = 0
    queue.least_need[fresh] = NEVER
    queue.least_estimate[fresh] = NEVER


@verb
def columns_of(queue: Queue) -> tuple[Int64, Int64, Int64, Int64]:
    """Return the columns of the waiting jobs."""
    return queue.job, queue.need, queue.estimate, queue.submit


@verb
def open_cell(queue: Queue, b: int, cell: int) -> int:
    """Make a free cell in block `b` before `cell`, shifting the shorter side; return the cell."""
    first = queue.first[b]
    end = first + queue.length[b]
    queue.length[b] += 1
    if first > b * BLOCK and (cell - first < end - cell or end == (b + 1) * BLOCK):
        queue.first[b] = first - 1
        slide(columns_of(queue), first, cell, -1)
        return cell - 1
    slide(columns_of(queue), cell, end, 1)
    return cell


@verb
def close_cell(queue: Queue, b: int, cell: int) -> None:
    """Remove a cell from block `b`; later cells move up."""
    queue.length[b] -= 1
    if cell == queue.first[b]:
        queue.first[b] += 1
        return
    slide(columns_of(queue), cell + 1, queue.first[b] + queue.length[b] + 1, -1)


@verb
def pour(queue: Queue, source: int, skip: int, target: int) -> None:
    """Move the jobs of block `source` after its first `skip` to the end of block `target`."""
    base = target * BLOCK
    moved = queue.length[source] - skip
    # First move the target's jobs to its beginning, since its end may have no room left.
    carry(columns_of(queue), queue.first[target], base, queue.length[target])
    carry(columns_of(queue), queue.first[source] + skip, base + queue.length[target], moved)
    queue.first[target] = base
    queue.length[source] = skip
    queue.length[target] += moved
    queue.least_need[target] = min(queue.least_need[target], queue.least_need[source])
    queue.least_estimate[target] = min(queue.least_estimate[target], queue.least_estimate[source])


@verb
def make_room(queue: Queue, key: Int64, place: int, j: int) -> int:
    """Split the full block at `place`; return the place of the block for job `j`."""
    b = queue.order[place]
    open_block(queue, place + 1)
    fresh = queue.order[place + 1]
    pour(queue, b, BLOCK // 2, fresh)
    return place + 1 if precedes(key, queue.job[queue.first[fresh]], j) else place


@verb
def enqueue(queue: Queue, jobs: Jobs, key: Int64, j: int) -> None:
    """Insert job `j` where its key belongs."""
    if queue.state[0].blocks == 0 or precedes(key, queue.job[last_of(queue)], j):
        append(queue, jobs, j)
        return
    place = find_place(queue, key, j)
    if queue.length[queue.order[place]] == BLOCK:
        place = make_room(queue, key, place, j)
    b = queue.order[place]
    write_cell(queue, jobs, b, open_cell(queue, b, find_cell(queue, key, b, j)), j)


@verb
def write_cell(queue: Queue, jobs: Jobs, b: int, cell: int, j: int) -> None:
    """Write job `j` into a free cell of block `b`."""
    need, estimate = jobs.procs[j], jobs.estimate[j]
    queue.job[cell], queue.submit[cell] = j, jobs.submit[j]
    queue.need[cell], queue.estimate[cell] = need, estimate
    queue.least_need[b] = min(queue.least_need[b], need)
    queue.least_estimate[b] = min(queue.least_estimate[b], estimate)


@verb
def append(queue: Queue, jobs: Jobs, j: int) -> None:
    """Append job `j`; full blocks are not split."""
    last = queue.state[0].blocks - 1
    if last < 0 or queue.length[queue.order[last]] == BLOCK:
        last += 1
        open_block(queue, last)
    b = queue.order[last]
    first, end = queue.first[b], queue.first[b] + queue.length[b]
    if end == (b + 1) * BLOCK:
        slide(columns_of(queue), first, end, b * BLOCK - first)
        queue.first[b], end = b * BLOCK, end + b * BLOCK - first
    queue.length[b] += 1
    write_cell(queue, jobs, b, end, j)


@verb
def take_out(queue: Queue, cell: int) -> None:
    """Remove a cell, and keep the minima of its block exact."""
    b = cell // BLOCK
    need, estimate = queue.need[cell], queue.estimate[cell]
    close_cell(queue, b, cell)
    first, stop = queue.first[b], queue.first[b] + queue.length[b]
    if need == queue.least_need[b]:
        queue.least_need[b] = least_of(queue.need, first, stop)
    if estimate == queue.least_estimate[b]:
        queue.least_estimate[b] = least_of(queue.estimate, first, stop)
    if queue.length[b] < MERGE:
        tidy(queue)


@verb
def least_of(column: Int64, first: int, stop: int) -> int:
    """Return the least value in the cells first..stop - 1; NEVER if there is no cell."""
    found = NEVER
    while first < stop:
        found = min(found, least(column, first, first_places(stop - first)))
        first += WORD
    return found


@verb
def dequeue(queue: Queue, key: Int64, j: int) -> None:
    """Remove job `j`."""
    b = queue.order[find_place(queue, key, j)]
    close_cell(queue, b, find_cell(queue, key, b, j))
    tidy(queue)


@verb
def tidy(queue: Queue) -> None:
    """Drop the empty blocks and join small neighbours."""
    order, kept = queue.order, 0
    for place in range(queue.state[0].blocks):
        b = order[place]
        if queue.length[b] == 0:
            continue
        if kept > 0 and queue.length[order[kept - 1]] + queue.length[b] <= MERGE:
            pour(queue, b, 0, order[kept - 1])
        else:
            order[place], order[kept] = order[kept], b
            kept += 1
    queue.state[0].blocks = kept
