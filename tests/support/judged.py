"""A Slurm with accounting that runs short jobs, and its records of them."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from schedfarm.farm.site.dump.kinds import KINDS
from tests.support.slurm import Slurm, wait

PROGRAMS = ("slurmdbd", "mariadbd", "mariadb-install-db", "sacctmgr", "sacct")
"""Programs that are needed in addition to those of a Slurm without accounting."""

COLUMNS = (
    "JobIDRaw,User,Account,Partition,QOS,Submit,Eligible,Start,End,Elapsed,Timelimit,ReqCPUS,"
    "AllocCPUS,NNodes,ReqTRES,AllocTRES,Priority,State"
)

DATABASE = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdPort={slurmdbd}
SlurmUser={user}
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={mariadbd}
StorageUser=root
StorageLoc=slurm
"""

ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={slurmdbd}
AccountingStoragePass={folder}/munge.socket
AccountingStorageEnforce=associations,limits,qos
AccountingStorageTRES=gres/gpu
"""

PATIENCE = 240
"""Time within which all jobs end, s."""


@dataclass(frozen=True)
class Job:
    """Describe a job: submission, s, requests, and run time; it sleeps for some seconds."""

    at: float
    user: str
    account: str
    seconds: float
    minutes: int
    nodes: int
    gpus: int = 0
    partition: str = ""
    qos: str = ""

    def command(self) -> list[str]:
        """Return the command that submits it; gpus are for each of its nodes."""
        words = {
            "uid": self.user, "account": self.account, "nodes": self.nodes, "time": self.minutes,
            "partition": self.partition, "qos": self.qos, "gpus-per-node": self.gpus,
            "output": "/dev/null", "chdir": "/", "wrap": f"exec sleep {self.seconds}",
        }  # fmt: skip
        return ["sbatch", *(f"--{key}={value}" for key, value in words.items() if value)]


class Ran(NamedTuple):
    """Hold the output of sacct, the controller and squeue, and the times of priority calculations,
    s.

    zero: the second for which they were calculated first, before all jobs. waiting: an instant and
    the jobs that waited then with their priorities. Unix time. reservations: sacctmgr's table.
    """

    accounting: str
    controller: str
    calculated: list[float]
    zero: int
    waiting: list[tuple[float, dict[int, int]]]
    reservations: str


class Accounted(Slurm):
    """A Slurm with a database, set up by commands of sacctmgr."""

    def __init__(
        self, folder: Path, nodes: Sequence[str], rest: str, site: Iterable[str], gres: str = ""
    ) -> None:
        super().__init__(folder, nodes)
        self.further = dict(zip(("slurmdbd", "mariadbd"), self.ports[1:3], strict=True))
        self.rest = ACCOUNTING.format(folder=folder, **self.further) + rest
        self.site, self.gres = tuple(site), gres

    def prepare(self, stack: ExitStack) -> None:
        """Start the database, and enter the site's accounts and users."""
        data, socket = self.folder / "db", self.folder / "db.socket"
        subprocess.run(
            ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}",
             f"--tmpdir={self.folder}", "--auth-root-authentication-method=normal",
             "--skip-test-db"],
            check=True, capture_output=True,
        )  # fmt: skip
        self.daemon(
            stack, "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}",
            f"--socket={socket}", f"--port={self.further['mariadbd']}", "--bind-address=127.0.0.1",
            "--skip-name-resolve", f"--pid-file={self.folder}/mariadbd.pid",
            "--innodb-flush-log-at-trx-commit=0",
        )  # fmt: skip
        wait(socket.exists, "the database")
        text = DATABASE.format(folder=self.folder, user="root", **self.further)
        (self.folder / "slurmdbd.conf").touch(0o600)
        (self.folder / "slurmdbd.conf").write_text(text)
        (self.folder / "gres.conf").write_text(self.gres)
        self.daemon(stack, "slurmdbd", "-D")
        wait(lambda: self.said("sacctmgr", "-nP", "list", "qos"), "slurmdbd")
        for one in ("add cluster tried", *self.site):
            subprocess.run(["sacctmgr", "-i", *one.split()], check=True, capture_output=True)

    def align(self, period: int) -> None:
        """Make the controller's cycles of some period, s, begin half a second after a calculation.

        A thread that sleeps between two cycles goes on at once where its time has passed while the
        process was stopped. Calculations of priorities have a multiple of the period.
        """
        os.kill(self.controller.pid, signal.SIGSTOP)
        time.sleep(period + 0.1)
        time.sleep((self._calculated() + 0.5 - time.time()) % period)
        os.kill(self.controller.pid, signal.SIGCONT)

    def run(self, jobs: Sequence[Job]) -> Ran:
        """Submit jobs at their times, wait until all have ended, and return the records."""
        calculated = {self._calculated()}
        (zero,) = struct.unpack_from(">q", self._decayed.read_bytes())
        first = time.time() + 1 + (min(calculated) - time.time()) % 1
        for job in jobs:
            time.sleep(max(first + job.at - time.time(), 0))
            subprocess.run(job.command(), check=True, capture_output=True)
            calculated.add(self._calculated())
        seen: list[tuple[float, dict[int, int]]] = []

        def has_ended() -> bool:
            before = self._calculated()
            queue = self.said("squeue", "-h", "-t", "PD,R,CG", "-o", "%t %i %Q").splitlines()
            words = [line.split() for line in queue]
            waiting = {int(job): int(value) for state, job, value in words if state == "PD"}
            instant = time.time()
            time.sleep(1)
            calculated.add(self._calculated())
            # Priorities that were calculated meanwhile may be from before or after it.
            if self._calculated() == before:
                seen.append((instant, waiting))
            return not queue

        wait(has_ended, "the jobs' end", PATIENCE)
        wait(lambda: self._accounting().count("COMPLETED") == len(jobs), "the last row", 30)
        log = (self.folder / "slurmctld.log").read_text()
        return Ran(self._accounting(), log, sorted(calculated), zero, seen, self.reservations())

    def maintain(self, hosts: str, begin: int, end: int) -> None:
        """Reserve nodes for maintenance from some seconds on until some seconds from now."""
        words = f"ReservationName=fix StartTime=now+{begin} EndTime=now+{end} Flags=MAINT"
        subprocess.run(
            ["scontrol", "create", "reservation", *words.split(), f"Nodes={hosts}", "Users=root"],
            check=True, capture_output=True,
        )  # fmt: skip

    def reservations(self) -> str:
        """Return the table of reservations as the script of a dump prints it."""
        command = KINDS["reservations"].command
        return self.said("sh", "-c", f"CLUSTER=tried FROM=now-1days TO=now+1days\n{command}")

    def _calculated(self) -> float:
        """Return the instant of the last calculation of priorities."""
        while True:
            try:
                return self._decayed.stat().st_mtime
            except FileNotFoundError:
                # The controller removes the old file before it links the new one.
                time.sleep(0.01)

    @property
    def _decayed(self) -> Path:
        """The file that the controller writes after each calculation; it begins with its second."""
        return self.folder / "state" / "priority_last_decay_ran"

    def _accounting(self) -> str:
        # By default sacct begins at midnight.
        begin = "--starttime=now-1days"
        return self.said("sacct", "--allusers", "--allocations", "-P", begin, f"--format={COLUMNS}")
