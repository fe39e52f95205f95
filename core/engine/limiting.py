"""Conversion of a policy's limits and a workload to the kernels' counters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.engine.limits import Counters
from schedfarm.core.errors import InputError
from schedfarm.core.policy.limits import COLUMNS, Limit, read_limits
from schedfarm.core.policy.multifactor import Account
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

_MOST = 2**62
"""Bound of amounts and of their sums."""

_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")

_OVER = {
    "MaxJobs": ("MaxJobsPerUser", "MaxJobsPerAccount"),
    "MaxSubmitJobs": ("MaxSubmitJobsPerUser", "MaxSubmitJobsPerAccount"),
}
"""Limits of a QOS that replace limits of associations with another name."""


class LimitError(InputError):
    """Report a limit that the jobs of a workload make impossible; the reason omits its name."""

    def __init__(self, message: str, limit: Limit, why: str) -> None:
        # Workers unpickle the error from `args`, which therefore has all three values.
        super().__init__(message, limit, why)
        self.limit, self.why = limit, why

    def __str__(self) -> str:
        return str(self.args[0])


class Entries(NamedTuple):
    """Hold the jobs of one limit, each job's counter from 0 on, and whether the limit applies."""

    limit: Limit
    jobs: Int64
    counter: Int64
    checked: Bool


def counters_of(workload: Workload, policy: Policy) -> tuple[Counters, Counters]:
    """Return the counters of running and of submitted jobs, initially without jobs.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 7], estimate=[9, 7], procs=[1, 2],
    ...                           user=[8, 9], processors=4)
    >>> running, submitted = counters_of(w, Policy.parse("fcfs+easy,limits=(root.MaxJobs=1)"))
    >>> running.most.tolist(), running.counter.tolist(), submitted.most.tolist()
    ([1, 1], [0, 1], [])
    """
    limits = read_limits(policy.limits) if policy.limits else ()
    found = _Jobs(workload, policy, limits, whole=False).checked().entries()
    parts = [[one for one in found if (one.limit.row.counts == "submitted") == w] for w in (0, 1)]
    return _counters(workload, parts[0]), _counters(workload, parts[1])


def check_limits(workload: Workload, policy: Policy) -> None:
    """Raise an error for limits with names or numbers that are missing in a whole log.

    Parts of a log, such as samples and windows, may lack the jobs of a limit.
    """
    if policy.limits:
        _Jobs(workload, policy, read_limits(policy.limits), whole=True).checked()


def faults_of(workload: Workload, policy: Policy) -> list[LimitError]:
    """Return the limits of a policy that the jobs of a workload make impossible.

    Without these limits, other limits may apply to the same jobs, and may also be impossible.
    """
    limits = read_limits(policy.limits) if policy.limits else ()
    jobs = _Jobs(workload, policy, limits, whole=False)
    found = [*jobs.faults()]
    return found or [fault for one in jobs.entries() for fault in _impossible(workload, one)]


