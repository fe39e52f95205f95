"""Declarations of all metrics: name, unit, meaning, dimension and function.

Definitions are those of docs/semantics.md, section Metrics. Sums of seconds are exact integers, and
means of slowdowns are numpy's pairwise sums in job order. Therefore every value is the same to the
bit on every machine. A metric in this module is part of every summary and store. A plug-in metric
(`find_metric`) is in the stores of the campaigns that name it.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from schedfarm.core import own
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.machines.platform import Platform
from schedfarm.core.metrics.counted import Counted, mean, ratio, total
from schedfarm.core.metrics.groups import means
from schedfarm.core.metrics.links import link_loads, link_peaks
from schedfarm.core.metrics.metric import (
    LARGER,
    NEITHER,
    ORIGIN,
    USER,
    WEEK,
    WIDTH,
    Metric,
)
from schedfarm.core.metrics.participants import given, received
from schedfarm.core.metrics.slowdown import SECOND_TAU
from schedfarm.core.metrics.users import gini_of, jain_of, spread_of
from schedfarm.core.names import choices
from schedfarm.core.workload.load import work
from schedfarm.core.workload.workload import Workload

KWH = 3_600_000
"""A kilowatt-hour, J."""


def _per_origin(counted: Counted, values: Int64 | Float64) -> Float64:
    return means(counted.origin, counted.origin_jobs, values)


def _largest(counted: Counted, value: float) -> float:
    return value if len(counted) else np.nan


def _energy(counted: Counted) -> float:
    watts = counted.column("watts")
    known = watts >= 0
    if not known.any():
        return math.nan
    joules = watts[known].astype(np.float64) * counted.held[known]
    return float(joules.sum() / KWH)


def _makespan(counted: Counted) -> int:
    jobs = counted.workload
    # If all jobs were refused, the schedule has no end.
    return max(0, int(counted.schedule.end.max() - jobs.submit[0])) if len(jobs) else 0


def _offered_load(jobs: Workload) -> float:
    # A workload of simultaneous jobs has no offered load, but can be simulated.
    submitting = int(jobs.submit[-1] - jobs.submit[0]) if len(jobs) else 0
    return ratio(work(jobs), jobs.processors * submitting)


def _mean(counted: Counted, sum_: float) -> float:
    return sum_ / len(counted) if len(counted) else np.nan


def _by_area(counted: Counted, weighed: float) -> float:
    area = counted.figures.area
    return weighed / area if area else np.nan


def _geometric(counted: Counted) -> float:
    return math.exp(_mean(counted, counted.figures.logarithm)) if len(counted) else np.nan


def _geometric_means(means: Float64) -> Float64:
    return np.array([math.exp(value) for value in means.tolist()])


def _utilisation(counted: Counted) -> float:
    schedule, window, taken = counted.schedule, counted.window, counted.schedule.taken
    if window.counts is None and schedule.is_as_asked:
        # This value is equal under all policies.
        done = work(counted.workload)
    elif window.counts is None:
        done = total(schedule.held * taken)
    else:
        done = total(window.inside(schedule.start, schedule.end) * taken)
    return ratio(done, _capacity(counted))


def _origin_utilisation(counted: Counted) -> Float64:
    lasts = counted.window.end - counted.window.begin
    there = np.array(counted.workload.platform.sizes, np.float64) * (lasts or np.nan)
    return np.asarray(counted.node_time.sum(axis=0) / there)


def _capacity(counted: Counted) -> int:
    return counted.workload.processors * (counted.window.end - counted.window.begin)


def _lost(counted: Counted) -> float:
    return ratio(counted.week_lost.sum(), _capacity(counted))


def _week_lost(counted: Counted) -> Float64:
    there = np.diff(counted.week_bounds).astype(np.float64) * counted.workload.processors
    return counted.week_lost / np.where(there > 0, there, np.nan)


def _queue_length(counted: Counted) -> float:
    # The integral of the number of waiting jobs is the sum of the jobs' waits.
    schedule, window = counted.schedule, counted.window
    if window.counts is None:
        waited = counted.waited
    else:
        waited = total(window.inside(counted.workload.submit, schedule.start))
    return ratio(waited, window.end - window.begin)


_ROWS = (
    Metric(
        "jobs", "1", "number of jobs", len,
        better=NEITHER, shared=True, dtype="int64",
    ),
    Metric(
        "counted", "1", "number of counted jobs: without warm-up and cool-down", len,
        better=NEITHER,
    ),
    Metric("wait", "s", "mean wait", lambda c: ratio(c.waited, len(c))),
    Metric(
        "area_weighted_wait", "s", "mean wait, each job weighted by run time x processors",
        lambda c: _by_area(c, c.figures.wait_by_area),
    ),
    Metric("wait_p50", "s", "median wait", lambda c: c.wait_percentiles[50]),
    Metric("wait_p90", "s", "90th percentile of the waits", lambda c: c.wait_percentiles[90]),
    Metric("wait_p99", "s", "99th percentile of the waits", lambda c: c.wait_percentiles[99]),
    Metric("wait_max", "s", "longest wait", lambda c: _largest(c, c.figures.longest_wait)),
    Metric("response", "s", "mean response time", lambda c: ratio(c.responded, len(c))),
    Metric(
        "bounded_slowdown", "1", "mean bounded slowdown", lambda c: _mean(c, c.figures.slowdown)
    ),
    Metric(
        "bounded_slowdown_geomean", "1", "geometric mean of the bounded slowdowns",
        _geometric,
    ),
    Metric(
        f"bounded_slowdown_tau{SECOND_TAU}", "1",
        f"mean bounded slowdown where tau is {SECOND_TAU} s",
        lambda c: _mean(c, c.figures.second),
    ),
    Metric(
        "area_weighted_bounded_slowdown", "1",
        "mean bounded slowdown, each job weighted by run time x processors",
        lambda c: _by_area(c, c.figures.slowdown_by_area),
    ),
    Metric(
        "bounded_slowdown_p50", "1", "median bounded slowdown",
        lambda c: c.slowdown_percentiles[50],
    ),
    Metric(
        "bounded_slowdown_p90", "1", "90th percentile of the bounded slowdowns",
        lambda c: c.slowdown_percentiles[90],
    ),
    Metric(
        "bounded_slowdown_p99", "1", "99th percentile of the bounded slowdowns",
        lambda c: c.slowdown_percentiles[99],
    ),
    Metric(
        "bounded_slowdown_max", "1", "largest bounded slowdown",
        lambda c: _largest(c, c.figures.largest),
    ),
    Metric(
        "pp_bounded_slowdown", "1", "mean per-processor bounded slowdown",
        lambda c: _mean(c, c.figures.per_processor),
    ),
    Metric(
        "pp_bounded_slowdown_max", "1", "largest per-processor bounded slowdown",
        lambda c: _largest(c, c.figures.largest_per_processor),
    ),
    Metric(
        "slowdown_1", "1", "number of jobs with bounded slowdown 1",
        lambda c: c.figures.at_1, better=LARGER,
    ),
    Metric(
        "slowdown_1_10", "1", "number of jobs with bounded slowdown above 1 and below 10",
        lambda c: len(c) - c.figures.at_1 - c.figures.at_10,
        better=NEITHER,
    ),
    Metric(
        "slowdown_10_100", "1", "number of jobs with bounded slowdown 10 to below 100",
        lambda c: c.figures.at_10 - c.figures.at_100,
        better=NEITHER,
    ),
    Metric(
        "slowdown_100", "1", "number of jobs with bounded slowdown 100 or more",
        lambda c: c.figures.at_100,
    ),
    Metric(
        "premature", "1", "number of premature jobs (estimate >= 100 x run time)",
        lambda c: c.figures.premature, better=NEITHER,
    ),
    Metric(
        "bounded_slowdown_premature", "1", "mean bounded slowdown of the premature jobs",
        lambda c: ratio(c.figures.early, c.figures.premature),
    ),
    Metric(
        "bounded_slowdown_standard", "1", "mean bounded slowdown of the other jobs",
        lambda c: ratio(c.figures.others, len(c) - c.figures.premature),
    ),
    Metric(
        "utilisation", "1", "share of the processors in use from first submission to last end",
        _utilisation, better=LARGER,
    ),
    Metric(
        "loss_of_capacity", "1",
        "share of the processors that are idle while waiting jobs request them", _lost,
    ),
    Metric("makespan", "s", "time from first submission to last end", _makespan),
    Metric(
        "backfilled", "1", "number of jobs backfilled",
        lambda c: np.count_nonzero(c.schedule.backfilled[c.kept]), better=NEITHER,
    ),
    Metric(
        "killed", "1", "number of jobs killed at their estimate",
        lambda c: np.count_nonzero(c.schedule.killed[c.kept]), better=NEITHER,
    ),
    Metric(
        "refused", "1", "number of jobs refused", lambda c: np.count_nonzero(c.schedule.refused)
    ),
    Metric(
        "withdrawn", "1", "number of jobs that left the queue before they started",
        lambda c: np.count_nonzero(c.schedule.withdrawn), better=NEITHER,
    ),
    Metric(
        "lost", "1", "number of jobs cut off before their end",
        lambda c: np.count_nonzero(c.schedule.lost[c.kept]),
    ),
    Metric(
        "prediction_accuracy", "1",
        "mean of the smaller of predicted and actual run time / the larger",
        lambda c: c.predicted.accuracy, better=LARGER,
    ),
    Metric(
        "overprediction", "s", "mean excess of the predicted over the actual run time",
        lambda c: ratio(c.predicted.over, len(c)),
    ),
    Metric(
        "underprediction", "s", "mean excess of the actual over the predicted run time",
        lambda c: ratio(c.predicted.under, len(c)),
    ),
    Metric(
        "underpredicted", "1", "share of the jobs that outlived their predicted run time",
        lambda c: ratio(c.predicted.outlived, len(c)),
    ),
    Metric("queue_length", "1", "time-average number of waiting jobs", _queue_length),
    Metric("offered_load", "1", "offered load", _offered_load, better=NEITHER, shared=True),
    Metric(
        "users", "1", "number of users with a normalised wait time and at least two jobs",
        lambda c: c.compared_nuwt.size, better=NEITHER,
    ),
    Metric(
        "nuwt_mean", "1 / processor", "mean over users of normalised user wait time (UWT)",
        lambda c: mean(c.compared_nuwt),
    ),
    Metric(
        "nuwt_spread", "1 / processor^2",
        "sum over users of (UWT - normalised user wait time)^2 (F)",
        lambda c: spread_of(c.compared_nuwt),
    ),
    Metric(
        "nuwt_jain", "1", "Jain's index of users' normalised wait times, 1 where all are equal",
        lambda c: jain_of(c.compared_nuwt), better=LARGER,
    ),
    Metric(
        "nuwt_gini", "1",
        "Gini coefficient of users' normalised wait times, 0 where all are equal",
        lambda c: gini_of(c.compared_nuwt),
    ),
    Metric(
        "migrated_share", "1", "share of the jobs that ran on one cluster, not their own",
        lambda c: mean(c.migrated), better=NEITHER, among=True,
    ),
    Metric(
        "coallocated_share", "1", "share of the jobs that ran on several clusters at once",
        lambda c: mean(c.coallocated), better=NEITHER, among=True,
    ),
    Metric(
        "week_jobs", "1", "number of jobs ended in the week",
        lambda c: c.by_week.jobs,
        over=WEEK, better=NEITHER, dtype="int64",
    ),
    Metric(
        "week_wait", "s", "mean wait of the jobs ended in the week",
        lambda c: c.by_week.wait, over=WEEK,
    ),
    Metric(
        "week_bounded_slowdown", "1", "mean bounded slowdown of the jobs ended in the week",
        lambda c: c.by_week.slowdown, over=WEEK,
    ),
    Metric(
        "week_pp_bounded_slowdown", "1",
        "mean per-processor bounded slowdown of the jobs ended in the week",
        lambda c: c.by_week.pp_slowdown, over=WEEK,
    ),
    Metric(
        "week_bounded_slowdown_geomean", "1",
        "geometric mean of the bounded slowdowns of the jobs ended in the week",
        lambda c: _geometric_means(c.by_week.log_slowdown), over=WEEK,
    ),
    Metric(
        "week_loss_of_capacity", "1",
        "share of the processors that are idle in the week while waiting jobs request them",
        _week_lost, over=WEEK,
    ),
    Metric(
        "user_jobs", "1", "number of jobs of the user", lambda c: c.by_user.jobs,
        over=USER, better=NEITHER, dtype="int64",
    ),
    Metric(
        "user_work", "processor s", "run time x processors of the user's jobs",
        lambda c: c.by_user.work, over=USER, better=NEITHER, dtype="int64",
    ),
    Metric(
        "user_nuwt", "1 / processor",
        "normalised user wait time: waits of the user's jobs over their work",
        lambda c: c.nuwt, over=USER,
    ),
    Metric(
        "width_jobs", "1", "number of jobs of the width",
        lambda c: c.by_width.jobs,
        over=WIDTH, better=NEITHER, dtype="int64",
    ),
    Metric(
        "width_wait", "s", "mean wait of the jobs of the width",
        lambda c: c.by_width.wait, over=WIDTH,
    ),
    Metric(
        "width_bounded_slowdown", "1", "mean bounded slowdown of the jobs of the width",
        lambda c: c.by_width.slowdown, over=WIDTH,
    ),
    Metric(
        "width_bounded_slowdown_geomean", "1",
        "geometric mean of the bounded slowdowns of the jobs of the width",
        lambda c: _geometric_means(c.by_width.log_slowdown), over=WIDTH,
    ),
    Metric(
        "origin_jobs", "1", "number of jobs of the cluster",
        lambda c: c.origin_jobs,
        over=ORIGIN, better=NEITHER, dtype="int64",
    ),
    Metric(
        "origin_wait", "s", "mean wait of the cluster's jobs",
        lambda c: _per_origin(c, c.wait), over=ORIGIN,
    ),
    Metric(
        "origin_response", "s", "mean response time of the cluster's jobs",
        lambda c: _per_origin(c, c.response), over=ORIGIN,
    ),
    Metric(
        "origin_bounded_slowdown", "1", "mean bounded slowdown of the cluster's jobs",
        lambda c: _per_origin(c, c.slowdown), over=ORIGIN,
    ),
    Metric(
        "origin_migrated_share", "1", "share of the cluster's jobs that ran on one other cluster",
        lambda c: _per_origin(c, c.migrated), over=ORIGIN, better=NEITHER,
    ),
    Metric(
        "origin_coallocated_share", "1",
        "share of the cluster's jobs that ran on several clusters at once",
        lambda c: _per_origin(c, c.coallocated), over=ORIGIN, better=NEITHER,
    ),
    Metric(
        "origin_given", "processor s", "processor time of other clusters' jobs on the cluster",
        lambda c: given(c.node_time), over=ORIGIN, better=NEITHER,
    ),
    Metric(
        "origin_received", "processor s", "processor time of the cluster's jobs on other clusters",
        lambda c: received(c.node_time), over=ORIGIN, better=NEITHER,
    ),
    Metric(
        "origin_utilisation", "1", "share of the cluster's processors in use, by any jobs",
        _origin_utilisation, over=ORIGIN, better=LARGER,
    ),
    Metric(
        "origin_link_load", "1",
        "mean demand on the cluster's link / its capacity",
        lambda c: link_loads(c.schedule, c.link_demands, c.window), over=ORIGIN, better=NEITHER,
    ),
    Metric(
        "origin_link_peak", "1", "largest demand on the cluster's link / its capacity",
        lambda c: link_peaks(c.schedule, c.link_demands, c.window), over=ORIGIN, better=NEITHER,
    ),
)  # fmt: skip

METRICS: dict[str, Metric] = {row.name: row for row in _ROWS}
"""Metrics of every summary and store, by name."""

ON_REQUEST: dict[str, Metric] = {
    row.name: row
    for row in (
        Metric(
            "energy", "kWh", "energy of the jobs whose power is known: power x time held", _energy
        ),
    )
}
"""Built-in metrics, by name, that only campaigns that name them compute."""


def metrics_over(what: str, platform: Platform | None = None) -> tuple[Metric, ...]:
    """Return the built-in metrics with one value per cell, week, user, width or origin.

    Without a platform only the metrics of every platform are returned.

    Examples
    --------
    >>> [metric.name for metric in metrics_over("user")]
    ['user_jobs', 'user_work', 'user_nuwt']
    >>> metrics_over("origin")
    ()
    """
    rows = METRICS.values()
    return tuple(row for row in rows if row.over == what and row.there_is(platform))


def find_metric(name: str) -> Metric:
    """Return a metric by the name of a built-in metric, an entry point, or ``module:name``.

    A plug-in metric is a `Metric`, or a function of a `core.metrics.counted.Counted`. The meaning
    of a function is the first line of its docstring. The function can have the attributes ``unit``,
    ``over`` and ``better`` of `Metric`.

    Examples
    --------
    >>> find_metric("wait").meaning
    'mean wait'
    """
    built_in = {**METRICS, **ON_REQUEST}
    if name in built_in:
        return built_in[name]
    found = own.brought("metric", own.METRICS, name)
    if found is None:
        known = choices(name, [*built_in, *own.entered(own.METRICS)], "module:name")
        raise InputError(f"metric {name!r} is unknown; {known}")
    if isinstance(found, Metric):
        metric = found
    elif callable(found):
        metric = _of_function(name, found)
    else:
        raise InputError(
            f"metric {name!r} is {reprlib.repr(found)}, {type(found).__name__}; it must be a "
            "function or a Metric"
        )
    if metric.name in built_in:
        raise InputError(
            f"metric {name!r} would be called {metric.name!r}, like a built-in one; give it "
            "another name"
        )
    return replace(metric, shared=False)


def _of_function(name: str, function: Callable[[Counted], Any]) -> Metric:
    text = (function.__doc__ or "").strip()
    given = {key: getattr(function, key) for key in ("over", "better") if hasattr(function, key)}
    return Metric(
        name.rpartition(":")[2].rpartition(".")[2],
        str(getattr(function, "unit", "1")),
        text.splitlines()[0].rstrip(".") if text else name,
        function,
        **given,
    )
