"""The numbers of a workload table: a row for each number, for one log or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from schedfarm.analysis.tables import aligned, latex_text
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.metrics.counted import Counted, ratio
from schedfarm.core.metrics.declared import METRICS
from schedfarm.core.numerals import significant
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.load import offered_load, work
from schedfarm.core.workload.workload import Workload

HOUR, DAY = 3_600, 86_400

Value: TypeAlias = float | str | None
"""A number or a text of a workload table; None if the log lacks it."""


@dataclass(frozen=True)
class Described:
    """Hold a log with its own schedule; None if too many of the log's waits are unknown."""

    jobs: Workload
    logged: Schedule | None = None


@dataclass(frozen=True)
class Characteristic:
    """Declare a row of a workload table: key with its unit, title, and function."""

    key: str
    title: str
    of: Callable[[Described], Value]


def _date(log: Described, place: int) -> str | None:
    if log.jobs.epoch < 0:
        return None
    instant = log.jobs.epoch + int(log.jobs.submit[place])
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%d")


def _mean(values: Int64) -> float:
    return ratio(int(values.sum()), values.size)


def _variation(values: Int64 | Float64) -> float:
    """Return the standard deviation divided by the mean."""
    mean = float(values.mean())
    return float(values.std()) / mean if mean else np.nan


def _gaps(log: Described) -> Int64:
    return np.diff(log.jobs.submit)


def _dispersion(log: Described) -> float:
    """Return variance / mean of the jobs submitted per hour; 1 for a Poisson process."""
    hours = (log.jobs.submit - log.jobs.submit[0]) // HOUR
    counts = np.bincount(hours)
    return float(counts.var() / counts.mean())


def _accuracy(log: Described) -> Float64:
    jobs = log.jobs
    asked = jobs.estimate > 0
    return jobs.run[asked] / jobs.estimate[asked]


def _top_users(log: Described) -> Value:
    """Return the share of the work of the 10 % of users with the most work."""
    user, area = log.jobs.user, log.jobs.run * log.jobs.procs
    known = user >= 0
    if not known.any():
        return None
    _, place = np.unique(user[known], return_inverse=True)
    sums = np.sort(np.bincount(place, weights=area[known]))[::-1]
    return float(sums[: max(1, round(sums.size / 10))].sum() / max(sums.sum(), 1.0))


def _as_logged(metric: str) -> Callable[[Described], Value]:
    """Return the function that computes a metric of the log's own schedule."""

    def of(log: Described) -> Value:
        return None if log.logged is None else float(METRICS[metric].of(Counted(log.logged)))

    return of


def _unasked(log: Described) -> Value:
    unasked, read = log.jobs.unasked
    return ratio(unasked, read) if unasked else None


def _requested(value: Callable[[Described], Value]) -> Callable[[Described], Value]:
    """Return a function of requested times that gives None if no job requests a time."""

    def of(log: Described) -> Value:
        unasked, read = log.jobs.unasked
        return None if read and unasked == read else value(log)

    return of


def _share(chosen: Any) -> float:
    return ratio(int(np.count_nonzero(chosen)), chosen.size)


