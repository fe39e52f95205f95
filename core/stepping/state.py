"""Rows of a batch as named slices, for the engine's clock and list of running jobs."""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import turn_clock
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.leaving import Staying
from schedfarm.core.engine.running import Jobs, Running, launch
from schedfarm.core.machines.pool import kernel as pool_steps
from schedfarm.core.stepping.fields import (
    ARRIVED,
    ESTIMATE,
    FREE,
    GIVEN,
    HEADER,
    JOBS,
    LEAVE,
    LISTS,
    NOW,
    PROCS,
    RUN,
    RUNNING,
    STARTED,
    SUBMIT,
    WAITING,
)

STEPS = (pool_steps,)
"""Modules with the implementations of generic steps for a pool, which the clock needs."""


class Episode(NamedTuple):
    """Hold a row as named slices: jobs, running jobs, waiting jobs by (submit, position), etc."""

    jobs: Jobs
    running: Running
    waiting: Int64
    fields: Int64


@verb
def episode_of(columns: Int64, row: Int64) -> Episode:
    """Return a row as named slices."""
    n, room = row[JOBS], (row.size - HEADER) // LISTS
    lists = row[HEADER:]
    jobs = Jobs(
        columns[SUBMIT][:n],
        columns[RUN][:n],
        columns[ESTIMATE][:n],
        columns[PROCS][:n],
        lists[:n],
        lists[room : room + n],  # type: ignore[arg-type]
        row[LEAVE : LEAVE + 1],
        Staying(0),
    )
    running = Running(
        lists[3 * room : 4 * room],
        lists[4 * room : 5 * room],
        lists[5 * room : 6 * room],
        lists[6 * room : 7 * room],
        row[RUNNING : RUNNING + 1],
        row[FREE : FREE + 1],
        row[GIVEN : GIVEN + 1],
    )
    return Episode(jobs, running, lists[2 * room : 3 * room], row[:HEADER])


@verb
def turn(episode: Episode) -> None:
    """Go to the next instant, end the completing jobs, and queue the arriving jobs.

    At least one event must be pending.
    """
    jobs, running, waiting, fields = episode
    first = fields[ARRIVED]
    now, arrived, _ = turn_clock(jobs, running, first, False)
    for j in range(first, arrived):
        waiting[fields[WAITING]] = j
        fields[WAITING] += 1
    fields[NOW], fields[ARRIVED] = now, arrived


@verb
def may_wait(episode: Episode) -> bool:
    """Return whether an event follows; otherwise the machine is idle, and every job fits."""
    fields = episode.fields
    return bool(fields[RUNNING] > 0 or fields[ARRIVED] < fields[JOBS])


@verb
def take(episode: Episode, place: int) -> int:
    """Remove the waiting job at a place of the list, and return the job."""
    waiting, fields = episode.waiting, episode.fields
    j = waiting[place]
    fields[WAITING] -= 1
    for p in range(place, fields[WAITING]):
        waiting[p] = waiting[p + 1]
    return int(j)


@verb
def begin(episode: Episode, j: int) -> None:
    """Start a job now; it fits, and is no longer in the list of waiting jobs."""
    launch(episode.jobs, episode.running, j, episode.fields[NOW])
    episode.fields[STARTED] += 1


@verb
def find_startable(episode: Episode, most: int) -> int:
    """Return the place of the first of the `most` oldest waiting jobs that fits, or -1."""
    procs, free = episode.jobs.procs, episode.fields[FREE]
    for p in range(min(most, episode.fields[WAITING])):
        if procs[episode.waiting[p]] <= free:
            return p
    return -1
