"""Slurm's multifactor priority at an instant, by formulas of the auditor's own.

Usage follows from the starts and ends before the instant. The factors are those of semantics.md.
"""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.policy.multifactor import Multifactor
from schedfarm.core.workload.workload import Workload

User = tuple[str, str]
"""A user and the account to which its jobs are charged."""


class Priorities:
    """Compute the priorities of jobs, with their tiers, at instants that never decrease."""

    def __init__(self, given: Multifactor, work: Workload, start: Int64, end: Int64) -> None:
        given.check_names(work.names)
        self.given, self.work = given, work
        self.first = int(work.submit[0]) if len(work) else 0
        self.decay = 0.5 ** (given.calc / given.halflife) if given.halflife else 1.0
        self._found_sites()
        self.calculation = 0
        self.usage = [0.0] * len(self.users)
        # Changes of the processors in use, in descending order of instants: instant, user,
        # processors.
        changes = [
            (instant - self.first, int(self.index[job]), sign * int(work.procs[job]))
            for sign, column in ((1, start), (-1, end))
            for job, instant in enumerate(column.tolist())
        ]
        self.changes = sorted(changes, reverse=True)
        self.in_use, self.factors = [0] * len(self.users), np.zeros(len(self.users))
        self.computed = -1
        self.steady = self._steady()
        self.tier = np.zeros(len(work), np.int64)
        if given.tiers:
            # A tier exceeds the largest priority, so that tiers decide first.
            of = [given.tiers.get(name, 1) for name in self._names("partition")]
            self.tier = np.array(of, np.int64) << 33

    def __call__(self, jobs: Int64, now: int) -> Int64:
        """Return the priority of some jobs at an instant, s, int64[k]."""
        given, calculation = self.given, (now - self.first) // self.given.calc
        while given.fairshare and self.calculation < calculation:
            self._calculate()
        if given.fairshare and self.computed < calculation:
            values = self._classic() if given.algorithm == "classic" else self._ranked()
            self.factors, self.computed = np.array(values, np.float64), calculation
        last = self.first + calculation * given.calc
        waited = np.maximum(last - self.work.submit[jobs], 0)
        age = np.minimum(waited / given.max_age, 1.0)
        total = given.age * age + given.fairshare * self.factors[self.index[jobs]]
        total = total + self.steady[jobs]
        priority = np.clip(total, 1.0, 4294967295.0).astype(np.int64)
        return np.asarray(priority + self.tier[jobs])

    def _names(self, column: str) -> list[str]:
        names = self.work.names.get(column, {})
        return [names.get(one, str(one)) for one in getattr(self.work, column).tolist()]

    def _found_sites(self) -> None:
        """Collect the users, and the accounts with their parents and shares."""
        given, work = self.given, self.work
        self.above = {name: one.parent for name, one in given.accounts.items()}
        self.shares: dict[str | User, int] = {n: one.shares for n, one in given.accounts.items()}
        self.shares.update(dict(given.users.items()))
        mine = list(zip(self._names("user"), self._names("group"), strict=True))
        for job in np.lexsort((work.user, work.group)).tolist():
            self.above.setdefault(mine[job][1], "")
            self.shares.setdefault(mine[job][1], 1)
            self.shares.setdefault(mine[job], 1)
        self.users: list[User] = [one for one in self.shares if isinstance(one, tuple)]
        place = {user: k for k, user in enumerate(self.users)}
        self.index = np.array([place[user] for user in mine], np.int64)
        # The children of each account, users first.
        self.below: dict[str, list[str | User]] = {name: [] for name in ("", *self.above)}
        for user in self.users:
            self.below[user[1]].append(user)
        for name, parent in self.above.items():
            self.below[parent].append(name)

    def _calculate(self) -> None:
        """Make the next calculation: decay all usage, and add the usage of one period."""
        begin = self.calculation * self.given.calc
        stop = begin + self.given.calc
        used = [procs * self.given.calc for procs in self.in_use]
        while self.changes and self.changes[-1][0] < stop:
            instant, user, procs = self.changes.pop()
            self.in_use[user] += procs
            used[user] += procs * (stop - instant)
        pairs = zip(self.usage, used, strict=True)
        self.usage = [self.decay * before + more for before, more in pairs]
        self.calculation += 1

    def _sums(self) -> dict[str | User, float]:
        """Return the usage of each user and account."""
        sums: dict[str | User, float] = dict(zip(self.users, self.usage, strict=True))
        for name in reversed(["", *self.above]):
            total = 0.0
            for child in self.below[name]:
                total += sums[child]
            sums[name] = total
        return sums

    def _parent(self, one: str | User) -> str:
        return one[1] if isinstance(one, tuple) else self.above[one]

    def _part(self, one: str | User) -> float:
        """Return the part of a user or account in the sum of its siblings' shares."""
        total = sum(self.shares[other] for other in self.below[self._parent(one)])
        return self.shares[one] / total if total else 0.0

    def _ranked(self) -> list[float]:
        """Return the factors of the fair tree, which ranks users by the values on their paths."""
        sums = self._sums()
        ways: list[list[float]] = []
        level: dict[str | User, float] = {}
        for one in self.shares:
            used = sums[one] / sums[self._parent(one)] if sums[self._parent(one)] else 0.0
            part = self._part(one)
            level[one] = 0.0 if part == 0 else part / used if used else np.inf
        for user in self.users:
            way, name = [-level[user]], user[1]
            while name:
                way.insert(0, -level[name])
                name = self.above[name]
            ways.append(way)
        # A prefix of another path comes first, as users come before accounts of equal value.
        order = sorted(range(len(ways)), key=ways.__getitem__)
        factors, before, rank = [0.0] * len(ways), None, 0
        for visited, user_index in enumerate(order):
            way = ways[user_index]
            if before is None or way[: len(before)] != before:
                rank = len(ways) - visited
            factors[user_index], before = rank / len(ways), way
        return factors

    def _classic(self) -> list[float]:
        """Return the factors of the classic formula."""
        sums = self._sums()
        shares: dict[str | User, float] = {"": 1.0}
        effective: dict[str | User, float] = {}
        every: list[str | User] = [*self.above, *self.users]
        for one in every:
            parent, part = self._parent(one), self._part(one)
            shares[one] = shares[parent] * part
            actual = sums[one] / sums[""] if sums[""] else 0.0
            effective[one] = actual + (effective[parent] - actual) * part if parent else actual
        damping = self.given.damping
        return [
            2.0 ** -(effective[user] / shares[user] / damping) if shares[user] else 0.0
            for user in self.users
        ]

    def _steady(self) -> Float64:
        """Return the constant part of each priority."""
        given, work = self.given, self.work
        cpu = work.procs / work.processors
        if given.relative_to_time:
            size = work.procs / np.maximum(1, np.ceil(work.estimate / 60)) / work.processors
            size = 1.0 - size if given.favor_small else size
        else:
            size = (work.processors - work.procs) / work.processors if given.favor_small else cpu
        partition = self._relative(self._names("partition"), dict(given.partitions), 1)
        qos = self._relative(self._names("queue"), dict(given.qos_priorities), 0)
        steady = given.size * size + given.partition * partition + given.qos * qos
        return np.asarray(steady + given.cpu * cpu)

    @staticmethod
    def _relative(names: list[str], table: dict[str, int], default: int) -> Float64:
        table = table | {name: default for name in names if name not in table}
        most = max(table.values(), default=0)
        return np.array([table[name] / most if most else 0.0 for name in names], np.float64)
