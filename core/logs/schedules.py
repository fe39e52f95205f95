"""A schedule out of anyone's log: starts by its wait times, runs as it says."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.arrays import HORIZON, Bool, Int64
from core.errors import InputError
from core.logs.clean import AS_HERE, Clean
from core.logs.rows import (
    by_submit,
    check_sizes,
    faults_of,
    job_columns,
    log_name,
    processors_of,
    sound_rows,
)
from core.logs.swf import read_log
from core.platform.pool import Pool
from core.schedule import Schedule
from core.workload.workload import Workload

KILL_MARK = 1
"""A killed job is written as running so much past its request, s (`core.write_swf`)."""


@dataclass(frozen=True, eq=False, init=False)
class LoggedSchedule(Schedule):
    """Hold a schedule that a log tells, with what its jobs ran past their estimates.

    Unlike a simulation, a log may say anything, starts before the clock's 0 too: audits name them.

    Parameters
    ----------
    workload, policy, start, backfilled, **given
        As for `core.Schedule`.
    overrun : int64[n]
        Seconds that the log has the job run on after it should have been killed.
    """

    overrun: Int64

    def __init__(
        self,
        workload: Workload,
        policy: str,
        start: Int64,
        backfilled: Bool,
        *,
        overrun: Int64,
        **given: Any,
    ) -> None:
        super().__init__(workload, policy, start, backfilled, **given)
        object.__setattr__(self, "overrun", overrun)

    def _check(self) -> None:
        pass


def read_schedule(
    path: str | os.PathLike[str], processors: int | None = None, clean: Clean = AS_HERE
) -> LoggedSchedule:
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
    clean : Clean
        Which processors, estimates and run times count, as for `core.read_log`.

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
    column, procs = log.columns, processors_of(log.columns, clean)
    faults = {"no wait": column["wait"] == -1, **faults_of(column, procs, machine, clean)}
    keep, dropped = sound_rows(faults)
    if not keep.size:
        raise InputError(f"{path}: no job can be placed; a schedule's log gives wait times")
    order = by_submit(column, keep)
    work = Workload(
        **job_columns(column, procs, order, clean, log_name(source)),
        platform=Pool(machine),
        name=source,
        max_estimate=clean.limit(log.max_estimate),
        dropped=dropped,
        epoch=log.epoch,
    )
    ran = column["run"][order].astype(np.int64, copy=False)
    return _placed(work, column["wait"][order], np.minimum(ran, HORIZON) + clean.run_plus)


def _placed(work: Workload, wait: Int64, run: Int64) -> LoggedSchedule:
    # The workload holds every submit + estimate within HORIZON; so much again fits int64.
    absurd = (wait >= HORIZON) | (wait <= -HORIZON)
    if absurd.any():
        row = int(np.argmax(absurd))
        raise InputError(
            f"{work.name}: job {work.job[row]} waits {wait[row]} s, past the clock's {HORIZON}; "
            "check the units of the log's times"
        )
    overrun = np.where(work.killed, run - work.estimate - KILL_MARK, 0)
    start, never = work.submit + wait, np.zeros(len(work), np.bool_)
    return LoggedSchedule(work, "", start, never, overrun=overrun)
