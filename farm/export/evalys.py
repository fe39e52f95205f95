"""The jobs CSV of Batsim, as read by evalys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedfarm.core.schedule import Schedule, State
from schedfarm.farm.export.processors import Run, processors_of

if TYPE_CHECKING:
    import pandas as pd


def evalys_frame(schedule: Schedule) -> pd.DataFrame:
    """Return a schedule's jobs with the columns of Batsim's jobs CSV; refused jobs are omitted.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1], run=[4, 2], estimate=[9, 2], procs=[2, 2],
    ...                           processors=2)
    >>> frame = evalys_frame(simulate(w, "fcfs+easy"))
    >>> frame[["job_id", "starting_time", "finish_time", "allocated_resources"]].values.tolist()
    [[1, 0, 4, '0-1'], [2, 4, 6, '0-1']]
    """
    import pandas as pd

    jobs, ran = schedule.workload, ~schedule.refused
    held, turnaround = schedule.held, schedule.end - jobs.submit
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = np.where(held > 0, turnaround / held, np.nan)
    columns = {
        "job_id": jobs.job,
        "workload_name": np.full(len(jobs), jobs.name, object),
        "submission_time": jobs.submit,
        "requested_number_of_resources": jobs.procs,
        "requested_time": jobs.estimate,
        "success": (schedule.state == int(State.DONE)).astype(np.int8),
        "starting_time": schedule.start,
        "execution_time": held,
        "finish_time": schedule.end,
        "waiting_time": schedule.wait,
        "turnaround_time": turnaround,
        "stretch": stretch,
        "allocated_resources": [_text(runs) for runs in processors_of(schedule)],
    }
    return pd.DataFrame(columns)[ran]


def _text(runs: list[Run]) -> str:
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
