"""Selection of jobs of a log; jobs that are left out are counted by reason.

Every function takes a workload, and returns a workload with some of the jobs at the same instants.
The other jobs are counted by reason in `dropped`, in addition to the rows that the log's reader
dropped. So selected and dropped jobs always add up to the read rows. A job counts only for the
first of its reasons in the order of `CRITERIA`: ``outside weeks``, ``outside dates``, ``outside
widths``, ``other users`` and so on for groups, queues and partitions, ``outside nodes``,
``flurry``, ``past jobs``. Jobs that a platform does not admit count as ``not admitted``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import HORIZON, Int64
from schedfarm.core.checks import is_whole, whole
from schedfarm.core.errors import InputError
from schedfarm.core.machines.platform import Platform
from schedfarm.core.names import choices
from schedfarm.core.workload.columns import UNKNOWN, is_filled
from schedfarm.core.workload.dates import interval
from schedfarm.core.workload.resample_weeks import WEEK
from schedfarm.core.workload.workload import Workload

KINDS = {"users": "user", "groups": "group", "queues": "queue", "partitions": "partition"}
"""Criteria with lists of names or numbers, and the column of each."""

CRITERIA = ("weeks", "dates", "widths", *KINDS, "nodes", "flurry", "jobs")
"""Criteria of `select`, in the order of their application."""

_KNOWN_SHOWN = 10


def select(
    workload: Workload,
    *,
    weeks: Sequence[int] | None = None,
    dates: Sequence[str | date] | None = None,
    widths: Sequence[int] | None = None,
    users: Sequence[str | int] | None = None,
    groups: Sequence[str | int] | None = None,
    queues: Sequence[str | int] | None = None,
    partitions: Sequence[str | int] | None = None,
    nodes: Sequence[int] | None = None,
    flurry: Mapping[str, int] | None = None,
    jobs: int | None = None,
) -> Workload:
    """Keep the jobs that satisfy all criteria, applied one after the other.

    Parameters
    ----------
    workload : Workload
        The log.
    weeks, dates, widths, nodes : pair, optional
        As `first` and `last` of `select_weeks` and `select_dates`, and `least` and `most` of
        `select_widths` and `select_nodes`.
    users, groups, queues, partitions : list of str or int, optional
        As `wanted` of `select_kinds`.
    flurry : mapping of str to int, optional
        As the arguments `jobs` and `seconds` of `drop_flurries`.
    jobs : int, optional
        As `count` of `select_jobs`.

    Returns
    -------
    Workload
        The selected jobs, at least one.

    Raises
    ------
    InputError
        If a criterion has a wrong form, if dates are given for a log with an unknown start, or if
        no job is left.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 700_000], run=[1, 1, 1], estimate=[1, 1, 1],
    ...                           procs=[1, 8, 2], processors=8)
    >>> s = select(w, weeks=(0, 1), widths=(2, 8))
    >>> s.job.tolist(), dict(s.dropped)
    ([2], {'outside weeks': 1, 'outside widths': 1})
    """
    given = {
        "weeks": weeks,
        "dates": dates,
        "widths": widths,
        "users": users,
        "groups": groups,
        "queues": queues,
        "partitions": partitions,
        "nodes": nodes,
        "flurry": flurry,
        "jobs": jobs,
    }
    asked = check_criteria({key: value for key, value in given.items() if value is not None})
    for key, value in asked.items():
        workload = _STEPS[key](workload, *value)
    if not len(workload):
        listed = ", ".join(f"{count} {reason}" for reason, count in workload.dropped.items())
        raise InputError(f"workload {workload.name!r}: no job is left; dropped: {listed}")
    return workload


def check_criteria(criteria: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of each step of `select`, in order; refuse arguments of a wrong form.

    Examples
    --------
    >>> check_criteria({"widths": [1, 4], "weeks": [0, 2]})
    {'weeks': (0, 2), 'widths': (1, 4)}
    """
    for key in criteria:
        if key not in CRITERIA:
            known = choices(key, CRITERIA)
            raise InputError(f"{key!r} is not a criterion of selection; {known}")
    checked: dict[str, Any] = {}
    for key in sorted(criteria, key=CRITERIA.index):
        value = criteria[key]
        if key == "jobs":
            checked[key] = (whole("jobs", value, least=1),)
        elif key == "flurry":
            checked[key] = _burst(value)
        elif key in KINDS:
            checked[key] = (key, _list(key, value))
        elif not isinstance(value, (list, tuple)) or len(value) != 2:
            raise InputError(f"{key}={value!r}: give a pair, first and last")
        elif key == "dates":
            checked[key] = tuple(value)
            interval(*value)
        else:
            checked[key] = _range(key, *value)
    return checked


