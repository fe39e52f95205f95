"""Windows of high load in a log, found by a rule."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from schedfarm.core.checks import whole
from schedfarm.core.durations import DAY
from schedfarm.core.errors import InputError
from schedfarm.core.workload.workload import Workload

JOBS = (239, 1391)
"""Least and largest number of jobs in a window, from Eyraud 2006, table 1."""


class Window(NamedTuple):
    """Hold some days of a log.

    Parameters
    ----------
    log : str
        Name of the log.
    first, last : str
        Days of UTC, both included, as for `core.workload.select.select_dates`.
    jobs : int
        Number of jobs submitted in these days.
    load : float
        Sum of run x procs of these jobs / (processors x length of the window).
    """

    log: str
    first: str
    last: str
    jobs: int
    load: float

    def overlaps(self, other: Window) -> bool:
        """Return whether a day of the log is in both windows."""
        return self.log == other.log and self.first <= other.last and other.first <= self.last


def busy_windows(
    workload: Workload, *, days: int = 7, jobs: tuple[int, int] = JOBS
) -> list[Window]:
    """Return the windows of a log that begin at midnight (UTC), in descending order of load.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 86_400, 90_000, 172_800], run=[60, 86_400, 0, 5],
    ...                           estimate=[86_400] * 4, procs=[1] * 4, processors=4, epoch=0)
    >>> busy_windows(w, days=1, jobs=(1, 2))[0]
    Window(log='workload', first='1970-01-02', last='1970-01-02', jobs=2, load=0.25)
    """
    length = whole("days", days, least=1, most=36_500) * DAY
    if workload.epoch < 0:
        raise InputError(
            f"dates of workload {workload.name!r} are unknown, since its header has no "
            "UnixStartTime; its windows have no days"
        )
    if not len(workload):
        return []
    at = workload.submit + workload.epoch
    begin = np.arange(-(-int(at[0]) // DAY) * DAY, int(at[-1]) - length + 1, DAY, dtype=np.int64)
    first, after = np.searchsorted(at, begin), np.searchsorted(at, begin + length)
    # Differences of sums are correct even if a sum overflows.
    work = np.concatenate(([0], np.cumsum(workload.run * workload.procs)))
    load = (work[after] - work[first]) / (workload.processors * length)
    count = after - first
    order = np.argsort(-load, kind="stable")
    fits = (count >= jobs[0]) & (count <= jobs[1])
    return [
        Window(
            workload.name,
            _day(int(begin[k])),
            _day(int(begin[k]) + length - DAY),
            int(count[k]),
            float(load[k]),
        )
        for k in order[fits[order]].tolist()
    ]


def busiest(
    workloads: Iterable[Workload],
    count: int = 6,
    *,
    days: int = 7,
    jobs: tuple[int, int] = JOBS,
) -> list[Window]:
    """Return windows of high load: first the busiest of each log, then the busiest of the rest.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 86_400, 90_000, 172_800], run=[60, 86_400, 0, 5],
    ...                           estimate=[86_400] * 4, procs=[1] * 4, processors=4, epoch=0)
    >>> [window.first for window in busiest([w], 3, days=1, jobs=(1, 2))]
    ['1970-01-02', '1970-01-01']
    """
    found = [busy_windows(one, days=days, jobs=jobs) for one in workloads]
    chosen = [windows[0] for windows in found if windows][:count]
    for window in sorted((w for windows in found for w in windows), key=lambda w: -w.load):
        if len(chosen) >= count:
            break
        if not any(window.overlaps(other) for other in chosen):
            chosen.append(window)
    return chosen


def _day(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).date().isoformat()
