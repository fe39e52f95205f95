"""Judgement of a fitted site on the second half of the period, which the fit did not use.

Simulated and real waits are compared as means over periods of two weeks and of one week, for all
jobs and for each partition, QOS, class of users and width. All intervals are for sums over weeks or
longer periods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Bool, Float64, Int64
from schedfarm.core.bootstrap import log_ratio
from schedfarm.core.metrics.widths import WIDTHS, width_classes
from schedfarm.core.policy.policy import Policy
from schedfarm.farm.site.calibration import DAY, LEVEL, WEEK, Period
from schedfarm.farm.site.model import Site
from schedfarm.farm.site.parameters import Setting, jobs_at

PERIODS = {"two_weeks": 2 * WEEK, "week": WEEK, "day": DAY}
"""Lengths of the periods whose mean waits are compared, s."""

FEWEST = 4
"""Least number of periods for an interval of an error."""

WIDENED, WIDENED_FEW = 1.7, 2.0
"""Factor of Student's interval: the first number, plus the second number divided by the number of
periods. Periods that share a queue are not independent, and a few periods hold most of the waits
(docs/comparisons.md)."""

CLASSES = {"heavy users": 0.5, "medium users": 0.9, "light users": 1.0}
"""Classes of users by processor time: upper bounds on the cumulative share, largest users first."""

ERROR = 0.5
"""Largest error of the mean waits of all jobs in a matched site."""

AGREEMENT = 0.8
"""Least share of pairs of jobs that start in the real order in a matched site."""

PAIRS = 50
"""Number of partners of a job: jobs of its width that waited at the same time and started later."""


@dataclass(frozen=True)
class Range:
    """Hold an estimate with the ends of its interval; the ends are None with too few blocks."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Judged:
    """Hold a group's jobs, mean waits, s, bias, and the error of its mean waits by period.

    bias: simulated / logged - 1. errors: by the key of `PERIODS`, the difference between the
    simulated and logged mean wait of a period. The difference is averaged over the jobs, and given
    as a share of the logged mean wait.
    """

    by: str
    group: str
    jobs: int
    logged: float
    simulated: float
    bias: Range
    errors: Mapping[str, Range]


@dataclass(frozen=True)
class Judgement:
    """Hold the judged groups, all jobs first; the agreement of the order; whether the site matches.

    unit: the key of `PERIODS` with which the decision was made. days: length of the judged period.
    """

    groups: tuple[Judged, ...]
    agreement: Range
    unit: str
    matched: bool
    days: float

    @property
    def error(self) -> Range:
        """Error of the mean waits of all jobs."""
        return self.groups[0].errors[self.unit]

    def facts(self) -> dict[str, Any]:
        """Return the judgement as JSON-compatible values: groups with jobs; None instead of NaN."""
        groups = [one for one in self.groups if one.jobs]
        found: dict[str, Any] = _plain(asdict(replace(self, groups=tuple(groups))))
        return found


