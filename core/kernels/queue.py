"""The waiting jobs in queue order, as a chain of short blocks.

One flat sorted array is as fast up to some 100 waiting jobs; at load 1.1 the KTH log has 420
waiting on average and shifting them on each arrival halves the speed. A chain of blocks shifts
one block only, and a block whose smallest need exceeds the free processors is skipped unread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.arrays import Int64
from core.kernels.jit import NEVER, kernel, verb
from core.kernels.machine import Jobs

BLOCK = 64
"""Cells in a block; 32 and 128 are 5 to 10 % slower at load 1.1."""

MERGE = 48
"""Neighbours that hold no more than this together become one block."""

STEPS = 12
"""Cells that are looked at one by one: halving on to the end is 4 % slower."""


class Queue(NamedTuple):
    """Blocks of waiting jobs; the first ``size[0]`` entries of `order` are the chain.

    The minima are lower bounds: a removal leaves them, a scan makes them exact again.
    Cells of block b are ``job[first[b] : first[b] + length[b]]``, in queue order, somewhere in
    ``b * BLOCK`` to ``(b + 1) * BLOCK``: the head leaves without a shift.
    """

    size: Int64
    order: Int64
    first: Int64
    length: Int64
    least_need: Int64
    least_estimate: Int64
    job: Int64
    need: Int64
    estimate: Int64


@kernel
def empty_queue(most: int) -> Queue:
    """Return a queue with room for `most` jobs.

    Two neighbours always hold at least BLOCK / 2 jobs together: a split leaves that many on
    each side, and a removal is followed by `tidy`. So most / 16 + 2 blocks are enough.
    """
    blocks = most // (BLOCK // 4) + 2
    return Queue(
        np.zeros(1, np.int64),
        np.arange(blocks),
        np.empty(blocks, np.int64),
        np.empty(blocks, np.int64),
        np.empty(blocks, np.int64),
        np.empty(blocks, np.int64),
        np.empty(blocks * BLOCK, np.int64),
        np.empty(blocks * BLOCK, np.int64),
        np.empty(blocks * BLOCK, np.int64),
    )


@verb
def head_of(queue: Queue) -> int:
    """Return the cell of the first waiting job."""
    return int(queue.first[queue.order[0]])


@verb
def precedes(key: Int64, i: int, j: int) -> bool:
    """Say whether job `i` comes before job `j`: by key, then by (submit, position)."""
    return bool((key[i] < key[j]) | ((key[i] == key[j]) & (i < j)))


@verb
def find_place(queue: Queue, key: Int64, j: int) -> int:
    """Return the place in the chain of the block where job `j` is or belongs."""
    low, high = 0, queue.size[0] - 1
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
    """Return the first cell of block `b` whose job does not precede job `j`."""
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
    fresh = order[queue.size[0]]
    for p in range(queue.size[0], place, -1):
        order[p] = order[p - 1]
    order[place] = fresh
    queue.size[0] += 1
    queue.first[fresh] = fresh * BLOCK
    queue.length[fresh] = 0
    queue.least_need[fresh] = NEVER
    queue.least_estimate[fresh] = NEVER


@verb
def copy_cell(queue: Queue, source: int, target: int) -> None:
    """Copy one cell over another."""
    queue.job[target] = queue.job[source]
    queue.need[target] = queue.need[source]
    queue.estimate[target] = queue.estimate[source]


@verb
def open_cell(queue: Queue, b: int, cell: int) -> int:
    """Make a free cell in block `b` before `cell`, on the shorter side; return it."""
    first = queue.first[b]
    end = first + queue.length[b]
    queue.length[b] += 1
    if first > b * BLOCK and (cell - first < end - cell or end == (b + 1) * BLOCK):
        queue.first[b] = first - 1
        for k in range(first, cell):
            copy_cell(queue, k, k - 1)
        return cell - 1
    for k in range(end, cell, -1):
        copy_cell(queue, k - 1, k)
    return cell


@verb
def close_cell(queue: Queue, b: int, cell: int) -> None:
    """Take a cell out of block `b`; those behind it move up."""
    queue.length[b] -= 1
    if cell == queue.first[b]:
        queue.first[b] += 1
        return
    for k in range(cell, queue.first[b] + queue.length[b]):
        copy_cell(queue, k + 1, k)


@verb
def pour(queue: Queue, source: int, skip: int, target: int) -> None:
    """Move the jobs of block `source` after its first `skip` to the end of block `target`."""
    base = target * BLOCK
    moved = queue.length[source] - skip
    # To the block's own beginning first, where its tail may have no room left.
    for k in range(queue.length[target]):
        copy_cell(queue, queue.first[target] + k, base + k)
    for k in range(moved):
        copy_cell(queue, queue.first[source] + skip + k, base + queue.length[target] + k)
    queue.first[target] = base
    queue.length[source] = skip
    queue.length[target] += moved
    queue.least_need[target] = min(queue.least_need[target], queue.least_need[source])
    queue.least_estimate[target] = min(queue.least_estimate[target], queue.least_estimate[source])


@verb
def make_room(queue: Queue, key: Int64, place: int, j: int) -> int:
    """Split the full block at `place`; return the place where job `j` now belongs."""
    b = queue.order[place]
    open_block(queue, place + 1)
    # First come, first served appends always: full blocks stay full.
    if place + 2 == queue.size[0] and precedes(key, queue.job[(b + 1) * BLOCK - 1], j):
        return place + 1
    fresh = queue.order[place + 1]
    pour(queue, b, BLOCK // 2, fresh)
    return place + 1 if precedes(key, queue.job[queue.first[fresh]], j) else place


@verb
def enqueue(queue: Queue, jobs: Jobs, key: Int64, j: int) -> None:
    """Insert job `j` where its key belongs."""
    if queue.size[0] == 0:
        open_block(queue, 0)
    place = find_place(queue, key, j)
    if queue.length[queue.order[place]] == BLOCK:
        place = make_room(queue, key, place, j)
    b = queue.order[place]
    cell = open_cell(queue, b, find_cell(queue, key, b, j))
    queue.job[cell] = j
    queue.need[cell] = jobs.procs[j]
    queue.estimate[cell] = jobs.estimate[j]
    queue.least_need[b] = min(queue.least_need[b], jobs.procs[j])
    queue.least_estimate[b] = min(queue.least_estimate[b], jobs.estimate[j])


@verb
def dequeue(queue: Queue, key: Int64, j: int) -> None:
    """Take job `j` out."""
    b = queue.order[find_place(queue, key, j)]
    close_cell(queue, b, find_cell(queue, key, b, j))
    tidy(queue)


@verb
def tidy(queue: Queue) -> None:
    """Drop the empty blocks and join small neighbours."""
    order, kept = queue.order, 0
    for place in range(queue.size[0]):
        b = order[place]
        if queue.length[b] == 0:
            continue
        if kept > 0 and queue.length[order[kept - 1]] + queue.length[b] <= MERGE:
            pour(queue, b, 0, order[kept - 1])
        else:
            order[place], order[kept] = order[kept], b
            kept += 1
    queue.size[0] = kept
