"""How a campaign's cells are cut into blocks: the shape of shards, and what one block is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.policy import Policy

WORKLOAD_BLOCK = "workload"
"""Stands in a block's policy for the columns that all policies share."""

BLOCK_SECONDS = 10.0
"""CPU time that a block of one policy should take: long against a task's 10 ms of overhead in
Dask and Zarr, short against what a user waits for at an interruption."""

SHARD_BYTES = 64 * 2**20
"""Largest uncompressed shard of an int64 array; a task holds about three such arrays."""

JOB_STEP = 64
"""The length of a shard along `job` is a multiple of this."""

RATES = {"none": 2e6, "aggressive": 2e6, "easy": 2e6, "conservative": 5e4, "planned": 5e4}
"""Jobs per CPU-second to plan with, a quarter of what is measured on one slow core."""

DEPTH_RATE = 1e5
"""The same for a rule with a number of reservations."""


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
    """

    job_shard: int
    resamples_per_block: int
    weeks: int


@dataclass(frozen=True, order=True)
class Block:
    """Name one unit of work that writes one shard of each of its arrays, and one record.

    Parameters
    ----------
    trace, load, policy : str
        Labels; `WORKLOAD_BLOCK` for the policy means the workload's own columns.
    number : int
        Which run of `resamples_per_block` resamples, from 0.
    """

    trace: str
    load: str
    policy: str
    number: int


def lay_out(most_jobs: int, weeks: int, samples: int, policies: tuple[str, ...]) -> TraceLayout:
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

    Returns
    -------
    TraceLayout
        Sizes such that the costliest policy's block takes about `BLOCK_SECONDS`.

    Examples
    --------
    >>> lay_out(5000, 10, 10, ("fcfs+easy",))
    TraceLayout(job_shard=5120, resamples_per_block=10, weeks=10)
    """
    shard = -(-most_jobs // JOB_STEP) * JOB_STEP
    slowest = max(cell_seconds(most_jobs, p) for p in policies)
    by_time = int(BLOCK_SECONDS / slowest)
    by_bytes = SHARD_BYTES // (8 * shard)
    return TraceLayout(shard, max(1, min(samples, by_time, by_bytes)), weeks)


def cell_seconds(jobs: int, policy: str) -> float:
    """Return the CPU time to plan with for one simulation, s."""
    return max(jobs, 1) / RATES.get(Policy.parse(policy).rule, DEPTH_RATE)


def block_positions(number: int, per_block: int, samples: int) -> range:
    """Return the places along the resample axis that a block covers.

    Examples
    --------
    >>> list(block_positions(1, 4, 6))
    [4, 5]
    """
    return range(number * per_block, min((number + 1) * per_block, samples))


def blocks_of(
    trace: str, layout: TraceLayout, samples: int, loads: tuple[str, ...], policies: tuple[str, ...]
) -> Iterator[Block]:
    """Yield every block of a trace, the workload's own first."""
    for load in loads:
        for policy in (WORKLOAD_BLOCK, *policies):
            for number in range(-(-samples // layout.resamples_per_block)):
                yield Block(trace, load, policy, number)
