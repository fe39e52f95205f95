"""Actions: start a job, choose the next job, or wait; and the kernel that executes them.

The rule determines the actions. Under FREELY an action is a start, or a wait for the next event.
Under IN_TURN and EASY the agent chooses the next job, and time advances until this job fits. Under
EASY other jobs are backfilled meanwhile, oldest first, by the rule ``easy`` with the chosen job as
the head.
"""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import kernel, verb
from schedfarm.core.engine.running import find_shadow
from schedfarm.core.stepping.fields import (
    BEGIN,
    DECISIONS,
    EASY,
    FREE,
    FREELY,
    JOBS,
    NO_PLACE,
    NOW,
    REFUSED,
    STARTED,
    WAIT,
    WAITING,
)
from schedfarm.core.stepping.state import (
    Episode,
    begin,
    episode_of,
    find_startable,
    may_wait,
    take,
    turn,
)


@verb
def go_on(episode: Episode, rule: int, most: int) -> None:
    """Go to the next decision, possibly at this instant, or to the end after the last start."""
    fields = episode.fields
    while fields[STARTED] < fields[JOBS]:
        if rule == FREELY and find_startable(episode, most) >= 0:
            return
        if rule != FREELY and fields[WAITING] > 0:
            return
        turn(episode)


@verb
def backfill(episode: Episode, head: int) -> None:
    """Start the waiting jobs that do not delay a job that does not fit."""
    jobs, running, waiting, fields = episode
    shadow, extra = find_shadow(running, jobs.procs[head])
    p = 0
    while p < fields[WAITING]:
        j = waiting[p]
        need, ends = jobs.procs[j], fields[NOW] + jobs.estimate[j] <= shadow
        if need <= fields[FREE] and (ends or need <= extra):
            if not ends:
                extra -= need
            jobs.backfilled[j] = 1
            begin(episode, take(episode, p))
        else:
            p += 1


@verb
def hold_for(episode: Episode, rule: int, j: int) -> None:
    """Advance time until the chosen job fits, and start it."""
    while episode.jobs.procs[j] > episode.fields[FREE]:
        if rule == EASY:
            backfill(episode, j)
        turn(episode)
    begin(episode, j)


@verb
def act(episode: Episode, rule: int, place: int, most: int) -> None:
    """Execute an action and go to the next decision; an action is a waiting job's place or WAIT.

    A forbidden action is counted and replaced: under FREELY by a wait, if possible; otherwise by
    the oldest job.
    """
    jobs, _, waiting, fields = episode
    fields[DECISIONS] += 1
    if rule == FREELY:
        good = 0 <= place < fields[WAITING] and jobs.procs[waiting[place]] <= fields[FREE]
        waits = not good and may_wait(episode)
        if not good and (place != WAIT or not waits):
            fields[REFUSED] += 1
        if waits:
            turn(episode)
        else:
            begin(episode, take(episode, place if good else 0))
    else:
        good = 0 <= place < fields[WAITING]
        fields[REFUSED] += not good
        hold_for(episode, rule, take(episode, place if good else 0))
    go_on(episode, rule, most)


@verb
def place_of(visible: Int64, action: int) -> int:
    """Return the place of an action's job in the list of waiting jobs, WAIT or NO_PLACE."""
    if 0 <= action < visible.size:
        return int(visible[action])
    return WAIT if action == visible.size or action == WAIT else NO_PLACE


@verb
def play_row(columns: Int64, row: Int64, visible: Int64, action: int, rule: int) -> None:
    """Execute an action in one simulation."""
    episode = episode_of(columns, row)
    if action == BEGIN:
        go_on(episode, rule, visible.size)
    elif row[STARTED] < row[JOBS]:
        act(episode, rule, place_of(visible, action), visible.size)


@kernel
def play(columns: Int64, states: Int64, visible: Int64, actions: Int64, rule: int) -> None:
    """Execute one action in each simulation, and go to its next decision.

    columns: int64[k, COLUMNS, room]. states: int64[k, cells]. visible: int64[k, slots], place of
    each visible job in the list of waiting jobs. actions: int64[k]: a slot; the number of slots or
    WAIT, for a wait; or BEGIN.
    """
    for k in range(actions.size):
        play_row(columns[k], states[k], visible[k], actions[k], rule)


@kernel
def reserve(columns: Int64, row: Int64, j: int, found: Int64) -> None:
    """Write the shadow time of a job that does not fit, s, and the extra processors."""
    episode = episode_of(columns, row)
    found[0], found[1] = find_shadow(episode.running, episode.jobs.procs[j])
