"""The course of a world: its passes from now on, without later jobs.

First come, first served, a waiting job never affects an earlier one. The world of job j, in which
no later job arrives, is therefore that of job j - 1 until job j starts, and from there on as long
as its processors would have stayed free. So one course serves all jobs: each joins the course of
the jobs before it, and only passes that it changes are made again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clone.state import Fair
from schedfarm.core.engine.jit import NEVER, kernel, routine, verb
from schedfarm.core.engine.lanes import (
    ALL,
    WORD,
    below,
    first_places,
    lessen,
    lowest,
    room,
    slide,
    up_to,
)
from schedfarm.core.engine.running import (
    Jobs,
    Running,
    find_shadow,
    idle_machine,
    launch,
    next_end,
    release,
)
from schedfarm.core.engine.world import EASY

NO_HEAD, UNKNOWN = -1, -2
"""Head of a pass after which no job waits, and of one whose reservation has not been computed; the
shadow time and extra processors of the latter are UNKNOWN, too."""

FIRST, STOP = 0, 1
"""Fields of the state of a list of passes: its first one, and one past its last."""

WAITING, COMPARED, UNTIL, PLACE = range(4)
"""Fields of the state of a course: number of waiting jobs; of those that waited when a replay
began; a time, s, until which the replay differs from the old course; position of the job that
differed last."""

MOVED = 256
"""Places before the first pass that may be unused."""

HEAD, TAIL = 0, 1
"""Fields of the state of a line: its first cell whose job waits, and one past its last."""


class Passes(NamedTuple):
    """Passes in order of time, each with the state after it, from ``state[FIRST]`` on.

    time: int64, s. free: free processors. head: the first waiting job, or NO_HEAD. shadow, slack,
    extra: of the head's reservation, the shadow time, s; the time left until then, s; and the
    extra processors then that no job has taken; NEVER where there is no reservation. At
    least one job ends before each pass except the first, which is the present state.
    """

    time: Int64
    free: Int64
    head: Int64
    shadow: Int64
    slack: Int64
    extra: Int64
    state: Int64


class Line(NamedTuple):
    """The waiting jobs of a replay, which no job joins, and the jobs that run on it.

    job, need, estimate: int64[room(n)], of each cell; the need of a job that has started is NEVER.
    """

    job: Int64
    need: Int64
    estimate: Int64
    state: Int64
    running: Running


class Course(NamedTuple):
    """The passes of a world, room for a replay of them, and its jobs at the first pass.

    running: the jobs that run at that instant and have started before it. waiting: int64[n], the
    jobs that have arrived and start then or later, in order of arrival; the first
    ``state[WAITING]`` count. compared, old: int64[n], the jobs that waited when a replay began, and
    the start of each job on the course before it, s.
    """

    passes: Passes
    replayed: Passes
    line: Line
    running: Running
    waiting: Int64
    compared: Int64
    old: Int64
    state: Int64


def empty_course(n: int, now: int, processors: int) -> Course:
    """Return the course of an idle machine, with room for n jobs.

    Examples
    --------
    >>> course = empty_course(3, 5, 8)
    >>> course.passes.time[0], course.passes.free[0]
    (np.int64(5), np.int64(8))
    """
    course = Course(
        _no_passes(2 * n + MOVED + 8),
        _no_passes(n + 4),
        Line(
            np.zeros(room(n), np.int64),
            np.zeros(room(n), np.int64),
            np.zeros(room(n), np.int64),
            np.zeros(2, np.int64),
            idle_machine(processors, n),
        ),
        idle_machine(processors, n),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.zeros(PLACE + 1, np.int64),
    )
    for column in columns_of(course.passes):
        column[0] = NEVER
    course.passes.time[0], course.passes.free[0], course.passes.head[0] = now, processors, NO_HEAD
    course.passes.state[STOP] = 1
    return course


def _no_passes(most: int) -> Passes:
    time, free, head, shadow, slack, extra = (np.zeros(room(most), np.int64) for _ in range(6))
    return Passes(time, free, head, shadow, slack, extra, np.zeros(2, np.int64))


@verb
def columns_of(passes: Passes) -> tuple[Int64, Int64, Int64, Int64, Int64, Int64]:
    """Return the columns of the passes."""
    return passes.time, passes.free, passes.head, passes.shadow, passes.slack, passes.extra


@verb
def advance(passes: Passes, now: int) -> None:
    """Drop the passes before now; the first one becomes the state at now.

    Invariant: without an event a pass would start no job and change nothing, since time makes no
    waiting job's start legal and moves no shadow time.
    """
    state, time = passes.state, passes.time
    first = state[FIRST]
    while time[first] < now and first + 1 < state[STOP] and time[first + 1] <= now:
        first += 1
    if passes.shadow[first] < NEVER:
        passes.slack[first] = passes.shadow[first] - now
    time[first] = now
    # The passes stay in the first places of their arrays, and so in the cache.
    if first > MOVED + state[STOP] - first:
        slide(columns_of(passes), first, state[STOP], -first)
        state[STOP] -= first
        first = 0
    state[FIRST] = first


@verb
def first_alone(passes: Passes, p: int) -> int:
    """Return the first pass from p on after which no job waits; the last one is such a pass."""
    word = below(passes.head, p, 0) & ~below(passes.head, p, NO_HEAD)
    while word == 0:
        p += WORD
        word = below(passes.head, p, 0) & ~below(passes.head, p, NO_HEAD)
    return p + lowest(word)


@verb
def first_wide(passes: Passes, p: int, need: int) -> int:
    """Return the first pass from p on after which enough processors are free."""
    word = below(passes.free, p, need) ^ ALL
    while word == 0:
        p += WORD
        word = below(passes.free, p, need) ^ ALL
    return p + lowest(word)


@verb
def first_chance(passes: Passes, p: int, need: int, estimate: int) -> int:
    """Return the first pass from p on that would start a job behind all, or leaves no job waiting.

    Or whose reservation is unknown. A pass examines that job last: it decides by the state after
    those before it.
    """
    while True:
        late = below(passes.slack, p, estimate) & below(passes.extra, p, need)
        word = (below(passes.free, p, need) | late) ^ ALL | below(passes.head, p, 0)
        if word != 0:
            return p + lowest(word)
        p += WORD


@verb
def first_from(passes: Passes, p: int, t: int) -> int:
    """Return the first pass from p on that is not before t, or one past the last."""
    stop = passes.state[STOP]
    while p < stop:
        word = below(passes.time, p, t) ^ ALL
        if word != 0:
            return int(min(p + lowest(word), stop))
        p += WORD
    return int(stop)


@verb
def first_changed(passes: Passes, p: int, stop: int, need: int, predicted: int) -> int:
    """Return the first pass in p..stop - 1 that may decide otherwise if one more job runs.

    It takes `need` processors and is predicted to end at `predicted`. Return `stop` if there is
    none.

    Invariant: a pass decides the same if the processors are free after it, and so during it, and
    the head's reservation stays: the job ends by the shadow time, or leaves the extra processors
    that backfills have taken. Then each job that starts still may, in the same turn; any other
    finds fewer free and extra processors, the same shadow time, and does not start either.
    """
    while p < stop:
        late = below(passes.shadow, p, predicted) & below(passes.extra, p, need)
        word = (below(passes.free, p, need) | late) & first_places(stop - p)
        if word != 0:
            return p + lowest(word)
        p += WORD
    return stop


@verb
def charge(passes: Passes, p: int, stop: int, need: int, predicted: int) -> None:
    """Let one more job run after the passes p..stop - 1, which it does not change."""
    while p < stop:
        word = first_places(stop - p)
        lessen(passes.free, p, need, word)
        lessen(passes.extra, p, need, word & below(passes.shadow, p, predicted))
        p += WORD


@verb
def open_pass(passes: Passes, p: int, now: int) -> None:
    """Put a pass that changes nothing before pass p."""
    slide(columns_of(passes), p, passes.state[STOP], 1)
    passes.state[STOP] += 1
    for column in columns_of(passes):
        column[p] = column[p - 1]
    passes.time[p] = now
    if passes.shadow[p] < NEVER:
        passes.slack[p] = passes.shadow[p] - now


@verb
def start_heads(line: Line, jobs: Jobs, now: int) -> int:
    """Start the first job while it fits; return the cell of the one that does not."""
    head, running = line.state[HEAD], line.running
    while head < line.state[TAIL]:
        need = line.need[head]
        if need < NEVER:
            if need > running.free[0]:
                break
            launch(jobs, running, line.job[head], now)
        head += 1
    line.state[HEAD] = head
    return int(head)


@verb
def make_pass(line: Line, jobs: Jobs, rule: int, now: int, passes: Passes, p: int) -> None:
    """Make a pass of the aggressive rule or of easy, and write down the state after it."""
    running, tail = line.running, line.state[TAIL]
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
    """Write down the passes after the last start, from pass p on; return one past the last."""
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
def splice(passes: Passes, first: int, stop: int, other: Passes, count: int) -> None:
    """Put the first `count` of other passes in the place of the passes first..stop - 1."""
    by = first + count - stop
    if by != 0:
        slide(columns_of(passes), stop, passes.state[STOP], by)
        passes.state[STOP] += by
    for i in range(count):
        passes.time[first + i], passes.free[first + i] = other.time[i], other.free[i]
        passes.head[first + i], passes.shadow[first + i] = other.head[i], other.shadow[i]
        passes.slack[first + i], passes.extra[first + i] = other.slack[i], other.extra[i]


@verb
def run_on(running: Running, jobs: Jobs, now: int, other: Running) -> None:
    """Let the running jobs of one list that end after now be those of another one."""
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
    """Add the waiting jobs that run at now, having started before."""
    # From the latest on: it usually ends last, and the list begins with the last end.
    for c in range(course.state[WAITING] - 1, -1, -1):
        i = course.waiting[c]
        start = jobs.start[i]
        if start < now < start + jobs.run[i]:
            launch(jobs, running, i, start)


@verb
def follow(course: Course, jobs: Jobs, now: int) -> None:
    """Let time pass until now: start jobs that start before, and end those that end by then."""
    running, kept = course.running, 0
    while next_end(running) <= now:
        release(jobs, running)
    launch_started(course, jobs, now, running)
    for c in range(course.state[WAITING]):
        i = course.waiting[c]
        if jobs.start[i] >= now:
            course.waiting[kept] = i
            kept += 1
    course.state[WAITING] = kept


@verb
def queue_up(line: Line, jobs: Jobs, i: int) -> None:
    """Put a job at the end of the line."""
    cell = line.state[TAIL]
    line.job[cell], line.need[cell], line.estimate[cell] = i, jobs.procs[i], jobs.estimate[i]
    line.state[TAIL] = cell + 1
    jobs.start[i] = -1


@verb
def set_out(course: Course, jobs: Jobs, now: int, newest: int) -> None:
    """Fill the line with what waits and runs at `now`, after its completions, before its passes."""
    line, running, compared = course.line, course.line.running, 0
    run_on(course.running, jobs, now, running)
    launch_started(course, jobs, now, running)
    line.state[HEAD] = line.state[TAIL] = 0
    for c in range(course.state[WAITING]):
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
    state[COMPARED], state[UNTIL], state[PLACE] = compared, now, 0


@verb
def differs(course: Course, jobs: Jobs, now: int) -> bool:
    """Return whether the replay differs from the old course after all passes of `now`.

    Invariant: worlds without arrivals are equal from an instant on if after its passes the same
    jobs run since the same instants and the same jobs wait. Only jobs that waited when the replay
    began can differ. One that starts at different instants does until it has ended on both
    courses; before state[UNTIL] the one that was found last does. The round begins with that one.
    """
    state = course.state
    if now < state[UNTIL]:
        return True
    place = state[PLACE]
    for _ in range(state[COMPARED]):
        i = course.compared[place]
        start, old = jobs.start[i], course.old[i]
        if start != old and (start >= 0 or old <= now):
            until = (max(start, old) if start >= 0 else now) + jobs.run[i]
            if start < 0 or until > now:
                state[UNTIL], state[PLACE] = until, place
                return True
        place = place + 1 if place + 1 < state[COMPARED] else 0
    return False


@verb
def goes_on(course: Course, jobs: Jobs, newest: int, now: int, z: int) -> bool:
    """Return whether the replay has to go on after all passes of `now`; z is the old course's next.

    The newest job is not on the old course. It can join it there as long as it is not the head of
    the queue, and either waits, runs and leaves pass z alone, or has ended.
    """
    if newest < 0:
        return True
    passes, line, start = course.passes, course.line, jobs.start[newest]
    if start < 0:
        if line.job[line.state[HEAD]] == newest:
            return True
    elif start + jobs.run[newest] > now:
        if z == passes.state[STOP] or passes.time[z] > start + jobs.run[newest]:
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
    """Make the passes from p on again, with the newest job, until the old course goes on.

    Return its next pass, or -1 if the newest job has ended by then. Without a newest job, -1, make
    every pass.
    """
    passes, line, running, made = course.passes, course.line, course.line.running, 0
    now, stop = passes.time[p], passes.state[STOP]
    while p > passes.state[FIRST] and passes.time[p - 1] == now:
        p -= 1
    follow(course, jobs, passes.time[passes.state[FIRST]])
    set_out(course, jobs, now, newest)
    z = p
    while True:
        make_pass(line, jobs, rule, now, course.replayed, made)
        made += 1
        if line.state[HEAD] == line.state[TAIL]:
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
    for c in range(course.state[COMPARED]):
        i = course.compared[c]
        if jobs.start[i] < 0:
            jobs.start[i] = course.old[i]
    splice(passes, p, z, course.replayed, made)
    # Without a newest job z is there.
    return -1 if z == stop or has_ended(jobs, newest, now) else p + made


@verb
def lead(passes: Passes, rule: int, p: int, j: int, need: int) -> int:
    """Let job j be the head after the passes from p on, until one starts it; return that one.

    Its reservation is computed when a job may depend on it: in the queue of HPC2N, where many jobs
    of one kind wait, two thirds of the replays were for heads.
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
    """Let job j arrive at the first pass, behind all waiting jobs."""
    passes = course.passes
    need, run, estimate = jobs.procs[j], jobs.run[j], jobs.estimate[j]
    p = passes.state[FIRST]
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
            if stop == passes.state[STOP] or passes.time[stop] > end:
                open_pass(passes, stop, end)
            charge(passes, p, stop, need, predicted)
            return
        charge(passes, p, changed, need, predicted)
        p = replay(course, jobs, rule, changed, j)


