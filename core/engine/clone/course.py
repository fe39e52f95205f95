"""The course of a world: its passes from now on, without later jobs.

First come, first served, a waiting job never affects an earlier one. The world of job j, in which
no later job arrives, is therefore the world of job j - 1 until job j starts, and also after this
start, as long as the processors of job j would have stayed free. So one course is enough for all
jobs: each job is added to the course of the jobs before it, and only passes that this job changes
are made again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clone.line import (
    Line,
    empty_line,
    make_pass,
    queue_up,
    write_ends,
)
from schedfarm.core.engine.clone.passes import (
    MOVED,
    NO_HEAD,
    UNKNOWN,
    Passes,
    advance,
    charge,
    columns_of,
    first_alone,
    first_chance,
    first_changed,
    first_from,
    first_wide,
    no_passes,
    open_pass,
    splice,
)
from schedfarm.core.engine.clone.state import Fair
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.record import Record, record
from schedfarm.core.engine.running import Jobs, Running, idle_machine, launch, next_end, release
from schedfarm.core.engine.world import EASY


class CourseState:
    """State of a course.

    waiting: number of waiting jobs. compared: number of jobs that waited when a replay began.
    until: a time, s, until which the replay differs from the old course. place: position of the job
    with the last difference found.
    """

    waiting: int
    compared: int
    until: int
    place: int


class Course(NamedTuple):
    """The passes of a world, room for a replay of them, and its jobs at the first pass.

    running: the jobs that run at the first pass and have started before it. waiting: int64[n], the
    jobs that have arrived and start at the first pass or later, in order of arrival; only the first
    ``state.waiting`` places are used. compared, old: int64[n], the jobs that waited when a replay
    began, and the start of each job on the course before it, s.
    """

    passes: Passes
    replayed: Passes
    line: Line
    running: Running
    waiting: Int64
    compared: Int64
    old: Int64
    state: Record[CourseState]


def empty_course(n: int, now: int, processors: int) -> Course:
    """Return the course of an idle machine, with room for n jobs.

    Examples
    --------
    >>> course = empty_course(3, 5, 8)
    >>> course.passes.time[0], course.passes.free[0]
    (np.int64(5), np.int64(8))
    """
    course = Course(
        no_passes(2 * n + MOVED + 8),
        no_passes(n + 4),
        empty_line(n, processors),
        idle_machine(processors, n),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        record(CourseState),
    )
    for column in columns_of(course.passes):
        column[0] = NEVER
    course.passes.time[0], course.passes.free[0], course.passes.head[0] = now, processors, NO_HEAD
    course.passes.state[0].stop = 1
    return course


@verb
def run_on(running: Running, jobs: Jobs, now: int, other: Running) -> None:
    """Copy those running jobs of a list that end after now to another list."""
    count = running.count[0]
    kept = count
    while kept > 0 and running.end[kept - 1] <= now:
        kept -= 1
    if 2 * kept < count:
        other.count[0] = 0
        other.free[0] = running.free[0]
        for p in range(count):
            other.free[0] += jobs.procs[running.job[p]]
        for p in range(kept):
            i = running.job[p]
            launch(jobs, other, i, jobs.start[i])
        return
    for p in range(count):
        other.end[p], other.job[p] = running.end[p], running.job[p]
        other.predicted[p], other.width[p] = running.predicted[p], running.width[p]
    other.count[0], other.free[0] = count, running.free[0]
    while next_end(other) <= now:
        release(jobs, other)


@verb
def launch_started(course: Course, jobs: Jobs, now: int, running: Running) -> None:
    """Add the waiting jobs that started before now and still run."""
    # The latest job is added first: it usually ends last, and the list begins with the last end.
    for c in range(course.state[0].waiting - 1, -1, -1):
        i = course.waiting[c]
        start = jobs.start[i]
        if start < now < start + jobs.run[i]:
            launch(jobs, running, i, start)


@verb
def follow(course: Course, jobs: Jobs, now: int) -> None:
    """Advance to `now`: add the jobs that started before it, and remove those that ended by it."""
    running, kept = course.running, 0
    while next_end(running) <= now:
        release(jobs, running)
    launch_started(course, jobs, now, running)
    for c in range(course.state[0].waiting):
        i = course.waiting[c]
        if jobs.start[i] >= now:
            course.waiting[kept] = i
            kept += 1
    course.state[0].waiting = kept


@verb
def set_out(course: Course, jobs: Jobs, now: int, newest: int) -> None:
    """Fill the line with the jobs waiting and running at `now`, before the passes."""
    line, running, compared = course.line, course.line.running, 0
    run_on(course.running, jobs, now, running)
    launch_started(course, jobs, now, running)
    line.state[0].head = line.state[0].tail = 0
    for c in range(course.state[0].waiting):
        i = course.waiting[c]
        start = jobs.start[i]
        if start >= now:
            course.old[i] = start
            queue_up(line, jobs, i)
            course.compared[compared] = i
            compared += 1
    if newest >= 0:
        start = jobs.start[newest]
        if start < 0 or start >= now:
            queue_up(line, jobs, newest)
        elif start + jobs.run[newest] > now:
            launch(jobs, running, newest, start)
    state = course.state
    state[0].compared, state[0].until, state[0].place = compared, now, 0


@verb
def differs(course: Course, jobs: Jobs, now: int) -> bool:
    """Return whether the replay differs from the old course after all passes of `now`.

    Invariant: two worlds without arrivals are equal from an instant on if, after the passes of this
    instant, the same jobs wait, and the same jobs run and started at the same instants. Only jobs
    that waited when the replay began can differ. A job that starts at different instants differs
    until it has ended on both courses. The job found by the last search differs until state.until,
    and the next search begins with it.
    """
    state = course.state
    if now < state[0].until:
        return True
    place = state[0].place
    for _ in range(state[0].compared):
        i = course.compared[place]
        start, old = jobs.start[i], course.old[i]
        if start != old and (start >= 0 or old <= now):
            until = (max(start, old) if start >= 0 else now) + jobs.run[i]
            if start < 0 or until > now:
                state[0].until, state[0].place = until, place
                return True
        place = place + 1 if place + 1 < state[0].compared else 0
    return False


@verb
def goes_on(course: Course, jobs: Jobs, newest: int, now: int, z: int) -> bool:
    """Return whether the replay must continue after all passes of `now`.

    Pass z is the next pass of the old course, which does not contain the newest job. The newest job
    can be added there as long as it is not the head of the queue, and either waits, or runs without
    affecting pass z, or has ended.
    """
    if newest < 0:
        return True
    passes, line, start = course.passes, course.line, jobs.start[newest]
    if start < 0:
        if line.job[line.state[0].head] == newest:
            return True
    elif start + jobs.run[newest] > now:
        if z == passes.state[0].stop or passes.time[z] > start + jobs.run[newest]:
            return True
        need, predicted = jobs.procs[newest], start + jobs.estimate[newest]
        if first_changed(passes, z, z + 1, need, predicted) == z:
            return True
    return differs(course, jobs, now)


@verb
def has_ended(jobs: Jobs, j: int, now: int) -> bool:
    """Return whether a job has started and ended by now."""
    return bool(jobs.start[j] >= 0 and jobs.start[j] + jobs.run[j] <= now)


@routine
def replay(course: Course, jobs: Jobs, rule: int, p: int, newest: int) -> int:
    """Repeat the passes from p on, with the newest job, until they equal the old course again.

    Return the next pass of the old course, or -1 if the newest job has ended when the replay ends.
    Without a newest job, -1, make every pass.
    """
    passes, line, running, made = course.passes, course.line, course.line.running, 0
    now, stop = passes.time[p], passes.state[0].stop
    while p > passes.state[0].first and passes.time[p - 1] == now:
        p -= 1
    follow(course, jobs, passes.time[passes.state[0].first])
    set_out(course, jobs, now, newest)
    z = p
    while True:
        make_pass(line, jobs, rule, now, course.replayed, made)
        made += 1
        if line.state[0].head == line.state[0].tail:
            made = write_ends(course.replayed, made, jobs, running)
            z = stop
            break
        end = next_end(running)
        if end > now:
            while z < stop and passes.time[z] <= now:
                z += 1
            if not goes_on(course, jobs, newest, now, z):
                break
        now = end
        while next_end(running) == now:
            release(jobs, running)
    for c in range(course.state[0].compared):
        i = course.compared[c]
        if jobs.start[i] < 0:
            jobs.start[i] = course.old[i]
    splice(passes, p, z, course.replayed, made)
    # Without a newest job, z exists.
    return -1 if z == stop or has_ended(jobs, newest, now) else p + made


@verb
def lead(passes: Passes, rule: int, p: int, j: int, need: int) -> int:
    """Make job j the head after the passes from p on, until a pass starts it; return that pass.

    The reservation of job j is computed only when another job may depend on it: in the queue of
    HPC2N, where many jobs of one kind wait, two thirds of the replays were for heads.
    """
    stop = first_wide(passes, p, need)
    for q in range(p, stop):
        if rule == EASY:
            passes.head[q] = UNKNOWN
            passes.shadow[q] = passes.slack[q] = passes.extra[q] = UNKNOWN
        else:
            passes.head[q] = j
    return stop


@verb
def join(course: Course, jobs: Jobs, rule: int, j: int) -> None:
    """Add job j at the first pass, behind all waiting jobs."""
    passes = course.passes
    need, run, estimate = jobs.procs[j], jobs.run[j], jobs.estimate[j]
    p = passes.state[0].first
    while p >= 0:
        after = p
        if jobs.start[j] < 0:
            p = first_chance(passes, p, need, estimate)
            if passes.head[p] == UNKNOWN:
                p = p + 1 if passes.free[p] < need else replay(course, jobs, rule, p, j)
                continue
            if passes.free[p] < need:
                p = lead(passes, rule, p, j, need)
            jobs.start[j], after = passes.time[p], p + 1
        end, predicted = jobs.start[j] + run, jobs.start[j] + estimate
        stop = first_from(passes, after, end)
        changed = first_changed(passes, p, stop, need, predicted)
        if changed == stop:
            if stop == passes.state[0].stop or passes.time[stop] > end:
                open_pass(passes, stop, end)
            charge(passes, p, stop, need, predicted)
            return
        charge(passes, p, changed, need, predicted)
        p = replay(course, jobs, rule, changed, j)


@verb
def set_up(course: Course, jobs: Jobs, rule: int, first: int) -> None:
    """Lay out the course of the jobs before the first requested job, from their given starts."""
    now = course.passes.time[0]
    for i in range(first):
        if jobs.start[i] >= now:
            enlist(course, i)
        elif jobs.start[i] + jobs.run[i] > now:
            launch(jobs, course.running, i, jobs.start[i])
    replay(course, jobs, rule, 0, -1)


@verb
def enlist(course: Course, j: int) -> None:
    """Add a job that has arrived to the waiting ones."""
    course.waiting[course.state[0].waiting] = j
    course.state[0].waiting += 1


@kernel
def fair_on_course(
    jobs: Jobs, course: Course, fair: Fair, rule: int, first: int, fst: Int64
) -> None:
    """Fill `fst` as `fair_fixed` does, first come, first served, by one course for all jobs.

    The rule is aggressive or easy. For strict fair starts, a job joins behind the waiting jobs. For
    relaxed fair starts, it starts as soon as it fits after the last of the waiting jobs has
    started. `first` is the first requested job; the starts of the jobs before it, without later
    jobs, are given.
    """
    passes = course.passes
    if first > 0:
        set_up(course, jobs, rule, first)
    for j in range(first, fair.last):
        if jobs.leave[0] != 0:
            return
        now = jobs.submit[j]
        if now > passes.time[passes.state[0].first]:
            advance(passes, now)
        if fair.relaxed and fair.wanted[j]:
            alone = first_alone(passes, passes.state[0].first)
            fst[j] = passes.time[first_wide(passes, alone, jobs.procs[j])]
        join(course, jobs, rule, j)
        enlist(course, j)
        if not fair.relaxed and fair.wanted[j]:
            fst[j] = jobs.start[j]
