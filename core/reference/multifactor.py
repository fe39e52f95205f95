"""Slurm's multifactor priority in plain Python, from the text of docs/semantics.md.

Each pass calculates all values from the beginning: the usage of all past periods, the tree of
accounts, and the priority of each waiting job.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from schedfarm.core.policy.multifactor import Multifactor
from schedfarm.core.reference.job import Job
from schedfarm.core.workload.workload import Workload


@dataclass(eq=False)
class Association:
    """Hold an account with its children, or a user, with usage in processor-seconds."""

    shares: int
    parent: Association | None
    is_user: bool = False
    children: list[Association] = field(default_factory=list)
    usage: float = 0.0
    factor: float = 0.0

    def level_fairshare(self) -> float:
        """Return the level fairshare S / U of this association among its siblings."""
        siblings = self.siblings()
        all_shares = sum(one.shares for one in siblings)
        all_usage = _sum([one.usage for one in siblings])
        if self.shares == 0:
            return 0.0
        share = self.shares / all_shares
        used = self.usage / all_usage if all_usage > 0 else 0.0
        return share / used if used > 0 else math.inf

    def siblings(self) -> list[Association]:
        """Return the children of the parent account, including this association."""
        assert self.parent is not None
        return self.parent.children

    def users(self) -> list[Association]:
        """Return all users below this account."""
        if self.is_user:
            return [self]
        return [user for child in self.children for user in child.users()]


def _sum(numbers: list[float]) -> float:
    # Python's own sum is not used: from version 3.12 on it compensates for rounding errors.
    total = 0.0
    for number in numbers:
        total = total + number
    return total


def label(workload: Workload, column: str, number: int) -> str:
    """Return the label of a number of the log: its name, or else the number as text."""
    return workload.names.get(column, {}).get(number, str(number))


class Tree:
    """Hold the associations of a workload under a definition of the priority."""

    def __init__(self, definition: Multifactor, workload: Workload, everyone: list[Job]) -> None:
        self.root = Association(1, None)
        accounts: dict[str, Association] = {}
        self.of_pair: dict[tuple[str, str], Association] = {}
        # Users come before accounts, and listed users before users of the log, by number.
        for name, given in definition.accounts.items():
            parent = accounts[given.parent] if given.parent else self.root
            accounts[name] = Association(given.shares, parent)
        pairs = dict(definition.users)
        for account, user in sorted({(job.group, job.user) for job in everyone}):
            above, own = label(workload, "group", account), label(workload, "user", user)
            accounts.setdefault(above, Association(1, self.root))
            pairs.setdefault((own, above), 1)
        for (user_name, account_name), shares in pairs.items():
            found = Association(shares, accounts[account_name], is_user=True)
            accounts[account_name].children.append(found)
            self.of_pair[user_name, account_name] = found
        for one in accounts.values():
            assert one.parent is not None
            one.parent.children.append(one)

    def add_up(self, one: Association) -> float:
        """Set the usage of accounts to the sums over their children."""
        if not one.is_user:
            one.usage = _sum([self.add_up(child) for child in one.children])
        return one.usage

    def rank(self) -> None:
        """Set the factors of users by the fair tree."""
        self.total = len(self.root.users())
        self.visited, self.current = 0, self.total
        self._visit(self.root.children, tied=False)

    def _visit(self, siblings: list[Association], tied: bool) -> None:
        values = {one: one.level_fairshare() for one in siblings}
        for value in sorted(set(values.values()), reverse=True):
            before = self.visited
            for user in (one for one in siblings if one.is_user and values[one] == value):
                if not tied:
                    self.current = self.total - self.visited
                user.factor = self.current / self.total
                self.visited += 1
                tied = True
            merged = [
                child
                for one in siblings
                if not one.is_user and values[one] == value
                for child in one.children
            ]
            self._visit(merged, tied)
            # Accounts without users do not end a tie, which continues at the next user.
            tied = tied and self.visited == before

    def classic(self, damping: int) -> None:
        """Set the factors of users by the classic formula."""
        for child in self.root.children:
            self._effective(child, None, 1.0, damping)

    def _effective(
        self, one: Association, above: float | None, normal: float, damping: int
    ) -> None:
        actual = one.usage / self.root.usage if self.root.usage > 0 else 0.0
        all_shares = sum(other.shares for other in one.siblings())
        part = one.shares / all_shares if all_shares > 0 else 0.0
        normal = normal * part
        effective = actual if above is None else actual + (above - actual) * part
        if one.is_user:
            one.factor = 2.0 ** -(effective / normal / damping) if normal > 0 else 0.0
        for child in one.children:
            self._effective(child, effective, normal, damping)


def priorities(
    definition: Multifactor, workload: Workload, everyone: list[Job], waiting: list[Job], now: int
) -> dict[Job, int]:
    """Return the priority of each waiting job at an instant, s, the largest first.

    A tier exceeds any priority.
    """
    definition.check_names(workload.names)
    first = min(job.submit for job in everyone)
    calculations = (now - first) // definition.calc
    tree = Tree(definition, workload, everyone)
    if definition.fairshare:
        _use(tree, definition, workload, everyone, first, calculations)
        tree.add_up(tree.root)
        if definition.algorithm == "classic":
            tree.classic(definition.damping)
        else:
            tree.rank()
    last = first + calculations * definition.calc
    return {job: _priority(definition, workload, tree, everyone, job, last) for job in waiting}


def _use(
    tree: Tree,
    definition: Multifactor,
    workload: Workload,
    everyone: list[Job],
    first: int,
    calculations: int,
) -> None:
    decay = 0.5 ** (definition.calc / definition.halflife) if definition.halflife else 1.0
    started = [job for job in everyone if job.start >= 0]
    for k in range(calculations):
        begin, end = first + k * definition.calc, first + (k + 1) * definition.calc
        used = dict.fromkeys(tree.of_pair, 0)
        for job in started:
            seconds = max(0, min(job.end, end) - max(job.start, begin))
            used[_pair(workload, job)] += seconds * job.procs
        for pair, association in tree.of_pair.items():
            association.usage = decay * association.usage + used[pair]


def _pair(workload: Workload, job: Job) -> tuple[str, str]:
    return label(workload, "user", job.user), label(workload, "group", job.group)


def _priority(
    definition: Multifactor,
    workload: Workload,
    tree: Tree,
    everyone: list[Job],
    job: Job,
    last: int,
) -> int:
    size, machine = 0.0, workload.processors
    if definition.relative_to_time:
        minutes = max(1, -(-job.estimate // 60))
        size = job.procs / minutes / machine
        size = 1.0 - size if definition.favor_small else size
    else:
        size = (machine - job.procs if definition.favor_small else job.procs) / machine
    partitions = {label(workload, "partition", one.partition) for one in everyone}
    factors = {name: definition.partitions.get(name, 1) for name in partitions}
    largest = max([*factors.values(), *definition.partitions.values()])
    mine = factors[label(workload, "partition", job.partition)]
    partition = mine / largest if largest > 0 else 0.0
    best = max(definition.qos_priorities.values(), default=0)
    given = definition.qos_priorities.get(label(workload, "queue", job.queue), 0)
    qos = given / best if best > 0 else 0.0
    steady = definition.size * size + definition.partition * partition + definition.qos * qos
    steady = steady + definition.cpu * (job.procs / machine)
    waited = max(0, last - job.submit)
    age = min(waited / definition.max_age, 1.0)
    fairshare = tree.of_pair[_pair(workload, job)].factor
    total = definition.age * age + definition.fairshare * fairshare + steady
    priority = int(min(max(total, 1.0), 4294967295.0))
    tier = definition.tiers.get(label(workload, "partition", job.partition), 1)
    return priority if not definition.tiers else 10**10 * tier + priority
