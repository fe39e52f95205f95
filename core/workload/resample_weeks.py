"""Resamples of a log by weeks of users, which make many similar logs from one log.

The method is Algorithm 1 of Carastan-Santos et al. (SAF paper): each week of the new trace gets,
for each user, the jobs of one random week of this user. `resample_weekly` documents the details
that the paper does not specify.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from schedfarm.core.arrays import Int64, readonly
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.philox import philox
from schedfarm.core.workload.columns import left_behind
from schedfarm.core.workload.workload import Workload

WEEK = 604_800
"""One week, s."""

LATE = 86_400
"""Largest time between the last submission and the end of a last week that counts as whole, s."""

MAX_DRAWS = 2**27
"""Largest number of weeks of users in a resample (1 GiB); with more, the unit of time is wrong."""

DRAWS = ("replace", "permute")
"""Ways to draw a user's weeks: with replacement (Algorithm 1), or in a random permutation."""


@dataclass(frozen=True, eq=False)
class WeekIndex:
    """Hold the index of a workload by user and week.

    job : int64[kept], jobs of whole weeks by (user, week, place in the workload). since : int64[n],
    time from the beginning of the week to the submission of each job of the workload, s. first,
    count : int64[users, weeks], begin in `job` and number of the jobs of a user's week.
    """

    job: Int64
    since: Int64
    first: Int64
    count: Int64
    digest: str

    def jobs_of(self, count: Int64, first: Int64) -> Int64:
        """Return the jobs of weeks with `count` jobs from place `first` on, week after week."""
        place = np.arange(int(count.sum())) + np.repeat(first - (np.cumsum(count) - count), count)
        jobs: Int64 = self.job[place]
        return jobs


_INDEX: WeakKeyDictionary[Workload, WeekIndex] = WeakKeyDictionary()


def resample_weekly(
    workload: Workload,
    *,
    seed: int,
    index: int,
    weeks: int | None = None,
    draw: str = "replace",
) -> Workload:
    """Draw a workload from a log by weeks of users.

    For each week of the new trace and each user, the user's jobs of one random week of the log are
    submitted again at the same offset in the week. The weeks of a user are all whole weeks of the
    log, including weeks without a job, so the expected load is that of the log. Jobs with equal
    submissions keep the order of the log.

    The first week begins at the first submission, at which the resample also begins. The last week
    counts as whole if its last job is submitted within `LATE` of its end; the jobs of a partial
    last week are left out. A log shorter than a week counts as one week: its only resample is the
    log itself, week after week. All jobs of the unknown user (-1) belong to one user. A resample
    may be empty.

    Weeks of users are drawn independently, so the weekly load varies more than in the log: on
    KTH-SP2 its standard deviation is 0.185 instead of 0.094 (docs/semantics.md). `resample_blocks`
    keeps the variation of the log.

    Parameters
    ----------
    workload : Workload
        The log, at least one job.
    seed : int
        Seed of the campaign.
    index : int
        Number of the resample. The draws depend only on `seed`, `index` and the log's submissions
        (submit, procs, user, job), never on run times, load, policy, name or order of calls.
    weeks : int, optional
        Number of weeks of the new trace; by default that of the log.
    draw : {"replace", "permute"}
        Draw each week with replacement (Algorithm 1 as printed), or take each user's weeks in a
        random permutation. A permutation keeps the user's work exactly over the weeks of the log.
        In a longer trace, permutations follow each other, and the last permutation is cut off.

    Returns
    -------
    Workload
        The drawn jobs with their own job numbers, and with the log's name, machine, largest
        estimate and dropped rows.

    Raises
    ------
    InputError
        If there is no job; if `weeks` is below 1; if `draw` is unknown; or if users x weeks is too
        large.

    References
    ----------
    D. Carastan-Santos, R. Y. de Camargo, D. Trystram, S. Zrigui, One can only gain by replacing
    EASY backfilling, CCGrid 2019, Algorithm 1.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 9, 604_900, 1_209_599], run=[1, 1, 1, 1],
    ...                           estimate=[1, 1, 1, 1], procs=[1, 1, 1, 1], processors=2)
    >>> resample_weekly(w, seed=1, index=1, draw="permute").job.tolist()
    [3, 4, 1, 2]
    """
    table = weeks_of(workload)
    week, count, first = _drawn(table, seed, index, weeks, draw)
    begin = workload.submit[0]
    job = table.jobs_of(count, first)
    key = table.since[job] + np.repeat(week * WEEK, count)
    # One number holds (submit, place in the log). Timsort finds the users' weeks as sorted runs,
    # and merges these runs 3 times as fast as a quicksort on KTH and SDSC BLUE.
    bits = len(workload).bit_length()
    key <<= bits
    key |= job
    key.sort(kind="stable")
    job = key & ((1 << bits) - 1)
    submit = np.right_shift(key, bits, out=key)
    submit += begin
    return workload.take(job, submit=readonly(submit), **left_behind(job.size))