def select_weeks(workload: Workload, first: int, last: int) -> Workload:
    """Keep the jobs of the weeks [first, last), counted from 0 at the first submission.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[5, 604_804, 604_805], run=[1] * 3, estimate=[1] * 3,
    ...                           procs=[1] * 3, processors=1)
    >>> select_weeks(w, 0, 1).submit.tolist()
    [5, 604804]
    """
    first, last = _range("weeks", first, last)
    week = (workload.submit - workload.submit[:1].sum()) // WEEK
    return keep_jobs(workload, (week >= first) & (week < last), "outside weeks")


def select_dates(workload: Workload, first: str | date, last: str | date) -> Workload:
    """Keep the jobs that were submitted from the first date to the end of the last date.

    Dates are in UTC. With a time of day they are instants, and the last instant is excluded.
    Instants may have an offset from UTC, such as ``1996-09-25T00:00-05:00``.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[86_399, 86_400], run=[1, 1], estimate=[1, 1],
    ...                           procs=[1, 1], processors=1, epoch=0)
    >>> select_dates(w, "1970-01-01", "1970-01-01").submit.tolist()
    [86399]
    """
    begin, end = interval(first, last)
    if workload.epoch < 0:
        raise InputError(
            f"dates of workload {workload.name!r} are unknown, since its header has no "
            "UnixStartTime; select weeks instead"
        )
    at = workload.submit + workload.epoch
    return keep_jobs(workload, (at >= begin) & (at < end), "outside dates")


def select_widths(workload: Workload, least: int, most: int) -> Workload:
    """Keep the jobs with `least` to `most` processors; the machine does not change.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0, 0], run=[1] * 3, estimate=[1] * 3,
    ...                           procs=[1, 4, 8], processors=8)
    >>> select_widths(w, 2, 4).procs.tolist()
    [4]
    """
    least, most = _range("widths", least, most)
    return keep_jobs(
        workload, (workload.procs >= least) & (workload.procs <= most), "outside widths"
    )


def select_nodes(workload: Workload, least: int, most: int) -> Workload:
    """Keep the jobs that had `least` to `most` nodes in the log.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0], run=[1, 1], estimate=[1, 1], procs=[4, 8],
    ...                           nodes=[1, 2], processors=8)
    >>> select_nodes(w, 2, 9).procs.tolist()
    [8]
    """
    least, most = _range("nodes", least, most)
    _check_said(workload, "nodes", "nodes")
    return keep_jobs(
        workload, (workload.nodes >= least) & (workload.nodes <= most), "outside nodes"
    )


def select_kinds(workload: Workload, criterion: str, wanted: Sequence[str | int]) -> Workload:
    """Keep the jobs of some users, groups (accounts), queues (qualities of service) or partitions.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[1] * 3, estimate=[1] * 3, procs=[1] * 3,
    ...                           partition=[1, 2, 1], names={"partition": {1: "cpu", 2: "gpu"}},
    ...                           processors=8)
    >>> gpu = select_kinds(w, "partitions", ["gpu"])
    >>> gpu.job.tolist(), dict(gpu.dropped)
    ([2], {'other partitions': 2})
    """
    column = KINDS[criterion]
    _check_said(workload, criterion, column)
    values, names = getattr(workload, column), workload.names.get(column, {})
    known = {**_numbers(values), **{name: number for number, name in names.items()}}
    numbers = [_known(workload, criterion, each, known, names) for each in wanted]
    return keep_jobs(workload, np.isin(values, numbers), f"other {criterion}")


def drop_flurries(workload: Workload, jobs: int, seconds: int) -> Workload:
    """Leave out whole bursts of one user's jobs.

    A burst is a group of more than `jobs` jobs of one user that were submitted within less than
    `seconds`; overlapping bursts form one burst. The paper's authors found flurries by eye, and
    list them by user and date. This function instead uses a rate of submissions, which should be
    above that of any ordinary user. Jobs of the unknown user (-1) belong to no burst, and are kept.

    References
    ----------
    D. Tsafrir, D. G. Feitelson, Instability in parallel job scheduling simulation: the role of
    workload flurries, IPDPS 2006.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2, 3, 99], run=[1] * 5, estimate=[1] * 5,
    ...                           procs=[1] * 5, processors=1, user=[7, 7, 8, 7, 7])
    >>> drop_flurries(w, jobs=2, seconds=10).job.tolist()
    [3, 5]
    """
    # No log has larger values; sums with these bounds fit int64.
    most = min(whole("jobs", jobs, least=1), len(workload))
    within = min(whole("seconds", seconds, least=1), HORIZON)
    order = np.argsort(workload.user, kind="stable")
    user, submit = workload.user[order], workload.submit[order]
    same = user[most:] == user[:-most]
    first = np.flatnonzero(same & (submit[most:] - submit[:-most] < within) & (user[most:] >= 0))
    # A job is in a burst if more windows of `most` + 1 jobs have begun than have ended.
    edge = np.zeros(len(workload) + 1, np.int64)
    np.add.at(edge, first, 1)
    np.add.at(edge, first + most + 1, -1)
    keep = np.ones(len(workload), np.bool_)
    keep[order[np.cumsum(edge[:-1]) > 0]] = False
    return keep_jobs(workload, keep, "flurry")