@verb
def set_up(course: Course, jobs: Jobs, rule: int, first: int) -> None:
    """Lay out the course of the jobs before the first one wanted, whose starts are given."""
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
    course.waiting[course.state[WAITING]] = j
    course.state[WAITING] += 1


@kernel
def fair_on_course(
    jobs: Jobs, course: Course, fair: Fair, rule: int, first: int, fst: Int64
) -> None:
    """Fill `fst` as `fair_fixed` does, first come, first served, by one course for all jobs.

    Under the aggressive rule or easy. A job joins strictly behind the waiting jobs; relaxed, it
    starts after the last of them has started, as soon as it fits. `first` is the first job wanted;
    the starts of the jobs before it, without later ones, are given.
    """
    passes = course.passes
    if first > 0:
        set_up(course, jobs, rule, first)
    for j in range(first, fair.last):
        if jobs.leave[0] != 0:
            return
        now = jobs.submit[j]
        if now > passes.time[passes.state[FIRST]]:
            advance(passes, now)
        if fair.relaxed and fair.wanted[j]:
            alone = first_alone(passes, passes.state[FIRST])
            fst[j] = passes.time[first_wide(passes, alone, jobs.procs[j])]
        join(course, jobs, rule, j)
        enlist(course, j)
        if not fair.relaxed and fair.wanted[j]:
            fst[j] = jobs.start[j]
