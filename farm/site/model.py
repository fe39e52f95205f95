"""Model of a site from the files of a dump: machine, jobs, order and rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.logs.clean import Clean
from schedfarm.core.logs.read import read_log
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.names import choices
from schedfarm.core.numerals import counted
from schedfarm.core.policy.multifactor import Account, Multifactor
from schedfarm.core.workload.select import on_platform, select
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.columns import unread
from schedfarm.farm.site.dump.associations import Associations
from schedfarm.farm.site.dump.conf import Conf, seconds_in
from schedfarm.farm.site.dump.facts import Fact, is_whole
from schedfarm.farm.site.dump.kinds import KINDS, read_dump
from schedfarm.farm.site.dump.qos import Qos
from schedfarm.farm.site.dump.sinfo import Nodes
from schedfarm.farm.site.hosts import Hosted
from schedfarm.farm.site.limits import Limited, limits_of, possible
from schedfarm.farm.site.nodes import hosted_of
from schedfarm.farm.site.notes import Note, notes_of
from schedfarm.farm.site.partitions import Divided, divided_of, tiers_of
from schedfarm.farm.site.rule import in_policy, rule_of
from schedfarm.farm.site.stocks import stocks_of
from schedfarm.farm.site.windows import (
    CONTRADICTED,
    Maintained,
    agreeing,
    are_apart,
    maintained_of,
    unsimulated,
)

CLEAN = Clean(submit="eligible")
"""Interpretation of the accounting: a job arrives when the scheduler could first start it."""

ENFORCING = frozenset({"limits", "safe", "all"})
"""Words of AccountingStorageEnforce with which Slurm enforces limits."""

_WEIGHTS = {
    "age": "PriorityWeightAge",
    "fairshare": "PriorityWeightFairshare",
    "size": "PriorityWeightJobSize",
    "partition": "PriorityWeightPartition",
    "qos": "PriorityWeightQOS",
}
"""Arguments of the order, with their keys in slurm.conf."""

_TIMES = {
    "max_age": ("PriorityMaxAge", "7-0"),
    "calc": ("PriorityCalcPeriod", "5"),
    "halflife": ("PriorityDecayHalfLife", "7-0"),
}
"""Arguments of the order that are times, with their keys and Slurm's defaults."""


Numbers = Callable[[str, str], str]
"""Function from a column and a name in the column to the log's number, as text."""


@dataclass(frozen=True, eq=False)
class Site:
    """Hold the site that a dump describes.

    name: the cluster. log: the accounting. partitions: the simulated partitions; all if empty.
    jobs: jobs on the configured processors and capacities, without names. names: names of the log's
    numbers. priority: scalar arguments of the order by key; empty under priority/basic. order: all
    arguments, with the log's numbers; None under priority/basic. rule: the backfilling rule. users,
    accounts, qos, factors: sources of the tables, by name. notes: unsupported features. limits: the
    simulated limits. options: options of the rule, by name. capacities: amounts of the resources
    that may delay jobs. divided: partitions and windows of the site; None if these limit no job.
    tiers: PriorityTier of each partition, if the tiers differ. apart: whether jobs that ran in
    reservations are left out. hosts: nodes of the site, if each node is simulated; capacities and
    divided are then unset.
    """

    name: Fact[str]
    folder: Path
    log: Path
    partitions: tuple[str, ...]
    jobs: Workload
    names: Mapping[str, Mapping[int, str]]
    processors: Fact[int]
    priority: Mapping[str, Fact[Any]]
    order: Multifactor | None
    rule: Fact[str]
    associations: Associations
    qos: Mapping[str, Qos]
    factors: Mapping[str, Fact[int]]
    notes: tuple[Note, ...]
    limits: tuple[Limited, ...] = ()
    options: Mapping[str, Fact[str]] = field(default_factory=dict)
    capacities: Mapping[str, Fact[int]] = field(default_factory=dict)
    divided: Divided | None = None
    tiers: Mapping[str, Fact[int]] = field(default_factory=dict)
    apart: bool = False
    hosts: Hosted | None = None

    @property
    def has_cycles(self) -> bool:
        """Whether the site has backfill cycles."""
        return "bf_max_job_test" in self.options

    @property
    def without_cycles(self) -> str:
        """Source of the fact that the site has no backfill cycles."""
        return self.options.get("bf_interval", self.rule).source

    def fitting(self, names: tuple[str, ...]) -> Site:
        """Return the site without the notes that a fit of these parameters makes obsolete."""
        return replace(self, notes=tuple(one for one in self.notes if one.fit not in names))

    def policy(self, order: Multifactor | None = None, *, rate: int = 0, axes: bool = False) -> str:
        """Return the policy's name, with another order of the site's kind if one is given.

        rate: tests per second of a backfill cycle; 0 if cycles take no time. axes: whether limits
        have placeholders for the axes of a campaign.
        """
        given = order or self.order
        limits = ", ".join(one.text(axis=axes) for one in self.limits)
        options = "".join(f",{x}={value}" for x, value in in_policy(self.options, rate).items())
        name = f"{given.name if given else 'fcfs'}+{self.rule.value}{options}"
        return f"{name},limits=({limits})" if limits else name


