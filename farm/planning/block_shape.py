"""Shapes of blocks: the division of the cells of a trace into shards and chunks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt

from schedfarm.core.format.geometry import CELL, NO_SHAPE, Axes, Layout, Shape
from schedfarm.farm.planning.cost import SECONDS
from schedfarm.farm.store.product import Product, Variable
from schedfarm.farm.store.shape import CHUNK_VALUES, divisor

BLOCK_SECONDS = 10.0
"""Largest CPU time of a usual block, s: long compared with the 50 ms of Dask, Zarr and the record
of the block, short compared with a user's patience at an interruption."""

MOST_SECONDS = 60.0
"""Largest CPU time of a block with several of the costliest cells, s."""

LEAST_SECONDS = 2.0
"""Least CPU time, s, of blocks that are cut to reach `PARTS`, because of the cost of writing."""

PARTS = 40
"""Number of blocks of a trace with little work, for workers to share and for visible progress.
With more blocks, the 50 ms per block would matter. With fewer blocks, the wait for the last block
would matter: on 2 to 16 workers, a block is 1 to 5 % of the work."""

SHARD_BYTES = 64 * 2**20
"""Largest uncompressed shard of an int64 array, bytes; a task holds about three such arrays."""

JOB_STEP = 64
"""The length of a shard along `job` is a multiple of this number."""


def lay_out(
    sizes: Mapping[str, int],
    axes: Axes,
    kinds: Sequence[Product],
    arrays: Mapping[str, Sequence[Variable]],
    block_seconds: float = 0.0,
    layout: Layout | None = None,
) -> Layout:
    """Choose the sizes of a trace's shards from the campaign alone, never from the machine.

    sizes: lengths of job, week, user and width, and of node and origin if these exist. axes: labels
    of resample, load and policy. kinds: products of the trace. arrays: arrays of each product that
    the store keeps. block_seconds: CPU time of a block, s; 0 means `goal_seconds` of the trace's
    work. layout: the present layout, whose sizes are kept so that finished shards remain valid.

    Examples
    --------
    >>> from schedfarm.farm.store.product import PRODUCTS
    >>> axes = {"resample": range(10), "load": ["0.9"], "policy": ["fcfs+easy"]}
    >>> sizes = {"job": 5000, "week": 10, "user": 0, "width": 9}
    >>> kind = PRODUCTS["cells"]
    >>> lay_out(sizes, axes, [kind], {kind.name: kind.arrays}).cells
    (10, 1, 1)
    """
    # A resample may be empty.
    jobs = max(1, sizes["job"])
    if layout is None:
        shard = -(-jobs // JOB_STEP) * JOB_STEP
        short = [kind for kind in kinds if kind.simulates]
        values = _values(short, arrays, {**sizes, "job": shard})
        cells = _shape(axes, values, _costs(axes, short, jobs, jobs), block_seconds)
        inner = {name: max(1, size) for name, size in sizes.items() if name not in CELL}
        layout = Layout(cells, NO_SHAPE, {**inner, "job": shard}, shard)
    long = [kind for kind in kinds if kind.long]
    if not long or layout.long != NO_SHAPE:
        return layout
    shard = layout.inner["job"]
    most = max(_costs(axes, long, jobs, jobs))
    pieces = max(1, math.ceil(most / (block_seconds or BLOCK_SECONDS)))
    piece = -(-shard // (pieces * JOB_STEP)) * JOB_STEP
    values = _values(long, arrays, {"job": piece})
    shape = _shape(axes, values, _costs(axes, long, piece, jobs), block_seconds)
    return replace(layout, long=shape, long_jobs=piece)


def _values(
    kinds: Sequence[Product], arrays: Mapping[str, Sequence[Variable]], sizes: Mapping[str, int]
) -> int:
    """Return the number of values per cell in the longest array of these kinds; at least 1."""
    kept = [variable.inner for kind in kinds for variable in arrays[kind.name]]
    return max((math.prod(sizes[name] for name in inner) for inner in kept), default=1)


def _costs(axes: Axes, kinds: Sequence[Product], jobs: int, cell: int) -> list[float]:
    """Return the cost of the costliest kind for a number of jobs, s, by policy and load."""
    pairs = product(axes["policy"], axes["load"])
    return [max(SECONDS[kind.name](jobs, *pair, cell) for kind in kinds) for pair in pairs]


def goal_seconds(total: float) -> float:
    """Return the intended CPU time of a part of some work, s, given the CPU time of the work.

    Examples
    --------
    >>> goal_seconds(1.0), goal_seconds(128.0), goal_seconds(1e6)
    (2.0, 3.2, 10.0)
    """
    return min(BLOCK_SECONDS, max(LEAST_SECONDS, total / PARTS))


def _shape(axes: Axes, values: int, costs: Sequence[float], block_seconds: float) -> Shape:
    """Fill a shard along policy first, then load, then resample; `values` is per cell.

    All policies and loads share the drawing of a resample, which takes as long as some simulations.
    Most growing campaigns grow by resamples.
    """
    samples, loads, policies = (len(axes[axis]) for axis in CELL)
    mean = math.fsum(costs) / len(costs)
    seconds = block_seconds or goal_seconds(mean * len(costs) * samples)
    room = min(int(seconds / mean), SHARD_BYTES // (8 * values))
    while True:
        along_policy = _part(policies, room)
        left = room // along_policy if along_policy == policies else 1
        along_load = _part(loads, left)
        left = left // along_load if along_load == loads else 1
        along_resample = _in_chunks(_part(samples, left), samples, max(1, CHUNK_VALUES // values))
        shape = along_resample, along_load, along_policy
        most = _costliest(np.reshape(costs, (policies, loads)), shape)
        if most <= MOST_SECONDS or room <= 1:
            return shape
        # Rounding up to whole chunks may exceed the room.
        room = min(room - 1, int(math.prod(shape) * MOST_SECONDS / most))


def _costliest(costs: npt.NDArray[np.float64], shape: Shape) -> float:
    """Return the CPU time of the costliest block of a shape, s, from costs by policy and load.

    Examples
    --------
    >>> _costliest(np.array([[1.0, 1.0, 5.0], [1.0, 2.0, 9.0]]), (10, 2, 1))
    90.0
    """
    along_resample, along_load, along_policy = shape
    by_policy = np.add.reduceat(costs, range(0, costs.shape[0], along_policy), axis=0)
    by_block = np.add.reduceat(by_policy, range(0, costs.shape[1], along_load), axis=1)
    return along_resample * float(by_block.max())


def _part(length: int, most: int) -> int:
    """Return the length of the parts of an axis: equal parts, unless that doubles their number.

    Examples
    --------
    >>> _part(10, 7), _part(11, 7), _part(1000, 151), _part(3, 9)
    (5, 6, 125, 3)
    """
    most = max(1, min(length, most))
    equal = next(n for n in range(most, 0, -1) if length % n == 0)
    return equal if 2 * equal > most else math.ceil(length / math.ceil(length / most))


def _in_chunks(length: int, total: int, together: int) -> int:
    """Return a length near `length` that consists of whole chunks of `together` cells.

    A prime number of cells would otherwise give each cell its own chunk. A shard of all cells is
    rounded up.

    Examples
    --------
    >>> _in_chunks(127, 127, 19), _in_chunks(127, 900, 19), _in_chunks(40, 40, 19)
    (133, 114, 40)
    """
    if length <= together or 2 * divisor(length, together) > together:
        return length
    return -(-length // together) * together if length == total else length - length % together
