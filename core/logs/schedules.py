"""A schedule out of anyone's log: starts by its wait times, runs as it says."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.arrays import HORIZON, NO_PROMISE, Int64
from core.errors import InputError
from core.logs.rows import check_sizes
from core.logs.swf import read_log
from core.schedule import Schedule
from core.workload.workload import Workload

KILL_MARK = 1
"""A killed job is written as running so much past its request, s (`core.write_swf`)."""


@dataclass(frozen=True, eq=False)
class LoggedSchedule(Schedule):
    """Hold a schedule that a log tells, with what its jobs ran past their estimates.

    Parameters
    ----------
    overrun : int64[n]
        Seconds that the log has the job run on after it should have been killed.
    """

    overrun: Int64 = field(kw_only=True)


def read_schedule(path: str | os.PathLike[str], processors: int | None = None) -> LoggedSchedule:
    """Read the schedule that a log of the Standard Workload Format tells.

    A job starts at its submit time + its wait time (field 3), before it where the log says less
    than -1. Rows that cannot be placed are left out and counted by reason in the workload's
    `dropped`, the unknown waits, -1, under ``no wait``; on the real machine such jobs may have
    held processors all the same.

    Parameters
    ----------
    path : path
        The log, plain or gzip.
    processors : int, optional
        Size of the machine; by default what the header says.

    Returns
    -------
    LoggedSchedule
        The jobs that can be placed, in (submit, position) order; its policy's name is empty.

    Raises
    ------
    InputError
        If the file cannot be read, nobody gives the machine's size, no job can be placed, or one
        is placed beyond the clock.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from core import Workload, simulate, write_swf
    >>> w = Workload.from_columns(submit=[0, 1], run=[5, 5], estimate=[6, 6], procs=[2, 2],
    ...                           processors=3)
    >>> with TemporaryDirectory() as folder:
    ...     write_swf(w, folder + "/two.swf", simulate(w, "fcfs+easy"))
    ...     read_schedule(folder + "/two.swf").start.tolist()
    [0, 5]
    """
    source = os.fspath(path)
    check_sizes(source, processors, None)
    log = read_log(path)
    machine = log.processors if processors is None else processors
    if machine < 1:
        raise InputError(f"{path}: the header gives no machine size; give processors, at least 1")
    column = log.columns
    procs = np.where(column["requested"] > 0, column["requested"], column["allocated"])
    faults = {
        "no wait": column["wait"] == -1,
        "no procs": procs <= 0,
        "too wide": procs > machine,
        "no run": column["run"] < 0,
        "no submit": column["submit"] < 0,
    }
    bad = np.logical_or.reduce(list(faults.values()))
    if bad.all():
        raise InputError(f"{path}: no job can be placed; a schedule's log gives wait times")
    keep = np.flatnonzero(~bad)
    keep = keep[np.argsort(column["submit"][keep], kind="stable")]
    return _placed(
        {name: values[keep] for name, values in column.items()},
        procs[keep],
        machine,
        source,
        log.max_estimate,
        _counted(faults),
    )


def _counted(faults: dict[str, npt.NDArray[np.bool_]]) -> dict[str, int]:
    """Count each row under the first reason that applies."""
    counts, seen = {}, np.zeros_like(faults["no wait"])
    for reason, fault in faults.items():
        count = int(np.count_nonzero(fault & ~seen))
        seen = seen | fault
        if count:
            counts[reason] = count
    return counts


def _placed(
    column: dict[str, Int64],
    procs: Int64,
    machine: int,
    name: str,
    longest: int,
    dropped: dict[str, int],
) -> LoggedSchedule:
    run, asked, wait = column["run"], column["request_time"], column["wait"]
    estimate = np.where(asked > 0, asked, run)
    work = Workload(
        submit=column["submit"], run=np.minimum(run, estimate), estimate=estimate, procs=procs,
        user=column["user"], job=column["job"], killed=run > estimate, processors=machine,
        name=name, max_estimate=longest, dropped=dropped,
    )  # fmt: skip
    # The workload holds every submit + estimate within HORIZON; so much again fits int64.
    absurd = (wait >= HORIZON) | (wait <= -HORIZON)
    if absurd.any():
        row = int(np.argmax(absurd))
        raise InputError(
            f"{name}: job {work.job[row]} waits {wait[row]} s, past the clock's {HORIZON}; "
            "check the units of the log's times"
        )
    n = len(work)
    return LoggedSchedule(
        workload=work,
        policy="",
        start=work.submit + wait,
        backfilled=np.zeros(n, np.bool_),
        promises=np.full(n, NO_PROMISE, np.int64),
        overrun=np.maximum(run - estimate - KILL_MARK, 0),
    )
