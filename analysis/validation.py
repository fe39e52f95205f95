"""Distance between simulation and site scheduler: simulated and logged waits.

A log's own waits come from the scheduler of its site, with rules, outages and limits that a
simulation lacks. Before any what-if, the distance of a simulation of the unchanged log from these
waits should be known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from schedfarm.analysis.errors import NoValuesError
from schedfarm.analysis.groups import FELT
from schedfarm.analysis.logs import log_columns, logged_values
from schedfarm.analysis.store import (
    LOG,
    Store,
    at_labels,
    has_log,
    known_label,
    open_summary,
    open_trace,
)
from schedfarm.analysis.tables import aligned, decimals_for, fact
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.metrics.slowdown import TAU, slowdowns
from schedfarm.core.metrics.widths import WIDTHS, width_classes
from schedfarm.core.numerals import counted, grouped

WEEK = 604_800

AS_LOGGED = "original"
"""Label of the load of an unchanged log."""

BY = ("all", "week", "queue", "width")
"""Groupings of jobs in a validation."""

KEY = ("trace", "load", "policy", "by", "group")

SLAB = 2**23
"""Number of job numbers of resamples that are in memory at once."""

FAR = 0.5
"""Distance above which a comparison warns: half of the logged wait."""


def validation(
    store: Store,
    *,
    trace: str | None = None,
    load: float | str | None = None,
    policy: str | None = None,
    names: Mapping[str, Mapping[int, str]] | None = None,
) -> pd.DataFrame:
    """Compare simulated waits with the logged waits of the same jobs, by week, queue and width.

    Parameters
    ----------
    store : path
        The store's folder or address. An open tree does not suffice, since it lacks the logs.
    trace, load, policy : optional
        Restriction; by default all traces and policies, at the load ``original``, or at all loads
        if the store lacks ``original``.
    names : mapping of str to mapping of int to str, optional
        Names of the queues by trace and number.

    Returns
    -------
    DataFrame
        Indexed by (trace, load, policy, by, group), where ``by`` is ``all``, ``week`` (of
        submission, from 1), ``queue`` or ``width``. The frame is empty unless a trace has logged
        waits and its log is one of the resamples. If the store keeps no single jobs, the only group
        is ``all``. Columns:

        - ``jobs``: number of started jobs with a logged wait;
        - ``simulated``, ``logged``: mean waits of these jobs, s;
        - ``difference``: simulated - logged, s;
        - ``mean_absolute_error``: mean absolute difference of single jobs, s.

    Raises
    ------
    StoreError
        If the store cannot be read, or a name is unknown.

    Examples
    --------
    >>> validation(xr.DataTree(xr.Dataset(coords={"trace": ["KTH"], "load": ["original"]}))).empty
    True
    """
    parts = list(_validated(store, trace, load, policy, names or {}))
    columns = ["jobs", "simulated", "logged", "mean_absolute_error"]
    frame = pd.DataFrame(
        [values for _, values in parts],
        pd.MultiIndex.from_tuples([key for key, _ in parts], names=KEY)
        if parts
        else pd.MultiIndex.from_arrays([[]] * len(KEY), names=KEY),
        columns,
    )
    frame.insert(3, "difference", frame["simulated"] - frame["logged"])
    return frame


def distances(found: pd.DataFrame) -> pd.DataFrame:
    """Return the distance between simulation and log by trace, load, policy and kind of group.

    Parameters
    ----------
    found : DataFrame
        The result of `validation`.

    Returns
    -------
    DataFrame
        Indexed by (trace, load, policy), with a column for each known grouping: ``all``, ``week``,
        ``queue`` and ``width``. The distance is the absolute difference between the simulated and
        the logged mean wait of a job's group. It is averaged over the jobs and divided by the mean
        logged wait. It is 0 if the means are equal in every group, and 1 if the differences are as
        large as the waits.

    Examples
    --------
    >>> index = pd.MultiIndex.from_tuples(
    ...     [("KTH", "original", "fcfs+easy", "week", "1"),
    ...      ("KTH", "original", "fcfs+easy", "week", "2")], names=KEY)
    >>> found = pd.DataFrame({"jobs": [30, 10], "simulated": [60.0, 90.0],
    ...                       "logged": [100.0, 100.0], "difference": [-40.0, -10.0]}, index)
    >>> distances(found)["week"].round(3).tolist()
    [0.325]
    """
    weighted = pd.DataFrame({
        "off": found["difference"].abs() * found["jobs"],
        "logged": found["logged"] * found["jobs"],
    })  # fmt: skip
    sums = weighted.groupby(level=list(KEY[:4]), sort=False).sum()
    shares = (sums["off"] / sums["logged"].where(sums["logged"] > 0)).unstack("by")
    return shares[[by for by in BY if by in shares]]


def logged_means(store: Store, trace: str, metric: str) -> xr.DataArray | None:
    """Return the mean of a metric as logged, over the jobs of each resample.

    A resample draws jobs of the log with their logged waits, which do not depend on the load. None
    for a model, a metric that is not of single jobs, a log without waits, and a store whose means
    are over other jobs: without the first or last jobs, or with other users at each load.
    """
    if metric not in FELT or isinstance(store, xr.DataTree):
        return None
    settings = open_summary(store).attrs
    if settings.get("load_by") == "users" or {"warmup", "cooldown"} & settings.keys():
        return None
    columns = log_columns(store, trace, "job", "run", "logged_wait")
    wait = columns.get("logged_wait")
    if wait is None or not (wait >= 0).any():
        return None
    tau = float(open_summary(store).attrs.get("tau", TAU))
    felt = wait if metric == "wait" else slowdowns(wait + columns["run"], columns["run"], tau)
    values = np.where(wait >= 0, felt, np.nan).astype(np.float64)
    group = open_trace(store, trace)
    labels = group["resample"].values
    means = np.full(labels.size, np.nan)
    if LOG in labels:
        means[labels == LOG] = np.nanmean(values)
    if "number" in group:
        numbers = group["number"].isel(load=0)
        order = np.argsort(columns["job"], kind="stable")
        step = max(1, SLAB // max(1, numbers.sizes["job"]))
        for first in range(0, labels.size, step):
            slab = numbers.isel(resample=slice(first, first + step)).values
            for i, drawn in enumerate(slab, first):
                jobs = drawn[drawn >= 0]
                if labels[i] == LOG or not jobs.size:
                    continue
                felt_of = _by_number(columns["job"], order, values, jobs)
                if np.isfinite(felt_of).any():
                    means[i] = np.nanmean(felt_of)
    return xr.DataArray(means, {"resample": labels}, ("resample",), name="logged")


def mean_as_logged(store: Store, trace: str, metric: str) -> float:
    """Return a trace's logged mean over its samples or, without samples, over its log; else NaN."""
    found = logged_means(store, trace, metric)
    if found is None:
        return np.nan
    samples = found.sel(resample=found["resample"] > LOG)
    return float((samples if samples.size else found).mean())


