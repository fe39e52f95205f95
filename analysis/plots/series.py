"""Data of the figures without a time axis; all counts in them are exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from schedfarm.analysis.band_rule import BandRule, band_rule
from schedfarm.analysis.bands import bands
from schedfarm.analysis.errors import TooFewSamplesError
from schedfarm.analysis.store import Store, at_labels, check_known, open_metric
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.metrics.counted import Counted
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

HOUR, DAY, WEEK = 3_600, 86_400, 604_800

EPOCH_WEEKDAY = 3
"""Weekday of Unix time 0, a Thursday, counted from Monday as 0."""


@dataclass(frozen=True)
class JobValue:
    """Declare a value of each job for figures of distributions and users."""

    meaning: str
    unit: str
    of: Callable[[Counted], Int64 | Float64]


JOB_VALUES = {
    "wait": JobValue("wait", "s", lambda counted: counted.wait),
    "bounded_slowdown": JobValue("bounded slowdown", "1", lambda counted: counted.slowdown),
    "response": JobValue("response time", "s", lambda counted: counted.response),
}
"""Values of jobs, by the names of the metrics that average them."""


def distribution(values: Int64 | Float64) -> xr.Dataset:
    """Return the number of values up to each distinct value, ascending.

    Examples
    --------
    >>> found = distribution(np.array([5, 0, 5]))
    >>> found["value"].values.tolist(), found["jobs"].values.tolist()
    ([0, 5], [1, 3])
    """
    value, counts = np.unique(values, return_counts=True)
    return xr.Dataset({"jobs": ("value", np.cumsum(counts))}, {"value": value})


def arrivals(jobs: Workload) -> xr.Dataset:
    """Return the jobs submitted on each weekday and in each hour of the day.

    Weekday and hour are by the log's clock (UTC for SWF, local time for sacct) if the log has the
    date of its first submission. Otherwise the log is assumed to begin on a Monday at midnight.
    `days` is the number of times that each weekday occurs, in part or whole.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 90_000], run=[1, 1], estimate=[1, 1], procs=[1, 1],
    ...                           processors=1, epoch=0)
    >>> found = arrivals(w)["jobs"]
    >>> int(found.sel(weekday="Thu", hour=0)), int(found.sel(weekday="Fri", hour=1))
    (1, 1)
    """
    dated = jobs.epoch >= 0
    instants = jobs.submit + (jobs.epoch + EPOCH_WEEKDAY * DAY if dated else 0)
    hour = instants // HOUR
    place = hour // 24 % 7 * 24 + hour % 24
    counts = np.bincount(place, minlength=7 * 24).reshape(7, 24)
    first, last = (int(instants[k]) // DAY for k in (0, -1)) if len(jobs) else (0, -1)
    days = [(last - weekday) // 7 - (first - 1 - weekday) // 7 for weekday in range(7)]
    names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    return xr.Dataset(
        {"jobs": (("weekday", "hour"), counts), "days": ("weekday", days)},
        {"weekday": names, "hour": np.arange(24)},
        {"dated": dated},
    )


def estimates(jobs: Workload, per_decade: int = 10) -> xr.Dataset:
    """Return the number of jobs by classes of estimate and of run time.

    Classes are equal on a logarithmic scale, and their edges are whole seconds. A class includes
    its lower edge and excludes its upper edge; the first class also includes 0.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 5], run=[10, 3], estimate=[20, 3], procs=[1, 1],
    ...                           processors=1)
    >>> int(estimates(w)["jobs"].sum())
    2
    """
    largest = max(int(jobs.estimate.max(initial=1)), 2)
    decades = np.arange(0, np.log10(largest) + 2 / per_decade, 1 / per_decade)
    edges = np.unique(np.ceil(10**decades - 1e-9).astype(np.int64))
    if edges[-1] <= largest:
        edges = np.append(edges, largest + 1)
    classes = edges.size - 1
    place = [
        np.maximum(np.searchsorted(edges, values, side="right") - 1, 0)
        for values in (jobs.estimate, jobs.run)
    ]
    counts = np.bincount(place[0] * classes + place[1], minlength=classes**2)
    return xr.Dataset(
        {"jobs": (("estimate", "run"), counts.reshape(classes, classes))},
        {"estimate": edges[:-1], "run": edges[:-1], "edge": edges},
    )


def users(schedule: Schedule, value: str = "wait") -> xr.Dataset:
    """Return number of jobs, work (processor s) and mean value of each known user.

    Examples
    --------
    >>> from schedfarm.core import simulate
    >>> w = Workload.from_columns(submit=[0, 0], run=[4, 2], estimate=[4, 2], procs=[2, 1],
    ...                           user=[3, 7], processors=2)
    >>> users(simulate(w, "fcfs+easy"))["wait"].values.tolist()
    [0.0, 4.0]
    """
    counted = Counted(schedule)
    index = counted.users
    sums, count = counted.by_user, index.label.size
    values = JOB_VALUES[value].of(counted)
    known = index.place[counted.kept]
    totals = np.bincount(known, weights=values, minlength=count + 1)[:count]
    jobs = np.maximum(sums.jobs, 1)
    found = np.where(sums.jobs > 0, totals / jobs, np.nan)
    return xr.Dataset(
        {"jobs": ("user", sums.jobs), "work": ("user", sums.work), value: ("user", found)},
        {"user": index.label},
    )


def over_loads(
    store: Store,
    metric: str,
    rule: BandRule | None = None,
    **where: Any,
) -> xr.Dataset:
    """Return a metric of each trace, load and policy: `low`, `middle`, `high` and `log`.

    With too few samples for bands, `middle` is the only sample or the log itself, and `low` and
    `high` are NaN. `x` is the load as a number: the target load or, for unscaled jobs, the mean
    offered load.
    """
    summary = open_metric(store, metric)
    numbers = [
        str(name)
        for name, one in summary.items()
        if {"trace", "load", "policy", "resample"} == set(one.dims)
    ]
    check_known(metric, "metric", sorted(numbers))
    rule = rule or band_rule()
    x = _loads(summary, where)
    try:
        found = bands(store, metric, kind=rule.kind, **rule.options, **where)
        low, middle, high = (found[metric].isel({found[metric].dims[-1]: k}) for k in range(3))
        data = {"low": low, "middle": middle, "high": high}
        if "log" in found:
            data["log"] = found["log"]
        samples, said = found["n"], {"description": found.attrs["description"]}
    except TooFewSamplesError:
        values = at_labels(summary[metric], **where)
        middle = values.mean("resample").transpose("trace", "load", "policy")
        samples, said = values.notnull().sum("resample"), {}
        data = {"low": middle * np.nan, "middle": middle, "high": middle * np.nan}
    named = {name: one.drop_vars("band", errors="ignore") for name, one in data.items()}
    attrs = {
        "metric": metric,
        "long_name": str(summary[metric].attrs.get("long_name", metric)),
        "units": str(summary[metric].attrs.get("units", "1")),
        **said,
    }
    kept = {name: one.reset_coords(drop=True) for name, one in named.items()}
    return xr.Dataset({**kept, "n": samples.reset_coords(drop=True), "x": x}, attrs=attrs)


def _loads(summary: xr.Dataset, where: dict[str, Any]) -> xr.DataArray:
    """Return the load of each trace and label as a number."""
    chosen = {axis: where.get(axis) for axis in ("trace", "load")}
    offered = at_labels(summary["offered_load"], **chosen).mean("resample")
    target = summary["target_load"].reindex(load=offered["load"])
    x: xr.DataArray = target.where(target.notnull(), offered).transpose("trace", "load")
    return x.reset_coords(drop=True)
