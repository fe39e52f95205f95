"""A private Slurm: munge, a controller and nodes on the loopback interface, in one folder."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from tests.support.harness import PATIENCE

LOOK_SECONDS = 0.2
"""Time between two checks, s: each is a process."""

DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = ("sbatch", "squeue", "scancel", "scontrol", "sinfo")

CONFIGURATION = """\
ClusterName=tried
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoAddrCache
MpiDefault=none
SwitchType=switch/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SchedulerType=sched/backfill
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=15
InactiveLimit=0
KillWait=3
OverTimeLimit=0
MinJobAge=600
Waittime=0
{nodes}
{rest}
"""

SMALL = """\
AccountingStorageType=accounting_storage/none
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=defer_batch=0,bf_interval=2,sched_interval=2,sched_min_interval=0,batch_sched_delay=0
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO"""
"""Default end of the configuration."""


def missing(*commands: str) -> str:
    """Return why there can be no Slurm here, with these commands; nothing where there can."""
    lacking = [one for one in (*DAEMONS, *COMMANDS, *commands) if _which(one) is None]
    if lacking:
        return f"not installed: {', '.join(lacking)}; .ci/run says how"
    return "" if os.geteuid() == 0 else "Slurm's daemons start jobs as other users only for root"


def wait(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Check a condition, which may query Slurm, until it is true, and return its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(LOOK_SECONDS)
    raise AssertionError(f"waited {seconds:.0f} s in vain for {what}")


class Slurm:
    """Nodes in a folder, by default three of one processor each, more than this machine may have.

    `nodes` describes each of them, `rest` ends the configuration.
    """

    def __init__(
        self,
        folder: Path,
        nodes: Sequence[str] = ("CPUs=1 RealMemory=8000",) * 3,
        rest: str = SMALL,
    ) -> None:
        self.folder, self.rest = folder, rest
        self.nodes = {f"n{number}": one for number, one in enumerate(nodes, 1)}
        self.configuration = folder / "slurm.conf"
        # One for each node, the controller, and two that a subclass needs.
        self.ports = free_ports(len(nodes) + 3)

    def start(self, stack: ExitStack) -> None:
        """Start the daemons, and wait until every node is idle."""
        host = socket.gethostname().partition(".")[0]
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
            f"{one} State=UNKNOWN"
            for (name, one), port in zip(self.nodes.items(), self.ports[3:], strict=True)
        )
        self.configuration.write_text(
            CONFIGURATION.format(
                host=host,
                port=self.ports[0],
                folder=self.folder,
                nodes=nodes,
                user=os.environ["USER"],
                rest=self.rest,
            )
        )
        (self.folder / "state").mkdir()
        self._munge(stack)
        self.prepare(stack)
        self.controller = self.daemon(stack, "slurmctld", "-D", "-f", str(self.configuration))
        for name in self.nodes:
            (self.folder / f"spool-{name}").mkdir()
            self.daemon(stack, "slurmd", "-D", "-f", str(self.configuration), "-N", name)
        wait(self._are_idle, "the nodes")

    def _are_idle(self) -> bool:
        states = self.said("sinfo", "-h", "-N", "-o", "%N %T").splitlines()
        return set(states) == {f"{name} idle" for name in self.nodes}

    def prepare(self, stack: ExitStack) -> None:
        """Start what the controller needs in addition to munge."""

    def said(self, *command: str) -> str:
        """Return the output of a command of Slurm; empty if it fails."""
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def jobs(self, *states: str) -> list[str]:
        """Return the ids of the jobs in some states, in the order of their submission.

        A task of an array is a job of its own (``15_2``), pending ones included.
        """
        wanted = ",".join(states) or "RUNNING"
        listed = self.said(
            "squeue", "--array", "--noheader", f"--states={wanted}", "--format=%i"
        ).split()
        return sorted(listed, key=lambda job: [int(part) for part in job.split("_")])

    def state(self, job: str) -> str:
        """Return the state of a job."""
        return self.said("squeue", "--noheader", "--states=all", "-j", job, "-o", "%T").strip()

    def end_jobs(self) -> None:
        """Cancel all remaining jobs, and wait until they have ended."""
        left = self.jobs("PENDING", "RUNNING", "COMPLETING")
        if left:
            self.said("scancel", *left)
            # A job that ignores it is killed after KillWait.
            wait(lambda: not self.jobs("PENDING", "RUNNING", "COMPLETING"), "the jobs' end")

    def _munge(self, stack: ExitStack) -> None:
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(1024))
        names = {"key": "key", "socket": "socket", "pid": "pid", "seed": "seed"}
        files = [f"--{one}-file={self.folder}/munge.{name}" for one, name in names.items()]
        files[1] = f"--socket={self.folder}/munge.socket"
        self.daemon(
            stack, "munged", "--foreground", "--force", "--num-threads=2", *files,
            f"--log-file={self.folder}/munged.log",
        )  # fmt: skip
        wait((self.folder / "munge.socket").exists, "munge")

    def daemon(self, stack: ExitStack, name: str, *options: str) -> subprocess.Popen[bytes]:
        """Start a program that ends with the context."""
        with (self.folder / "daemons.log").open("ab") as log:
            process = subprocess.Popen(
                [str(_which(name)), *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                start_new_session=True,
            )  # fmt: skip
        stack.callback(_end, process)
        return process


@contextmanager
def slurm(one: Path | Slurm) -> Iterator[Slurm]:
    """Start a Slurm, and point this process and its children to it until the context ends."""
    one = one if isinstance(one, Slurm) else Slurm(one)
    # munge refuses a socket in a folder that others may write, or that it may not read.
    one.folder.chmod(0o755)
    old = dict(os.environ)
    os.environ.setdefault("USER", "root")
    os.environ["SLURM_CONF"] = str(one.configuration)
    try:
        with ExitStack() as stack:
            stack.callback(_end_jobs_without_daemons, one.configuration)
            one.start(stack)
            stack.callback(one.end_jobs)
            yield one
    finally:
        os.environ.clear()
        os.environ.update(old)


def _which(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)


def _end_jobs_without_daemons(configuration: Path) -> None:
    """Kill the jobs that a controller or a node that failed could not end."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            # The title of slurmstepd takes the place of its environment.
            if process.cwd() == str(configuration.parent) or process.environ().get(
                "SLURM_CONF"
            ) == str(configuration):
                process.kill()


def free_ports(count: int) -> list[int]:
    """Return free ports in a row; another program might still take one.

    They are below those that Linux gives to connections. A row meets another Slurm's ports less
    often than single ports do.
    """
    while True:
        first = random.randrange(20_000, 32_000 - count)
        ports = list(range(first, first + count))
        with ExitStack() as stack, suppress(OSError):
            for port in ports:
                one = stack.enter_context(socket.socket())
                one.bind(("127.0.0.1", port))
            return ports