def with_logged(store: Store, band: xr.Dataset) -> xr.Dataset:
    """Add the logged mean of each trace, ``logged``, to a band of `bands`, if the mean is known."""
    metric = str(band.attrs["metric"])
    if "trace" not in band.dims or metric not in FELT:
        return band
    means = [mean_as_logged(store, str(trace), metric) for trace in band["trace"].values]
    if not np.isfinite(means).any():
        return band
    said = {"long_name": "mean of the same samples as logged", "units": band[metric].units}
    return band.assign(logged=("trace", means, said))


def _by_number(job: Int64, order: Int64, values: Float64, wanted: Int64) -> Float64:
    """Return the value of each wanted job number; NaN for numbers that the log lacks.

    order: indices of the log's jobs, sorted by number.
    """
    place = np.searchsorted(job[order], wanted).clip(max=job.size - 1)
    found = order[place]
    return np.where(job[found] == wanted, values[found], np.nan)


def _validated(
    store: Store,
    trace: str | None,
    load: float | str | None,
    policy: str | None,
    names: Mapping[str, Mapping[int, str]],
) -> Iterator[tuple[tuple[str, ...], tuple[float, ...]]]:
    summary = open_summary(store)
    traces = [str(name) for name in summary["trace"].values]
    wanted = traces if trace is None else [known_label("trace", trace, traces)]
    loads = [str(name) for name in summary["load"].values]
    if load is None and AS_LOGGED in loads:
        load = AS_LOGGED
    for name in wanted:
        if isinstance(store, xr.DataTree) or not has_log(store, name):
            continue
        group = at_labels(open_trace(store, name), load=load, policy=policy)
        log = group.sel(resample=LOG)
        if "wait" in log:
            yield from _of_jobs(store, name, log, names.get(name, {}))
        else:
            own = at_labels(summary.sel(trace=name, resample=LOG), load=load, policy=policy)
            yield from _of_means(store, name, own)


