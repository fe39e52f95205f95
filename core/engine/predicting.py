"""Rules on one pool, planned with predicted run times: none, aggressive, easy, depth, conservative.

This simulation is separate because predictions change while jobs run, so that almost no invariant
of the other kernels holds. Each pass examines the whole queue, and makes all reservations again.
The running jobs are sorted by predicted end, the waiting jobs by key.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.clock import Clock
from schedfarm.core.engine.jit import NEVER, kernel, verb
from schedfarm.core.engine.profile import (
    TAIL,
    Profile,
    clear,
    earliest_fit,
    has_room,
    open_step,
    reserve,
)
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.running import Jobs
from schedfarm.core.engine.world import AGGRESSIVE, NONE, RESERVING, Options

MEAN, SOFT, PERFECT, CALLED = 0, 1, 2, 3
"""Codes of predictors."""

STEPS, DOUBLE, ESTIMATE = 0, 1, 2
"""Codes of corrections."""

MADE, SHORTEST, LONGEST, SMALLEST, LARGEST = 0, 1, 2, 3, 4
"""Codes of keys: those already in the array; the smallest or largest prediction first (SHORTEST,
LONGEST); and the smallest or largest prediction x processors first (SMALLEST, LARGEST)."""

UNRESERVED = -1
"""Start of a job without a reservation."""

ADDED = np.array([60, 300, 900, 1_800, *(3_600 * h for h in (1, 2, 5, 10, 20, 50, 100))])
"""Seconds that the successive corrections of STEPS add."""


class PredictingClock(Clock):
    """Clock of a pool that is planned with predicted run times.

    before: number of jobs that had arrived before the instant. waiting, running, completed: numbers
    of these jobs. free: number of free processors. pending: whether the pass of the instant is
    pending.
    """

    before: int
    waiting: int
    running: int
    free: int
    completed: int
    pending: int


class Predicting(NamedTuple):
    """Hold the method of prediction, and its state for each job and user.

    code, jobs: code of the predictor, and the number of jobs in its mean. correction: code of the
    correction. limit: estimates, int64[n], s. added: `ADDED`. corrections: int64[n], number of
    corrections of each job. person: int64[n], each job's user. latest: int64[users], the last
    completed job of each user. before: int64[n], for each job the previous completed job of its
    user; -1 for none.
    """

    code: int
    jobs: int
    correction: int
    limit: Int64
    added: Int64
    corrections: Int64
    person: Int64
    latest: Int64
    before: Int64


class Lists(NamedTuple):
    """Hold the jobs by state, each int64[n]: in order of completion, of predicted ends, of waits.

    waiting, behind: waiting jobs in the order of the queue and of backfills, without starvation.
    line: scratch space for the order with starvation. key, other: keys of the two orders, with
    their codes. profile: the profile of a pass with reservations. at: reserved start of each job,
    s, or UNRESERVED. promised: the starts reserved at arrival, s; empty if they are not requested.
    """

    completed: Int64
    running: Int64
    waiting: Int64
    behind: Int64
    line: Int64
    key: Int64
    other: Int64
    code: int
    other_code: int
    profile: Profile
    at: Int64
    promised: Int64


@verb
def part_of(whole: int, part: int, parts: int) -> int:
    """Return whole x part // parts without overflow, for 0 <= part <= parts < 2^62, parts > 0.

    Examples
    --------
    >>> part_of(2**61, 2**60, 2**61) == 2**60, part_of(100, 2, 3)
    (True, 66)
    """
    if part == 0 or whole <= 2**62 // part:
        return whole * part // parts
    found = rest = 0
    for bit in range(62, -1, -1):
        found, rest = 2 * found, 2 * rest
        if rest >= parts:
            found, rest = found + 1, rest - parts
        if whole >> bit & 1:
            rest += part
            if rest >= parts:
                found, rest = found + 1, rest - parts
    return found


@verb
def predict(predicting: Predicting, jobs: Jobs, j: int) -> None:
    """Predict the run time of a job at its submission."""
    limit = predicting.limit[j]
    if predicting.code == PERFECT:
        jobs.estimate[j] = jobs.run[j]
        return
    known = ran = asked = 0
    past, seconds = predicting.latest[predicting.person[j]], limit
    while known < predicting.jobs and past >= 0:
        ran += jobs.run[past]
        asked += predicting.limit[past]
        past = predicting.before[past]
        known += 1
    if predicting.code == MEAN and known == predicting.jobs:
        seconds = ran // known
    elif predicting.code == SOFT and asked > 0:
        seconds = part_of(limit, ran, asked)
    jobs.estimate[j] = min(max(seconds, 1), limit)


@verb
def insert(line: Int64, count: int, key: Int64, code: int, jobs: Jobs, j: int) -> None:
    """Make the key of a job, and insert the job into a sorted list."""
    predicted, area = jobs.estimate[j], jobs.estimate[j] * jobs.procs[j]
    if code == SHORTEST:
        key[j] = predicted
    elif code == LONGEST:
        key[j] = -predicted
    elif code == SMALLEST:
        key[j] = area
    elif code == LARGEST:
        key[j] = -area
    p = count
    while p > 0 and key[line[p - 1]] > key[j]:
        line[p] = line[p - 1]
        p -= 1
    line[p] = j


@verb
def put(running: Int64, jobs: Jobs, count: int, j: int) -> None:
    """Insert a job into the list of running jobs, by its predicted end."""
    end, p = jobs.start[j] + jobs.estimate[j], count
    while p > 0 and jobs.start[running[p - 1]] + jobs.estimate[running[p - 1]] > end:
        running[p] = running[p - 1]
        p -= 1
    running[p] = j


@verb
def next_end(jobs: Jobs, running: Int64, count: int) -> int:
    """Return the next instant at which a job ends, s, or NEVER."""
    end = NEVER
    for p in range(count):
        end = min(end, jobs.start[running[p]] + jobs.run[running[p]])
    return end


@verb
def ended_later(jobs: Jobs, i: int, j: int) -> bool:
    """Return whether completed job i comes after job j by (end, position); job j ends now."""
    return bool(i > j and jobs.start[i] + jobs.run[i] == jobs.start[j] + jobs.run[j])


@verb
def remember(predicting: Predicting, jobs: Jobs, j: int) -> None:
    """Add a job that ends now to the history of its user."""
    u, before = predicting.person[j], predicting.before
    later, past = -1, predicting.latest[u]
    while past >= 0 and ended_later(jobs, past, j):
        later, past = past, before[past]
    before[j] = past
    if later < 0:
        predicting.latest[u] = j
    else:
        before[later] = j


@verb
def complete(
    predicting: Predicting, jobs: Jobs, lists: Lists, clock: Record[PredictingClock]
) -> None:
    """End the jobs that end now, by position, and add them to the histories of their users."""
    running, kept = lists.running, 0
    for p in range(clock[0].running):
        j = running[p]
        if jobs.start[j] + jobs.run[j] > clock[0].now:
            running[kept] = j
            kept += 1
            continue
        clock[0].free += jobs.procs[j]
        remember(predicting, jobs, j)
        at = clock[0].completed
        while at > 0 and ended_later(jobs, lists.completed[at - 1], j):
            lists.completed[at] = lists.completed[at - 1]
            at -= 1
        lists.completed[at] = j
        clock[0].completed += 1
    clock[0].running = kept


@verb
def corrected(predicting: Predicting, predicted: int, times: int) -> int:
    """Return the prediction that replaces a prediction found too short."""
    if predicting.correction == DOUBLE:
        return 2 * predicted
    if predicting.correction == STEPS and times < predicting.added.size:
        return int(predicted + predicting.added[times])
    return NEVER


@verb
def correct(
    predicting: Predicting, jobs: Jobs, lists: Lists, clock: Record[PredictingClock]
) -> None:
    """Raise the predictions of running jobs until each is predicted to end after now.

    Invariant: after the completions of an instant, every running job ends later, at the latest at
    its estimate. So corrections always reach a sufficient prediction.
    """
    running, count, now = lists.running, clock[0].running, clock[0].now
    while count > 0 and jobs.start[running[0]] + jobs.estimate[running[0]] <= now:
        j = running[0]
        while jobs.start[j] + jobs.estimate[j] <= now:
            longer = corrected(predicting, jobs.estimate[j], predicting.corrections[j])
            jobs.estimate[j] = min(longer, predicting.limit[j])
            predicting.corrections[j] += 1
        for p in range(1, count):
            running[p - 1] = running[p]
        put(running, jobs, count - 1, j)


@verb
def start(jobs: Jobs, lists: Lists, clock: Record[PredictingClock], j: int) -> None:
    """Start a job; it stays in the lists of waiting jobs until the end of the pass."""
    jobs.start[j] = clock[0].now
    clock[0].free -= jobs.procs[j]
    put(lists.running, jobs, clock[0].running, j)
    clock[0].running += 1


@verb
def line_up(jobs: Jobs, line: Int64, waiting: Int64, count: int, limit: int) -> None:
    """Write the waiting jobs; jobs submitted before `limit` come first, by position."""
    starving = 0
    for p in range(count):
        j = waiting[p]
        if jobs.submit[j] < limit:
            at = starving
            while at > 0 and line[at - 1] > j:
                line[at] = line[at - 1]
                at -= 1
            line[at] = j
            starving += 1
    for p in range(count):
        if jobs.submit[waiting[p]] >= limit:
            line[starving] = waiting[p]
            starving += 1


@verb
def shadow_of(
    jobs: Jobs, lists: Lists, clock: Record[PredictingClock], need: int
) -> tuple[int, int]:
    """Return the predicted shadow time, s, and the extra processors then."""
    level, p, shadow = clock[0].free, 0, clock[0].now
    running, count = lists.running, clock[0].running
    while p < count:
        j = running[p]
        end = jobs.start[j] + jobs.estimate[j]
        if level >= need and end > shadow:
            break
        level += jobs.procs[j]
        shadow = end
        p += 1
    return shadow, level - need


@verb
def drop_started(jobs: Jobs, waiting: Int64, count: int) -> int:
    """Remove the jobs that have started from a list; return the number of remaining jobs."""
    kept = 0
    for p in range(count):
        if jobs.start[waiting[p]] < 0:
            waiting[kept] = waiting[p]
            kept += 1
    return kept


@verb
def lay_out(jobs: Jobs, lists: Lists, clock: Record[PredictingClock]) -> None:
    """Lay out the profile of the running jobs by their predicted ends."""
    running, profile = lists.running, lists.profile
    clear(profile, clock[0].now, clock[0].free)
    for p in range(clock[0].running):
        j, last = running[p], profile.mark[TAIL] - 1
        end = jobs.start[j] + jobs.estimate[j]
        if profile.times[last] < end:
            open_step(profile, last + 1, end, profile.free[last])
        profile.free[profile.mark[TAIL] - 1] += jobs.procs[j]


@verb
def make_reservations(
    jobs: Jobs, lists: Lists, clock: Record[PredictingClock], depth: int, limit: int
) -> None:
    """Reserve for the first `depth` jobs in `line`; backfill other jobs that delay none of these.

    A job with a reservation for this instant starts. If no promises are requested, the jobs behind
    the last job that fits the free processors need no reservation.
    """
    count, now, line, profile = clock[0].waiting, clock[0].now, lists.line, lists.profile
    promising = lists.promised.size > 0 and clock[0].arrived > clock[0].before
    stop = count
    while not promising and stop > 0 and jobs.procs[line[stop - 1]] > clock[0].free:
        stop -= 1
    lay_out(jobs, lists, clock)
    place = held = 0
    while place < stop and held < depth:
        j = line[place]
        place += 1
        t = earliest_fit(profile, jobs.procs[j], jobs.estimate[j], now)
        reserve(profile, t, jobs.estimate[j], jobs.procs[j])
        if promising and j >= clock[0].before:
            lists.promised[j] = t
        if t == now and jobs.procs[j] <= clock[0].free:
            jobs.backfilled[j] = held > 0
            start(jobs, lists, clock, j)
        else:
            lists.at[j] = t
            held += 1
    if held == depth:
        backfill_around(jobs, lists, clock, limit)
    for p in range(count):
        lists.at[lists.waiting[p]] = UNRESERVED


@verb
def backfill_around(jobs: Jobs, lists: Lists, clock: Record[PredictingClock], limit: int) -> None:
    """Backfill the jobs that delay none of the reservations."""
    count, now, line, profile = clock[0].waiting, clock[0].now, lists.line, lists.profile
    for p in range(count):
        j = lists.waiting[p]
        # A reservation without duration counts as one second (`reservations.guard_points`).
        if lists.at[j] != UNRESERVED and jobs.estimate[j] == 0:
            reserve(profile, lists.at[j], 1, jobs.procs[j])
    line_up(jobs, line, lists.behind, count, limit)
    for p in range(count):
        j = line[p]
        need, lasts = jobs.procs[j], jobs.estimate[j]
        if jobs.start[j] >= 0 or lists.at[j] != UNRESERVED or need > clock[0].free:
            continue
        if has_room(profile, 0, need, now + lasts):
            reserve(profile, now, lasts, need)
            jobs.backfilled[j] = True
            start(jobs, lists, clock, j)


@verb
def make_pass(jobs: Jobs, lists: Lists, clock: Record[PredictingClock], options: Options) -> None:
    """Start heads while they fit, then backfill behind the first head that does not fit."""
    count, now, line = clock[0].waiting, clock[0].now, lists.line
    limit = now - options.threshold if options.threshold < NEVER else -1
    line_up(jobs, line, lists.waiting, count, limit)
    if options.rule == RESERVING:
        make_reservations(jobs, lists, clock, options.depth, limit)
        return
    first = 0
    while first < count and jobs.procs[line[first]] <= clock[0].free:
        start(jobs, lists, clock, line[first])
        first += 1
    if first < count and options.rule != NONE:
        head = line[first]
        shadow, extra = NEVER, 0
        if options.rule != AGGRESSIVE:
            shadow, extra = shadow_of(jobs, lists, clock, jobs.procs[head])
        line_up(jobs, line, lists.behind, count, limit)
        for p in range(count):
            j = line[p]
            if j == head or jobs.start[j] >= 0 or jobs.procs[j] > clock[0].free:
                continue
            if now + jobs.estimate[j] > shadow:
                if jobs.procs[j] > extra:
                    continue
                extra -= jobs.procs[j]
            jobs.backfilled[j] = True
            start(jobs, lists, clock, j)


@verb
def turn(predicting: Predicting, jobs: Jobs, lists: Lists, clock: Record[PredictingClock]) -> bool:
    """Go to the next instant, its completions and arrivals; return False at the end."""
    arrived, n = clock[0].arrived, jobs.submit.size
    due = jobs.submit[arrived] if arrived < n else NEVER
    now = min(due, next_end(jobs, lists.running, clock[0].running))
    if now == NEVER:
        return False
    clock[0].now, clock[0].before = now, arrived
    complete(predicting, jobs, lists, clock)
    while arrived < n and jobs.submit[arrived] == now:
        if predicting.code != CALLED:
            predict(predicting, jobs, arrived)
        arrived += 1
    clock[0].arrived = arrived
    return True


@kernel
def run_predicting(
    predicting: Predicting,
    jobs: Jobs,
    lists: Lists,
    clock: Record[PredictingClock],
    options: Options,
    stepwise: bool,
) -> bool:
    """Run every instant and its pass; return False at the end or if cancelled.

    With `stepwise`, return True before the pass of each instant with arrivals. The caller then
    computes the keys of the arriving jobs and, if the predictor is CALLED, their predictions.
    """
    while True:
        if clock[0].pending == 0:
            if jobs.leave[0] != 0 or not turn(predicting, jobs, lists, clock):
                return False
            if stepwise and clock[0].arrived > clock[0].before:
                clock[0].pending = 1
                return True
        clock[0].pending = 0
        for j in range(clock[0].before, clock[0].arrived):
            insert(lists.waiting, clock[0].waiting, lists.key, lists.code, jobs, j)
            insert(lists.behind, clock[0].waiting, lists.other, lists.other_code, jobs, j)
            clock[0].waiting += 1
        correct(predicting, jobs, lists, clock)
        count = clock[0].waiting
        if count > 0:
            make_pass(jobs, lists, clock, options)
            clock[0].waiting = drop_started(jobs, lists.waiting, count)
            drop_started(jobs, lists.behind, count)


@verb
def finish_until(
    predicting: Predicting, jobs: Jobs, ends: Int64, at: int, instant: int, known: Int64
) -> int:
    """Add the jobs that ended by an instant to the histories; return the next place.

    ends: the jobs in order of (end, position); the jobs before place `at`, and the jobs marked in
    `known`, have already been added. A job with run 0 that starts at the instant is not added,
    because it completes after the arrivals.
    """
    n, first = ends.size, at
    while at < n and jobs.start[ends[at]] + jobs.run[ends[at]] <= instant:
        j = ends[at]
        if known[j] == 0 and jobs.start[j] < instant:
            remember(predicting, jobs, j)
            known[j] = 1
        at += 1
        if first == at - 1 and known[j] == 1:
            first = at
    return first


@kernel
def predict_all(predicting: Predicting, jobs: Jobs, ends: Int64, known: Int64) -> None:
    """Fill in the predictions of all jobs of a schedule, made at their submissions."""
    at = 0
    for j in range(jobs.submit.size):
        at = finish_until(predicting, jobs, ends, at, jobs.submit[j], known)
        predict(predicting, jobs, j)
