"""Independent model of Slurm's limits, slow and plain, from the text in semantics.md."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from schedfarm.core.policy.limits import Limit, read_limits
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job
from schedfarm.core.workload.workload import Workload

Belongs = Callable[[Job], bool]
"""Function that returns whether a job counts for a limit."""

REPLACED = {
    "MaxJobs": {"MaxJobsPerUser", "MaxJobsPerAccount"},
    "MaxSubmitJobs": {"MaxSubmitJobsPerUser", "MaxSubmitJobsPerAccount"},
}
"""Limits of associations, and QOS limits with other names that replace them."""


class Limits:
    """Decide which jobs limits keep from starting, and which they keep out of the queue."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        self.workload = workload
        self.limits = read_limits(policy.limits) if policy.limits else ()
        self.above: dict[str, str] = {}
        for order in policy.orders:
            if order.weighs is not None:
                for name, row in order.weighs.accounts.items():
                    self.above[name] = row.parent

    def held_by(self, job: Job, running: list[Job], now: int) -> Limit | None:
        """Return a limit that the start of a job now would exceed."""
        for limit, belongs in self._in_force(job):
            mine = self._amount(limit, job, now, now)
            if limit.row.counts == "submitted" or mine == 0:
                continue
            count = sum(self._amount(limit, one, one.start, now) for one in running if belongs(one))
            if count + mine > self._value(limit):
                return limit
        return None

    def is_outside(self, job: Job, inside: list[Job]) -> bool:
        """Return whether a job exceeds a limit on waiting and running jobs."""
        return any(
            limit.row.counts == "submitted" and sum(map(belongs, inside)) + 1 > limit.value
            for limit, belongs in self._in_force(job)
        )

    def _amount(self, limit: Limit, job: Job, start: int, now: int) -> int:
        if limit.row.counts == "jobs":
            return 1
        if limit.row.counts == "submitted":
            return 0
        request = max(int(getattr(self.workload, limit.tres)[job.position]), 0)
        if limit.tres == "memory":
            request = (request + 2**20 - 1) // 2**20
        return request * (start + job.estimate - now) if limit.row.counts == "minutes" else request

    def _value(self, limit: Limit) -> int:
        return limit.value * 60 if limit.row.counts == "minutes" else limit.value

    def _name(self, column: str, number: int) -> str:
        return self.workload.names.get(column, {}).get(number, str(number))

    def _is(self, column: str, number: int, name: str) -> bool:
        """Return whether a limit's name, or number without a name, means a number of the log."""
        if name == self._name(column, number):
            return True
        return name == str(number) and name not in self.workload.names.get(column, {}).values()

    def _is_of(self, job: Job, user: str, account: str) -> bool:
        return self._is("user", job.user, user) and self._is("group", job.group, account)

    def _line(self, account: str) -> list[str]:
        line = [account]
        while self.above.get(line[-1]):
            line.append(self.above[line[-1]])
        return line

    def _in_force(self, job: Job) -> list[tuple[Limit, Belongs]]:
        """Return the limits that apply to a job, each with the jobs that count for the limit."""
        qos = [one for one in self.limits if one.kind == "qos" and self._has_qos(job, one.name)]
        unknown = {"user": job.user == -1, "account": job.group == -1}
        found: list[tuple[Limit, Belongs]] = [
            (one, self._of_qos(one, job)) for one in qos if not unknown.get(one.row.each, False)
        ]
        for limit in self.limits:
            names = REPLACED.get(limit.what, {limit.what})
            replaced = any(one.what in names and one.tres == limit.tres for one in qos)
            if limit.kind == "qos" or replaced or not self._is_under(limit, job):
                continue
            if limit.what in REPLACED and job.user == -1:
                continue
            if limit.what not in REPLACED:
                found.append((limit, partial(self._is_under, limit)))
            elif limit is self._nearest(limit.what, job):
                found.append((limit, partial(self._is_alike, job)))
        return found

    def _nearest(self, what: str, job: Job) -> Limit:
        """Return the limit of a job's association, or of the nearest account above it."""
        mine = [one for one in self.limits if one.what == what and self._is_under(one, job)]
        return min(mine, key=lambda one: self._distance(one, job))

    def _distance(self, limit: Limit, job: Job) -> int:
        """Return the number of levels from a job's association up to the holder of a limit."""
        line = self._line(self._name("group", job.group))
        if limit.kind == "account":
            return line.index(limit.name) + 1 if limit.name in line else 1
        return 0 if limit.kind == "user" else len(line) + 1

    def _has_qos(self, job: Job, name: str) -> bool:
        return self._is("queue", job.queue, name)

    def _of_qos(self, limit: Limit, job: Job) -> Belongs:
        def belongs(other: Job) -> bool:
            if limit.row.each == "user" and other.user != job.user:
                return False
            if limit.row.each == "account" and other.group != job.group:
                return False
            return self._has_qos(other, limit.name)

        return belongs

    def _is_under(self, limit: Limit, job: Job) -> bool:
        if limit.kind == "user":
            user, account = limit.names
            return self._is_of(job, user, account)
        if limit.kind == "root" or self._is("group", job.group, limit.name):
            return True
        return limit.name in self._line(self._name("group", job.group))

    def _is_alike(self, job: Job, other: Job) -> bool:
        return (other.user, other.group) == (job.user, job.group)
