"""Resamples of a log by whole users, so that the number of users sets the load.

The method is that of Zakay and Feitelson. Long-term users are always present, and repeat a trace of
months from a random week on. Temporary users are present for some weeks. The sequence of a user's
weeks is kept.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import positive, whole
from schedfarm.core.errors import InputError
from schedfarm.core.philox import philox
from schedfarm.core.workload.columns import left_behind
from schedfarm.core.workload.load import work
from schedfarm.core.workload.resample_weeks import WEEK, WeekIndex, check_draws, weeks_of
from schedfarm.core.workload.workload import Workload

LONG_TERM = 12
"""Least number of weeks from the first to the last job of a long-term user."""


def resample_users(
    workload: Workload,
    *,
    seed: int,
    index: int,
    weeks: int | None = None,
    users: float = 1.0,
) -> Workload:
    """Draw a workload from a log by whole users.

    The trace of a user consists of the weeks from the user's first job to the last. A long-term
    user is present in every week of the new trace, and the user's trace is repeated from a random
    week on. A temporary user enters in a random week, possibly before the new trace begins, and
    leaves at the end of the user's trace. All shifts are whole weeks. Users may be drawn several
    times.

    With `users` = 1, the number of long-term users is their average number in a week of the log. A
    user is drawn with a probability in proportion to the length of the user's trace. Temporary
    users arrive at the rate of the log. So the expected load of every week is that of the log. A
    fractional number of users is rounded at random. With the same seed and index, a resample for a
    larger value of `users` contains the same users and further ones. Weeks are whole weeks from the
    first submission on, as in `core.resample_weekly`. All jobs of the unknown user (-1) belong to
    one user. A resample may be empty. The load of a resample depends on the drawn users: for
    KTH-SP2, with a load of 0.70, the 5 and 95 % quantiles are 0.49 and 0.94.

    The text of the paper was not available. Two rules are choices of this package: users are drawn
    in proportion to the length of their traces, and temporary users may enter before the new trace
    begins.

    Parameters
    ----------
    workload : Workload
        The log, at least one job.
    seed : int
        Seed of the campaign.
    index : int
        Number of the resample. The draws depend only on `seed`, `index` and the log's submissions.
    weeks : int, optional
        Number of weeks of the new trace; by default that of the log.
    users : float
        Number of users of both kinds, relative to the log, above 0; see `users_for_load`.

    Returns
    -------
    Workload
        The drawn jobs with their own job numbers. The k-th entrance of a user, from 0, gets the
        user's number + k x the log's range of user numbers; `origin_user` gives the log's user.

    Raises
    ------
    InputError
        If there is no job; if `weeks` is below 1; if `users` is not a number above 0; or if users x
        weeks is too large.

    References
    ----------
    N. Zakay, D. G. Feitelson, Workload resampling for performance evaluation of parallel job
    schedulers, Concurrency and Computation: Practice and Experience 26(12), 2014.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[604_800 * k for k in range(13)], run=[1] * 13,
    ...                           estimate=[1] * 13, procs=[1] * 13, user=[5] * 13, processors=2)
    >>> resample_users(w, seed=1, index=2).job.tolist()
    [4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3]
    """
    table = weeks_of(workload)
    week, cell, again = _visits(table, seed, index, weeks, users)
    count, first = table.count.ravel()[cell], table.first.ravel()[cell]
    job = table.jobs_of(count, first)
    begin = workload.submit[0]
    submit = (workload.submit[job] - begin) % WEEK + np.repeat(week * WEEK, count)
    order = np.argsort(submit * len(workload) + job, kind="stable")
    job = job[order]
    return workload.take(
        job,
        submit=submit[order] + begin,
        user=workload.user[job] + _numbers(workload)[1] * np.repeat(again, count)[order],
        **left_behind(job.size),
    )


def resample_users_size(
    workload: Workload,
    *,
    seed: int,
    index: int,
    weeks: int | None = None,
    users: float = 1.0,
) -> int:
    """Return the number of jobs of `resample_users` for the same arguments, without the jobs.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[604_800 * k for k in range(13)], run=[1] * 13,
    ...                           estimate=[1] * 13, procs=[1] * 13, processors=2)
    >>> resample_users_size(w, seed=1, index=1, weeks=7, users=2)
    14
    """
    table = weeks_of(workload)
    cell = _visits(table, seed, index, weeks, users)[1]
    return int(table.count.ravel()[cell].sum())


def users_for_load(workload: Workload, load: float) -> float:
    """Return the `users` of `resample_users` for an expected offered load.

    The offered load is here the work of a week / (processors x one week).

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0], run=[302_400], estimate=[302_400], procs=[1],
    ...                           processors=1)
    >>> users_for_load(w, 1.0)
    2.0
    """
    ratio = positive("load", load)
    table = weeks_of(workload)
    rest = slice(table.job.size, None)
    late = zip(workload.run[rest].tolist(), workload.procs[rest].tolist(), strict=True)
    done = work(workload) - sum(run * procs for run, procs in late)
    if not done:
        raise InputError(f"workload {workload.name!r}: no job has any work")
    return float(ratio * (workload.processors * table.count.shape[1] * WEEK) / done)


def origin_user(user: npt.ArrayLike, workload: Workload) -> Int64:
    """Return the log's user for each user of a resample by `resample_users`.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1], run=[1, 1], estimate=[1, 1], procs=[1, 1],
    ...                           user=[3, 8], processors=1)
    >>> origin_user([3, 8, 9, 14, 15], w).tolist()
    [3, 8, 3, 8, 3]
    """
    low, stride = _numbers(workload)
    origin: Int64 = (np.asarray(user, np.int64) - low) % stride + low
    return origin


def _numbers(workload: Workload) -> tuple[int, int]:
    """Return the log's smallest user number, and the size of its range of numbers."""
    low = int(workload.user.min())
    return low, int(workload.user.max()) - low + 1