def read_site(
    folder: Path,
    *,
    partition: str | None = None,
    processors: int | None = None,
    cancelled: str = "drop",
    apart: bool = True,
    hosts: bool = False,
) -> Site:
    """Read a dump and return its site; refuse contradictory files.

    partition: a partition whose nodes are simulated, with all partitions that share its nodes; by
    default the largest set. processors: number of processors of these nodes, by default sinfo's.
    cancelled: treatment of jobs that were cancelled while they waited, as in `Clean`. apart:
    whether reservations for some users become windows for all other users, and jobs that ran in
    these reservations are left out, unless the log contradicts this. hosts: whether the machine
    consists of its nodes, instead of one pool.
    """
    parts = read_dump(folder)
    reservations = parts.get("reservations", ())
    conf, nodes = parts["conf"], parts["sinfo"]
    name = _cluster(folder, conf, parts["associations"], parts["accounting"])
    _check_nodes(folder, conf, nodes)
    log = folder / KINDS["accounting"].file
    total = nodes.processors(frozenset(nodes.partitions))
    apart = apart and are_apart(log, reservations)
    clean = replace(CLEAN, cancelled=cancelled, reserved="drop" if apart else "keep")
    whole = read_log(log, processors=max(total, processors or 0, 1), clean=clean)
    _check_jobs(folder, whole, nodes, parts["qos"])
    chosen = _component(whole, nodes, partition)
    rest = sorted(set(nodes.partitions) - chosen)
    size = Fact(
        nodes.processors(chosen),
        f"{KINDS['sinfo'].file}: CPUs of the {counted(len(nodes.of(chosen)), 'node')} of "
        f"{', '.join(sorted(chosen))}",
    )
    if processors is not None:
        size = Fact(processors, "--processors")
    jobs = _jobs(log, whole, chosen if rest else frozenset(), size)
    maintained, reserved = maintained_of(jobs, reservations, nodes.of(chosen), apart=apart)
    maintained, contradicted = agreeing(jobs, maintained, nodes, size.value)
    held = any(one.for_users for one in maintained)
    if apart and (not held or any(one.for_users for one in contradicted)):
        # Without windows for reservations, jobs that ran in them are treated like other jobs.
        return read_site(
            folder, partition=partition, processors=processors, cancelled=cancelled, apart=False,
            hosts=hosts,
        )  # fmt: skip
    machine = _machine_of(jobs, nodes, chosen, conf, maintained, processors, hosts=hosts)
    jobs = machine.jobs
    if not len(jobs):
        raise InputError(
            f"{log}: the nodes of {KINDS['sinfo'].file} can hold none of the jobs; print NNodes, "
            "ReqTRES and sinfo again, or leave --hosts out"
        )
    if machine.hosts:
        # The processors of whole hosts may be fewer than --processors.
        size = replace(size, value=jobs.processors)
    names, bare = jobs.names, replace(jobs, names={})
    rule, options = rule_of(conf)
    site = Site(
        name, folder, log, tuple(sorted(chosen)) if rest else (), bare, names, size,
        _priority(conf), None, rule, parts["associations"], parts["qos"],
        _factors(conf), (), options=options, capacities=machine.stocks, divided=machine.divided,
        tiers=tiers_of(conf), apart=apart, hosts=machine.hosts,
    )  # fmt: skip
    number = _numbers(site)
    if site.priority:
        site = replace(site, order=_order(site, number))
    limits, unlimited = _limits(site, conf, number)
    others = len(whole) - len(site.jobs)
    found = (*notes_of(site, parts, others, rest), *reserved, *machine.notes)
    found = (*found, *unsimulated(contradicted, CONTRADICTED))
    notes = (*found, *unread(site), *unlimited)
    return replace(site, notes=notes, limits=tuple(limits))