class _Jobs:
    """Hold the jobs of a workload by the names of their QOS, account and user."""

    def __init__(
        self, workload: Workload, policy: Policy, limits: Sequence[Limit], *, whole: bool
    ) -> None:
        self.workload, self.limits, self.whole = workload, limits, whole
        self.qos, self.account, self.user = (
            _Names(workload, c) for c in ("queue", "group", "user")
        )
        defined = [row.weighs for row in policy.orders if row.weighs is not None]
        self.accounts = _merged([one.accounts for one in defined])
        self.known = {
            "qos": {name for one in defined for name in one.qos_priorities},
            "account": {*self.accounts},
            "user": {user for one in defined for user, _ in one.users},
        }

    def checked(self) -> _Jobs:
        """Return the jobs; raise an error if the log lacks the data of a limit."""
        for fault in self.faults():
            raise fault
        return self

    def entries(self) -> list[Entries]:
        """Return the entries of each limit that has jobs."""
        found = [self._together(limit) for limit in self.limits if not _is_inherited(limit)]
        for what in _OVER:
            found += self._inherited([limit for limit in self.limits if limit.what == what])
        return [one for one in found if one.jobs.size]

    def _together(self, limit: Limit) -> Entries:
        """Return the entries of a limit of a QOS, or of all jobs of an association."""
        mine = self._members(limit.kind, limit.name)
        jobs, counter = np.flatnonzero(mine), np.zeros(int(mine.sum()), np.int64)
        if limit.row.each:
            who = self.user if limit.row.each == "user" else self.account
            jobs = jobs[who.is_known[jobs]]
            counter = np.unique(who.which[jobs], return_inverse=True)[1].ravel()
        checked = np.ones(jobs.size, np.bool_) if limit.kind == "qos" else self._left(limit)[jobs]
        return Entries(limit, jobs, counter, checked)

    def _inherited(self, limits: Sequence[Limit]) -> list[Entries]:
        """Return the entries of associations, each with the nearest limit in the tree."""
        if not limits:
            return []
        by_name = {(limit.kind, limit.name): k for k, limit in enumerate(limits)}
        # Number of each pair of a user and an account.
        pair = self.user.which * len(self.account.labels) + self.account.which
        _, first, which = np.unique(pair, return_index=True, return_inverse=True)
        chosen = np.full(first.size, -1)
        for k, job in enumerate(first.tolist()):
            if not self.user.is_known[job]:
                continue
            users, accounts = self.user.of(job), self.account.of(job)
            line = [("account", one) for one in self._line(accounts)]
            pairs = [("user", "@".join(names)) for names in product(users, accounts)]
            line = [*pairs, *line, ("root", "")]
            chosen[k] = next((by_name[one] for one in line if one in by_name), -1)
        found = []
        for k, limit in enumerate(limits):
            jobs = np.flatnonzero(chosen[which.ravel()] == k)
            counter = np.unique(which.ravel()[jobs], return_inverse=True)[1].ravel()
            found.append(Entries(limit, jobs, counter, self._left(limit)[jobs]))
        return found

    def _members(self, kind: str, name: str) -> Bool:
        if kind == "root":
            return np.ones(len(self.workload), np.bool_)
        if kind == "qos":
            return self.qos.among([name])
        if kind == "user":
            user, _, account = name.partition("@")
            return self.user.among([user]) & self.account.among([account])
        return self.account.among(
            [one[0] for one in self.account.labels if name in self._line(one)]
        )

    def _line(self, account: tuple[str, ...]) -> list[str]:
        """Return the labels of an account and of the accounts above it, without the root."""
        found, last = [*account], account[0]
        while (row := self.accounts.get(last)) is not None and row.parent:
            last = row.parent
            found.append(last)
        return found

    def _left(self, limit: Limit) -> Bool:
        """Return the jobs for which no limit of a QOS replaces an association's limit."""
        over = _OVER.get(limit.what, (limit.what,))
        own = {
            one.name
            for one in self.limits
            if one.kind == "qos" and one.what in over and one.tres == limit.tres
        }
        return ~self.qos.among(own)

    def faults(self) -> Iterator[LimitError]:
        """Yield limits on missing data of the log; raise an error for unknown names."""
        for limit in self.limits:
            words = limit.name.split("@")
            named = {"account": words[-1]} if limit.kind in ("account", "user") else {}
            named |= {"user": words[0]} if limit.kind == "user" else {}
            named |= {"qos": limit.name} if limit.kind == "qos" else {}
            each = "user" if _is_inherited(limit) else limit.row.each
            for kind in dict.fromkeys((*named, *([each] if each else []))):
                yield from self._missing(limit, kind)
            for kind, name in named.items():
                self._check_name(limit, kind, name, self.known[kind])
            self._check_twice(limit)
            if limit.tres and (getattr(self.workload, limit.tres) < 0).all():
                yield LimitError(
                    f"limits: {limit.says} limits {limit.tres}, which no job of the log requests; "
                    "leave it out",
                    limit,
                    f"no job of the log requests {limit.tres}",
                )

    def _missing(self, limit: Limit, kind: str) -> Iterator[LimitError]:
        if len(self.workload) and (getattr(self.workload, COLUMNS[kind]) == -1).all():
            yield LimitError(
                f"limits: {limit.says} needs the {kind} of each job, which the log "
                f"{self.workload.name!r} does not give; leave it out",
                limit,
                f"the log does not give the {kind} of each job",
            )

    def _check_name(self, limit: Limit, kind: str, name: str, listed: set[str]) -> None:
        table = self.workload.names.get(COLUMNS[kind], {})
        known = {*table.values()} | listed
        if name in known or (_NUMBER.fullmatch(name) and not self._lacks(kind, int(name))):
            return
        numbers = {str(one) for one in np.unique(getattr(self.workload, COLUMNS[kind])) if one >= 0}
        if _NUMBER.fullmatch(name) or not known:
            known |= numbers
        there = f"known: {', '.join(sorted(known)[:20])}" if known else "the log has no jobs"
        raise InputError(f"limits: {limit.says}: {kind} {name!r} is unknown; {there}")

    def _lacks(self, kind: str, number: int) -> bool:
        """Return whether the log lacks a number; False for a part of a log without names."""
        table, column = self.workload.names.get(COLUMNS[kind], {}), COLUMNS[kind]
        if number in table or not (table or self.whole):
            return False
        return not (getattr(self.workload, column) == number).any()

    def _check_twice(self, limit: Limit) -> None:
        """Raise an error if the same limit is given by a name and by the number of this name."""
        same = (limit.kind, limit.what, limit.tres)
        for other in self.limits:
            if other.name >= limit.name or (other.kind, other.what, other.tres) != same:
                continue
            if self._labels(other) == self._labels(limit):
                raise InputError(
                    f"limits: {other.says} and {limit.says} are the same in this log; give one"
                )

    def _labels(self, limit: Limit) -> list[str]:
        kinds = ("user", "account") if limit.kind == "user" else (limit.kind,)
        names: dict[str, _Names] = {"qos": self.qos, "account": self.account, "user": self.user}
        return [names[one].label(name) for one, name in zip(kinds, limit.names, strict=True)]


