"""Fairness of one cell: values of one kind for a range of its jobs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.promises import NO_PROMISE, promises
from schedfarm.core.format.geometry import LATE, UNFAIR, Block, Cell
from schedfarm.core.machines.network.simulation import isolated_starts
from schedfarm.core.metrics.fairness import lateness_of, resource_equality, unserved
from schedfarm.core.metrics.groups import means
from schedfarm.core.policy.policy import Policy
from schedfarm.farm.execution.cell import Figures, Make, Simulations
from schedfarm.farm.store.block import Rows

Array = npt.NDArray[Any]


def _fair_start(
    kind: str, made: Simulations, block: Block, cell: Cell, stored: Rows | None
) -> tuple[int, Rows, Figures]:
    schedule = made.schedule(cell)
    here = made.piece(block, schedule)
    with made.checkpoints(cell, f"{kind}.{block.piece:05d}"):
        fair = fair_start_times(schedule.workload, schedule.policy, kind, jobs=here)[here]
    return _kept(f"fst_{kind}", fair, lateness_of(schedule.start[here], fair))


strict = partial(_fair_start, "strict")
relaxed = partial(_fair_start, "relaxed")


def resource(
    made: Simulations, block: Block, cell: Cell, stored: Rows | None
) -> tuple[int, Rows, Figures]:
    """Return the deserved processor time of each job of a range, processor s, and its deficit.

    G. Sabin and P. Sadayappan (2005), section 3.2.
    """
    schedule = made.schedule(cell)
    here = made.piece(block, schedule)
    share = resource_equality(schedule)[here]
    short = unserved(share, schedule.held[here], schedule.taken[here])
    return _kept("resource_share", share, short)


def promise(
    made: Simulations, block: Block, cell: Cell, stored: Rows | None
) -> tuple[int, Rows, Figures]:
    """Return the starts (s) that some jobs were promised at arrival, and the jobs' lateness."""
    schedule = made.schedule(cell)
    here = made.piece(block, schedule)
    promised = promises(schedule.workload, schedule.policy)[here]
    late = lateness_of(schedule.start[here], promised)
    return _kept("promised", promised, np.where(promised == NO_PROMISE, 0, late))


def isolation(
    made: Simulations, block: Block, cell: Cell, stored: Rows | None
) -> tuple[int, Rows, Figures]:
    """Return the starts of a cell's jobs if each cluster were alone, s, and the jobs' lateness.

    Also return, for each cluster, the mean lateness of its jobs and the mean gain of its jobs that
    fit. W. M. Jones and W. B. Ligon (2005), section 3, compare these by eye.
    """
    schedule = made.schedule(cell)
    jobs, start = schedule.workload, schedule.start
    alone = isolated_starts(jobs, Policy.parse(schedule.policy))
    fits = alone >= 0
    late = np.where(fits, lateness_of(start, alone), 0)
    count, rows, figures = _kept("fst_isolation", alone, late)
    many = len(jobs.platform.participants)
    of_each = {
        "origin_lateness_isolation": means(
            jobs.origin, np.bincount(jobs.origin, minlength=many), late
        ),
        "origin_gain_isolation": means(
            jobs.origin[fits],
            np.bincount(jobs.origin[fits], minlength=many),
            (alone - start)[fits],
        ),
    }
    return count, {**rows, **of_each}, figures


MAKERS: dict[str, Make] = {
    "strict": strict,
    "relaxed": relaxed,
    "resource": resource,
    "promise": promise,
    "isolation": isolation,
}
"""The function of each kind of fairness."""


def _kept(name: str, due: Array, late: Array) -> tuple[int, Rows, Figures]:
    sums = {LATE: float(late.sum()), UNFAIR: float(np.count_nonzero(late))}
    return due.size, {name: due}, sums
