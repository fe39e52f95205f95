"""Observations of decisions: a row of numbers for each visible job, and a mask of actions.

`COMPACT` is this package's observation. `SCHEDGYM`, for comparison, is the observation of
RLScheduler's environment: D. Zhang, D. Dai, Y. He, F. S. Bao, B. Xie, RLScheduler: an automated HPC
batch job scheduler using reinforcement learning, SC20. This module follows the behaviour of the
authors' public program.
"""

from __future__ import annotations

from math import log1p

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import NEVER, kernel, verb
from schedfarm.core.engine.running import find_shadow
from schedfarm.core.stepping.decisions import play_row
from schedfarm.core.stepping.fields import (
    COMPACT,
    FREE,
    FREELY,
    JOBS,
    NO_PLACE,
    NOW,
    PROCESSORS,
    STARTED,
    WAITING,
)
from schedfarm.core.stepping.state import Episode, episode_of, may_wait

Float32 = npt.NDArray[np.float32]

Mask = npt.NDArray[np.int8]

WEEK = 604_800.0
"""Scale of waits in `COMPACT`, s."""

MOST_WAITING = 1_024.0
"""Scale of the lengths of the queue."""

LONGEST_WAIT = 43_200.0
"""Largest wait in RLScheduler's observation, s; longer waits are cut."""

NEARLY_ONE, NEARLY_ZERO = 1.0 - 1e-5, 1e-5
"""RLScheduler's largest value, and its value for a job that does not fit."""


@verb
def scaled(value: float, most: float) -> float:
    """Return log(1 + value) / log(1 + most), at most 1."""
    return min(log1p(value) / log1p(most), 1.0)


@verb
def spare_of(episode: Episode) -> tuple[int, int]:
    """Return the earliest start of the oldest waiting job, s, and the extra processors then."""
    jobs, running, waiting, fields = episode
    need, free = jobs.procs[waiting[0]], fields[FREE]
    if need <= free:
        return fields[NOW], free - need
    return find_shadow(running, need)


@verb
def show_compact(episode: Episode, still: Float32, visible: Int64, seen: Float32) -> int:
    """Fill in `COMPACT` for the oldest waiting jobs; return the number of visible jobs.

    Features of a job: 1; its wait; estimate; processors; whether it fits; whether it fits without
    delaying the oldest job; the share of free processors; and the length of the queue.
    """
    jobs, _, waiting, fields = episode
    now, free = fields[NOW], fields[FREE]
    shown = min(fields[WAITING], visible.size)
    share = free / fields[PROCESSORS]
    queue = scaled(float(fields[WAITING]), MOST_WAITING)
    shadow, extra = spare_of(episode) if shown > 0 else (now, free)
    for p in range(shown):
        j = waiting[p]
        visible[p] = p
        need, ends = jobs.procs[j], now + jobs.estimate[j]
        fits = need <= free
        seen[p, 0] = 1.0
        seen[p, 1] = scaled(float(now - jobs.submit[j]), WEEK)
        seen[p, 2] = still[0, j]
        seen[p, 3] = still[1, j]
        seen[p, 4] = 1.0 if fits else 0.0
        seen[p, 5] = 1.0 if fits and (p == 0 or ends <= shadow or need <= extra) else 0.0
        seen[p, 6] = share
        seen[p, 7] = queue
    for p in range(shown, visible.size):
        visible[p] = NO_PLACE
        for column in range(seen.shape[1]):
            seen[p, column] = 0.0
    return int(shown)


@verb
def next_by(episode: Episode, rank: Int64, least: int) -> int:
    """Return the place of the waiting job with the smallest rank above `least`."""
    best, place = NEVER, 0
    for p in range(episode.fields[WAITING]):
        found = rank[episode.waiting[p]]
        if least < found < best:
            best, place = found, p
    return place


@verb
def choose_visible(episode: Episode, ranks: Int64, visible: Int64) -> None:
    """Fill all slots from a longer queue, with the shortest and narrowest jobs in turn.

    ranks: int64[2, n], ranks by estimate and by processors.
    """
    shown, short, narrow = 0, -1, -1
    while shown < visible.size:
        for which in range(2):
            rank = ranks[which]
            place = next_by(episode, rank, short if which == 0 else narrow)
            reached = rank[episode.waiting[place]]
            if which == 0:
                short = reached
            else:
                narrow = reached
            there = False
            for p in range(shown):
                there |= visible[p] == place
            if not there and shown < visible.size:
                visible[shown] = place
                shown += 1


@verb
def show_schedgym(
    episode: Episode, still: Float32, ranks: Int64, visible: Int64, seen: Float32
) -> int:
    """Fill in RLScheduler's observation; return the number of visible jobs.

    Features of a job: its wait; estimate; processors; memory, user, group and program, if the log
    gives them; and whether it fits. The eight values of a slot without a job are 0, six times 1,
    and 0.
    """
    jobs, _, waiting, fields = episode
    shown = min(fields[WAITING], visible.size)
    if fields[WAITING] > visible.size:
        choose_visible(episode, ranks, visible)
    else:
        for p in range(shown):
            visible[p] = p
    for p in range(shown):
        j = waiting[visible[p]]
        seen[p, 0] = min((fields[NOW] - jobs.submit[j]) / LONGEST_WAIT, NEARLY_ONE)
        for column in range(still.shape[0]):
            seen[p, 1 + column] = still[column, j]
        seen[p, 7] = NEARLY_ONE if jobs.procs[j] <= fields[FREE] else NEARLY_ZERO
    for p in range(shown, visible.size):
        visible[p] = NO_PLACE
        for column in range(1, 7):
            seen[p, column] = 1.0
        seen[p, 0] = seen[p, 7] = 0.0
    return int(shown)


@verb
def allow(episode: Episode, rule: int, visible: Int64, shown: int, mask: Mask) -> None:
    """Fill in the mask of possible actions.

    After the end of a simulation, the last action counts as possible.
    """
    jobs, _, waiting, fields = episode
    for action in range(mask.size):
        mask[action] = 0
    for p in range(shown):
        mask[p] = rule != FREELY or jobs.procs[waiting[visible[p]]] <= fields[FREE]
    if rule == FREELY:
        mask[visible.size] = may_wait(episode)
    if fields[STARTED] == fields[JOBS]:
        mask[mask.size - 1] = 1


@kernel
def step(
    columns: Int64,
    states: Int64,
    visible: Int64,
    actions: Int64,
    rule: int,
    kind: int,
    still: Float32,
    ranks: Int64,
    seen: Float32,
    mask: Mask,
) -> int:
    """Execute one action in each simulation, and observe; return the number of ended simulations.

    columns, states, visible, actions: as for `core.stepping.decisions.play`. kind: code of the
    observation. still: float32[k, 2 or 6, room], constant features of the jobs. ranks: int64[k, 2,
    room], as for `choose_visible`. seen: float32[k, slots, 8]. mask: int8[k, actions].
    """
    ended = 0
    for k in range(actions.size):
        play_row(columns[k], states[k], visible[k], actions[k], rule)
        episode = episode_of(columns[k], states[k])
        if kind == COMPACT:
            shown = show_compact(episode, still[k], visible[k], seen[k])
        else:
            shown = show_schedgym(episode, still[k], ranks[k], visible[k], seen[k])
        allow(episode, rule, visible[k], shown, mask[k])
        ended += episode.fields[STARTED] == episode.fields[JOBS]
    return ended