def resample_size(
    workload: Workload,
    *,
    seed: int,
    index: int,
    weeks: int | None = None,
    draw: str = "replace",
) -> int:
    """Return the number of jobs of `resample_weekly` for the same arguments, without the jobs.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 9, 604_900, 1_209_599], run=[1, 1, 1, 1],
    ...                           estimate=[1, 1, 1, 1], procs=[1, 1, 1, 1], processors=2)
    >>> resample_size(w, seed=1, index=1, weeks=5)
    10
    """
    return int(_drawn(weeks_of(workload), seed, index, weeks, draw)[1].sum())


def weeks_of(workload: Workload) -> WeekIndex:
    """Return the workload's index of whole weeks, which is made at the first call."""
    found = _INDEX.get(workload)
    if found is None:
        found = _INDEX[workload] = _index(workload)
    return found


def whole_weeks(submit: Int64) -> int:
    """Return the number of whole weeks of a log, counted from its first submission.

    Examples
    --------
    >>> whole_weeks(np.array([5, 12 * WEEK])), whole_weeks(np.array([5, 13 * WEEK - LATE + 5]))
    (12, 13)
    """
    return max(1, (int(submit[-1] - submit[0]) + LATE) // WEEK)


def span_weeks(workload: Workload) -> int:
    """Return the number of weeks from the first to the last submission."""
    return int(workload.submit[-1] - workload.submit[0]) // WEEK + 1


def _index(workload: Workload) -> WeekIndex:
    if not len(workload):
        raise InputError(f"workload {workload.name!r} has no job; a resample needs at least 1")
    since = workload.submit - workload.submit[0]
    weeks = whole_weeks(workload.submit)
    whole = int(np.searchsorted(since, weeks * WEEK))
    # Submissions ascend, so a stable sort by user is a sort by (user, week, place).
    job = np.argsort(workload.user[:whole], kind="stable")
    user = workload.user[job]
    rank = np.cumsum(np.concatenate(([False], user[1:] != user[:-1])))
    users = int(rank[-1]) + 1
    check_draws(f"workload {workload.name!r}", weeks, users)
    count = np.bincount(rank * weeks + since[job] // WEEK, minlength=users * weeks)
    digest = hashlib.sha256()
    for column in (workload.submit, workload.procs, workload.user, workload.job):
        digest.update(column.astype("<i8").tobytes())
    return WeekIndex(
        job=job,
        since=since % WEEK,
        first=(np.cumsum(count) - count).reshape(users, weeks),
        count=count.reshape(users, weeks),
        digest=digest.hexdigest(),
    )


def _drawn(
    table: WeekIndex, seed: int, index: int, weeks: int | None, draw: str
) -> tuple[Int64, Int64, Int64]:
    """Return, for each new week and user, the new week, and count and first of the drawn week."""
    users, known = table.count.shape
    length = known if weeks is None else whole("weeks", weeks, least=1)
    if draw not in DRAWS:
        raise InputError(f"draw={draw!r} is unknown; known: {', '.join(DRAWS)}")
    check_draws("the resample", length, users)
    bits = philox("resample", whole("seed", seed), whole("index", index), table.digest)
    if draw == "replace":
        # Raw bits are equal in every version of numpy; draws from numpy's distributions may change.
        raw = bits.random_raw((length, users))
        chosen = ((raw >> np.uint64(32)) * np.uint64(known) >> np.uint64(32)).astype(np.int64)
    else:
        blocks = -(-length // known)
        order = np.argsort(bits.random_raw((blocks, users, known)), axis=2, kind="stable")
        chosen = order.transpose(0, 2, 1).reshape(blocks * known, users)[:length]
    week = np.repeat(np.arange(length), users)
    cell = (np.arange(users) * known + chosen).ravel()
    return week, table.count.ravel()[cell], table.first.ravel()[cell]


def check_draws(what: str, weeks: int, users: int) -> None:
    """Refuse to draw more user-weeks (weeks times users) than fit in memory."""
    if weeks * users > MAX_DRAWS:
        raise InputError(
            f"{what} has {weeks} weeks of {users} users, more than {MAX_DRAWS} to draw from; "
            "check the units of its times"
        )