def select_jobs(workload: Workload, count: int) -> Workload:
    """Keep the first jobs in the order of submission.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 5], run=[1, 1], estimate=[1, 1], procs=[1, 1],
    ...                           processors=1)
    >>> select_jobs(w, 1).job.tolist()
    [1]
    """
    first = np.arange(len(workload)) < whole("jobs", count, least=1)
    return keep_jobs(workload, first, "past jobs")


def on_platform(workload: Workload, platform: Platform) -> Workload:
    """Put the jobs that a platform admits on this platform, and drop the others.

    Examples
    --------
    >>> from schedfarm.core.machines.pool.platform import Pool
    >>> w = Workload.from_columns(submit=[0, 5], run=[1, 1], estimate=[1, 1], procs=[1, 4],
    ...                           processors=4)
    >>> smaller = on_platform(w, Pool(2))
    >>> smaller.job.tolist(), smaller.platform, dict(smaller.dropped)
    ([1], Pool(processors=2), {'not admitted': 1})
    """
    kept = keep_jobs(workload, platform.admits(workload), "not admitted")
    return kept if kept.platform == platform else kept.take(slice(None), platform=platform)


def keep_jobs(workload: Workload, keep: npt.NDArray[np.bool_], reason: str) -> Workload:
    """Return some of the jobs, bool[n], and count the others as dropped for a reason."""
    count = int(np.count_nonzero(~keep))
    if not count:
        return workload
    dropped = {**workload.dropped, reason: workload.dropped.get(reason, 0) + count}
    return workload.take(keep, dropped=dropped)


def _range(what: str, first: object, last: object) -> tuple[int, int]:
    low, high = whole(what, first, least=0), whole(what, last, least=0)
    if low > high or (what == "weeks" and low == high):
        raise InputError(f"{what}={[low, high]}: the second number is too small")
    return low, high


def _numbers(values: Int64) -> dict[str, int]:
    return {str(number): number for number in np.unique(values).tolist() if number != UNKNOWN}


def _known(
    workload: Workload,
    criterion: str,
    wanted: str | int,
    known: Mapping[str, int],
    names: Mapping[int, str],
) -> int:
    """Return the number of a name, or of a number."""
    if str(wanted) in known:
        return known[str(wanted)]
    there = list(names.values() or known)
    more = f" and {len(there) - _KNOWN_SHOWN} more" if len(there) > _KNOWN_SHOWN else ""
    raise InputError(
        f"{criterion}: workload {workload.name!r} has none called {wanted!r}; known: "
        f"{', '.join(there[:_KNOWN_SHOWN])}{more}"
    )


def _check_said(workload: Workload, criterion: str, column: str) -> None:
    if not is_filled(workload, column):
        raise InputError(
            f"{criterion}: the log of workload {workload.name!r} has no {column} of its jobs"
        )


def _list(criterion: str, value: object) -> tuple[str | int, ...]:
    if isinstance(value, (list, tuple)) and value:
        words = tuple(v for v in value if isinstance(v, str) or is_whole(v))
        if len(words) == len(value):
            return words
    raise InputError(
        f"{criterion}={value!r}: give a list of names or numbers, such as ['gpu', 'debug']"
    )


def _burst(flurry: object) -> tuple[int, int]:
    if not isinstance(flurry, Mapping) or set(flurry) != {"jobs", "seconds"}:
        raise InputError(
            f"flurry={flurry!r}: give the number of jobs that a user may submit, and the seconds, "
            "such as {jobs = 200, seconds = 3600}"
        )
    jobs, seconds = (whole(f"flurry {k}", flurry[k], least=1) for k in ("jobs", "seconds"))
    return jobs, seconds


_STEPS: dict[str, Callable[..., Workload]] = {
    "weeks": select_weeks,
    "dates": select_dates,
    "widths": select_widths,
    **dict.fromkeys(KINDS, select_kinds),
    "nodes": select_nodes,
    "flurry": drop_flurries,
    "jobs": select_jobs,
}
