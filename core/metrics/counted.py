"""The counted jobs of a schedule, and intermediate results that metrics share."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Float64, Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.metrics.capacity import lost_capacity
from schedfarm.core.metrics.groups import Groups, Means, means_of_groups
from schedfarm.core.metrics.links import link_demands
from schedfarm.core.metrics.participants import coallocated, migrated, node_time
from schedfarm.core.metrics.percentiles import percentiles
from schedfarm.core.metrics.slowdown import SECOND_TAU, TAU, checked_tau
from schedfarm.core.metrics.users import UserIndex, UserSums, index_users, nuwt_of, sums_of_users
from schedfarm.core.metrics.widths import WIDTHS, width_classes
from schedfarm.core.metrics.window import NO_WARMUP, Window, window_of
from schedfarm.core.policy.predictions import is_predicted
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.resample_weeks import WEEK
from schedfarm.core.workload.workload import Workload

if TYPE_CHECKING:
    from schedfarm.core.metrics.kernels.jobs import Arrays, Figures

MAX_WEEKS = 100_000
"""Longest schedule, about two thousand years; in a longer one, the unit is probably wrong."""

PREMATURE = 100
"""Least ratio of the estimate to the run time of a premature job."""

LEAST_JOBS = 2
"""Least number of jobs of a user in figures over users, as in the published tables."""


class Predicted(NamedTuple):
    """Hold figures of predicted run times.

    accuracy : mean of the smaller of predicted and actual run time / the larger. over : sum of
    max(predicted - actual, 0), s. under : sum of max(actual - predicted, 0), s. outlived : number
    of jobs with a run time longer than predicted.
    """

    accuracy: float
    over: int
    under: int
    outlived: int


_PREDICTED: WeakKeyDictionary[Workload, Predicted] = WeakKeyDictionary()


class Counted:
    """Hold the counted jobs, their columns, and intermediate results of several metrics.

    Each result is computed once, at its first use. Columns contain the counted jobs, in the order
    of the workload.

    Parameters
    ----------
    schedule : Schedule
        Schedule of all jobs.
    tau : float
        Lower bound of run times in slowdowns, s, above 0.
    warmup, cooldown
        Excluded begin and end of the schedule, as for `core.metrics.window.window_of`.
    weeks : int, optional
        Length of weekly series, at least 1; jobs that end later count in the last week. By default
        the series ends with the week of the last end.
    users : UserIndex, optional
        Users in the results; by default those of the workload.
    least_jobs : int
        Users with fewer counted jobs are excluded from metrics over users; at least 1.

    Raises
    ------
    InputError
        If `schedule` is not a schedule, or `warmup` is neither a share nor a duration. When a
        figure needs these values: if `tau` is not above 0, if `weeks` or `least_jobs` is below 1,
        or if the schedule lasts longer than `MAX_WEEKS`.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0], run=[40, 2], estimate=[40, 2], procs=[2, 2],
    ...                           processors=2)
    >>> counted = Counted(simulate(w, "fcfs+none"))
    >>> counted.wait.tolist(), counted.slowdown.tolist()
    ([0, 40], [1.0, 4.2])
    """

    def __init__(
        self,
        schedule: Schedule,
        tau: float = TAU,
        warmup: float | str = NO_WARMUP,
        cooldown: bool = False,
        *,
        weeks: int | None = None,
        users: UserIndex | None = None,
        least_jobs: int = LEAST_JOBS,
    ) -> None:
        if not isinstance(schedule, Schedule):
            raise InputError(
                f"metrics need a schedule, not a {type(schedule).__name__}; give the result of "
                "simulate(), which contains its workload: summarise(schedule)"
            )
        self.schedule, self.workload, self.tau = schedule, schedule.workload, tau
        self.window: Window = window_of(schedule, warmup, cooldown)
        counts = self.window.counts
        self._count = len(self.workload) if counts is None else int(np.count_nonzero(counts))
        self._weeks, self._users, self._least_jobs = weeks, users, least_jobs

    @property
    def kept(self) -> slice | Bool:
        """Whether each job of the schedule is counted."""
        return slice(None) if self.window.counts is None else self.window.counts

    def __len__(self) -> int:
        return self._count

    @cached_property
    def wait(self) -> Int64:
        """Time from submission to start, int64[k], s."""
        return self.schedule.wait[self.kept]

    @cached_property
    def run(self) -> Int64:
        """Run time, int64[k], s."""
        return self.workload.run[self.kept]

    @cached_property
    def response(self) -> Int64:
        """Time from submission to end, int64[k], s."""
        return (self.schedule.end - self.workload.submit)[self.kept]

    @cached_property
    def estimate(self) -> Int64:
        """Requested time, int64[k], s."""
        return self.workload.estimate[self.kept]

    @cached_property
    def prediction_error(self) -> Int64:
        """Predicted minus actual run time, int64[k], s; the estimate counts as a prediction."""
        # The import is here because the module loads numba, which readers of stores do not need.
        from schedfarm.core.engine.predicted import predictions

        return predictions(self.schedule)[self.kept] - self.run

    @cached_property
    def prediction_accuracy(self) -> Float64:
        """Smaller of predicted and actual run time / the larger, float64[k]; 1 if both are 0."""
        predicted = self.run + self.prediction_error
        larger = np.maximum(predicted, self.run)
        accuracy: Float64 = np.minimum(predicted, self.run) / np.maximum(larger, 1)
        accuracy[larger == 0] = 1.0
        return accuracy

    @cached_property
    def predicted(self) -> Predicted:
        """Figures of the predicted run times."""
        if self.window.counts is None and not is_predicted(self.schedule.policy):
            # Figures of the estimates, which are equal under all policies.
            found = _PREDICTED.get(self.workload)
            if found is None:
                found = _PREDICTED[self.workload] = self._predicted()
            return found
        return self._predicted()

    @cached_property
    def held(self) -> Int64:
        """Time for which each job held processors, int64[k], s; by default its run time.

        This time is shorter for a lost job, and may be longer for a moldable job.
        """
        return self.schedule.held[self.kept]

    @cached_property
    def procs(self) -> Int64:
        """Processors that each job held, int64[k]; its requested processors if it never ran."""
        if self.schedule.is_as_asked:
            return self.workload.procs[self.kept]
        taken = self.schedule.taken
        return np.where(taken > 0, taken, self.workload.procs)[self.kept]

    def column(self, name: str) -> Any:
        """Return a column of the workload, shape (k,), such as ``partition``.

        Examples
        --------
        >>> from schedfarm.core import Workload, simulate
        >>> w = Workload.from_columns(submit=[0, 0], run=[4, 2], estimate=[4, 2], procs=[2, 2],
        ...                           partition=[1, 2], processors=2)
        >>> counted = Counted(simulate(w, "fcfs+none"))
        >>> counted.wait[counted.column("partition") == 2].tolist()
        [4]
        """
        return getattr(self.workload, name)[self.kept]

    @cached_property
    def figures(self) -> Figures:
        """Sums, counts and maxima of waits, responses and slowdowns, from one pass."""
        return self._pass[0]

    @property
    def slowdown(self) -> Float64:
        """Bounded slowdown, float64[k]."""
        return self._pass[1].slowdown

    @property
    def pp_slowdown(self) -> Float64:
        """Per-processor bounded slowdown, float64[k]."""
        return self._pass[1].per_processor

    @cached_property
    def waited(self) -> int:
        """Exact sum of the waits, s."""
        waited = self.figures.waited
        return total(self.wait) if waited is None else waited

    @property
    def responded(self) -> int:
        """Exact sum of the response times, s."""
        responded = self.figures.responded
        return total(self.response) if responded is None else responded

    @cached_property
    def area(self) -> Float64:
        """Area of each job, time held x processors, float64[k], processor s."""
        # Integers are converted first: numpy takes 1.7 times as long to multiply floats by
        # integers.
        area: Float64 = self.held.astype(np.float64)
        area *= self.procs.astype(np.float64)
        return area

    @property
    def log_slowdown(self) -> Float64:
        """Natural logarithm of the bounded slowdown, float64[k]."""
        return self._pass[1].logarithm

    @cached_property
    def wait_percentiles(self) -> dict[int, Any]:
        """The `PERCENTILES` of the waits, s."""
        return percentiles(self.wait)

    @cached_property
    def slowdown_percentiles(self) -> dict[int, Any]:
        """The `PERCENTILES` of the bounded slowdowns."""
        return percentiles(self.slowdown)

    @cached_property
    def week(self) -> Int64:
        """Week in which each job ends, int64[k], counted from 0 at the first submission."""
        return self._all_weeks[self.kept]

    @cached_property
    def weeks(self) -> int:
        """Length of a weekly series."""
        if self._weeks is not None:
            return whole("weeks", self._weeks, least=1)
        return int(self._all_weeks.max(initial=-1)) + 1

    @cached_property
    def by_week(self) -> Means:
        """Number and means of the jobs that end in each week."""
        return self._means[0]

    @cached_property
    def week_bounds(self) -> Int64:
        """Begin of each week, and end of the last, int64[weeks + 1], s, clipped to the window."""
        jobs = self.workload
        if not len(jobs):
            return np.zeros((self._weeks or 0) + 1, np.int64)
        first = int(jobs.submit[0])
        ended = max(first, int(self.schedule.end.max()))
        weeks = self._weeks or min((ended - first) // WEEK + 1, MAX_WEEKS)
        bounds = first + WEEK * np.arange(weeks + 1)
        bounds[-1] = max(int(bounds[-1]), ended)
        return np.clip(bounds, self.window.begin, self.window.end)

    @cached_property
    def week_lost(self) -> Float64:
        """Capacity lost in each week, float64[weeks], processor s, within the window."""
        return lost_capacity(self.schedule, self.week_bounds)

    @cached_property
    def width(self) -> Int64:
        """Width class of each job, an index into `core.metrics.widths.WIDTHS`, int64[k]."""
        return width_classes(self.procs)

    @cached_property
    def by_width(self) -> Means:
        """Number and means of the jobs of each width class."""
        return self._means[1]

    @cached_property
    def origin(self) -> Int64:
        """Origin of each job, an index into the platform's `participants`, int64[k]."""
        origin: Int64 = self.column("origin")
        return origin

    @cached_property
    def origin_jobs(self) -> Int64:
        """Number of jobs of each participant, int64[participants]."""
        return np.bincount(self.origin, minlength=len(self.workload.platform.participants))

    @cached_property
    def migrated(self) -> Bool:
        """Whether each job ran on one cluster other than its origin, bool[k]."""
        return migrated(self.schedule)[self.kept]

    @cached_property
    def coallocated(self) -> Bool:
        """Whether each job ran on several clusters at once, bool[k]."""
        return coallocated(self.schedule)[self.kept]

    @cached_property
    def node_time(self) -> Int64:
        """Time held by origin and cluster, int64[participants, participants], processor s.

        The time is within the window, and includes jobs that are not counted.
        """
        return node_time(self.schedule, self.window)

    @cached_property
    def link_demands(self) -> Int64:
        """Demand of each part of all jobs on its cluster's link, int64[parts], kbit/s."""
        return link_demands(self.schedule)

    @cached_property
    def users(self) -> UserIndex:
        """Index of the users, and of each job's user."""
        return self._users or index_users(self.workload)

    @cached_property
    def by_user(self) -> UserSums:
        """Jobs, waits, s, and work, processor s, of each user, int64[u]."""
        return sums_of_users(self.users, self)

    @cached_property
    def nuwt(self) -> Float64:
        """Normalised wait time of each user, float64[u]; NaN for a user without work."""
        return nuwt_of(self.by_user)

    @cached_property
    def compared_nuwt(self) -> Float64:
        """Normalised wait times of users with work and at least `least_jobs` jobs."""
        enough = self.by_user.jobs >= whole("least_jobs", self._least_jobs, least=1)
        return self.nuwt[enough & (self.by_user.work > 0)]

    def _predicted(self) -> Predicted:
        error, accuracy = self.prediction_error, self.prediction_accuracy
        over, under = np.maximum(error, 0), np.maximum(-error, 0)
        return Predicted(mean(accuracy), total(over), total(under), int((error < 0).sum()))

    @cached_property
    def _pass(self) -> tuple[Figures, Arrays]:
        from schedfarm.core.metrics.kernels.jobs import pass_over

        taus = checked_tau(self.tau), float(SECOND_TAU)
        columns = self.wait, self.response, self.run, self.held, self.procs, self.estimate
        return pass_over(*columns, taus, PREMATURE)

    @cached_property
    def _means(self) -> tuple[Means, Means]:
        weeks, widths = Groups(self.week, self.weeks), Groups(self.width, len(WIDTHS))
        return means_of_groups(weeks, widths, self)

    @cached_property
    def _all_weeks(self) -> Int64:
        jobs = self.workload
        first = int(jobs.submit[0]) if len(jobs) else 0
        week = self.schedule.end - first
        week //= WEEK
        length = int(week.max(initial=-1)) + 1
        if length > MAX_WEEKS:
            raise InputError(
                f"workload {jobs.name!r}: the schedule lasts {length} weeks, more than "
                f"{MAX_WEEKS}; check the units of its times"
            )
        return week if self._weeks is None else np.minimum(week, self.weeks - 1, out=week)


def total(values: Int64) -> int:
    """Return the exact sum of nonnegative values.

    Examples
    --------
    >>> total(np.array([2**62, 2**62]))
    9223372036854775808
    """
    if int(values.max(initial=0)) * values.size < HORIZON:
        return int(values.sum())
    return sum(values.tolist())


def ratio(part: int, whole: int) -> float:
    """Return part / whole; NaN if whole is 0."""
    return part / whole if whole else np.nan


def mean(values: Float64) -> float:
    """Return the mean of values; NaN if there are none."""
    # `values.mean()` gives the same result, but takes twice as long for 50 values.
    return float(np.add.reduce(values)) / values.size if values.size else np.nan
