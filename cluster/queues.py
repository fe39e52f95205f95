"""Batch systems: one row each, with their commands and states."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.walltime import walltime_seconds

ANSWER_SECONDS = 60.0
"""Longest wait for a command of a batch system, s."""

GONE = "ended"
"""State of a job that its batch system no longer lists."""


@dataclass(frozen=True)
class Queue:
    """Describe the commands and states of one batch system.

    Parameters
    ----------
    cluster : str
        Class in `dask_jobqueue` that writes and submits jobs.
    ask : tuple of str
        Command that lists the user's jobs, one per line.
    number, state : int
        Columns of the list of jobs, counted from 0, or from -1 at the end.
    stop : tuple of str
        Command that sends SIGTERM to a job's script; the job's number is to be appended.
    over : tuple of str
        States of ended jobs that are still listed.
    waiting : tuple of str
        States of pending jobs.
    defaults : mapping
        Defaults of options that neither the spec nor Dask's configuration sets.
    alone, pair : int
        Unit, in seconds, of a walltime that is one number, and of the first part of a walltime of
        two parts; see `cluster.walltime.walltime_seconds`.
    inline : bool
        Whether a job is a single command line instead of a script.
    array : tuple of str
        Directives of an array of `{count}` jobs, numbered from 1; empty if `farm submit` supports
        no arrays.
    index : str
        Environment variable with the number of a job of an array.
    """

    cluster: str
    ask: tuple[str, ...]
    stop: tuple[str, ...]
    number: int = 0
    state: int = 1
    over: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    alone: int = 1
    pair: int = 60
    inline: bool = False
    array: tuple[str, ...] = ()
    index: str = ""


QUEUES: Mapping[str, Queue] = {
    "slurm": Queue(
        "SLURMCluster",
        ask=("squeue", "--me", "--noheader", "--states=all", "--format=%i %T"),
        # With --batch the script gets the signal; without --batch only the job's steps would get
        # the signal.
        stop=("scancel", "--batch", "--signal=TERM"),
        over=(
            "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL",
            "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT",
        ),
        waiting=("PENDING", "CONFIGURING", "REQUEUED", "SUSPENDED"),
        # Lost jobs are replaced by new ones, so requeued jobs would exceed the number of workers.
        defaults={"job_extra_directives": ["--no-requeue"]},
        alone=60,
        array=("--array=1-{count}",),
        index="SLURM_ARRAY_TASK_ID",
    ),
    "pbs": Queue(
        "PBSCluster",
        ask=("qstat",),
        state=4,
        stop=("qsig", "-s", "TERM"),
        over=("C", "E", "F", "X"),
        waiting=("H", "Q", "S", "T", "W"),
        defaults={"job_extra_directives": ["-r n"]},
        # An array must be rerunnable.
        array=("-r y", "-J 1-{count}"),
        index="PBS_ARRAY_INDEX",
    ),
    "sge": Queue(
        "SGECluster",
        ask=("qstat",),
        state=4,
        # The qdel of this system sends only SIGKILL, which a script cannot handle.
        stop=("qdel",),
        waiting=("qw", "hqw", "Eqw"),
        defaults={"job_extra_directives": ["-r n"]},
        array=("-t 1-{count}",),
        index="SGE_TASK_ID",
    ),
    "lsf": Queue(
        "LSFCluster",
        ask=("bjobs", "-a", "-noheader", "-o", "jobid stat"),
        stop=("bkill", "-s", "TERM"),
        over=("DONE", "EXIT", "ZOMBI"),
        waiting=("PEND", "PSUSP", "WAIT"),
        defaults={"job_extra_directives": ["-rn"], "use_stdin": True},
        alone=60,
        pair=3600,
    ),
    "htcondor": Queue(
        "HTCondorCluster",
        ask=("condor_q", "-af:j", "JobStatus"),
        # This command sends SIGTERM, and SIGKILL minutes later.
        stop=("condor_rm",),
        over=("3", "4", "6"),
        waiting=("1", "5", "7"),
        defaults={"disk": "1 GB"},
        inline=True,
    ),
    "oar": Queue(
        "OARCluster",
        ask=("oarstat", "-u"),
        state=-2,
        stop=("oardel", "-s", "SIGTERM"),
        over=("E", "T", "F"),
        waiting=("W", "L", "H", "t"),
        defaults={"memory_per_core_property_name": "not_applicable"},
        array=("--array {count}",),
        index="OAR_ARRAY_INDEX",
        alone=3600,
        pair=3600,
    ),
}  # fmt: skip


def check_command(kind: str, command: str) -> None:
    """Refuse a batch system whose commands are missing on this machine."""
    if shutil.which(command) is None:
        raise ClusterError(
            f"{kind}: the command {command} is not on this machine; run this where jobs are "
            "submitted, such as a login node"
        )


def states(queue: Queue, jobs: Iterable[str]) -> dict[str, str] | None:
    """Return the states of jobs in the terms of their batch system."""
    wanted = list(jobs)
    text = said(queue.ask) if wanted else ""
    if text is None:
        return None
    listed = parse_states(queue, text)
    return {job: listed.get(_plain(job), GONE) for job in wanted}


def parse_states(queue: Queue, text: str) -> dict[str, str]:
    r"""Parse a batch system's list of jobs.

    Examples
    --------
    >>> parse_states(QUEUES["slurm"], "12 RUNNING\n13_[1-4] PENDING\n")
    {'12': 'RUNNING', '13_[1-4]': 'PENDING'}
    >>> parse_states(QUEUES["pbs"], "Job id  Name  User  Time Use S Queue\n7.host w u 00:01 R q")
    {'7': 'R'}
    """
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) > max(queue.number, abs(queue.state)) - (queue.state < 0):
            job = _plain(words[queue.number])
            if job[:1].isdigit():
                found[job] = words[queue.state]
    return found


def is_over(queue: Queue, state: str) -> bool:
    """Return whether a job in this state has ended."""
    return state in (GONE, *queue.over)


def walltime_of(queue: Queue, options: Mapping[str, Any]) -> int | None:
    """Return the walltime in a job's options, s; None without a walltime."""
    return walltime_seconds(options.get("walltime"), queue.alone, queue.pair)


def said(command: Iterable[str]) -> str | None:
    """Return the output of a command; None if the command is missing, fails or hangs."""
    try:
        done = subprocess.run(
            list(command), capture_output=True, text=True, timeout=ANSWER_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def _plain(job: str) -> str:
    """Return a job's number without the server's name; PBS lists 7.host as 7.ho."""
    number, dot, rest = job.partition(".")
    return job if rest.isdigit() else number
