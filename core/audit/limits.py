"""Slurm's limits in the auditor: totals of each limit, by the users or accounts that it counts.

The quantity of each limit is that of the document semantics.md. The auditor does not use the table
of limits from which the simulators take the quantity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from schedfarm.core.policy.limits import Limit, read_limits
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

Key = tuple[str, ...]
"""A limit's text, and the user or account with its own total."""


class Counted(NamedTuple):
    """Hold the quantity of a limit, and whether each user or account has a separate total.

    If `each` is empty, all jobs of the limit's entity share one total.
    """

    quantity: Literal["running jobs", "requests", "minutes", "submitted jobs"]
    each: Literal["", "association", "user", "account"] = ""


COUNTED: dict[str, Counted] = {
    "MaxJobs": Counted("running jobs", "association"),
    "MaxJobsPerUser": Counted("running jobs", "user"),
    "MaxJobsPerAccount": Counted("running jobs", "account"),
    "GrpJobs": Counted("running jobs"),
    "MaxTRESPerUser": Counted("requests", "user"),
    "MaxTRESPerAccount": Counted("requests", "account"),
    "GrpTRES": Counted("requests"),
    "MaxTRESRunMinsPerUser": Counted("minutes", "user"),
    "MaxTRESRunMinsPerAccount": Counted("minutes", "account"),
    "GrpTRESRunMins": Counted("minutes"),
    "MaxSubmitJobs": Counted("submitted jobs", "association"),
    "MaxSubmitJobsPerUser": Counted("submitted jobs", "user"),
    "MaxSubmitJobsPerAccount": Counted("submitted jobs", "account"),
    "GrpSubmitJobs": Counted("submitted jobs"),
}
"""Every limit by its name."""


class Share(NamedTuple):
    """Hold a job's share of a limit: its key, the request, and whether the limit applies."""

    key: Key
    limit: Limit
    counted: Counted
    request: int
    in_force: bool


