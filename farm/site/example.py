"""A generated site with known parameters: its jobs, and its dump as Slurm would print it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.files import write_whole
from schedfarm.core.logs.sacct import ASK
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.philox import philox
from schedfarm.core.policy.multifactor import Account, Multifactor
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.dump.kinds import KINDS

CLUSTER = "example"
BEGIN = datetime(2024, 1, 1)
CPUS = 16
"""Number of processors of a node."""

DAY, WEEK = 86_400, 604_800

SYSTEM = 10**6
"""User, account, QOS and partition of the jobs that represent outages."""

ACCOUNTS = {
    "science": ("", 60),
    "physics": ("science", 2),
    "biology": ("science", 1),
    "industry": ("", 40),
}
"""Accounts by name: parent and shares."""

QOS = {"normal": 10, "high": 100, "low": 0}
"""Priority of each QOS."""

PARTITIONS = {"batch": 1, "debug": 2}
"""PriorityJobFactor of each partition."""


@dataclass(frozen=True)
class Truth:
    """Hold the site's real parameters; the dump contains only some of them.

    nodes: number of nodes with 16 processors in sinfo. usable: share of the nodes' processors that
    run jobs. weeks: length of the log. load: offered load of the usable processors. tested: number
    of jobs that a backfill cycle tests. rate: number of tests per second; 0 if cycles take no time.
    policy: the site's real policy, if it differs from the policy in slurm.conf. outages: share of
    the usable processors that outages take, as jobs of the system that the accounting lacks.
    limits: limits of each QOS by column of sacctmgr. impatient: share of the jobs that are
    cancelled after they have waited for some time, 2 h on average. placed: whether jobs need room
    on nodes, instead of any processors. exclusive: whether a node with placed jobs runs one job at
    a time.
    """

    jobs: int = 20_000
    seed: int = 1
    nodes: int = 32
    usable: float = 0.92
    weeks: float = 20.0
    load: float = 0.8
    users: int = 40
    order: Multifactor = field(
        default_factory=lambda: Multifactor(
            age=1000, fairshare=10_000, size=300, qos=2000, partition=500, halflife=7 * DAY
        )
    )
    tested: int = 50
    rate: int = 0
    policy: str = ""
    outages: float = 0.0
    limits: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    impatient: float = 0.0
    placed: bool = False
    exclusive: bool = False

    @property
    def rule(self) -> str:
        """The site's rule with its options."""
        rate = f",bf_rate={self.rate}" if self.rate else ""
        return f"slurm,bf_max_job_test={self.tested}{rate}"

    @property
    def processors(self) -> int:
        """Number of processors that are really usable."""
        return round(self.nodes * CPUS * self.usable)


def user_names(truth: Truth) -> list[str]:
    """Return the users' names, the busiest first."""
    return [f"user{k:02}" for k in range(1, truth.users + 1)]


def account_of(user: int) -> str:
    """Return the account of a user, given the index of the user from 0."""
    return ("physics", "biology", "industry")[user % 3]


def true_order(truth: Truth) -> Multifactor:
    """Return the real order of the site, with names instead of numbers."""
    accounts = {name: Account(parent, shares) for name, (parent, shares) in ACCOUNTS.items()}
    users = {(user, account_of(k)): 1 + k % 2 for k, user in enumerate(user_names(truth))}
    return replace(
        truth.order, accounts=accounts, users=users, qos_priorities=QOS, partitions=PARTITIONS
    )