def _is_inherited(limit: Limit) -> bool:
    return limit.what in _OVER


def _merged(tables: Sequence[Mapping[str, Account]]) -> dict[str, Account]:
    return {name: row for table in tables for name, row in table.items()}


class _Names:
    """Hold labels of users, accounts or QOS, and the index of each job's label, int64[n].

    A label is the name in the log or the number; a number that is also another name is no label.
    """

    def __init__(self, workload: Workload, column: str) -> None:
        numbers, which = np.unique(getattr(workload, column), return_inverse=True)
        self.names = workload.names.get(column, {})
        self.taken = {*self.names.values()}
        self.labels = [self._both(one) for one in numbers.tolist()]
        self.which: Int64 = which.ravel()
        self.is_known: Bool = getattr(workload, column) >= 0

    def _both(self, number: int) -> tuple[str, ...]:
        called = self.names.get(number, str(number))
        return (called,) if str(number) in self.taken else tuple({called: 0, str(number): 0})

    def label(self, name: str) -> str:
        """Return the first label of the jobs with a name or number of the log."""
        if name in self.taken or not _NUMBER.fullmatch(name):
            return name
        return self.names.get(int(name), name)

    def of(self, job: int) -> tuple[str, ...]:
        """Return the labels of a job."""
        return self.labels[int(self.which[job])]

    def among(self, labels: Collection[str]) -> Bool:
        """Return the mask of the jobs with one of some labels."""
        found: Bool = np.array(
            [any(one in labels for one in both) for both in self.labels], np.bool_
        )[self.which]
        return found


def _counters(workload: Workload, entries: Sequence[Entries]) -> Counters:
    """Return the counters of some limits, in order, and the entries of each job."""
    jobs, counter, amount, slope, checked, most = ([np.zeros(0, np.int64)] for _ in range(6))
    begin = 0
    for one in entries:
        for fault in _impossible(workload, one):
            raise fault
        value, whole, limit = _requested(workload, one)
        lasting = one.limit.row.counts == "minutes"
        kept = whole > 0
        jobs.append(one.jobs[kept])
        counter.append(begin + one.counter[kept])
        amount.append(whole[kept])
        slope.append(value[kept] if lasting else np.zeros(int(kept.sum()), np.int64))
        checked.append(one.checked[kept].astype(np.int64))
        most.append(np.full(int(one.counter.max()) + 1, limit))
        begin += most[-1].size
    job = np.concatenate(jobs)
    order = np.argsort(job, kind="stable")
    whole = np.concatenate(most)
    return Counters(
        np.searchsorted(job[order], np.arange(len(workload) + 1)),
        np.concatenate(counter)[order],
        np.concatenate(amount)[order],
        np.concatenate(slope)[order],
        np.concatenate(checked)[order],
        whole,
        *(np.zeros(whole.size, np.int64) for _ in range(3)),
    )


def _amounts(workload: Workload, limit: Limit, jobs: Int64) -> Int64:
    """Return the requests of jobs in units of a limit: 1 job, or a resource; memory in MB."""
    if not limit.tres:
        return np.ones(jobs.size, np.int64)
    found: Int64 = np.maximum(getattr(workload, limit.tres)[jobs], 0)
    return -(-found // 2**20) if limit.tres == "memory" else found


def _requested(workload: Workload, one: Entries) -> tuple[Int64, Int64, int]:
    """Return the requests of jobs, their amounts under a limit, and the limit.

    Under a limit in minutes, an amount is the request times the estimate.
    """
    value = _amounts(workload, one.limit, one.jobs)
    lasting = one.limit.row.counts == "minutes"
    whole = value * workload.estimate[one.jobs] if lasting else value
    return value, whole, min(one.limit.value * (60 if lasting else 1), _MOST)


def _impossible(workload: Workload, one: Entries) -> Iterator[LimitError]:
    """Yield the fault of a limit that one job alone exceeds: this job would wait for ever."""
    value, whole, limit = _requested(workload, one)
    lasting = one.limit.row.counts == "minutes"
    times = workload.estimate[one.jobs].astype(np.float64) if lasting else 1.0
    over = one.checked & (whole > limit) & (workload.leave[one.jobs] < 0)
    if float((value * times).sum()) >= _MOST:
        why = "the requests of all jobs exceed 2^62 in all"
        yield LimitError(f"limits: {one.limit.says}: {why}", one.limit, why)
    elif over.any():
        job, count = int(workload.job[one.jobs[int(over.argmax())]]), int(over.sum())
        yield LimitError(
            f"limits: job {job} alone exceeds {one.limit.text} and would wait for ever; raise the "
            f"limit, or leave out the {count} such jobs",
            one.limit,
            f"job {job} alone exceeds it, one of {count}",
        )
