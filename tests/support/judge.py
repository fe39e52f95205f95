"""The same jobs on a real Slurm and in a simulation of its configuration, and the differences."""

from __future__ import annotations

import csv
import io
import random
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from schedfarm.core import read_log, simulate
from schedfarm.core.arrays import Int64
from schedfarm.core.audit.multifactor import Priorities
from schedfarm.core.policy.multifactor import read_multifactor
from schedfarm.core.workload.on_hosts import OnHosts, put_on_hosts
from schedfarm.core.workload.on_resources import OnResources, put_on_resources
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.site.dump.conf import read_conf
from schedfarm.farm.site.dump.reservations import read_reservations
from schedfarm.farm.site.rule import rule_of
from schedfarm.farm.site.windows import Maintained, maintained_of
from tests.support.judged import Accounted, Job, Ran
from tests.support.slurm import slurm

NODES = 64
"""Nodes of one processor each, used exclusively by a job: equivalent to a pool."""

HOSTS = frozenset(f"n{number}" for number in range(1, NODES + 1))

SITE = (
    "add qos high priority=100",
    "add account a fairshare=3 qos=normal,high",
    "add account b fairshare=1 qos=normal,high",
    "add user daemon,bin account=a fairshare=1",
    "add user games,mail account=b fairshare=1",
)

USERS = {"daemon": "a", "bin": "a", "games": "b", "mail": "b"}

CONFIGURATION = """\
SelectTypeParameters=CR_CPU
GresTypes=gpu
PriorityType=priority/multifactor
PriorityCalcPeriod=1
PriorityMaxAge=10
PriorityDecayHalfLife=2
PriorityWeightAge=1000
PriorityWeightFairshare=3000
PriorityWeightJobSize=16
PriorityWeightPartition=400
PriorityWeightQOS=500
DebugFlags=Backfill
SchedulerParameters={scheduler},bf_resolution=1,bf_max_job_test=1000,sched_min_interval=0,batch_sched_delay=0
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityJobFactor=1
PartitionName=express Nodes=ALL MaxTime=INFINITE State=UP PriorityJobFactor=4
"""

ORDER = (
    "multifactor(age=1000, fairshare=3000, size=16, partition=400, qos=500, max_age=10m, calc=1m, "
    "halflife=2m, accounts=(root=1, a=3, b=1), "
    "users=(root@root=1, daemon@a=1, bin@a=1, games@b=1, mail@b=1), qos_priority=(high=100), "
    "partitions=(batch=1, express=4))"
)
"""The configuration; Slurm's own user and account root count in the fair tree."""


