"""Rules that are called at each pass: their view of the state, and steps for their decisions.

A user's rule is a function of a `State`, or a class with instances that are called with a `State`.
The rule starts waiting jobs by `start`, and holds processors for other jobs by `reserve`. Both
functions update the profile of free processors, which `fits` and `earliest` query. The same
functions run in compiled rules (`core.engine.custom_code`) and in plain Python.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from schedfarm.core.arrays import HORIZON, Float64, Int64

STARTS, FREE, OVERBOOKED, LATE, LATE_AT = range(5)
"""Fields of a tally.

STARTS: number of calls of `start`. FREE: free processors. OVERBOOKED: 1 + the first job with a
reservation of processors that are not free; 0 for none. LATE: 1 + the first job with a reservation
that begins before now; 0 for none. LATE_AT: the begin of this reservation, s.
"""

TALLY = 5
"""Number of fields of a tally."""


class Columns(NamedTuple):
    """Hold the columns of the arrived jobs, int64[arrived] each; times are in s.

    number: the number of the job in the log. The last four columns are -1 if the log lacks them.
    """

    submit: Int64
    estimate: Int64
    procs: Int64
    number: Int64
    user: Int64
    group: Int64
    queue: Int64
    partition: Int64


class Profile(NamedTuple):
    """Hold free processors over time: free[s] from time[s] on, s, for the first size[0] steps.

    The profile consists of the predicted ends of running jobs, and of the starts and reservations
    of this pass.
    """

    time: Int64
    free: Int64
    size: Int64


class Book(NamedTuple):
    """Hold the decisions of a pass: the started jobs in order, and flags and starts by job.

    reserved: the reserved start of each waiting job, s; -1 for none.
    """

    tally: Int64
    decided: Int64
    started: Int64
    reserved: Int64


class State(NamedTuple):
    """Hold the input of a rule at a pass, without later jobs and true run times.

    Attributes
    ----------
    now : int
        Time of the pass, s.
    processors : int
        Processors of the machine.
    waiting : int64[k]
        Waiting jobs in queue order, as indices into `jobs`.
    running : int64[m]
        Running jobs, as indices into `jobs`, in order of predicted ends. Jobs that the rule starts
        in this pass are not included.
    ends : int64[m]
        Predicted ends of the running jobs, s.
    jobs : Columns
        The arrived jobs, with a column for each property.
    profile : Profile
        Free processors over time in this pass; see `earliest` and `reserve`.
    memory : float64[r]
        Values that are kept between passes, initially 0; r is the rule's attribute `memory`.
    book : Book
        Starts and reservations of the pass, written by `start` and `reserve`.
    """

    now: int
    processors: int
    waiting: Int64
    running: Int64
    ends: Int64
    jobs: Columns
    profile: Profile
    memory: Float64
    book: Book


def free(state: State) -> int:
    """Return the number of free processors.

    Parameters
    ----------
    state : State
        The pass.

    Returns
    -------
    int
        Number of processors that neither running jobs nor jobs started in this pass occupy.

    Examples
    --------
    >>> print(free(example_state(processors=4, procs=[1, 2], estimate=[9, 9])))
    4
    """
    return state.book.tally[FREE]  # type: ignore[no-any-return]


def fits(state: State, j: int) -> bool:
    """Return whether a waiting job may start now without delaying a reservation of this pass.

    Parameters
    ----------
    state : State
        The pass.
    j : int
        The job, an index of `state.jobs`.

    Returns
    -------
    bool
        Whether the job's processors are free from now on for the length of its estimate; False
        after the job's start.

    Examples
    --------
    >>> state = example_state(processors=4, procs=[3, 2], estimate=[9, 9])
    >>> start(state, 0)
    >>> fits(state, 1)
    False
    """
    if j < 0 or j >= state.jobs.procs.size:
        raise IndexError("fits: no job of this index has arrived")
    need = state.jobs.procs[j]
    if state.book.started[j] != 0 or need > state.book.tally[FREE]:
        return False
    profile, end = state.profile, state.now + state.jobs.estimate[j]
    step = 0
    while step < profile.size[0] and profile.time[step] < end:
        if profile.free[step] < need:
            return False
        step += 1
    return True


def earliest(state: State, j: int) -> int:
    """Return the earliest instant at which a waiting job fits, given the reservations, s.

    Parameters
    ----------
    state : State
        The pass.
    j : int
        The job, an index of `state.jobs`.

    Returns
    -------
    int
        The first instant, from now on, at which the profile has the job's processors free for the
        length of its estimate (1 s for an estimate of 0). A job with the instant `now` may still
        not fit, because the profile does not contain running jobs with estimate 0.

    Examples
    --------
    >>> state = example_state(processors=4, procs=[3, 2], estimate=[9, 5])
    >>> start(state, 0)
    >>> print(earliest(state, 1))
    9
    """
    if j < 0 or j >= state.jobs.procs.size:
        raise IndexError("earliest: no job of this index has arrived")
    profile, need = state.profile, state.jobs.procs[j]
    length = max(state.jobs.estimate[j], 1)
    size, begin = profile.size[0], 0
    while begin < size:
        step, end = begin, profile.time[begin] + length
        while step < size and profile.free[step] >= need and profile.time[step] < end:
            step += 1
        if step == size or profile.time[step] >= end:
            return profile.time[begin]  # type: ignore[no-any-return]
        begin = step + 1
    raise ValueError("earliest: the profile never has room for this job")


def start(state: State, j: int) -> None:
    """Start a waiting job now.

    Parameters
    ----------
    state : State
        The pass.
    j : int
        The job, an index of `state.jobs`. The start of a job that does not wait or does not fit
        causes an error at the end of the pass.

    Examples
    --------
    >>> state = example_state(processors=4, procs=[3, 1], estimate=[9, 5])
    >>> start(state, 1)
    >>> int(free(state)), state.profile.time[:2].tolist(), state.profile.free[:2].tolist()
    (3, [0, 5], [3, 4])
    """
    book = state.book
    k = book.tally[STARTS]
    book.tally[STARTS] = k + 1
    # The rule can also write to the tally.
    if 0 <= k < book.decided.size:
        book.decided[k] = j
    if 0 <= j < state.jobs.procs.size:
        book.started[j] = 1
        book.tally[FREE] -= state.jobs.procs[j]
        block(state, state.now, state.jobs.estimate[j], state.jobs.procs[j])


def reserve(state: State, j: int, at: int, seconds: int = -1) -> None:
    """Hold processors for a waiting job from an instant on, for this pass.

    Parameters
    ----------
    state : State
        The pass.
    j : int
        The job, an index of `state.jobs`.
    at : int
        Begin of the reservation, s, not before now. The begin in the pass of the job's arrival is
        the job's promised start.
    seconds : int, optional
        Duration, at least 1 s; by default the job's estimate.

    Examples
    --------
    >>> state = example_state(processors=4, procs=[3, 2, 1], estimate=[9, 5, 20])
    >>> start(state, 0)
    >>> reserve(state, 1, earliest(state, 1))
    >>> fits(state, 2), int(earliest(state, 2))
    (True, 0)
    """
    if j < 0 or j >= state.jobs.procs.size:
        raise IndexError("reserve: no job of this index has arrived")
    if seconds < 0:
        seconds = max(state.jobs.estimate[j], 1)
    # A NaN fails every comparison.
    if not (-HORIZON <= at <= HORIZON and seconds <= HORIZON):
        raise ValueError("reserve: the clock has no such instant")
    tally = state.book.tally
    if at < state.now:
        # The engine reports the late reservation, with the job.
        if tally[LATE] == 0:
            tally[LATE], tally[LATE_AT] = j + 1, at
        return
    state.book.reserved[j] = at
    least = block(state, at, seconds, state.jobs.procs[j])
    if least < 0 and tally[OVERBOOKED] == 0:
        tally[OVERBOOKED] = j + 1


def block(state: State, at: int, seconds: int, procs: int) -> int:
    """Block processors of the profile (free processors over time) for this pass, without a job.

    Parameters
    ----------
    state : State
        The pass.
    at : int
        Begin, s, not before now.
    seconds : int
        Duration.
    procs : int
        Number of processors; `fits` and `earliest` then exclude them.

    Returns
    -------
    int
        The least number of free processors during this time after the call; it may be below 0.

    Examples
    --------
    >>> state = example_state(processors=4, procs=[3], estimate=[9])
    >>> int(block(state, 5, 60, 2)), int(earliest(state, 0))
    (2, 65)
    """
    if not (state.now <= at <= HORIZON and seconds <= HORIZON):
        raise ValueError("block: the instant has passed, or lies beyond the clock")
    if seconds <= 0:
        return 0
    profile = state.profile
    step = split(state, at)
    stop = split(state, at + seconds)
    least = profile.free[step] - procs
    while step < stop:
        profile.free[step] -= procs
        least = min(least, profile.free[step])
        step += 1
    return least  # type: ignore[no-any-return]


def split(state: State, at: int) -> int:
    """Return the step of the profile that begins at an instant from now on; make a missing step."""
    time, free, size = state.profile
    step = size[0]
    while step > 0 and time[step - 1] >= at:
        step -= 1
    if step < size[0] and time[step] == at:
        return step  # type: ignore[no-any-return]
    if size[0] >= time.size:
        raise ValueError("too many reservations in one pass")
    k = size[0]
    while k > step:
        time[k], free[k] = time[k - 1], free[k - 1]
        k -= 1
    time[step], free[step] = at, free[step - 1]
    size[0] += 1
    return step  # type: ignore[no-any-return]


COMPILED = (free, fits, earliest, start, reserve, block, split)
"""Functions that compiled rules may call."""


def example_state(processors: int, procs: list[int], estimate: list[int]) -> State:
    """Return a pass at 0 s on an idle machine, for examples and for tests of a rule.

    Parameters
    ----------
    processors : int
        Processors of the machine.
    procs, estimate : list of int
        Processors and estimates, s, of the waiting jobs in queue order, numbered from 1.

    Returns
    -------
    State
        The pass.

    Examples
    --------
    >>> example_state(processors=4, procs=[1, 2], estimate=[9, 5]).jobs.number.tolist()
    [1, 2]
    """
    import numpy as np

    count, none = len(procs), np.empty(0, np.int64)
    unknown, steps = np.full(count, -1), 4 * count + 8
    time, levels = np.zeros(steps, np.int64), np.full(steps, processors, np.int64)
    jobs = Columns(
        np.zeros(count, np.int64),
        np.array(estimate, np.int64),
        np.array(procs, np.int64),
        np.arange(1, count + 1),
        *[unknown] * 4,
    )
    tally = np.zeros(TALLY, np.int64)
    tally[FREE] = processors
    decided, started = np.empty(count + 1, np.int64), np.zeros(count, np.int64)
    return State(
        0,
        processors,
        np.arange(count),
        none,
        none,
        jobs,
        Profile(time, levels, np.ones(1, np.int64)),
        np.zeros(0),
        Book(tally, decided, started, unknown.copy()),
    )


def is_called_at_passes(found: object) -> bool:
    """Return whether an object is a rule of passes: a class, or callable with one state."""
    import inspect

    if isinstance(found, type):
        found = getattr(found, "__call__", None)  # noqa: B004  the attribute of the class itself, not of its metaclass
        given: tuple[Any, ...] = (None, None)
    else:
        given = (None,)
    try:
        inspect.signature(found).bind(*given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def keeps_state(found: object) -> bool:
    """Return whether a rule is an object that could keep state between simulations."""
    import inspect

    return not (isinstance(found, type) or inspect.isfunction(getattr(found, "py_func", found)))