class Totals:
    """Track the use of each limit by running jobs, and the number of waiting and running jobs."""

    def __init__(self, work: Workload, policy: Policy) -> None:
        self.limits = read_limits(policy.limits) if policy.limits else ()
        self.work = work
        self.parents = {
            name: account.parent
            for order in policy.orders
            if order.weighs is not None
            for name, account in order.weighs.accounts.items()
        }
        self.taken: defaultdict[Key, int] = defaultdict(int)
        # Sum of request x predicted end, for limits of running TRES-minutes.
        self.until: defaultdict[Key, int] = defaultdict(int)
        self.known: dict[int, list[Share]] = {}
        self.estimate = work.estimate.tolist()
        self.keeps_jobs_out = any(
            COUNTED[one.what].quantity == "submitted jobs" for one in self.limits
        )
        # Submitted jobs outside the queue, in order.
        self.outside: list[int] = []

    def let_in(self, jobs: Iterable[int]) -> list[int]:
        """Return the jobs that enter the queue when some jobs arrive."""
        self.outside += jobs
        entering = []
        for job in self.outside:
            if self.keeps_out(job) is None:
                entering.append(job)
                self.enter(job)
        inside = set(entering)
        self.outside = [job for job in self.outside if job not in inside]
        return entering

    def withdraw(self, jobs: Iterable[int]) -> None:
        """Remove submitted jobs from the totals."""
        for job in jobs:
            if job in self.outside:
                self.outside.remove(job)
                continue
            for share in self._shares(job, submitted=True):
                self.taken[share.key] -= 1

    def enter(self, job: int) -> None:
        """Count a job that enters the queue."""
        for share in self._shares(job, submitted=True):
            self.taken[share.key] += 1

    def keeps_out(self, job: int) -> str | None:
        """Name the limit that keeps a job out of the queue."""
        for share in self._shares(job, submitted=True):
            if share.in_force and self.taken[share.key] >= share.limit.value:
                return f"{share.limit.text} keeps it out of the queue"
        return None

    def holds(self, job: int, now: int) -> str | None:
        """Name the limit that a start of this job would exceed now."""
        for share in self._shares(job, submitted=False):
            if not share.in_force or share.request == 0:
                continue
            used, mine, most = self.taken[share.key], share.request, share.limit.value
            if share.counted.quantity == "minutes":
                used = self.until[share.key] - used * now
                mine, most = mine * self.estimate[job], 60 * most
                if mine == 0:
                    continue
            if used > most - mine:
                return f"with {used} in use and {mine} more it would exceed {share.limit.text}"
        return None

    def begin(self, job: int, now: int) -> None:
        """Count a job that starts."""
        self._count(job, now, 1)

    def complete(self, job: int, start: int) -> None:
        """Subtract a job that has ended."""
        self._count(job, start, -1)
        for share in self._shares(job, submitted=True):
            self.taken[share.key] -= 1

    def _count(self, job: int, start: int, sign: int) -> None:
        for share in self._shares(job, submitted=False):
            self.taken[share.key] += sign * share.request
            self.until[share.key] += sign * share.request * (start + self.estimate[job])

    def _shares(self, job: int, *, submitted: bool) -> Iterator[Share]:
        if self.limits and job not in self.known:
            self.known[job] = [*self._found(job)]
        for share in self.known.get(job, ()):
            if (share.counted.quantity == "submitted jobs") == submitted:
                yield share

    def _found(self, job: int) -> Iterator[Share]:
        users, accounts, queues = (self._names(c, job) for c in ("user", "group", "queue"))
        user, account = users[0], accounts[0]
        unknown = {"user": self.work.user[job] == -1, "account": self.work.group[job] == -1}
        lineage = [account]
        while parent := self.parents.get(lineage[-1], ""):
            lineage.append(parent)
        own = {
            (_family(one.what), one.tres)
            for one in self.limits
            if one.kind == "qos" and one.name in queues
        }
        each = {"user": (user,), "account": (account,), "association": (user, account)}
        nearest: dict[str, tuple[int, Limit]] = {}
        for one in self.limits:
            counted, request = COUNTED[one.what], self._request(one, job)
            if one.kind == "qos":
                if one.name in queues and not unknown.get(counted.each, False):
                    key = (one.says, *each.get(counted.each, ()))
                    yield Share(key, one, counted, request, True)
                continue
            steps = {("root", ""): len(lineage)}
            steps |= {("user", f"{u}@{a}"): -1 for u in users for a in accounts}
            steps |= {("account", name): 0 for name in accounts}
            steps |= {("account", name): i for i, name in enumerate(lineage)}
            step = steps.get((one.kind, one.name))
            if step is None:
                continue
            if not counted.each:
                in_force = (_family(one.what), one.tres) not in own
                yield Share((one.says,), one, counted, request, in_force)
            elif one.what not in nearest or step < nearest[one.what][0]:
                nearest[one.what] = step, one
        for what, (_, one) in nearest.items() if not unknown["user"] else ():
            key, in_force = (what, *each["association"]), (_family(what), "") not in own
            yield Share(key, one, COUNTED[what], 1, in_force)

    def _request(self, one: Limit, job: int) -> int:
        if not one.tres:
            return 1
        asked = max(0, int(getattr(self.work, one.tres)[job]))
        return (asked + 1048575) // 1048576 if one.tres == "memory" else asked

    def _names(self, column: str, job: int) -> tuple[str, ...]:
        """Return a job's label in the log, and its number unless the number is another label."""
        number = int(getattr(self.work, column)[job])
        table = self.work.names.get(column, {})
        numeral = () if str(number) in {*table.values()} else (str(number),)
        return table.get(number, str(number)), *numeral


def _family(what: str) -> str:
    """Return the common name of limits that replace each other."""
    if what.startswith("Max") and "TRES" not in what:
        return "MaxSubmitJobs" if "Submit" in what else "MaxJobs"
    return what