def _limits(site: Site, conf: Conf, number: Numbers) -> tuple[list[Limited], list[Note]]:
    """Return the simulated limits, if Slurm enforces any, and notes on the others."""
    found, notes = limits_of(site, number)
    enforced = conf.get("AccountingStorageEnforce", "")
    if not found:
        return [], notes
    if ENFORCING.isdisjoint(enforced.value.lower().split(",")):
        return [], [Note(
            "limits of QOS and associations",
            f"{enforced.source}, AccountingStorageEnforce={enforced.value}",
            "Slurm enforces limits only with the word limits, so that no job waits for one",
        )]  # fmt: skip
    allowed, impossible = possible(site, found)
    return allowed, notes + impossible


def _cluster(
    folder: Path, conf: Conf, associations: Associations, accounting: tuple[str, ...]
) -> Fact[str]:
    """Return the name of the cluster; refuse files of different clusters."""
    named = conf.get("ClusterName", "")
    others = {
        KINDS["associations"].file: associations.clusters,
        KINDS["accounting"].file: accounting,
    }
    found = {file: names[0] for file, names in others.items() if names}
    if named.value:
        found = {named.source: named.value, **found}
    first = next(iter(found.items()), ("the folder's name", folder.resolve().name))
    for file, name in found.items():
        if name.lower() != first[1].lower():
            raise InputError(
                f"{folder}: {first[0]} is of cluster {first[1]!r}, but {file} of {name!r}; dump "
                "the files of one cluster"
            )
    return Fact(first[1], first[0])


def _check_nodes(folder: Path, conf: Conf, nodes: Nodes) -> None:
    """Refuse a configuration whose nodes or partitions contradict sinfo."""
    for name, line in conf.nodes.items():
        listed, cpus = nodes.nodes.get(name), line.value.get("cpus", "")
        if listed and is_whole(cpus) and int(cpus) != listed.cpus:
            raise InputError(
                f"{folder}: {line.source} gives node {name!r} {cpus} CPUs, and {listed.where} "
                f"gives it {listed.cpus}; print both again"
            )
        memory = line.value.get("realmemory", "0")
        if memory.startswith("-"):
            raise InputError(
                f"{folder}: {line.source}: node {name!r} has RealMemory={memory}; give MiB from 0"
            )
    for name, line in conf.partitions.items():
        if name not in nodes.partitions:
            raise InputError(
                f"{folder}: partition {name!r} ({line.source}) has no nodes in "
                f"{KINDS['sinfo'].file}; remove the partition, or print sinfo again"
            )
    if not nodes.partitions:
        raise InputError(f"{folder}: {KINDS['sinfo'].file} lists no partition; print sinfo again")


