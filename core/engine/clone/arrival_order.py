"""Relaxed fair start times under none, aggressive and easy, first come first served."""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import turn_clock
from schedfarm.core.engine.clone.machine import copy_machine, latest_running, withdraw
from schedfarm.core.engine.clone.state import (
    Fair,
    answer,
    copy_queue,
    fill_in,
    needs_copy,
)
from schedfarm.core.engine.clone.trail import Trail, copy_starts, differs, first_fit, leave_trail
from schedfarm.core.engine.fixed_order import schedule, take_in
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.queue import head_of
from schedfarm.core.engine.running import next_end, release
from schedfarm.core.engine.world import Options, World


@verb
def begin(here: World, copy: World, trail: Trail, rank: Int64, first: int, j: int) -> None:
    """Clone the state as if no jobs from j on had arrived."""
    jobs, running, queue, _, key = copy
    copy_starts(trail, here.jobs, jobs.start, first, j)
    copy_machine(here.machine, here.jobs, jobs.start, running)
    withdraw(running, here.jobs, j)
    copy_queue(here.queue, queue, jobs.start, (here.key, key), rank, j - 1)


@verb
def step(copy: World, rule: int) -> int:
    """Go to the next completion and make its pass; return the instant, s."""
    jobs, running, _, _, _ = copy
    now = next_end(running)
    while next_end(running) == now:
        release(jobs, running)
    schedule(copy, rule, now)
    return now


@verb
def reply(copy: World, fst: Int64, first: int, j: int) -> int:
    """Record the starts of jobs from `first` on before j that the clone serves, too.

    Return one past the last job that has started.
    """
    queue = copy.queue
    head = queue.job[head_of(queue)] if queue.size[0] > 0 else NEVER
    return answer(copy.jobs.start, fst, first, j, head)


@verb
def finish(
    here: World, copy: World, trail: Trail, fst: Int64, first: int, j: int, now: int
) -> None:
    """Record the start of job j, which joins when no job waits, and leave the trail.

    The jobs that still wait start by the trail of the previous clone, which equals this one.
    """
    fst[j] = first_fit(copy, trail, j, now)
    leave_trail(trail, here.queue, copy.jobs.start, first, j)


@routine
def fork_again(
    here: World, copy: World, trail: Trail, fair: Fair, rule: int, fst: Int64, first: int, j: int,
    now: int,
) -> None:  # fmt: skip
    """Do as `fork` on a clone of a clone; jobs that are overtaken on it get clones of their own."""
    begin(here, copy, trail, fair.rank, first, j)
    since = reply(copy, fst, first, j)
    while copy.queue.size[0] > 0 and differs(trail, copy.jobs, j, now):
        now = step(copy, rule)
        since = reply(copy, fst, since, j)
    finish(here, copy, trail, fst, first, j, now)


@routine
def fork(
    here: World, copy: World, spare: World, trail: Trail, fair: Fair, rule: int, fst: Int64,
    first: int, j: int, now: int,
) -> None:  # fmt: skip
    """Find the relaxed fair start of job j on a clone of the state after this pass.

    Also find those of the jobs from `first` on that the clone serves. When a job overtakes others
    on the clone, further clones of it continue for both, since it served them until then. A third
    level of clones would save one step in 200 on the CTC log.
    """
    begin(here, copy, trail, fair.rank, first, j)
    since = reply(copy, fst, first, j)
    while copy.queue.size[0] > 0 and differs(trail, copy.jobs, j, now):
        now = step(copy, rule)
        known, since = since, reply(copy, fst, since, j)
        for i in range(since - 1, known - 1, -1):
            if fair.wanted[i] and fst[i] < 0:
                fork_again(copy, spare, trail, fair, rule, fst, known, i, now)
    finish(here, copy, trail, fst, first, j, now)


@kernel
def fair_relaxed(
    here: World, copy: World, spare: World, trail: Trail, fair: Fair, options: Options, fst: Int64
) -> None:
    """Fill `fst` as `fair_patient` does, for jobs that join when all before them have started.

    A clone begins after the pass in which one of its jobs starts out of turn, and is simulated
    until it equals the previous one (`core.engine.clone.trail`) or no job waits. On the CTC log
    that halves the passes.
    """
    jobs, running, queue, _, _ = here
    known = arrived = 0
    while known < fair.last and jobs.leave[0] == 0:
        first = arrived
        now, arrived, look = turn_clock(jobs, running, arrived, options.per_event)
        if take_in(here, options.rule, first, arrived, look) and queue.size[0] > 0:
            schedule(here, options.rule, now)
        latest = latest_running(running, known - 1)
        head = queue.job[head_of(queue)] if queue.size[0] > 0 else jobs.submit.size
        for j in range(min(latest, fair.last - 1), known - 1, -1):
            if needs_copy(jobs, fair, fst, j, head):
                fork(here, copy, spare, trail, fair, options.rule, fst, known, j, now)
        known = latest + 1
    fill_in(jobs, fair, fst)
