"""State of a simulation between two decisions, as one row of whole numbers.

A batch of simulations is one array with a row for each simulation. So a call of a kernel unpacks
three arrays instead of some twenty; numba takes 0.2 us for each array, and a decision takes less
than 1 us.
"""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.workload.workload import Workload

RUNNING, FREE, GIVEN, LEAVE, NOW, ARRIVED, WAITING, JOBS = range(8)
STARTED, DECISIONS, REFUSED, PROCESSORS = range(8, 12)
"""First fields of a row: lengths of the lists of running and waiting jobs; free processors; the
instant, s; numbers of arrived jobs, started jobs, actions and forbidden actions; and the number of
all processors. `GIVEN` and `LEAVE` stand for fields of the engine's `Running` and `Jobs`, which
stay unset."""

HEADER = 16
"""Length of the first fields of a row."""

START, BACKFILLED, QUEUE, END, JOB, PREDICTED, WIDTH, LISTS = range(8)
"""Lists behind the first fields: starts, s; backfills; waiting jobs; the engine's four lists of
running jobs; and the number of lists."""

SUBMIT, RUN, ESTIMATE, PROCS, COLUMNS = range(5)
"""Columns of the jobs, and the number of columns."""

FREELY, IN_TURN, EASY = 0, 1, 2
"""Codes of the rules of `core.stepping.decisions`."""

WAIT, BEGIN = -1, -2
"""Actions other than slots: wait, and go to the first decision. Callers check users' actions."""

NO_PLACE = -3
"""Place of a slot without a job in the list of waiting jobs."""

COMPACT, SCHEDGYM = 0, 1
"""Codes of the observations of `core.stepping.observation`."""


def empty_rows(simulations: int, jobs: int) -> tuple[Int64, Int64]:
    """Return columns and rows with room for simulations of `jobs` jobs."""
    columns = np.zeros((simulations, COLUMNS, jobs), np.int64)
    return columns, np.zeros((simulations, HEADER + LISTS * jobs), np.int64)


def write_columns(workload: Workload, columns: Int64) -> None:
    """Write the kernels' columns of jobs into an array int64[COLUMNS, at least n]."""
    workload.refuse_leaving("stepping")
    for row, name in enumerate(("submit", "run", "estimate", "procs")):
        columns[row, : len(workload)] = getattr(workload, name)


def write_start(workload: Workload, row: Int64) -> None:
    """Write the state before the first event into a row of sufficient length."""
    row[:HEADER] = 0
    row[FREE] = row[PROCESSORS] = workload.processors
    row[GIVEN], row[JOBS] = -1, len(workload)
    list_of(row, START)[:] = -1
    list_of(row, BACKFILLED)[:] = 0


def list_of(row: Int64, which: int) -> Int64:
    """Return a list of a row, including its unused room, as a view."""
    room = (row.size - HEADER) // LISTS
    return row[HEADER + which * room : HEADER + (which + 1) * room]


def copy_row(source: Int64, target: Int64) -> None:
    """Copy a row into a row with at least as much room."""
    room = (source.size - HEADER) // LISTS
    target[:HEADER] = source[:HEADER]
    for which in range(LISTS):
        list_of(target, which)[:room] = list_of(source, which)