_ROWS = (
    Characteristic("processors", "processors", lambda log: log.jobs.processors),
    Characteristic("jobs", "jobs", lambda log: len(log.jobs)),
    Characteristic(
        "users", "users", lambda log: len(set(log.jobs.user[log.jobs.user >= 0].tolist())) or None
    ),
    Characteristic("first", "first submission", lambda log: _date(log, 0)),
    Characteristic("last", "last submission", lambda log: _date(log, -1)),
    Characteristic("days", "period (days)", lambda log: float(np.ptp(log.jobs.submit)) / DAY),
    Characteristic(
        "offered_load", "offered load",
        lambda log: offered_load(log.jobs) if np.ptp(log.jobs.submit) else None,
    ),
    Characteristic("logged_utilisation", "utilisation in the log", _as_logged("utilisation")),
    Characteristic("logged_wait_mean_s", "mean wait in the log (s)", _as_logged("wait")),
    Characteristic(
        "logged_bounded_slowdown", "mean bounded slowdown in the log",
        _as_logged("bounded_slowdown"),
    ),
    Characteristic("run_mean_s", "mean run time (s)", lambda log: _mean(log.jobs.run)),
    Characteristic(
        "run_median_s", "median run time (s)", lambda log: float(np.median(log.jobs.run))
    ),
    Characteristic("run_cv", "CV of run times", lambda log: _variation(log.jobs.run)),
    Characteristic("procs_mean", "mean processors of a job", lambda log: _mean(log.jobs.procs)),
    Characteristic(
        "procs_median", "median processors", lambda log: float(np.median(log.jobs.procs))
    ),
    Characteristic(
        "procs_max", "largest number of processors", lambda log: int(log.jobs.procs.max())
    ),
    Characteristic("serial_share", "serial jobs (share)", lambda log: _share(log.jobs.procs == 1)),
    Characteristic(
        "power_of_two_share", "powers of two (share)",
        lambda log: _share((log.jobs.procs & (log.jobs.procs - 1)) == 0),
    ),
    Characteristic(
        "work_mean_processor_h", "mean work of a job (processor h)",
        lambda log: ratio(work(log.jobs), HOUR * len(log.jobs)),
    ),
    Characteristic(
        "estimate_mean_s", "mean requested time (s)",
        _requested(lambda log: _mean(log.jobs.estimate)),
    ),
    Characteristic(
        "accuracy_mean", "mean run time / request",
        _requested(lambda log: float(_accuracy(log).mean())),
    ),
    Characteristic(
        "accuracy_median", "median run time / request",
        _requested(lambda log: float(np.median(_accuracy(log)))),
    ),
    Characteristic("unasked_share", "jobs without a request (share)", _unasked),
    Characteristic(
        "interarrival_mean_s", "mean time between arrivals (s)",
        lambda log: _mean(_gaps(log)) if len(log.jobs) > 1 else None,
    ),
    Characteristic(
        "interarrival_cv", "CV of times between arrivals",
        lambda log: _variation(_gaps(log)) if len(log.jobs) > 1 else None,
    ),
    Characteristic("hourly_dispersion", "variance / mean of hourly arrivals", _dispersion),
    Characteristic("top_users_share", "work of the top 10 % of users (share)", _top_users),
)  # fmt: skip

CHARACTERISTICS = {row.key: row for row in _ROWS}
"""Rows of a workload table by key."""


def characteristics(jobs: Workload, logged: Schedule | None = None) -> dict[str, Value]:
    """Return the numbers of a workload table for one log.

    Parameters
    ----------
    jobs : Workload
        The jobs, at least one.
    logged : Schedule, optional
        The log's own schedule under the policy ``fcfs+logged``, for the numbers on waits.

    Returns
    -------
    dict of str to float, str or None
        Numbers by the keys of `analysis.workloads.CHARACTERISTICS`, which end in units; None if the
        log lacks the number. Dates are in UTC, and shares are from 0 to 1. ``hourly_dispersion`` is
        variance / mean of the jobs submitted per hour, 1 for a Poisson process.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 3600, 7200], run=[60, 60, 600], procs=[1, 2, 3],
    ...                           estimate=[120, 60, 600], user=[1, 1, 2], processors=4)
    >>> found = characteristics(w)
    >>> found["users"], found["run_mean_s"], found["run_median_s"], found["serial_share"]
    (2, 240.0, 60.0, 0.3333333333333333)
    """
    log = Described(jobs, logged)
    found = {key: row.of(log) for key, row in CHARACTERISTICS.items()}
    return {key: None if value != value else value for key, value in found.items()}


def workload_table(logs: Sequence[tuple[str, dict[str, Value]]]) -> pd.DataFrame:
    """Return the table of several logs: a row for each characteristic, a column for each log."""
    columns = {name: [_text(values[key]) for key in CHARACTERISTICS] for name, values in logs}
    return pd.DataFrame(columns, index=[row.title for row in CHARACTERISTICS.values()])


def workload_text(logs: Sequence[tuple[str, dict[str, Value]]]) -> str:
    """Return the table of several logs as aligned text."""
    frame = workload_table(logs)
    rows = [
        [f"  {title}", *values] for title, values in zip(frame.index, frame.values, strict=True)
    ]
    return "\n".join(aligned([["", *frame.columns], *rows]))


def workload_latex(logs: Sequence[tuple[str, dict[str, Value]]]) -> str:
    r"""Return the table in LaTeX with booktabs; rows without a number of any log are left out."""
    frame = workload_table(logs)
    frame = frame[(frame != NOTHING).any(axis=1)]
    frame.index = [latex_text(title) for title in frame.index]
    frame.columns = [latex_text(name) for name in frame.columns]
    frame = frame.replace(NOTHING, "--").map(lambda text: text.replace(" ", r"\,"))
    alignment = "l" + "r" * len(frame.columns)
    return str(frame.style.to_latex(hrules=True, column_format=alignment))


NOTHING = "-"
"""Text for a number that a log lacks."""


def _text(value: Value) -> str:
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else significant(value)