def _check_jobs(folder: Path, jobs: Workload, nodes: Nodes, qos: Mapping[str, Qos]) -> None:
    """Refuse jobs of an unknown QOS or partition."""
    for column, known, file in (
        ("queue", qos, KINDS["qos"].file),
        ("partition", nodes.partitions, KINDS["sinfo"].file),
    ):
        what = "QOS" if column == "queue" else "partition"
        numbers, counts = np.unique(getattr(jobs, column), return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            label = jobs.names.get(column, {}).get(number, "")
            # A job that never started may list several partitions.
            names = filter(None, label.split(","))
            if name := next((one for one in names if one not in known), ""):
                raise InputError(
                    f"{folder}: {counted(count, 'job')} of {KINDS['accounting'].file} "
                    f"{'has' if count == 1 else 'have'} the {what} {name!r}, which {file} does "
                    f"not list; {choices(name, known)}"
                )


def _component(jobs: Workload, nodes: Nodes, partition: str | None) -> frozenset[str]:
    """Return a set of partitions that share nodes: with the given one, or with the most work."""
    if partition is not None and partition not in nodes.partitions:
        raise InputError(
            f"--partition {partition!r} is unknown; {choices(partition, nodes.partitions)}"
        )
    left, found = set(nodes.partitions), []
    while left:
        together, grown = set[str](), {min(left)}
        while grown:
            together |= grown
            there = nodes.of(frozenset(together))
            grown = {one for one in left - together if nodes.partitions[one] & there}
        left -= together
        found.append(frozenset(together))
    if partition is not None:
        return next(one for one in found if partition in one)
    work, names = jobs.procs * jobs.run, jobs.names.get("partition", {})
    of = {name: int(work[jobs.partition == number].sum()) for number, name in names.items()}
    return max(found, key=lambda one: (sum(of.get(name, 0) for name in one), -len(one)))


def _jobs(log: Path, whole: Workload, chosen: frozenset[str], size: Fact[int]) -> Workload:
    """Return the jobs of the chosen partitions, with the processors of these as the machine."""
    if chosen and not _used(whole, chosen):
        used = sorted({*whole.names.get("partition", {}).values()})
        having = (
            f"give one of those with jobs: {', '.join(used)}" if used else "print Partition, too"
        )
        raise InputError(f"--partition: {log} has no job of {', '.join(sorted(chosen))}; {having}")
    jobs = select(whole, partitions=sorted(_used(whole, chosen))) if chosen else whole
    widest = widest_of(jobs)
    if widest > size.value:
        raise InputError(
            f"{log}: a job requests {widest} processors, and there are {size.value} ({size.source})"
            "; use files of the same time, or give --processors"
        )
    if (jobs.logged_wait < 0).all():
        raise InputError(f"{log} has no starts of jobs; run sacct with the column Start")
    if int(jobs.procs.max()) > widest:
        jobs = select(jobs, widths=(1, widest))
    return replace(jobs, platform=Pool(size.value))


def widest_of(jobs: Workload) -> int:
    """Return the processors of the widest job that started.

    Wider jobs that were cancelled may have been impossible, and are not simulated.
    """
    return int(jobs.procs[jobs.leave < 0].max(initial=0))


class _Machine(NamedTuple):
    """Hold jobs on the machine of a site, and the machine's declaration; fields as in `Site`."""

    jobs: Workload
    notes: list[Note]
    stocks: Mapping[str, Fact[int]] = {}
    divided: Divided | None = None
    hosts: Hosted | None = None


def _machine_of(
    jobs: Workload,
    nodes: Nodes,
    chosen: frozenset[str],
    conf: Conf,
    maintained: Sequence[Maintained],
    processors: int | None,
    *,
    hosts: bool,
) -> _Machine:
    """Return the jobs on the hosts or the pool of the chosen partitions, with notes."""
    if hosts:
        hosted, placed, notes = hosted_of(jobs, nodes, chosen, conf, maintained, processors)
        return _Machine(placed, notes, hosts=hosted)
    started = jobs.take(jobs.leave < 0)
    stocks, short = stocks_of(started, [nodes.nodes[one] for one in nodes.of(chosen)], conf)
    divided, undivided = divided_of(jobs, nodes, chosen, conf, stocks, maintained)
    amounts = {name: fact.value for name, fact in stocks.items()}
    placed = _placed(jobs, divided, nodes.processors(chosen), amounts)
    return _Machine(placed, [*short, *undivided], stocks, divided)


def _placed(
    jobs: Workload, divided: Divided | None, listed: int, amounts: Mapping[str, int]
) -> Workload:
    """Return the jobs on the site's machine, whose number of processors may differ from sinfo's."""
    size = jobs.processors
    if divided is None:
        # Cancelled jobs may request more than the machine has.
        return on_platform(jobs, Resources(size, amounts)) if amounts else jobs
    return divided.scaled(listed, size, amounts).put(jobs, amounts)


def _used(whole: Workload, chosen: frozenset[str]) -> frozenset[str]:
    """Return the chosen partitions with jobs."""
    return chosen & {*whole.names.get("partition", {}).values()}


def _priority(conf: Conf) -> dict[str, Fact[Any]]:
    """Return the scalar arguments of the order that slurm.conf gives; empty for priority/basic."""
    kind = conf.get("PriorityType", "priority/multifactor")
    if kind.value.lower() == "priority/basic":
        return {}
    if kind.value.lower() != "priority/multifactor":
        raise InputError(
            f"{kind.source}: PriorityType={kind.value}; it must be priority/multifactor or "
            "priority/basic"
        )
    found: dict[str, Fact[Any]] = {
        name: _whole(key, conf.get(key, "0")) for name, key in _WEIGHTS.items()
    }
    tres = conf.get("PriorityWeightTRES", "")
    for part in filter(None, tres.value.lower().split(",")):
        name, _, value = part.partition("=")
        if name == "cpu":
            found["cpu"] = _whole("PriorityWeightTRES=CPU", Fact(value, tres.source))
    for name, (key, default) in _TIMES.items():
        given = conf.get(key, default)
        found[name] = Fact(seconds_in(key, given), given.source)
    return found | _switches(conf)


def _switches(conf: Conf) -> dict[str, Fact[Any]]:
    """Return the arguments of the order that select a formula and differ from the default."""
    found: dict[str, Fact[Any]] = {}
    flags = conf.get("PriorityFlags", "")
    words = flags.value.upper().split(",")
    if "NO_FAIR_TREE" in words:
        found["algorithm"] = Fact("classic", flags.source)
    if "SMALL_RELATIVE_TO_TIME" in words:
        found["relative_to_time"] = Fact(True, flags.source)
    small = conf.get("PriorityFavorSmall", "NO")
    if small.value.upper() in ("YES", "TRUE", "1"):
        found["favor_small"] = Fact(True, small.source)
    damping = _whole("FairShareDampeningFactor", conf.get("FairShareDampeningFactor", "1"))
    if damping.value > 1:
        found["damping"] = damping
    return found


def _whole(key: str, given: Fact[str]) -> Fact[int]:
    if not is_whole(given.value):
        raise InputError(f"{given.source}: {key}={given.value}; give a whole number from 0")
    return Fact(int(given.value), given.source)


def _factors(conf: Conf) -> dict[str, Fact[int]]:
    """Return PriorityJobFactor by partition, for partitions that have it."""
    found = {}
    for name, line in conf.partitions.items():
        given = Fact(line.value.get("priorityjobfactor", "1"), line.source)
        factor = _whole("PriorityJobFactor", given).value
        found[name] = Fact(factor, f"{line.source}, PriorityJobFactor")
    return found


def _order(site: Site, number: Numbers) -> Multifactor:
    """Return the order with the log's numbers instead of names.

    Accounts, users, QOS and partitions without jobs get further numbers, since they affect shares
    and the largest factor.
    """
    accounts = {
        number("group", name): Account(
            number("group", row.parent) if row.parent else "", row.shares.value
        )
        for name, row in site.associations.accounts.items()
    }
    users = {
        (number("user", user), number("group", account)): row.shares.value
        for (user, account), row in site.associations.users.items()
        if account in site.associations.accounts
    }
    # An association that is not listed has 1 share; leaving it out keeps the name short.
    logged = np.unique(np.stack((site.jobs.user, site.jobs.group)), axis=1).T.tolist()
    usual = {(str(user), str(account)) for user, account in logged}
    users = {pair: shares for pair, shares in users.items() if shares != 1 or pair not in usual}
    return Multifactor(
        **{name: fact.value for name, fact in site.priority.items()},
        accounts=accounts,
        users=users,
        qos_priorities={
            number("queue", name): row.priority.value for name, row in site.qos.items()
        },
        partitions={number("partition", name): fact.value for name, fact in site.factors.items()},
        tiers={number("partition", name): fact.value for name, fact in site.tiers.items()},
    )


def _numbers(site: Site) -> Numbers:
    """Return a function from names to the log's numbers; other names get constant new numbers."""
    known: dict[str, dict[str, int]] = {}
    first: dict[str, int] = {}

    def number(column: str, name: str) -> str:
        names = site.names.get(column)
        if not names and is_whole(name):
            return name
        if column not in known:
            known[column] = {one: number for number, one in (names or {}).items()}
            used = int(getattr(site.jobs, column).max(initial=0))
            first[column] = 1 + max([used, *known[column].values()])
        if name not in known[column]:
            known[column][name] = first[column]
            first[column] += 1
        return str(known[column][name])

    return number