@dataclass(frozen=True)
class Scenario:
    """Describe jobs, by the widths to draw from, and the configuration of Slurm for them.

    period: of both schedulers' cycles, s. gpus: nodes with one each, of which half of the narrow
    jobs request them. site: further commands of sacctmgr, and limits: those of the policy that mean
    the same. maintained: number of nodes that are under maintenance while jobs wait.
    """

    widths: Sequence[int]
    scheduler: str = "bf_interval=1,sched_interval=-1"
    period: int = 1
    gpus: int = 0
    ties: bool = False
    site: Sequence[str] = ()
    limits: str = ""
    maintained: int = 0

    @property
    def configuration(self) -> str:
        """The end of slurm.conf."""
        return CONFIGURATION.format(scheduler=self.scheduler)

    @property
    def starts_in_cycles(self) -> bool:
        """Whether the backfill scheduler starts all jobs."""
        return "sched_interval=-1" in self.scheduler

    def policy(self, rule: str, folder: Path) -> str:
        """Return the policy of a rule; `slurm` has the options that the site's files give it."""
        if rule == "slurm":
            path = folder / "slurm.conf"
            path.write_text(self.configuration)
            found, options = rule_of(read_conf(path))
            rule = ",".join(
                (found.value, *(f"{name}={one.value}" for name, one in options.items()))
            )
        return f"{ORDER}+{rule}{self.limits}"

    def hosts(self, gaps: Sequence[Maintained]) -> OnHosts:
        """Return the nodes, those with GPUs last, which jobs without GPUs take last."""
        plain = {"count": NODES - self.gpus, "processors": 1}
        special = [{"count": self.gpus, "processors": 1, "gpus": 1}] if self.gpus else []
        # Node n1 is the first with a GPU, if there is one.
        number = {f"n{k + 1}": (k - self.gpus) % NODES for k in range(NODES)}
        return OnHosts(
            [plain, *special],
            exclusive=True,
            windows=[
                {"from": one.begin, "until": one.end, "hosts": [number[n] for n in one.hosts]}
                for one in gaps
            ],
        )

    def jobs(self, count: int, seconds: int, seed: int) -> list[Job]:
        """Draw jobs that are submitted within some seconds."""
        draw = random.Random(seed)
        # Equal limits lead to ties between a reservation and the end of a backfilled job.
        limits = draw.choices(range(1, 6), k=count) if self.ties else [*range(10, 10 + count)]
        draw.shuffle(limits)
        return [
            Job(
                at=at,
                user=(user := draw.choice([*USERS])),
                account=USERS[user],
                # Half a second less, so that a job ends between two cycles.
                seconds=draw.choice([1, 2, 3, 5, 8, 12, 20]) - 0.5,
                minutes=minutes,
                nodes=(nodes := draw.choice(self.widths)),
                gpus=int(nodes <= self.gpus and draw.random() < 0.5),
                partition=draw.choice(["batch", "batch", "express"]),
                qos=draw.choice(["normal", "normal", "high"]),
            )
            for at, minutes in zip(
                sorted(draw.randrange(seconds) for _ in range(count)), limits, strict=True
            )
        ]

    def run(self, jobs: Sequence[Job]) -> Ran:
        """Run jobs on a separate Slurm."""
        # Users other than root may not enter the folders of pytest, and read their jobs from here.
        with TemporaryDirectory() as folder:
            return self._run(Path(folder), jobs)

    def _run(self, folder: Path, jobs: Sequence[Job]) -> Ran:
        node = "CPUs=1 RealMemory=8000"
        # Jobs without GPUs take these nodes last.
        special = [f"{node} Gres=gpu:1 Weight=10"] * self.gpus
        one = Accounted(
            folder, special + [node] * (NODES - self.gpus),
            self.configuration, (*SITE, *self.site),
            f"NodeName=n[1-{self.gpus}] Name=gpu File=/dev/null\n" if self.gpus else "",
        )  # fmt: skip
        with slurm(one):
            one.align(self.period)
            if self.maintained:
                one.maintain(f"n[1-{self.maintained}]", *MAINTENANCE)
            return one.run(jobs)


MAINTENANCE = 20, 50
"""Begin and end of the maintenance, s after the first submission or a little earlier."""

TWO = (4,) * 19 + (NODES,)

MANY = (1, 1, 2, 3, 4, 4, 6, 8, 16, 32)

