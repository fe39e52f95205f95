"""How a campaign's cells are cut into blocks: the shape of shards, and what one block is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.policy import Policy

WORKLOAD_BLOCK = "workload"
"""Stands in a block's policy for the columns that all policies share."""

BLOCK_SECONDS = 10.0
"""CPU time that a block of one policy should take: long against a task's 10 ms of overhead in
Dask and Zarr, short against what a user waits for at an interruption."""

SHARD_BYTES = 64 * 2**20
"""Largest uncompressed shard of an int64 array; a task holds about three such arrays."""

CHUNK_VALUES = 65_536
"""A chunk inside a shard holds about this many values, so that short cells share one: a chunk
costs zarr about 0.2 ms, whatever its size."""

JOB_STEP = 64
"""The length of a shard along `job` is a multiple of this."""

RATES = {"none": 2e6, "aggressive": 2e6, "easy": 2e6, "conservative": 5e4, "planned": 5e4}
"""Jobs per CPU-second to plan with, a quarter of what is measured on one slow core."""

DEPTH_RATE = 1e5
"""The same for a rule with a number of reservations."""

FAIR_RATES = {"none": 1e5, "aggressive": 1e5, "easy": 1e5, "conservative": 1e4, "planned": 1e4}
"""Jobs per CPU-second to plan with for fair start times of orders that stay as they are."""

RERUN_FACTOR = 10.0
"""How many times as long fair start times take where every job needs a full rerun."""

FIXED = frozenset(
    {"fcfs", "lcfs", "spf", "lpf", "sqf", "lqf", "saf", "laf", "f1", "f2", "f3", "f4"}
)
"""Orders whose keys never change while a job waits."""

WHOLE = "resource"
"""The kind of fairness that looks at all jobs of a cell at once."""


@dataclass(frozen=True)
class TraceLayout:
    """Hold the sizes of one trace's arrays, fixed when the trace enters the store.

    Parameters
    ----------
    job_shard : int
        Length of a shard along `job`.
    resamples_per_block : int
        Length of a shard along `resample`; a block of cells is one shard.
    weeks : int
        Length of the dimension `week`, its last entry, for later ends, included.
    fair_jobs : int
        Length of a shard of fair start times along `job`: a cell whose reruns would take longer
        than a block is cut into pieces of this many jobs.
    """

    job_shard: int
    resamples_per_block: int
    weeks: int
    fair_jobs: int


@dataclass(frozen=True, order=True)
class Block:
    """Name one unit of work that writes one shard of each of its arrays, and one record.

    Parameters
    ----------
    trace, load, policy : str
        Labels; `WORKLOAD_BLOCK` for the policy means the workload's own columns.
    number : int
        Which run of `resamples_per_block` resamples, from 0.
    kind : str
        Empty for the simulation itself, or a kind of fairness.
    piece : int
        Which run of `fair_jobs` jobs, from 0.
    """

    trace: str
    load: str
    policy: str
    number: int
    kind: str = ""
    piece: int = 0


def lay_out(
    most_jobs: int,
    weeks: int,
    samples: int,
    policies: tuple[str, ...],
    fairness: tuple[str, ...] = (),
) -> TraceLayout:
    """Choose the sizes of a trace's arrays from the campaign alone, never from the machine.

    Parameters
    ----------
    most_jobs : int
        Jobs of the largest resample.
    weeks : int
        Length of the dimension `week`.
    samples : int
        Number of resamples.
    policies : tuple of str
        Canonical names.
    fairness : tuple of str
        Kinds of fairness that the campaign asks for.

    Returns
    -------
    TraceLayout
        Sizes such that the costliest policy's block takes about `BLOCK_SECONDS`.

    Examples
    --------
    >>> lay_out(5000, 10, 10, ("fcfs+easy",))
    TraceLayout(job_shard=5056, resamples_per_block=10, weeks=10, fair_jobs=5056)
    """
    shard = -(-most_jobs // JOB_STEP) * JOB_STEP
    fair = max((fair_seconds(most_jobs, p) for p in policies if fairness), default=0.0)
    slowest = max(fair, *(cell_seconds(most_jobs, p) for p in policies))
    by_time = int(BLOCK_SECONDS / slowest)
    by_bytes = SHARD_BYTES // (8 * shard)
    cells = max(1, min(samples, by_time, by_bytes))
    together = max(1, CHUNK_VALUES // shard)
    if together < cells < samples:
        cells -= cells % together  # a prime number of cells would leave each a chunk of its own
    pieces = max(1, math.ceil(fair / BLOCK_SECONDS))
    fair_jobs = -(-shard // (pieces * JOB_STEP)) * JOB_STEP
    return TraceLayout(shard, cells, weeks, fair_jobs)


def cell_seconds(jobs: int, policy: str) -> float:
    """Return the CPU time to plan with for one simulation, s."""
    return max(jobs, 1) / RATES.get(Policy.parse(policy).rule, DEPTH_RATE)


def fair_seconds(jobs: int, policy: str) -> float:
    """Return the CPU time to plan with for one kind of a cell's fair start times, s."""
    parsed = Policy.parse(policy)
    rate = FAIR_RATES.get(parsed.rule, FAIR_RATES["conservative"])
    if parsed.threshold or parsed.order not in FIXED:
        rate /= RERUN_FACTOR
    return max(jobs, 1) / rate


def block_positions(number: int, per_block: int, samples: int) -> range:
    """Return the places along the resample axis that a block covers.

    Examples
    --------
    >>> list(block_positions(1, 4, 6))
    [4, 5]
    """
    return range(number * per_block, min((number + 1) * per_block, samples))


def blocks_of(
    trace: str,
    layout: TraceLayout,
    jobs: int,
    axes: Mapping[str, tuple[Any, ...]],
    fairness: tuple[str, ...],
) -> Iterator[Block]:
    """Yield every block of a trace, the workload's own first."""
    pieces = -(-jobs // layout.fair_jobs)
    for load in axes["load"]:
        for policy in (WORKLOAD_BLOCK, *axes["policy"]):
            for number in range(-(-len(axes["resample"]) // layout.resamples_per_block)):
                yield Block(trace, load, policy, number)
                for kind in fairness if policy != WORKLOAD_BLOCK else ():
                    for piece in range(1 if kind == WHOLE else pieces):
                        yield Block(trace, load, policy, number, kind, piece)


def job_range(layout: TraceLayout, block: Block, jobs: int) -> slice:
    """Return the places along `job` that a block covers, of so many.

    Examples
    --------
    >>> layout = TraceLayout(job_shard=128, resamples_per_block=1, weeks=1, fair_jobs=64)
    >>> job_range(layout, Block("a", "original", "lxf+easy", 0, "strict", 1), 100)
    slice(64, 100, None)
    """
    if not block.kind or block.kind == WHOLE:
        return slice(0, jobs)
    first = block.piece * layout.fair_jobs
    return slice(first, min(first + layout.fair_jobs, jobs))
