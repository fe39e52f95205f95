"""A schedule out of anyone's log: starts by its wait times, runs as it says."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.clean import AS_HERE, Clean
from schedfarm.core.logs.rows import check_sizes, kept_rows, to_workload
from schedfarm.core.logs.swf import USED, machine_of, read_fields
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Workload

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


def read_swf_schedule(
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
        Which processors, estimates and run times count, as for `core.read_log`; rows without a
        wait are left out all the same.

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
    >>> from schedfarm.core import Workload, simulate, write_swf
    >>> w = Workload.from_columns(submit=[0, 1], run=[5, 5], estimate=[6, 6], procs=[2, 2],
    ...                           processors=3)
    >>> with TemporaryDirectory() as folder:
    ...     write_swf(w, folder + "/two.swf", simulate(w, "fcfs+easy"))
    ...     read_swf_schedule(folder + "/two.swf").start.tolist()
    [0, 5]
    """
    source = os.fspath(path)
    check_sizes(source, processors, None)
    log = read_fields(path, USED)
    machine = machine_of(log, source, processors, log.columns, clean)
    if (log.columns["wait"] == UNKNOWN).all():
        raise InputError(f"{path}: no job can be placed; a schedule's log gives wait times")
    clean = replace(clean, no_wait="drop")
    kept = kept_rows(log.columns, source, machine, clean=clean)
    work = to_workload(
        kept, source, machine, max_estimate=log.max_estimate, epoch=log.epoch, clean=clean
    )
    return _placed(work, np.minimum(kept["run"], HORIZON) + clean.run_plus, source)


def _placed(work: Workload, run: Int64, source: str) -> LoggedSchedule:
    wait = work.logged_wait
    # The workload holds every submit + estimate within HORIZON; so much again fits int64.
    absurd = (wait >= HORIZON) | (wait <= -HORIZON)
    if absurd.any():
        row = int(np.argmax(absurd))
        raise InputError(
            f"{source}: job {work.job[row]} waits {wait[row]} s, past the clock's {HORIZON}; "
            "check the units of the log's times"
        )
    overrun = np.where(work.killed, run - work.estimate - KILL_MARK, 0)
    start, never = work.submit + wait, np.zeros(len(work), np.bool_)
    return LoggedSchedule(work, "", start, never, overrun=overrun)