def _of_jobs(
    store: Store, trace: str, log: xr.Dataset, names: Mapping[int, str]
) -> Iterator[tuple[tuple[str, ...], tuple[float, ...]]]:
    """Yield the groups of a log's jobs for each load and policy."""
    for load in log["load"].values.tolist():
        at = log.sel(load=load)
        at = at.isel(job=slice(int(at["jobs"])))
        number = at["number"].values
        try:
            logged = logged_values(store, trace, "logged_wait", number)
        except NoValuesError:
            return
        submit = at["submit"].values
        groups: dict[str, tuple[Int64, Mapping[int, str]]] = {
            "all": (np.zeros(number.size, np.int64), {0: "all"}),
            "week": ((submit - submit.min(initial=2**62)) // WEEK + 1, {}),
            "width": (width_classes(at["procs"].values), dict(enumerate(WIDTHS))),
        }
        try:
            queue = logged_values(store, trace, "queue", number)
            if np.unique(queue).size > 1:
                groups["queue"] = (queue, {-1: "unknown", **names})
        except NoValuesError:
            pass
        for policy in at["policy"].values.tolist():
            wait = at["wait"].sel(policy=policy).values
            known = (wait >= 0) & (logged >= 0)
            if not known.any():
                continue
            for by in BY:
                if by in groups:
                    place, called = groups[by]
                    for label, row in _means(place[known], wait[known], logged[known]):
                        yield (trace, load, policy, by, called.get(label, str(label))), row


def _means(place: Int64, wait: Int64, logged: Int64) -> Iterator[tuple[int, tuple[float, ...]]]:
    labels, group = np.unique(place, return_inverse=True)
    counts = np.bincount(group)
    sums = [np.bincount(group, weights=x) / counts for x in (wait, logged, np.abs(wait - logged))]
    for i, label in enumerate(labels.tolist()):
        yield label, (int(counts[i]), *(float(one[i]) for one in sums))


def _of_means(
    store: Store, trace: str, own: xr.Dataset
) -> Iterator[tuple[tuple[str, ...], tuple[float, ...]]]:
    """Yield the means over all jobs of a store that keeps no single jobs but counts all jobs."""
    logged = log_columns(store, trace, "logged_wait").get("logged_wait")
    if logged is None or (logged < 0).any() or "wait" not in own:
        return
    for load in own["load"].values.tolist():
        for policy in own["policy"].values.tolist():
            at = own.sel(load=load, policy=policy)
            simulated, jobs = float(at["wait"]), float(at["counted"])
            if np.isfinite(simulated) and jobs == logged.size:
                values = (int(jobs), simulated, float(logged.mean()), np.nan)
                yield (trace, str(load), str(policy), "all", "all"), values


def validation_sentences(found: pd.DataFrame, policies: Sequence[str] = ()) -> list[str]:
    """Return a sentence for each trace, load and policy: both mean waits, and the distances.

    Examples
    --------
    >>> index = pd.MultiIndex.from_tuples(
    ...     [("KTH", "original", "fcfs+easy", "all", "all")], names=KEY)
    >>> found = pd.DataFrame({"jobs": [40], "simulated": [60.0], "logged": [100.0],
    ...                       "difference": [-40.0]}, index)
    >>> print(*validation_sentences(found))
    KTH, load original: mean wait 60 s under fcfs+easy, 100 s in the log (40 jobs); distance 40 %
    """
    return [
        _sentence(found, key, row)
        for key, row in distances(found).iterrows()
        if not policies or _labels(key)[2] in policies
    ]


def _sentence(found: pd.DataFrame, key: Any, row: pd.Series) -> str:
    trace, load, policy = _labels(key)
    at = found.xs((trace, load, policy, "all"), level=list(KEY[:4]))
    values = at[["simulated", "logged"]].to_numpy(dtype=np.float64)[0]
    simulated, logged = (grouped(x, decimals_for(values)) for x in values.tolist())
    parts = [
        (f"{_percent(x)} by {by}" if by != "all" else _percent(x))
        for by, x in row.items()
        if np.isfinite(x)
    ]
    far = f"; distance {', '.join(parts)}" if parts else ""
    jobs = counted(int(at["jobs"].iloc[0]), "job")
    return (
        f"{trace}, load {load}: mean wait {simulated} s under {policy}, {logged} s in the log "
        f"({jobs}){far}"
    )


def far_from_log(store: Store, policy: str, traces: Sequence[str] = ()) -> list[str]:
    """Return a warning for each log whose simulated waits are far from its own waits."""
    found = validation(store, policy=policy)
    if found.empty:
        return []
    said = []
    for key, row in distances(found).iterrows():
        distance = row["week"] if np.isfinite(row.get("week", np.nan)) else row["all"]
        if distance >= FAR and (not traces or _labels(key)[0] in traces):
            said.append(_sentence(found, key, row))
    return [f"the simulation is far from the site's scheduler: {one}" for one in said]


def _labels(key: Any) -> tuple[str, ...]:
    return tuple(map(str, key))


def _percent(x: float) -> str:
    return f"{100 * x:.0f} %"


def validation_text(found: pd.DataFrame) -> str:
    """Return a validation as text: a sentence for each policy, and a table of its groups."""
    if found.empty:
        return NOTHING_LOGGED
    lines = list(validation_sentences(found))
    for key, part in found.groupby(level=["trace", "load", "policy"], sort=False):
        trace, load, policy = _labels(key)
        groups = part[part.index.get_level_values("by") != "all"]
        if groups.empty:
            continue
        digits = decimals_for(groups[["simulated", "logged"]].to_numpy(dtype=np.float64))
        rows: list[list[str]] = [["group", "jobs", "simulated", "logged", "difference"]]
        for index, row in zip(groups.index, groups.to_dict("records"), strict=True):
            rows.append([
                f"{index[3]} {index[4]}",
                grouped(row["jobs"]),
                grouped(row["simulated"], digits),
                grouped(row["logged"], digits),
                "+" * (row["difference"] > 0) + grouped(row["difference"], digits),
            ])  # fmt: skip
        lines += ["", f"{trace}, load {load}, {policy}: mean waits (s)", *aligned(rows)]
    return "\n".join(lines)


NOTHING_LOGGED = (
    "no simulated wait can be compared with a logged one: no finished cell is that of a log with "
    "waits; log = true in a campaign adds the log itself to the resamples"
)


def validation_facts(found: pd.DataFrame) -> dict[str, npt.ArrayLike | Any]:
    """Return a validation as JSON-compatible values."""
    groups = [
        {**dict(zip(KEY, key, strict=True)), **{str(k): fact(v) for k, v in row.items()}}
        for key, row in zip(found.index, found.to_dict("records"), strict=True)
    ]
    return {
        "distances": [
            {
                **dict(zip(KEY[:3], _labels(key), strict=True)),
                **{str(by): fact(float(x)) for by, x in row.items()},
            }
            for key, row in distances(found).iterrows()
        ]
        if len(found)
        else [],
        "groups": groups,
        "units": "s",
    }