def _visits(
    table: WeekIndex, seed: int, index: int, weeks: int | None, users: float
) -> tuple[Int64, Int64, Int64]:
    """Return a row for each week of a user's visits: new week, index of (user, week), and visit."""
    known = table.count.shape[1]
    length = known if weeks is None else whole("weeks", weeks, least=1)
    rate = positive("users", users) / known
    key = ("resample users", whole("seed", seed), whole("index", index), table.digest)
    active = table.count > 0
    begin = np.argmax(active, axis=1)
    span = known - np.argmax(active[:, ::-1], axis=1) - begin
    check_draws("the resample", length, math.ceil((span.sum() + span.size) * rate))
    stayer, phase = _long_term(np.flatnonzero(span >= LONG_TERM), span, rate, key)
    guest, enter = _temporary(np.flatnonzero(span < LONG_TERM), rate, length, key)
    # A temporary user's trace has at most LONG_TERM - 1 weeks, cut to the new trace.
    week_s = np.broadcast_to(np.arange(length), (stayer.size, length))
    offset_s = (phase[:, None] + week_s) % span[stayer, None]
    offset_g = np.broadcast_to(np.arange(LONG_TERM - 1), (guest.size, LONG_TERM - 1))
    week_g = enter[:, None] + offset_g
    there = (offset_g < span[guest, None]) & (week_g >= 0) & (week_g < length)
    again = _occurrence(np.concatenate((stayer, guest)))
    cell_s = stayer[:, None] * known + begin[stayer, None] + offset_s
    cell_g = guest[:, None] * known + begin[guest, None] + offset_g
    return (
        np.concatenate((week_s.ravel(), week_g[there])),
        np.concatenate((cell_s.ravel(), cell_g[there])),
        np.repeat(again, np.concatenate((np.full(stayer.size, length), there.sum(axis=1)))),
    )


def _long_term(
    users: Int64, span: Int64, rate: float, key: tuple[object, ...]
) -> tuple[Int64, Int64]:
    """Draw weeks from all weeks of the long-term users; return the users and first weeks."""
    ends = np.cumsum(span[users])
    total = int(ends[-1]) if users.size else 0
    bits = philox(*key, "long-term")
    point = _below(total, bits.random_raw(_rounded(total * rate, bits)))
    which = np.searchsorted(ends, point, side="right")
    user = users[which]
    return user, point - (ends[which] - span[user])


def _temporary(
    users: Int64, rate: float, length: int, key: tuple[object, ...]
) -> tuple[Int64, Int64]:
    """Draw the users that enter in each week, including weeks before the new trace begins."""
    arrivals, weeks = [np.empty(0, np.int64)], range(2 - LONG_TERM, length)
    for week in weeks:
        bits = philox(*key, "temporary", week)
        count = _rounded(users.size * rate, bits)
        arrivals.append(users[_below(users.size, bits.random_raw(count))])
    sizes = [len(each) for each in arrivals[1:]]
    return np.concatenate(arrivals), np.repeat(np.array(weeks, np.int64), sizes)


def _below(limit: int, raw: npt.NDArray[np.uint64]) -> Int64:
    # Raw bits are equal in every version of numpy; draws from numpy's distributions may change.
    return ((raw >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32)).astype(np.int64)


def _rounded(value: float, bits: np.random.Philox) -> int:
    """Round a number up with a probability equal to its fraction, else down."""
    uniform = int(bits.random_raw()) / 2.0**64
    return math.floor(value) + (uniform < value - math.floor(value))


def _occurrence(values: Int64) -> Int64:
    """Return, for each value, the number of equal values before it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    new = np.concatenate(([True], ordered[1:] != ordered[:-1]))[: values.size]
    place = np.arange(values.size)
    result = np.empty_like(values)
    result[order] = place - np.maximum.accumulate(np.where(new, place, 0))
    return result
