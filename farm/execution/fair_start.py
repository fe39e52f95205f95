"""What a store keeps of one cell's fairness: one kind of it, over one run of its jobs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.metrics.fairness import resource_equality
from core.schedule import Schedule
from core.simulation.fair_start import fair_start_times
from farm.store.geometry import WHOLE
from farm.store.schema import FAIRNESS

UNFAIR = ("late", "unfair_jobs")
"""Metrics of a piece that add up over the pieces of a cell: total lateness, and jobs late."""


def fair_values(
    schedule: Schedule, kind: str, piece: slice
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, float]]:
    """Return the fairness of a run of a cell's jobs.

    Parameters
    ----------
    schedule : Schedule
        Of all jobs of the cell.
    kind : {"strict", "relaxed", "resource"}
        Which fairness (Sabin and Sadayappan 2005).
    piece : slice
        Which jobs.

    Returns
    -------
    rows : dict of str to ndarray
        Fair start times, s, or equal shares, processor-seconds, of the jobs in the piece.
    metrics : dict of str to float
        Their sums, by the names of `UNFAIR`.
    """
    jobs = schedule.workload
    here = slice(*(min(end, len(jobs)) for end in (piece.start, piece.stop)))
    share: npt.NDArray[Any]
    late: npt.NDArray[Any]
    if kind == WHOLE:
        share = resource_equality(schedule)[here]
        late = np.maximum(share - (jobs.run * jobs.procs)[here], 0.0)
    else:
        share = fair_start_times(jobs, schedule.policy, kind, jobs=here)[here]
        late = np.maximum(schedule.start[here] - share, 0)
    sums = float(late.sum()), float(np.count_nonzero(late))
    return {FAIRNESS[kind].name: share}, dict(zip(UNFAIR, sums, strict=True))
