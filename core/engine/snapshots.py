"""Snapshots of the profile of a plan, at growing intervals of reservations.

A job that ends early frees processors, but most reservations do not move. On the KTH log at load
1.0, on average 470 jobs wait at an early completion, and the first reservation that moves is at
place 303; 30 % of the early completions move no reservation. So only the part of the plan from the
first moving reservation on is made again (`core.engine.early_completions`).

Invariant: snapshot k is the profile of the running jobs and of the first below[k] reservations.

- An early completion frees its processors in all snapshots until the predicted end. This instant is
  a breakpoint of each snapshot, because no breakpoint after now is ever dropped.
- A job starts at its reservation, which coincides with the completion of another job and is thus an
  event. A snapshot with the reservation already contains the job, and counts one reservation less.
- A job that starts without a reservation in a snapshot takes its processors there.
- A change of the queue at a place drops the snapshots with more reservations (`plan.cut`).
- A snapshot without space for a start is dropped, with those after it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import routine, verb
from schedfarm.core.engine.lanes import ALL, WORD, below, first_places, lessen, lowest, room
from schedfarm.core.engine.profile import HEAD, TAIL, Profile, step_from, take_at
from schedfarm.core.engine.record import Record, record

LEAST_APART = 32
"""Number of reservations before the second snapshot.

The distance to each later snapshot is larger by half of the reservations before it. If all
distances are 16, the KTH log at load 1.0 takes 1.3 times as long.
"""

MOST, STEPS = 10, 2048
"""Largest number of snapshots, the last one after 2,394 reservations; and of steps in each."""


class SnapshotsState:
    """State of the snapshots of a plan.

    saved: number of snapshots. freed: the last end, s, of processors freed since reservations were
    checked. checks: number of checks so far. apart: number of reservations before the second
    snapshot. worth: number of early completions for which snapshots are still made although few
    reservations are kept.
    """

    saved: int
    freed: int
    checks: int
    apart: int
    worth: int


class Snapshots(NamedTuple):
    """Hold profiles with the reservations of the first jobs of the queue.

    times, free: int64[most + 1, room(steps)], the last row for a profile in the making. mark:
    int64[most + 1, 2]. below: int64[most], the reservations of each, ascending, the first 0.
    checked: int64[widest + 1, 3], by need: the check, estimate, s, and start, s, before which no
    job of this need and of at least this estimate fits.
    """

    times: Int64
    free: Int64
    mark: Int64
    below: Int64
    checked: Int64
    state: Record[SnapshotsState]


def no_snapshots(n: int = 0, widest: int = 0) -> tuple[Profile, Snapshots]:
    """Return an empty profile for n waiting jobs, and empty room for its snapshots.

    Both are parts of one array, most of which is never touched: separate arrays made simulations of
    short queues up to 8 % slower.
    """
    most, width = MOST if n >= 2 * LEAST_APART else 0, room(min(4 * n, STEPS))
    steps, rows = room(4 * n + 8), (most + 1, width)
    block = np.empty((2, steps + (most + 1) * width), np.int64)
    state = record(SnapshotsState)
    state[0].apart = LEAST_APART
    profile = Profile(block[0, :steps], block[1, :steps], np.zeros(2, np.int64))
    return profile, Snapshots(
        block[0, steps:].reshape(rows),
        block[1, steps:].reshape(rows),
        np.zeros((most + 1, 2), np.int64),
        np.zeros(most, np.int64),
        np.zeros((widest + 1, 3), np.int64),
        state,
    )


@verb
def profile_of(snapshots: Snapshots, k: int) -> Profile:
    """Return a snapshot, as views of the arrays of all snapshots."""
    return Profile(snapshots.times[k], snapshots.free[k], snapshots.mark[k])


@verb
def in_the_making(snapshots: Snapshots) -> Profile:
    """Return the profile in the making, as views like `profile_of`."""
    return profile_of(snapshots, snapshots.below.size)


@verb
def has_space(snapshots: Snapshots, profile: Profile) -> bool:
    """Return whether a row has space for the steps of a profile and one more reservation."""
    return bool(profile.mark[TAIL] - profile.mark[HEAD] + 2 + WORD <= snapshots.times.shape[1])


@verb
def replace(profile: Profile, other: Profile) -> None:
    """Replace the steps of a profile by the steps of another one."""
    head, count = other.mark[HEAD], other.mark[TAIL] - other.mark[HEAD]
    for i in range(count):
        profile.times[i] = other.times[head + i]
    for i in range(count):
        profile.free[i] = other.free[head + i]
    profile.mark[HEAD], profile.mark[TAIL] = 0, count


@routine
def save(snapshots: Snapshots, profile: Profile, count: int) -> None:
    """Save a profile with this many reservations, if there is space for it."""
    k = snapshots.state[0].saved
    if k < snapshots.below.size and has_space(snapshots, profile):
        replace(profile_of(snapshots, k), profile)
        snapshots.below[k] = count
        snapshots.state[0].saved = k + 1


@verb
def forget_after(snapshots: Snapshots, count: int) -> None:
    """Delete the snapshots with more than `count` reservations."""
    state = snapshots.state
    while state[0].saved > 0 and snapshots.below[state[0].saved - 1] > count:
        state[0].saved -= 1


@verb
def give_until(profile: Profile, now: int, end: int, procs: int) -> None:
    """Free processors from now until `end`, a breakpoint; drop the steps before now."""
    times, free, mark = profile
    mark[HEAD] = step_from(profile, mark[HEAD], now)
    i, given = mark[HEAD], ALL
    while given == ALL:
        given = below(times, i, end) & first_places(mark[TAIL] - i)
        lessen(free, i, -procs, given)
        i += lowest(~given)


@verb
def give_all(snapshots: Snapshots, now: int, end: int, procs: int) -> None:
    """Free a job's processors from now, its end, to its predicted end, in every snapshot."""
    state = snapshots.state
    state[0].freed = max(state[0].freed, end)
    for k in range(state[0].saved):
        give_until(profile_of(snapshots, k), now, end, procs)


@routine
def start_in_all(snapshots: Snapshots, i: int, now: int, length: int, procs: int) -> None:
    """Start the job at place i in every snapshot."""
    state = snapshots.state
    for k in range(state[0].saved):
        if snapshots.below[k] > i:
            snapshots.below[k] -= 1
        elif length > 0:
            profile = profile_of(snapshots, k)
            head = step_from(profile, profile.mark[HEAD], now)
            profile.mark[HEAD] = head
            if profile.mark[TAIL] + 2 + WORD > snapshots.times.shape[1]:
                state[0].saved = k
                break
            take_at(profile, head, now, now + length, procs)


@verb
def start_in(snapshots: Snapshots, i: int, now: int, length: int, procs: int) -> None:
    """Start the job at place i in the snapshots, if there are any."""
    if snapshots.state[0].saved > 0:
        start_in_all(snapshots, i, now, length, procs)
