"""Schedules recorded in logs, with starts from logged waits, and logged run times."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.clean import Clean
from schedfarm.core.logs.field_map import FieldMap, map_beside
from schedfarm.core.logs.formats import FORMATS
from schedfarm.core.logs.read import read_as
from schedfarm.core.logs.rows import Parsed
from schedfarm.core.logs.swf import parse_swf
from schedfarm.core.machines.platform import Platform
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Workload

KILL_MARK = 1
"""Seconds by which the written run time of a killed job exceeds its estimate (`core.write_swf`)."""


@dataclass(frozen=True, eq=False, init=False)
class LoggedSchedule(Schedule):
    """Hold a schedule of a log, with the overrun of each job's estimate.

    Unlike a simulation, a log may contain any times, even starts before 0, which audits report.

    Parameters
    ----------
    workload, policy, start, backfilled, **given
        As for `core.Schedule`.
    overrun : int64[n]
        Seconds for which each job ran in the log after the end of its estimate.
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


def _placed_rows(
    path: str | os.PathLike[str], _: Platform | None, fields: FieldMap | None
) -> Parsed:
    parsed = parse_swf(path, map_beside(path) if fields is None else fields)
    if (parsed.columns["wait"] == UNKNOWN).all():
        raise InputError(f"{path}: no job can be placed; a schedule's log gives wait times")
    return parsed


def read_swf_schedule(
    path: str | os.PathLike[str], processors: int | None, clean: Clean
) -> LoggedSchedule:
    """Read the schedule that a log of the Standard Workload Format records.

    A job starts at its submit time + its wait time (field 3); a wait below -1 gives an earlier
    start. Rows that cannot be placed are left out, and counted by reason in the workload's
    `dropped`; unknown waits, -1, count as ``no wait``. Jobs that are left out may still have
    occupied processors of the real machine.
    """
    source = os.fspath(path)
    form = replace(FORMATS["swf"], parse=_placed_rows)
    found = read_as(path, form, processors, clean=replace(clean, no_wait="drop"))
    run = np.minimum(found.kept["run"], HORIZON) + clean.run_plus
    return _placed(found.workload, run, source)


def _placed(work: Workload, run: Int64, source: str) -> LoggedSchedule:
    wait = work.logged_wait
    # In a workload, every submit + estimate is within HORIZON, and twice HORIZON fits int64.
    absurd = (wait >= HORIZON) | (wait <= -HORIZON)
    if absurd.any():
        row = int(np.argmax(absurd))
        raise InputError(
            f"{source}: job {work.job[row]} waits {wait[row]} s, past the clock's {HORIZON}; "
            "check the units of the log's times"
        )
    overrun = np.where(work.killed, run - work.estimate - KILL_MARK, 0)
    start = np.where(work.leave < 0, work.submit + wait, -1)
    never = np.zeros(len(work), np.bool_)
    return LoggedSchedule(work, "", start, never, overrun=overrun)