def site_jobs(truth: Truth) -> Workload:
    """Draw the jobs of a site: users of different sizes submit in bursts, by day and by night."""
    random = np.random.Generator(philox("site", truth.seed))
    n, span = truth.jobs, truth.weeks * WEEK
    weight = 1 / np.arange(1, truth.users + 1) ** 0.9
    # A burst has up to 30 similar jobs of one user.
    size = random.geometric(0.15, n).clip(max=30)
    size = size[: np.searchsorted(np.cumsum(size), n) + 1]
    begin = random.uniform(0, span, 4 * size.size)
    hour, weekday = begin % DAY / 3600, begin // DAY % 7
    busy = np.exp(-(((hour - 14) / 5) ** 2)) * np.where(weekday < 5, 1.0, 0.35) + 0.15
    begin = begin[random.random(begin.size) < busy / busy.max()][: size.size]
    size = size[: begin.size]
    burst = np.repeat(np.arange(size.size), size)[:n]
    n = burst.size
    user = random.choice(truth.users, size.size, p=weight / weight.sum())
    width = 2 ** random.integers(0, 7, size.size)
    length = np.exp(random.normal(8.0, 1.3, size.size))
    submit = (begin[burst] + random.exponential(120, n).cumsum() % 1800).astype(np.int64)
    run = (length[burst] * np.exp(random.normal(0, 0.3, n))).clip(30, 2 * DAY)
    procs = width[burst]
    run *= truth.load * truth.processors * span / (run * procs).sum()
    run = run.clip(30, 4 * DAY).astype(np.int64)
    asked = (run * (1 + random.exponential(1.5, n)) // 900 + 1) * 900
    queue = np.where(random.random(size.size) < 0.1, 2, 1)
    queue = np.where(random.random(size.size) < 0.15, 3, queue)
    short = run < 900
    names = user_names(truth)
    groups = ["physics", "biology", "industry"]
    patience = np.random.Generator(philox("patience", truth.seed))
    leaves = patience.random(n) < truth.impatient
    leave = np.where(leaves, patience.exponential(7200, n).astype(np.int64), -1)
    return Workload.from_columns(
        submit=submit, run=run, estimate=asked.astype(np.int64), procs=procs,
        user=user[burst] + 1, group=user[burst] % 3 + 1, queue=queue[burst],
        partition=np.where(short, 2, 1), leave=leave, platform=Pool(truth.processors), name=CLUSTER,
        names={
            "user": dict(enumerate(names, 1)),
            "group": dict(enumerate(groups, 1)),
            "queue": {1: "normal", 2: "high", 3: "low"},
            "partition": {1: "batch", 2: "debug"},
        },
    )  # fmt: skip


def run_site(truth: Truth) -> Schedule:
    """Return the real schedule of the site's jobs, without the jobs for outages."""
    from schedfarm.core import simulate

    policy = truth.policy or f"{true_order(truth).name}+{truth.rule}"
    limits = [
        f"qos.{name}.{key}={value}"
        for name, row in truth.limits.items()
        for key, value in row.items()
    ]
    policy += f",limits=({', '.join(limits)})" * bool(limits)
    jobs = site_jobs(truth)
    every = _with_outages(jobs, truth) if truth.outages else jobs
    if truth.placed:
        nodes = {"count": round(truth.processors / CPUS), "processors": CPUS}
        every = replace(every, platform=Hosts([nodes], truth.exclusive))
    schedule = simulate(every, Policy.parse(policy))
    if every is jobs:
        return schedule
    own = schedule.workload.user != SYSTEM
    return Schedule(jobs, schedule.policy, schedule.start[own], schedule.backfilled[own])


def _with_outages(jobs: Workload, truth: Truth) -> Workload:
    """Add jobs for outages of one to four nodes for one to twelve hours."""
    random = np.random.Generator(philox("outages", truth.seed))
    span = int(jobs.submit[-1])
    count = round(truth.outages * truth.processors * span / (2.5 * CPUS * 6.5 * 3600))
    run = random.integers(3600, 12 * 3600, count)
    extra: dict[str, Any] = {
        "submit": random.integers(0, span, count),
        "run": run,
        "estimate": run,
        "procs": CPUS * random.integers(1, 5, count),
        "leave": np.full(count, -1),
        **{name: np.full(count, SYSTEM) for name in ("user", "group", "queue", "partition")},
    }
    columns: dict[str, Any] = {
        name: np.concatenate((getattr(jobs, name), more)) for name, more in extra.items()
    }
    return Workload.from_columns(
        **columns, platform=jobs.platform, name=jobs.name, names=jobs.names
    )


def check_new(folder: Path) -> None:
    """Refuse a folder that already has a file of a dump."""
    there = [kind.file for kind in KINDS.values() if os.path.lexists(folder / kind.file)]
    if there:
        raise InputError(
            f"{folder} has {there[0]} already, which may be of a real site; give a new folder"
        )


def write_dump(folder: Path, truth: Truth, hidden: Sequence[str] = ()) -> Schedule:
    """Write the dump of a site, without some keys of slurm.conf; return its schedule."""
    schedule = run_site(truth)
    write_files(folder, truth, schedule, hidden)
    return schedule


def write_files(folder: Path, truth: Truth, schedule: Schedule, hidden: Sequence[str] = ()) -> None:
    """Write the dump of a site with the starts of a schedule."""
    texts = {
        "accounting": _accounting(schedule),
        "conf": _conf(truth, hidden),
        "sinfo": _sinfo(truth),
        "qos": _qos(truth),
        "associations": _associations(truth),
        "tres": "Type|Name|ID\ncpu||1\nmem||2\nnode||4\n",
        "reservations": "Name|TimeStart|TimeEnd|Flags|NodeName\n",
    }
    for name, text in texts.items():
        write_whole(folder / KINDS[name].file, text.encode())


def _accounting(schedule: Schedule) -> str:
    jobs, columns = schedule.workload, ("Cluster", *ASK.split(","))
    names = jobs.names
    lines = ["|".join(columns)]
    times = {name: _stamps(values) for name, values in {
        "Submit": jobs.submit, "Start": schedule.start, "End": schedule.start + jobs.run,
    }.items()}  # fmt: skip
    for i in range(len(jobs)):
        procs = str(jobs.procs[i])
        fields = {
            "Cluster": CLUSTER,
            "JobIDRaw": str(1000 + i),
            "User": names["user"][int(jobs.user[i])],
            "Account": names["group"][int(jobs.group[i])],
            "Partition": names["partition"][int(jobs.partition[i])],
            "QOS": names["queue"][int(jobs.queue[i])],
            "Eligible": times["Submit"][i],
            "Elapsed": _span(int(jobs.run[i])),
            "Timelimit": _span(int(jobs.estimate[i])),
            "ReqCPUS": procs,
            "AllocCPUS": procs,
            "NNodes": str(-(-int(procs) // CPUS)),
            "ReqTRES": f"cpu={procs},mem={procs}G",
            "AllocTRES": f"cpu={procs},mem={procs}G",
            "ReqMem": "1Gc",
            "Reason": "None",
            "Restarts": "0",
            "State": "COMPLETED",
            **{name: values[i] for name, values in times.items()},
        }
        if schedule.start[i] < 0:
            left = int(jobs.submit[i] + jobs.leave[i])
            fields |= {"State": "CANCELLED by 1000", "Start": "None", "Elapsed": _span(0)}
            fields |= {"End": _stamps(np.array([left]))[0], "AllocCPUS": "0", "AllocTRES": ""}
        lines.append("|".join(fields.get(name, "") for name in columns))
    return "\n".join(lines) + "\n"


def _stamps(values: Int64) -> list[str]:
    return [(BEGIN + timedelta(seconds=one)).isoformat() for one in values.tolist()]


def _span(seconds: int) -> str:
    days, rest = divmod(seconds, DAY)
    return f"{days}-{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"


def _conf(truth: Truth, hidden: Sequence[str]) -> str:
    order = truth.order
    keys: Mapping[str, object] = {
        "ClusterName": CLUSTER,
        "AccountingStorageEnforce": "limits,qos",
        "SchedulerType": "sched/backfill",
        "SchedulerParameters": f"bf_max_job_test={truth.tested}",
        "SelectType": "select/linear" if truth.exclusive else "select/cons_tres",
        "PriorityType": "priority/multifactor",
        "PriorityCalcPeriod": order.calc // 60,
        "PriorityDecayHalfLife": f"{order.halflife // DAY}-{order.halflife % DAY // 3600}",
        "PriorityMaxAge": f"{order.max_age // DAY}-0",
        "PriorityWeightAge": order.age,
        "PriorityWeightFairshare": order.fairshare,
        "PriorityWeightJobSize": order.size,
        "PriorityWeightPartition": order.partition,
        "PriorityWeightQOS": order.qos,
    }
    lines = [f"{key}={value}" for key, value in keys.items() if key not in hidden]
    lines += [
        f"PartitionName={name} Nodes=n[001-{truth.nodes:03}] PriorityJobFactor={factor}"
        + " Default=YES" * (name == "batch")
        for name, factor in PARTITIONS.items()
    ]
    return "\n".join(lines) + "\n"


def _sinfo(truth: Truth) -> str:
    lines = ["NODELIST|PARTITION|CPUS|MEMORY|GRES|STATE"]
    lines += [
        f"n{k:03}|{name}{'*' * (name == 'batch')}|{CPUS}|64000|(null)|allocated"
        for k in range(1, truth.nodes + 1)
        for name in PARTITIONS
    ]
    return "\n".join(lines) + "\n"


def _qos(truth: Truth) -> str:
    columns = ("GrpTRES", "GrpJobs", "MaxTRESPU", "MaxJobsPU")
    lines = ["|".join(("Name", "Priority", "Preempt", *columns))]
    for name, value in QOS.items():
        limits = [truth.limits.get(name, {}).get(column, "") for column in columns]
        lines.append("|".join((name, str(value), "", *limits)))
    return "\n".join(lines) + "\n"


def _associations(truth: Truth) -> str:
    lines = ["Cluster|Account|ParentName|User|Share|GrpJobs|GrpTRES|MaxJobs"]
    lines.append(f"{CLUSTER}|root|||1|||")
    lines += [
        f"{CLUSTER}|{name}|{parent or 'root'}||{shares}|||"
        for name, (parent, shares) in ACCOUNTS.items()
    ]
    users = true_order(truth).users
    lines += [f"{CLUSTER}|{account}||{user}|{share}|||" for (user, account), share in users.items()]
    return "\n".join(lines) + "\n"
