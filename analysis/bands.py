"""Bands of a store: over the resamples, and week by week.

Every answer is a dataset. The metric has a labelled dimension that names its numbers (``band``,
``quantile`` or ``interval``). Other variables have, for each cell, the number of samples and their
ranks, the expected share of all samples between these ranks, and the log's own value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from schedfarm.analysis.band_rule import LEVEL, QUANTILES, TRIM, Automatic, BandRule, band_rule
from schedfarm.analysis.errors import StoreError, TooFewSamplesError
from schedfarm.analysis.reading import reading
from schedfarm.analysis.store import (
    Labels,
    Store,
    at_labels,
    check_held,
    check_known,
    has_log,
    known_label,
    known_labels,
    of_log,
    of_samples,
    open_metric,
    open_summary,
    open_trace,
)

WEEKLY = "week_"
"""Prefix of the variables with one number per week."""

RESAMPLE = "resample"
"""Dimension of the log itself and its samples."""

OFFERED = "offered_load"
"""Name of the measured offered load in the summary."""

RANKED_BY = "their mean over all jobs"
"""Quantity that ranks whole samples of a weekly band."""

MEANINGS = {
    "n": "samples with a value, over {over}",
    "missing": "samples without a value",
    "first": "lowest rank among the samples with a value that the numbers span",
    "last": "highest rank among them",
    "coverage": "share of the population of samples that the band is expected to hold; between "
    "interpolated ranks, of uniform samples",
    "least": "least of all samples",
    "most": "largest of all samples",
}
"""Meanings of the variables on cells next to a band."""


@reading()
def bands(
    store: Store,
    metric: str,
    over: str = RESAMPLE,
    kind: str = Automatic.kind,
    *,
    trim: float = TRIM,
    q: Sequence[float] = QUANTILES,
    level: float = LEVEL,
    trace: Labels = None,
    load: Labels = None,
    policy: Labels = None,
) -> xr.Dataset:
    """Reduce a summary metric to a band over its samples.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    metric : str
        A variable of the summary, such as ``bounded_slowdown``, or one of each participant, such
        as ``origin_wait``.
    over : str
        Dimension to reduce. Over ``resample``, resample 0 is left out, since it is the log itself.
    kind, trim, q, level
        The rule, as in `analysis.band_rule.band_rule`. ``trimmed`` is the published rule
        (Carastan-Santos et al. 2019, section V-A). ``range`` gives the least, the median and the
        largest sample. ``auto`` is ``trimmed`` for ten or more samples, and ``range`` for fewer
        samples. ``quantile`` gives plain quantiles. ``interval`` gives the mean and an interval of
        the mean.
    trace, load, policy : optional
        Restriction: one or several labels of the store, in any spelling (0.95, ``sjf+easy``); by
        default all.

    Returns
    -------
    Dataset
        The metric on (trace, load, policy, band); for the kinds ``quantile`` and ``interval``, the
        last dimension has the name of the kind. Values are NaN if fewer than two samples remain. A
        further dimension of the metric, such as ``origin``, precedes ``policy``. The other
        variables are on (trace, load, policy):

        - ``n``, ``missing``: number of samples with a value, and without one;
        - ``first``, ``last``: ranks of the first and the last sample in the span of the numbers;
        - ``coverage``: expected share of all possible samples between these ranks (not for
          intervals);
        - ``least``, ``most``: least and largest value of all samples;
        - ``log``: value of the log itself, if the store has it.

        The attributes describe these variables in words.

    Raises
    ------
    StoreError
        If the store cannot be read, a name is unknown, or the metric has no numbers. If no cell has
        enough samples, the error is a `TooFewSamplesError`.

    Examples
    --------
    >>> root = xr.Dataset({"wait": ("resample", [999.0, *range(1, 11)])}, {"resample": range(11)})
    >>> band = bands(xr.DataTree(root), "wait")
    >>> band["wait"].values.tolist(), float(band["log"])
    ([2.0, 5.5, 9.0], 999.0)
    >>> band.attrs["samples"], round(band.attrs["coverage"], 3)
    ('2 to 9 of 10', 0.636)
    """
    rule = band_rule(kind, trim, q, level)
    summary = open_metric(store, metric)
    where = {"trace": trace, "load": load, "policy": policy}
    values = at_labels(_samples(summary, metric, over), **where)
    band = _band(values, over, rule)
    if over != RESAMPLE:
        return band
    own = _of_logs(store, summary, metric)
    return _say_loads(store, summary, band if own is None else _with_log(band, own))


@reading()
def weekly_bands(
    store: Store,
    trace: str,
    metric: str,
    load: float | str | None = None,
    kind: str = Automatic.kind,
    *,
    trim: float = TRIM,
    q: Sequence[float] = QUANTILES,
    level: float = LEVEL,
) -> xr.Dataset:
    """Reduce a cumulative weekly mean to bands over the samples.

    The mean at a week is over all jobs that have ended by the end of that week, as in figure 1 of
    Carastan-Santos et al. 2019. The trimmed rule omits whole samples: the best and the worst of
    each load and policy by their mean over all jobs. The band at each week is then the lowest, the
    mean and the highest of the remaining samples; ranks and coverage refer to the means over all
    jobs. All other rules are applied to each week separately, over all samples. The last entry of a
    sample covers all jobs that ended after the weeks of submissions. These jobs count in the mean
    over all jobs, but the entry is not part of the result, since a line would jump there.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    trace : str
        A label of the store's trace axis.
    metric : str
        A metric that the store has by week: ``wait``, ``bounded_slowdown``,
        ``pp_bounded_slowdown``.
    load : float or str, optional
        A label of the store's load axis, or its number; by default all loads.
    kind, trim, q, level
        The rule, as in `bands`.

    Returns
    -------
    Dataset
        The metric on (load, policy, week, band) or (load, policy, week, quantile). Values are NaN
        until jobs have ended in two samples, and after the last week of submissions at the load.
        With a given load, ``load`` is a scalar coordinate. Further variables are those of `bands`
        on (load, policy), for the means over all jobs, and ``log`` on (load, policy, week).

    Raises
    ------
    StoreError
        For the reasons of `bands`.

    Examples
    --------
    >>> waits = [[[8.0, 4.0, 9.0]], [[2.0, 4.0, 9.0]]]
    >>> group = xr.Dataset(
    ...     {"week_jobs": (("resample", "load", "week"), [[[1, 3, 5]], [[1, 1, 5]]]),
    ...      "week_wait": (("resample", "load", "week"), waits)},
    ...     {"resample": [1, 2], "load": ["0.9"], "week": [1, 2, 3]})
    >>> tree = xr.DataTree.from_dict({"/": xr.Dataset(coords={"trace": ["KTH"]}), "/KTH": group})
    >>> weekly_bands(tree, "KTH", "wait", "0.9", trim=0)["wait"].values.tolist()
    [[2.0, 5.0, 8.0], [3.0, 4.0, 5.0]]
    """
    rule = band_rule(kind, trim, q, level)
    whole = _weekly(store, trace, metric, load)
    group = of_samples(whole)
    means = _cumulative(group, metric)
    means.attrs = _weekly_attrs(store, group, metric)
    drawn = _drawn_weeks(means, group)
    band = _band(drawn, RESAMPLE, rule, rank_by=means.isel(week=-1, drop=True))
    if has_log(store, trace):
        # The log has all its weeks here, as in the table; samples may have fewer weeks.
        line = _log_line(whole, metric)
        weeks = np.union1d(band["week"].values, line["week"].values)
        band = band.reindex(week=weeks).assign(log=line.reindex(week=weeks))
    if band_rule(band.attrs["kind"]).whole:
        said = f"{band.attrs['description']}, ranked by {RANKED_BY}"
        band = band.assign_attrs(description=said)
    return band.assign_attrs(trace=trace)


@reading()
def all_weekly_bands(
    store: Store,
    metric: str,
    kind: str = Automatic.kind,
    *,
    trim: float = TRIM,
    q: Sequence[float] = QUANTILES,
    level: float = LEVEL,
    trace: Labels = None,
    load: Labels = None,
    policy: Labels = None,
) -> list[xr.Dataset]:
    """Reduce a metric to weekly bands for each trace with enough samples.

    Parameters
    ----------
    store, metric, kind, trim, q, level
        As in `weekly_bands`.
    trace, load, policy : optional
        Restriction, as in `bands`.

    Returns
    -------
    list of Dataset
        The result of `weekly_bands` for each trace with enough samples, on (trace, load, policy,
        week, band) with a single trace. The list is not empty.

    Raises
    ------
    StoreError
        For the reasons of `weekly_bands`; for too few samples only if no trace has enough.
    """
    traces = [str(name) for name in open_summary(store)["trace"].values]
    traces = known_labels("trace", trace, traces)
    found: list[xr.Dataset] = []
    refused: list[TooFewSamplesError] = []
    for one in traces:
        try:
            weeks = weekly_bands(store, one, metric, None, kind, trim=trim, q=q, level=level)
            found.append(at_labels(weeks, load=load, policy=policy).expand_dims(trace=[one]))
        except TooFewSamplesError as error:
            refused.append(error)
    if not found:
        raise refused[0]
    return found


def weekly_log(
    store: Store, trace: str, metric: str, load: float | str | None = None
) -> xr.Dataset:
    """Return the weekly means of the log itself, cumulative over the jobs that have ended.

    Parameters
    ----------
    store, trace, metric, load
        As for `weekly_bands`.

    Returns
    -------
    Dataset
        ``log`` on (load, policy, week), and the name of the metric in ``attrs``.

    Raises
    ------
    StoreError
        For the reasons of `bands`, or if the store lacks the log itself.

    Examples
    --------
    >>> group = xr.Dataset(
    ...     {"week_jobs": (("resample", "week"), [[1, 3, 5]]),
    ...      "week_wait": (("resample", "week"), [[8.0, 4.0, 9.0]])},
    ...     {"resample": [0], "load": ["0.9"], "week": [1, 2, 3]})
    >>> root = xr.Dataset(coords={"trace": ["KTH"], "resample": [0]})
    >>> tree = xr.DataTree.from_dict({"/": root, "/KTH": group})
    >>> weekly_log(tree, "KTH", "wait")["log"].values.tolist()
    [8.0, 5.0]
    """
    group = _weekly(store, trace, metric, load)
    if not has_log(store, trace):
        raise TooFewSamplesError(f"the store lacks the log of trace {trace!r} itself (resample 0)")
    line = _log_line(group, metric)
    if not bool(line.notnull().any()):
        raise TooFewSamplesError(
            f"no cell of the log of trace {trace!r} is finished; run its campaign"
        )
    line.attrs = _weekly_attrs(store, group, metric)
    return xr.Dataset({"log": line}, attrs={"metric": metric, "trace": trace})


def _with_log(band: xr.Dataset, own: xr.DataArray) -> xr.Dataset:
    """Add the log's own value to a band, at the band's labels."""
    return band.assign(log=_at(band, own))


def _at(band: xr.Dataset, values: xr.DataArray) -> xr.DataArray:
    """Return values at the labels of a band."""
    return values.sel({dim: band[dim] for dim in values.dims if dim in band.coords})


def _of_logs(store: Store, summary: xr.Dataset, metric: str) -> xr.DataArray | None:
    """Return the metric of the logs themselves, NaN for a model; None without any log."""
    known = summary["trace"].values.tolist() if "trace" in summary.dims else [""]
    there = [has_log(store, trace) for trace in known]
    if not any(there):
        return None
    own = of_log(_floats(summary[metric]))
    if "trace" in own.dims and not all(there):
        own = own.where(xr.DataArray(there, dims="trace"))
    return own.assign_attrs(long_name="the log itself", units=own.attrs.get("units", "1"))


def _say_loads(store: Store, summary: xr.Dataset, band: xr.Dataset) -> xr.Dataset:
    """Add the offered loads of the samples of each (trace, load), and of the log."""
    load = summary.get(OFFERED)
    if load is None or not {RESAMPLE} < set(load.dims) <= {RESAMPLE, *band.dims}:
        return band
    samples = _at(band, of_samples(load))
    said = {"load_least": samples.min(RESAMPLE), "load_most": samples.max(RESAMPLE)}
    own = _of_logs(store, summary, OFFERED)
    if own is not None:
        said["load_log"] = _at(band, own)
    return band.assign(said)


def _weekly(store: Store, trace: str, metric: str, load: float | str | None) -> xr.Dataset:
    """Return the group of a trace with the weekly metric, at one load if a load is given."""
    group = open_trace(store, trace)
    check_held(group, f"{WEEKLY}jobs")
    by_week = [str(name).removeprefix(WEEKLY) for name in group if str(name).startswith(WEEKLY)]
    check_known(metric, "weekly metric", sorted(set(by_week) - {"jobs"}))
    # Only these arrays are read: with the arrays of jobs, bands took 1.35 times as long.
    group = group[[name for name in (f"{WEEKLY}jobs", WEEKLY + metric, "weeks") if name in group]]
    if load is not None:
        group = group.sel(load=known_label("load", load, group["load"].values.tolist()))
    return group.load()


def _log_line(group: xr.Dataset, metric: str) -> xr.DataArray:
    own = of_log(group)
    return _drawn_weeks(_cumulative(own, metric), own)


def _drawn_weeks(means: xr.DataArray, group: xr.Dataset) -> xr.DataArray:
    """Leave out the entry of jobs that ended after the weeks of submissions: lines would jump."""
    weeks = group.get("weeks", xr.DataArray(max(1, group.sizes["week"] - 1)))
    return means.where(means["week"] <= weeks).isel(week=slice(int(weeks.max())))


def _samples(summary: xr.Dataset, metric: str, over: str) -> xr.DataArray:
    check_known(metric, "metric", sorted(str(name) for name in summary))
    values = summary[metric]
    if values.dtype.kind not in "biuf":
        raise StoreError(f"metric {metric!r} is of {values.dtype}; a band needs numbers")
    check_known(over, "dimension", [str(name) for name in values.dims])
    if over == RESAMPLE:
        values = of_samples(values)
    return _floats(values)


def _floats(values: xr.DataArray) -> xr.DataArray:
    # An integer metric has no NaN: the format writes 0 for a missing cell.
    floats = values.astype(np.float64)
    return floats if values.dtype.kind == "f" else floats.where(values != 0)


def _cumulative(group: xr.Dataset, metric: str) -> xr.DataArray:
    jobs = group[f"{WEEKLY}jobs"].clip(min=0)
    # After a NaN in a week with jobs, all later sums are unknown.
    sums = (group[WEEKLY + metric].where(jobs > 0, 0.0) * jobs).cumsum("week", skipna=False)
    ended = jobs.cumsum("week")
    means = (sums / ended.where(ended > 0)).assign_coords(week=group["week"])
    return means.rename(metric)


def _weekly_attrs(store: Store, group: xr.Dataset, metric: str) -> dict[str, str]:
    summary = open_summary(store)
    attrs = summary[metric].attrs if metric in summary else group[WEEKLY + metric].attrs
    units = group[WEEKLY + metric].attrs.get("units", "1")
    return {"units": units, "long_name": f"cumulative {attrs.get('long_name', metric)}"}


def _band(
    values: xr.DataArray, over: str, rule: BandRule, rank_by: xr.DataArray | None = None
) -> xr.Dataset:
    whole = values if rank_by is None else rank_by
    n = whole.notnull().sum(over)
    most = int(n.max())
    if most < rule.need:
        raise TooFewSamplesError(
            f"a band ({rule.kind}) of {values.name!r} needs at least {rule.need} "
            f"samples over {over}; the store has {most}"
        )
    rule = rule.fitting(most)
    arrays = [values] if rank_by is None else [values, rank_by]
    band = xr.apply_ufunc(
        rule.reduce,
        *arrays,
        input_core_dims=[[over]] * len(arrays),
        output_core_dims=[[rule.dimension]],
    )
    result = xr.Dataset({str(values.name): band, "n": n, "missing": whole.sizes[over] - n})
    result = result.assign_coords({rule.dimension: rule.labels}).assign(standing(rule, n))
    if not np.isfinite(result["coverage"]).any():
        result = result.drop_vars("coverage")
    result = result.assign(least=whole.min(over), most=whole.max(over))
    result[str(values.name)].attrs = dict(values.attrs)
    meanings = {name: text for name, text in MEANINGS.items() if name in result}
    for name, text in meanings.items():
        units = values.attrs.get("units", "1") if name in ("least", "most") else "1"
        result[name].attrs = {"units": units, "long_name": text.format(over=over)}
    attrs = {"metric": str(values.name), "over": over, "n": whole.sizes[over]}
    result.attrs = {**attrs, **rule.attrs(most)}
    return result


def standing(rule: BandRule, n: xr.DataArray) -> dict[str, xr.DataArray]:
    """Return the ranks and the coverage of a band of n samples in each cell."""
    first, last = rule.ranks(n.values)
    numbers = {"first": first, "last": last, "coverage": rule.coverage(n.values)}
    return {name: n.copy(data=values) for name, values in numbers.items()}
