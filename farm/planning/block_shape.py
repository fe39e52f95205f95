"""How a trace's cells are cut into blocks: the shapes of shards and chunks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from farm.planning.cost import cell_seconds, fair_seconds
from farm.store.geometry import WHOLE, Axes, Shape, TraceLayout

BLOCK_SECONDS = 10.0
"""CPU time that a block should take at most: long against the 50 ms that Dask, Zarr and its
record cost, short against what a user waits for at an interruption."""

MOST_SECONDS = 60.0
"""CPU time that no block of several cells should exceed, where its cells are the costliest."""

LEAST_SECONDS = 2.0
"""CPU time below which a block is not cut for the sake of `PARTS`: writing it would show."""

PARTS = 40
"""A trace of little work is cut into so many blocks all the same, for workers to share and for
progress to be seen. Cut finer, the 50 ms that each costs would show; coarser, the workers' wait
for the last one: on 2 to 16 of them, each is then 1 to 5 %."""

SHARD_BYTES = 64 * 2**20
"""Largest uncompressed shard of an int64 array; a task holds about three such arrays."""

CHUNK_VALUES = 262_144
"""A chunk inside a shard holds about this many values, so that short cells share one: a chunk
costs zarr 0.5 ms whatever its size, and 2 MiB are read back in 3 ms."""

JOB_STEP = 64
"""The length of a shard along `job` is a multiple of this."""


def lay_out(
    most_jobs: int,
    weeks: int,
    axes: Axes,
    fairness: Sequence[str] = (),
    block_seconds: float = 0.0,
) -> TraceLayout:
    """Choose the sizes of a trace's arrays from the campaign alone, never from the machine.

    Parameters
    ----------
    most_jobs : int
        Jobs of the largest resample.
    weeks : int
        Length of the dimension `week`.
    axes : mapping of str to sequence
        Labels of `resample`, `load` and `policy`.
    fairness : sequence of str
        Kinds of fairness that the campaign asks for.
    block_seconds : float
        CPU time that a block should take, s; 0 stands for `goal_seconds` of all the trace's work.

    Returns
    -------
    TraceLayout
        Sizes by which a block takes about that time.

    Examples
    --------
    >>> lay_out(5000, 10, {"resample": range(10), "load": ["0.9"], "policy": ["fcfs+easy"]})
    TraceLayout(cells=(10, 1, 1), fair=(10, 1, 1), job_shard=5056, fair_jobs=5056, weeks=10)
    """
    # A resample may be empty.
    most_jobs = max(1, most_jobs)
    shard = -(-most_jobs // JOB_STEP) * JOB_STEP
    pairs = list(product(axes["policy"], axes["load"]))
    costs = [cell_seconds(most_jobs, *pair) for pair in pairs]
    whole = _shape(axes, shard, costs, block_seconds)
    kinds = [kind for kind in fairness if kind != WHOLE]
    if not kinds:
        return TraceLayout(whole, whole, shard, shard, weeks)

    def costs_of(jobs: int) -> list[float]:
        """Return what the costlier kind takes for so many jobs of a cell, by policy and load."""
        return [max(fair_seconds(jobs, *pair, k, most_jobs) for k in kinds) for pair in pairs]

    costs = costs_of(most_jobs)
    pieces = max(1, math.ceil(max(costs) / (block_seconds or BLOCK_SECONDS)))
    fair_jobs = -(-shard // (pieces * JOB_STEP)) * JOB_STEP
    fair = _shape(axes, fair_jobs, costs_of(fair_jobs), block_seconds)
    return TraceLayout(whole, fair, shard, fair_jobs, weeks)


def goal_seconds(total: float) -> float:
    """Return the CPU time that one of the parts of so much work should take, s.

    Examples
    --------
    >>> goal_seconds(1.0), goal_seconds(128.0), goal_seconds(1e6)
    (2.0, 3.2, 10.0)
    """
    return min(BLOCK_SECONDS, max(LEAST_SECONDS, total / PARTS))


def _shape(axes: Axes, jobs: int, costs: Sequence[float], block_seconds: float) -> Shape:
    """Fill a shard along policy first, then load, then resample.

    All policies and loads of a resample share its drawing, which takes as long as some
    simulations; and a campaign that grows most often grows by resamples.
    """
    samples, loads, policies = (len(axes[a]) for a in ("resample", "load", "policy"))
    mean = math.fsum(costs) / len(costs)
    seconds = block_seconds or goal_seconds(mean * len(costs) * samples)
    room = min(int(seconds / mean), SHARD_BYTES // (8 * jobs))
    while True:
        along_policy = _part(policies, room)
        left = room // along_policy if along_policy == policies else 1
        along_load = _part(loads, left)
        left = left // along_load if along_load == loads else 1
        along_resample = _in_chunks(_part(samples, left), samples, max(1, CHUNK_VALUES // jobs))
        shape = along_resample, along_load, along_policy
        most = _costliest(np.reshape(costs, (policies, loads)), shape)
        if most <= MOST_SECONDS or room <= 1:
            return shape
        # A length that whole chunks fill may be above its room.
        room = min(room - 1, int(math.prod(shape) * MOST_SECONDS / most))


def _costliest(costs: npt.NDArray[np.float64], shape: Shape) -> float:
    """Return what the costliest block of a shape takes, s, of costs by policy and load.

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
    """Return into what parts to cut an axis: equal ones, where that does not double their number.

    Examples
    --------
    >>> _part(10, 7), _part(11, 7), _part(1000, 151), _part(3, 9)
    (5, 6, 125, 3)
    """
    most = max(1, min(length, most))
    equal = next(n for n in range(most, 0, -1) if length % n == 0)
    return equal if 2 * equal > most else math.ceil(length / math.ceil(length / most))


def _in_chunks(length: int, total: int, together: int) -> int:
    """Return a length near this one that whole chunks of so many cells fill.

    A prime number of cells would leave each a chunk of its own; one of all cells is rounded up.

    Examples
    --------
    >>> _in_chunks(127, 127, 19), _in_chunks(127, 900, 19), _in_chunks(40, 40, 19)
    (133, 114, 40)
    """
    if length <= together or 2 * _divisor(length, together) > together:
        return length
    return -(-length // together) * together if length == total else length - length % together


def chunk_shape(shard: Sequence[int], inner: int) -> tuple[int, ...]:
    """Return the lengths of a chunk along a shard's leading axes, filled in their order.

    Parameters
    ----------
    shard : sequence of int
        Lengths of the shard along resample, load and, where there is one, policy.
    inner : int
        Values of one cell in the shard.

    Examples
    --------
    >>> chunk_shape((40, 2, 10), 3328), chunk_shape((40, 2, 10), 64), chunk_shape((40, 2), 7)
    ((40, 1, 1), (40, 2, 10), (40, 2))
    """
    room = max(1, CHUNK_VALUES // inner)
    lengths = []
    for length in shard:
        lengths.append(_divisor(length, room))
        room //= lengths[-1]
    return tuple(lengths)


def _divisor(length: int, most: int) -> int:
    return next(d for d in range(max(1, min(length, most)), 0, -1) if length % d == 0)