SCENARIOS = {
    "two widths": Scenario(TWO),
    "gpus": Scenario((4,), gpus=16),
    "limits": Scenario(
        (4,),
        site=(
            "modify qos high set MaxJobsPerUser=2",
            "modify account b set GrpTRES=cpu=24",
            "modify user daemon set MaxJobs=3",
        ),
        limits=(
            ",limits=(qos.high.MaxJobsPerUser=2, account.b.GrpTRES=cpu=24, user.daemon@a.MaxJobs=3)"
        ),
    ),
    "everything": Scenario(
        (4,) * 29 + (NODES,),
        gpus=16,
        site=("modify qos high set MaxJobsPerUser=2", "modify account b set GrpJobs=6"),
        limits=",limits=(qos.high.MaxJobsPerUser=2, account.b.GrpJobs=6)",
    ),
    "two widths, ties": Scenario(TWO, ties=True),
    "two widths, both schedulers": Scenario(TWO, "bf_interval=1,sched_interval=1"),
    "two widths, slow cycles": Scenario(TWO, "bf_interval=10,sched_interval=30", period=30),
    "maintenance": Scenario((4,) * 19 + (NODES // 2,), maintained=24),
    "many widths": Scenario(MANY),
    "many widths, busy nodes": Scenario(MANY, "bf_interval=1,sched_interval=-1,bf_busy_nodes"),
}


class Comparison(NamedTuple):
    """Hold starts and waits of the real run and of the simulation, s."""

    real: Int64
    simulated: Int64
    real_wait: Int64
    simulated_wait: Int64

    @property
    def late(self) -> Int64:
        """Delay of the starts under Slurm, s."""
        return self.real - self.simulated


@dataclass
class Controller:
    """The controller's log: instants of its cycles and of the jobs' events, Unix s."""

    text: str
    cycles: list[float] = field(default_factory=list)
    submitted: dict[int, float] = field(default_factory=dict)
    started: dict[int, float] = field(default_factory=dict)
    ended: dict[int, float] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kinds = (
            (
                re.compile(r"_slurm_rpc_submit_batch_job: JobId=(\d+) InitPrio=(\d+)"),
                self.submitted,
            ),
            (re.compile(r"(?:_start_job: Started|sched: Allocate) JobId=(\d+)"), self.started),
            (re.compile(r"_job_complete: JobId=(\d+) done"), self.ended),
        )
        for line in self.text.splitlines():
            found = re.match(r"\[(\S+)\] (.*)", line)
            if not found:
                continue
            instant = datetime.fromisoformat(found[1]).timestamp()
            if "_attempt_backfill: beginning" in line:
                self.cycles.append(instant)
            for pattern, table in kinds:
                if job := pattern.search(found[2]):
                    table[int(job[1])] = instant
                    if table is self.submitted:
                        self.first[int(job[1])] = int(job[2])


PERIOD = 60
"""PriorityCalcPeriod, s."""


def _rows(ran: Ran) -> list[dict[str, str]]:
    """Return the rows of sacct."""
    return list(csv.DictReader(io.StringIO(ran.accounting), delimiter="|"))


def _second(ran: Ran, instant: float) -> int:
    """Return the second of an instant since the calculation of priorities before all jobs.

    A calculation that waited for a lock is late, and what precedes it has to do so here too.
    """
    last = ran.calculated[bisect_right(ran.calculated, instant) - 1]
    return PERIOD * round((last - ran.calculated[0]) / PERIOD) + min(
        int(instant - last), PERIOD - 1
    )


def _written(zero: datetime, rows: list[dict[str, str]]) -> str:
    """Return rows as sacct prints them, after a job without run time at an instant.

    With it the simulation calculates priorities at the instants at which Slurm did.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], delimiter="|", lineterminator="\n")
    writer.writeheader()
    at = dict.fromkeys(("Submit", "Eligible", "Start", "End"), zero.isoformat())
    writer.writerow(rows[0] | at | {"JobIDRaw": "0", "Elapsed": "00:00:00"})
    writer.writerows(rows)
    return text.getvalue()


def _zero(ran: Ran) -> datetime:
    """Return the second of the first calculation, which is before all jobs."""
    return datetime.fromtimestamp(ran.zero)


def in_seconds(ran: Ran) -> str:
    """Return the accounting with the seconds that Slurm wrote."""
    return _written(_zero(ran), _rows(ran))


def on_cycles(ran: Ran) -> str:
    """Return the accounting with each submission and end at the first cycle that includes it.

    Seconds are counted from an instant of PriorityCalcPeriod, since a cycle in the same second may
    precede or follow it.
    """
    controller = Controller(ran.controller)
    rows, zero = _rows(ran), _zero(ran)

    def seen(instant: float) -> int:
        return _second(ran, controller.cycles[bisect_left(controller.cycles, instant)])

    for row in rows:
        job = int(row["JobIDRaw"])
        begin = controller.cycles[bisect_right(controller.cycles, controller.started[job]) - 1]
        start, submit = _second(ran, begin), seen(controller.submitted[job])
        run = seen(controller.ended[job]) - start
        at = {"Submit": submit, "Eligible": submit, "Start": start, "End": start + run}
        for name, seconds in at.items():
            row[name] = (zero + timedelta(seconds=seconds)).isoformat()
        row["Elapsed"] = str(timedelta(seconds=run))
    return _written(zero, rows)


def _gaps(work: Workload, reserved: str, path: Path) -> Sequence[Maintained]:
    """Return the maintenance of a table of reservations, written next to a path."""
    table = path.with_suffix(".reservations")
    table.write_text(reserved)
    return maintained_of(work, read_reservations(table), HOSTS, apart=False)[0]


RULES = ("conservative", "slurm")
"""Rules of the simulation: passes at events, and Slurm's schedulers with their cadence."""


MACHINES = ("pool", "hosts")
"""Machines of the simulation: one pool, with GPUs in one stock, and the nodes themselves."""


def compare(
    accounting: str,
    scenario: Scenario,
    path: Path,
    rule: str = RULES[0],
    reserved: str = "",
    machine: str = MACHINES[0],
) -> Comparison:
    """Simulate the jobs of an accounting, which is written to a path, and compare.

    reserved: the table of reservations, whose maintenance is simulated.
    """
    path.write_text(accounting)
    work = read_log(path, processors=NODES)
    start = work.submit + work.logged_wait
    gaps = _gaps(work, reserved, path) if scenario.maintained else []
    if machine == "hosts":
        work = put_on_hosts(work, scenario.hosts(gaps))
    elif scenario.gpus or gaps:
        stocks = {"gpus": scenario.gpus} if scenario.gpus else {}
        withheld = [
            {"from": one.begin, "until": one.end, "processors": len(one.hosts)} for one in gaps
        ]
        work = put_on_resources(work, OnResources(**stocks, windows=withheld))
    found = simulate(work, scenario.policy(rule, path.parent))
    # The first job is not one of Slurm's.
    return Comparison(start[1:], found.start[1:], work.logged_wait[1:], found.wait[1:])


def one_line(one: Comparison) -> str:
    """Return the figures of a comparison."""
    late, real, simulated = np.abs(one.late), one.real_wait.mean(), one.simulated_wait.mean()
    shares = ", ".join(f"{np.mean(late <= most):.1%} within {most} s" for most in (0, 1, 2, 5))
    return (
        f"{len(late)} starts, {shares}, largest difference {late.max()} s; mean wait "
        f"{real:.2f} s, simulated {simulated:.2f} s ({simulated / real - 1:+.1%})"
    )


def one_priorities(given: Int64, computed: Int64) -> str:
    """Return the figures of a comparison of priorities."""
    off = np.abs(given - computed)
    return (
        f"{len(off)} priorities, {np.mean(off <= 2):.1%} within 2, largest difference {off.max()}"
    )


def priorities(ran: Ran, path: Path) -> tuple[Int64, Int64]:
    """Return all priorities that squeue printed of waiting jobs, and those of the semantics."""
    path.write_text(in_seconds(ran))
    work = read_log(path, processors=NODES)
    start = work.submit + work.logged_wait
    of = Priorities(read_multifactor(ORDER), work, start, start + work.run)
    given, computed = [], []
    for instant, waiting in ran.waiting:
        now = int(work.submit[0]) + _second(ran, instant)
        given += waiting.values()
        # Jobs have the numbers 1, 2, ... in the order of their submission.
        computed += of(np.array([*waiting], np.int64), now).tolist()
    return np.array(given, np.int64), np.array(computed, np.int64)
