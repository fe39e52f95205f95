"""The steps of a policy's orders that differ for constant and for changing keys.

`Rankings` compare jobs by columns; `core.engine.user_ranking.SharedRankings`,
`core.engine.priority.WeighedRankings` and `core.engine.expressions.ExpressionRankings` give the
waiting jobs new keys before each pass. All four types implement each step.
"""

from __future__ import annotations

from typing import Any

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, generic
from schedfarm.core.engine.machine import Machine
from schedfarm.core.engine.queue import Queue
from schedfarm.core.engine.ranking import Rankings, block_may_have_rivals
from schedfarm.core.engine.running import Jobs

AnyRankings = Any
"""`Rankings`, or a named tuple with the same fields and an implementation of all steps below."""

ANY = (NEVER, 1)
"""Value of a threshold before the first candidate for a backfill; it is never compared."""


@generic
def begun_by(rankings: AnyRankings, machine: Machine) -> int:
    """Return the number of started jobs, for `follow_up` after the next completions."""
    raise NotImplementedError


@generic
def follow_up(rankings: AnyRankings, machine: Machine, jobs: Jobs, begun: int, now: int) -> None:
    """Charge the jobs that completed by now, s; call this before the first start of the instant."""
    raise NotImplementedError


@generic
def rank_queue(rankings: AnyRankings, queue: Queue) -> None:
    """Set the keys of the jobs of a queue, or leave this to `set_keys` for each block."""
    raise NotImplementedError


@generic
def set_keys(rankings: AnyRankings, queue: Queue, b: int, now: int) -> None:
    """Set the keys of a block in the queue's order, if they are missing.

    Call `rank_queue` before, at the beginning of each pass.
    """
    raise NotImplementedError


@generic
def may_come_first(
    rankings: AnyRankings, backfills: bool, queue: Queue, b: int, now: int, bar: tuple[int, int]
) -> bool:
    """Return whether jobs of a block may reach a threshold; if so, set the block's keys.

    For the threshold `ANY`, which occurs for backfills only, return True.
    """
    raise NotImplementedError


@generic
def follow_removal(rankings: AnyRankings, queue: Queue, cell: int, blocks: int) -> bool:
    """Update keys after the removal of a cell; return whether the keys remain valid.

    The queue had `blocks` blocks.
    """
    raise NotImplementedError


@generic
def rank_list(rankings: AnyRankings, waiting: Int64, count: int) -> None:
    """Set the keys of the first `count` waiting jobs in a list of any order."""
    raise NotImplementedError


@generic
def settled_until(rankings: AnyRankings, now: int) -> int:
    """Return the instant, s, from which the order of the queue may change without an event."""
    raise NotImplementedError


@generic
def copy_usage(rankings: AnyRankings, other: AnyRankings) -> None:
    """Copy the usage of users, for a clone."""
    raise NotImplementedError


@begun_by.of(Rankings)
def none_begun(rankings: Rankings, machine: Machine) -> int:
    """Return 0: completions are not tracked."""
    return 0


@follow_up.of(Rankings)
def follow_nothing(rankings: Rankings, machine: Machine, jobs: Jobs, begun: int, now: int) -> None:
    """Do nothing."""


@rank_queue.of(Rankings)
def keep_queue(rankings: Rankings, queue: Queue) -> None:
    """Do nothing: the order has constant keys or none."""


def _set_no_keys(rankings: AnyRankings, queue: Queue, b: int, now: int) -> None:
    """Do nothing: keys belong to jobs, or are missing."""


def _may_rival(
    rankings: AnyRankings, backfills: bool, queue: Queue, b: int, now: int, bar: tuple[int, int]
) -> bool:
    """Return whether jobs of a block may reach a threshold; all backfills may."""
    return backfills or block_may_have_rivals(rankings.queue, queue, b, now, bar)


def _keep_keys(rankings: AnyRankings, queue: Queue, cell: int, blocks: int) -> bool:
    """Return True: keys belong to jobs."""
    return True


def have_keys_by_job(kind: type) -> None:
    """Declare that a type of rankings has keys by job, and not by cell of the queue."""
    set_keys.of(kind)(_set_no_keys)
    may_come_first.of(kind)(_may_rival)
    follow_removal.of(kind)(_keep_keys)


have_keys_by_job(Rankings)


@rank_list.of(Rankings)
def keep_list(rankings: Rankings, waiting: Int64, count: int) -> None:
    """Do nothing: the order has constant keys or none."""


@settled_until.of(Rankings)
def keys_settled_until(rankings: Rankings, now: int) -> int:
    """Return NEVER: the keys do not change."""
    return now if rankings.moves else NEVER


@copy_usage.of(Rankings)
def copy_nothing(rankings: Rankings, other: Rankings) -> None:
    """Do nothing."""