def _plain(value: Any) -> Any:
    """Return nested values in which None replaces numbers that are not finite."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def judge(site: Site, setting: Setting, period: Period) -> Judgement:
    """Simulate the whole log at a setting, and compare the second half with its real starts."""
    from schedfarm.core import simulate

    schedule = simulate(jobs_at(site, setting), Policy.parse(setting.policy(site)))
    known = period.judged & (schedule.start >= 0)
    span = period.last - period.middle
    wait = schedule.wait[known].astype(np.float64)
    logged = site.jobs.logged_wait[known].astype(np.float64)
    since = site.jobs.submit[known] - period.middle
    units = [name for name, length in PERIODS.items() if span >= FEWEST * length][:2] or ["day"]
    groups = tuple(
        _judged(by, name, wait[rows], logged[rows], since[rows], units)
        for by, name, rows in _groups(site, known)
    )
    agreement = _agreement(site, known, schedule.start[known], period.middle)
    error = groups[0].errors[units[0]]
    matched = error.value <= ERROR and agreement.value >= AGREEMENT
    return Judgement(groups, agreement, units[0], bool(matched), span / DAY)


def _groups(site: Site, known: Bool) -> Iterator[tuple[str, str, Bool]]:
    """Yield the kind and name of each group, and the mask of its jobs."""
    jobs, count = site.jobs, int(known.sum())
    yield "all", "all", np.ones(count, np.bool_)
    for by, column in (("partition", "partition"), ("qos", "queue")):
        values, names = getattr(jobs, column)[known], site.names.get(column, {})
        for number in np.unique(values).tolist():
            yield by, names.get(number, str(number)), values == number
    _, index = np.unique(jobs.user, return_inverse=True)
    work = np.bincount(index, weights=jobs.procs * jobs.run)
    order = np.argsort(-work, kind="stable")
    before = np.cumsum(work[order]) - work[order]
    place = np.empty(order.size, np.int64)
    place[order] = np.searchsorted([*CLASSES.values()][:-1], before / work.sum(), side="right")
    users = place[np.searchsorted(np.unique(jobs.user), jobs.user[known])]
    for k, name in enumerate(CLASSES):
        yield "user class", name, users == k
    widths = width_classes(jobs.procs[known])
    for k, name in enumerate(WIDTHS):
        yield "width", name, widths == k


def _judged(
    by: str, name: str, wait: Float64, logged: Float64, since: Int64, units: list[str]
) -> Judged:
    errors = {}
    for unit in units:
        simulated, real = (np.bincount(since // PERIODS[unit], weights=x) for x in (wait, logged))
        apart = np.abs(simulated - real)
        errors[unit] = ratio_over_periods(*(by_week(x, unit) for x in (apart, real)))
    # After the loop, these are the sums over the shortest periods.
    bias = _less_one(ratio_over_periods(*(by_week(x, units[-1]) for x in (simulated, real))))
    means = [float(x.mean()) if x.size else float("nan") for x in (logged, wait)]
    return Judged(by, name, wait.size, means[0], means[1], bias, errors)


def by_week(sums: npt.NDArray[Any], unit: str) -> npt.NDArray[Any]:
    """Return sums over days as sums over weeks; sums over other periods are unchanged.

    Neighbouring days share a queue, so intervals from sums over days are too short: 71 to 79 % of
    these 90 % intervals held the true value.

    Examples
    --------
    >>> by_week(np.arange(9.0), "day").tolist(), by_week(np.arange(2.0), "week").tolist()
    ([21.0, 15.0], [0.0, 1.0])
    """
    if unit != "day":
        return sums
    return np.add.reduceat(sums, np.arange(0, sums.size, WEEK // DAY)) if sums.size else sums


def ratio_over_periods(over: npt.NDArray[Any], under: npt.NDArray[Any]) -> Range:
    """Return the ratio of two sums over periods, with the interval of its logarithm.

    The interval is Student's, lengthened by `WIDENED`. Unlike a bootstrap over a few periods, it
    has no extreme ends (docs/comparisons.md, Coverage).
    """
    if not under.sum() > 0:
        return Range(float("nan"), None, None)
    value = float(over.sum() / under.sum())
    count = np.count_nonzero(under)
    if count < FEWEST:
        return Range(value, None, None)
    if not over.any():
        return Range(0.0, 0.0, 0.0)
    from scipy.special import stdtrit

    sums = (x[:, np.newaxis].astype(np.float64) for x in (under, over))
    error = float(np.sqrt(log_ratio(*sums)[1]))
    wide = WIDENED + WIDENED_FEW / count
    half = wide * float(stdtrit(count - 1, (1 + LEVEL) / 2)) * error
    return Range(value, value * float(np.exp(-half)), value * float(np.exp(half)))


def _less_one(of: Range) -> Range:
    ends = (None if end is None else end - 1 for end in (of.low, of.high))
    return Range(of.value - 1, *ends)


def _agreement(site: Site, known: Bool, start: Int64, begin: int) -> Range:
    """Return the share of pairs of jobs that start in the order of the log.

    Both jobs of a pair have the same width class, and both were waiting when the first of them
    started in the log. Neither width nor submission decided their order. begin: begin of the judged
    period, from which its weeks are counted, s.
    """
    jobs = site.jobs
    real = (jobs.submit + jobs.logged_wait)[known]
    submit, width = jobs.submit[known], width_classes(jobs.procs[known])
    order = np.lexsort((real, width))
    right = np.zeros(real.size)
    pairs = np.zeros(real.size)
    for step in range(1, PAIRS + 1):
        one, other = order[:-step], order[step:]
        both = (
            (width[one] == width[other]) & (submit[other] < real[one]) & (real[one] < real[other])
        )
        one, other = one[both], other[both]
        pairs[one] += 1
        right[one] += (start[one] < start[other]) + 0.5 * (start[one] == start[other])
    week = (submit - begin) // WEEK
    sums = (np.bincount(week, weights=x) for x in (right, pairs))
    found = ratio_over_periods(*sums)
    return found if found.high is None else replace(found, high=min(1.0, found.high))
