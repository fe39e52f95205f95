"""The waiting jobs of a replay of passes, and the passes that start them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clone.passes import NO_HEAD, Passes
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import WORD, first_places, lowest, room, up_to
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.running import Jobs, Running, find_shadow, idle_machine, launch
from schedfarm.core.engine.world import EASY


class LineState:
    """State of a line.

    head: the first cell with a waiting job. tail: the cell behind the last cell.
    """

    head: int
    tail: int


class Line(NamedTuple):
    """The waiting jobs of a replay without further arrivals, and the jobs that run in it.

    job, need, estimate: int64[room(n)], of each cell; the need of a job that has started is NEVER.
    """

    job: Int64
    need: Int64
    estimate: Int64
    state: Record[LineState]
    running: Running


def empty_line(n: int, processors: int) -> Line:
    """Return an empty line with room for n jobs, and an idle machine for them."""
    job, need, estimate = (np.zeros(room(n), np.int64) for _ in range(3))
    return Line(job, need, estimate, record(LineState), idle_machine(processors, n))


@verb
def start_heads(line: Line, jobs: Jobs, now: int) -> int:
    """Start the first job while it fits; return the cell of the first job that does not fit."""
    head, running = line.state[0].head, line.running
    while head < line.state[0].tail:
        need = line.need[head]
        if need < NEVER:
            if need > running.free[0]:
                break
            launch(jobs, running, line.job[head], now)
        head += 1
    line.state[0].head = head
    return int(head)


@verb
def make_pass(line: Line, jobs: Jobs, rule: int, now: int, passes: Passes, p: int) -> None:
    """Make a pass of the aggressive rule or of easy, and write down the state after it."""
    running, tail = line.running, line.state[0].tail
    head = start_heads(line, jobs, now)
    passes.time[p] = now
    shadow, extra = NEVER, NEVER
    if head == tail:
        passes.head[p] = NO_HEAD
    else:
        passes.head[p] = line.job[head]
        if rule == EASY:
            shadow, extra = find_shadow(running, line.need[head])
        slack, c = shadow - now, head + 1
        while c < tail and running.free[0] > 0:
            word = up_to(line.need, c, running.free[0]) & first_places(tail - c)
            word &= up_to(line.estimate, c, slack) | up_to(line.need, c, extra)
            while word != 0:
                cell = c + lowest(word)
                word &= word - 1
                need, late = line.need[cell], line.estimate[cell] > slack
                if need <= running.free[0] and not (late and need > extra):
                    extra -= need if late else 0
                    launch(jobs, running, line.job[cell], now)
                    line.need[cell] = NEVER
            c += WORD
    passes.free[p], passes.shadow[p], passes.extra[p] = running.free[0], shadow, extra
    passes.slack[p] = NEVER if shadow == NEVER else shadow - now


@verb
def write_ends(passes: Passes, p: int, jobs: Jobs, running: Running) -> int:
    """Write down the passes after the last start, from place p on; return the place behind them."""
    free, now, first = running.free[0], passes.time[p - 1], p
    for r in range(running.count[0] - 1, -1, -1):
        # A job that has just started and ends at once has a pass of its own.
        if running.end[r] != now or p == first:
            now = running.end[r]
            passes.time[p], passes.head[p] = now, NO_HEAD
            passes.shadow[p] = passes.slack[p] = passes.extra[p] = NEVER
            p += 1
        free += jobs.procs[running.job[r]]
        passes.free[p - 1] = free
    return p


@verb
def queue_up(line: Line, jobs: Jobs, i: int) -> None:
    """Put a job at the end of the line."""
    cell = line.state[0].tail
    line.job[cell], line.need[cell], line.estimate[cell] = i, jobs.procs[i], jobs.estimate[i]
    line.state[0].tail = cell + 1
    jobs.start[i] = -1
