"""Notes on bands: warnings that a reader needs in addition to the numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from schedfarm.analysis.logs import LogJobs, log_jobs
from schedfarm.analysis.reading import opened_once, reading
from schedfarm.analysis.store import (
    LOG,
    Store,
    of_log,
    of_samples,
    open_summary,
    open_trace,
)
from schedfarm.analysis.tables import block_label, decimals_for
from schedfarm.core.arrays import Float64
from schedfarm.core.numerals import grouped
from schedfarm.core.workload.weekly_load import spread, weekly_work

MOST_SAMPLES = 10
"""Number of samples whose weekly load is measured; each is read from the jobs in the store."""

INFLATED = 1.1
"""Spread of weekly load, relative to the log's spread, above which a note is given. With draws that
keep the log's spread, the median of 100 samples of 47 to 180 weeks came within 3 % of the log's
spread on five logs."""


@reading()
def notes(store: Store, bands: xr.Dataset) -> list[str]:
    """Return warnings about resamples that do not represent their log.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    bands : Dataset
        Result of `bands` over the resamples of this store.

    Returns
    -------
    list of str
        At most one sentence on each of: means without an interval; a value of the log outside of
        all samples; samples whose weekly load varies more than that of the log; a log that was not
        simulated.

    Examples
    --------
    >>> from schedfarm.analysis import bands
    >>> root = xr.Dataset({"wait": ("resample", [9.0, 1.0, 2.0])}, {"resample": [0, 1, 2]},
    ...                   {"draw": "replace"})
    >>> for note in notes(xr.DataTree(root), bands(xr.DataTree(root), "wait")):
    ...     print(note)
    the log's own wait lies outside all its samples: 9, samples 1 to 2 (2 by draw = "replace"); a \
log like its samples would lie outside with a chance of 67 %
    """
    found = [_no_interval(bands), _outside(store, bands), _swings(store), _no_log(store)]
    return [sentence for sentence in found if sentence]


def _no_interval(bands: xr.Dataset) -> str:
    """Report the number of means that have no interval because most samples have one value."""
    if bands.attrs.get("kind") != "interval":
        return ""
    values = bands[bands.attrs["metric"]]
    low, mean = (values.sel(interval=name) for name in ("low", "mean"))
    blank = (mean.notnull() & low.isnull()).values
    if not blank.any():
        return ""
    where = f"in {blank.sum()} of {blank.size} cells " if blank.size > 1 else ""
    return (
        f"{where}most samples have one value of {bands.attrs['metric']}, so that the rarer others "
        "decide the mean, and too few of them are known for an interval"
    )


def _outside(store: Store, bands: xr.Dataset) -> str:
    """Report the number of cells whose log value lies outside of all samples, with an example."""
    if "log" not in bands or bands.attrs.get("over") != "resample":
        return ""
    log, least, most = (bands[name] for name in ("log", "least", "most"))
    out = (log < least) | (log > most)
    known, beyond = int((log.notnull() & least.notnull()).sum()), int(out.sum())
    if not beyond:
        return ""
    cell = _furthest((least - log).where(log < least, log - most).where(out, -np.inf))
    values = np.array([float(values.isel(cell)) for values in (log, least, most)])
    n = int(bands["n"].isel(cell))
    own, low, high = (grouped(x, decimals_for(values)) for x in values.tolist())
    place = {dim: str(log[dim].values[i]) for dim, i in cell.items()}
    such = f" in {beyond} of {known} cells, furthest in {block_label(place)}" if cell else ""
    drawn = f"{n} by {_draw(store)}{_lengths(store, place.get('trace'))}"
    return (
        f"the log's own {bands.attrs['metric']} lies outside all its samples{such}: {own}, samples "
        f"{low} to {high} ({drawn}); a log like its samples would lie outside with a chance of "
        f"{200 / (n + 1):.0f} %"
    )


def _lengths(store: Store, trace: str | None) -> str:
    """Report different lengths of a log and its samples, since means may grow with length."""
    weeks = open_trace(store, trace).get("weeks") if trace else None
    if weeks is None:
        return ""
    own, sample = (int(part.max()) for part in (of_log(weeks), of_samples(weeks).isel(resample=0)))
    return "" if own == sample else f"; {sample} weeks each, the log {own}"


def _furthest(beyond: xr.DataArray) -> dict[str, int]:
    place = np.unravel_index(int(np.argmax(beyond.values)), beyond.shape)
    return {str(dim): int(i) for dim, i in zip(beyond.dims, place, strict=True)}


def _swings(store: Store) -> str:
    """Report traces whose weekly load varies more in every sample than in the log."""
    summary = open_summary(store)
    traces = summary["trace"].values.tolist() if "trace" in summary.dims else []
    said = []
    for trace in traces:
        found = weekly_spreads(store, trace)
        if found is None:
            continue
        log, samples = found
        if samples.min() > log and np.median(samples) > INFLATED * log:
            said.append(
                f"{trace} {log:.2f} in the log, {samples.min():.2f} to {samples.max():.2f} in "
                f"{samples.size} samples"
            )
    if not said:
        return ""
    return (
        f"{_draw(store)} makes the load of a week swing more than in the log (standard deviation / "
        f'mean over the weeks: {"; ".join(said)}), which changes waits; draw = "weeks" keeps it'
    )


@opened_once
def weekly_spreads(store: Store, trace: str) -> tuple[float, Float64] | None:
    """Return the spread of weekly load in a log and in its first samples.

    Returns
    -------
    tuple of float and float64[samples], or None
        Standard deviation divided by mean over the whole weeks, which does not change if run times
        are scaled to a load. None for a model, or without a sample of the log's weeks.

    Examples
    --------
    >>> weekly_spreads(xr.DataTree(xr.Dataset()), "KTH") is None
    True
    """
    log = log_jobs(store, trace)
    if log is None:
        return None
    begin = int(log.submit[0])
    own = spread(weekly_work(log.submit, log.run, log.procs, begin=begin, weeks=log.weeks))
    samples = np.array(list(_sample_spreads(store, trace, log)))
    samples = samples[np.isfinite(samples)]
    return (own, samples) if samples.size and np.isfinite(own) else None


def _sample_spreads(store: Store, trace: str, log: LogJobs) -> Iterator[float]:
    group = open_trace(store, trace)
    place = _load_of_the_log(store, group)
    if place is None:
        return
    at = group.isel(load=place)
    for i in np.flatnonzero(at["resample"].values > LOG)[:MOST_SAMPLES].tolist():
        sample = at.isel(resample=i)
        jobs = sample.isel(job=slice(int(sample["jobs"])))
        columns = (jobs[name].values for name in ("submit", "run", "procs"))
        # The axis `week` may be longer, since it includes the last, partial week of a log.
        yield spread(weekly_work(*columns, begin=int(log.submit[0]), weeks=log.sample_weeks))


def _load_of_the_log(store: Store, group: xr.Dataset) -> int | None:
    """Return the index of a load with the log's weeks; scaled interarrival times change weeks."""
    if not {"submit", "run", "procs", "jobs"} <= set(group):
        return None
    labels: list[str] = group["load"].values.tolist()
    if "original" in labels:
        return labels.index("original")
    return None if open_summary(store).attrs.get("load_by") == "interarrival" else 0


def _no_log(store: Store) -> str:
    summary = open_summary(store)
    if LOG in summary["resample"].values or isinstance(store, xr.DataTree):
        return ""
    logs = [trace for trace in summary["trace"].values.tolist() if log_jobs(store, trace)]
    if not logs:
        return ""
    return (
        f"the log itself is not among the resamples of {', '.join(logs)}; log = true in the "
        "campaign adds it, to stand next to them"
    )


def _draw(store: Store) -> str:
    return f'draw = "{open_summary(store).attrs.get("draw", "?")}"'
