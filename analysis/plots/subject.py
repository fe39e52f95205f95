"""Input of a figure: jobs, schedules of the same jobs, or a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.store import Store
from schedfarm.core.arrays import Bool
from schedfarm.core.durations import duration
from schedfarm.core.metrics.window import window_of
from schedfarm.core.numerals import lasting
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload


@dataclass(frozen=True)
class Subject:
    """Hold the data of a figure.

    Parameters
    ----------
    name : str
        Name of the log or of the cell, for the title.
    jobs : Workload, optional
        The jobs.
    schedules : mapping of str to Schedule
        Schedules of the jobs by policy.
    store : path or DataTree, optional
        The store.
    where : mapping
        Labels of the store's axes to which the figure is restricted.
    begin, length : int, optional
        Window of time, s after the first submission.
    metric : str, optional
        Metric, or value of a job; by default the figure's own.
    axis : str, optional
        Axis of the store's campaign.
    """

    name: str = ""
    jobs: Workload | None = None
    schedules: Mapping[str, Schedule] = field(default_factory=dict)
    store: Store | None = None
    where: Mapping[str, Any] = field(default_factory=dict)
    begin: int | None = None
    length: int | None = None
    metric: str | None = None
    axis: str | None = None

    @property
    def windowed(self) -> bool:
        """Whether the figure is restricted to a window of time."""
        return self.begin is not None or self.length is not None

    @property
    def origin(self) -> int:
        """First submission, s, which is the beginning of time axes."""
        assert self.jobs is not None, "the figure's row says what it needs"
        return int(self.jobs.submit[0])

    @property
    def workload(self) -> Workload:
        """The jobs submitted in the window."""
        assert self.jobs is not None, "the figure's row says what it needs"
        return self.jobs.take(self._submitted(self.jobs)) if self.windowed else self.jobs

    def window(self, schedule: Schedule) -> tuple[int, int]:
        """Return begin and end of the window within the schedule, s on the schedule's clock."""
        whole = window_of(schedule)
        begin, end = self._bounds(whole.begin, whole.end)
        if begin >= min(end, whole.end):
            raise self._empty("the schedule lasts", whole.end - whole.begin)
        return begin, min(end, whole.end)

    def counted(self) -> dict[str, Schedule]:
        """Return the schedules of the jobs that are submitted in the window."""
        if not self.windowed:
            return dict(self.schedules)
        return {
            name: _part(one, self._submitted(one.workload)) for name, one in self.schedules.items()
        }

    def _submitted(self, jobs: Workload) -> Bool:
        first, last = (int(jobs.submit[k]) for k in (0, -1))
        begin, end = self._bounds(first, last + 1)
        inside: Bool = (jobs.submit >= begin) & (jobs.submit < end)
        if not inside.any():
            raise self._empty("jobs are submitted for", last - first)
        return inside

    def _bounds(self, first: int, last: int) -> tuple[int, int]:
        begin = first + (self.begin or 0)
        return begin, last if self.length is None else begin + self.length

    def _empty(self, what: str, seconds: int) -> StoreError:
        begin = duration(self.begin or 0)
        end = "" if self.length is None else f" to {duration((self.begin or 0) + self.length)}"
        return StoreError(
            f"the window from {begin}{end or ' on'} after the first submission is empty: {what} "
            f"{lasting(seconds)}"
        )


def _part(schedule: Schedule, kept: Bool) -> Schedule:
    """Return the schedule of some jobs, without the parts of jobs on several places."""
    given = {
        name: values[kept]
        for name, values in schedule.given.items()
        if isinstance(values, np.ndarray)
    }
    return replace(
        schedule,
        workload=schedule.workload.take(kept),
        start=schedule.start[kept],
        backfilled=schedule.backfilled[kept],
        given=given,
    )
