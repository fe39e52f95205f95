"""Questions to a store: bands over the resamples, week by week, and gains between policies.

Every answer is a dataset with the metric on a labelled dimension that says what its numbers are
(``band`` or ``quantile``), and beside it, per cell, how many samples it rests on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from analysis.band_rule import QUANTILES, TRIM, BandRule, band_rule
from analysis.errors import StoreError
from analysis.store import Store, check_known, of_samples, open_summary, open_trace

WEEKLY = "week_"
"""Prefix of the variables that hold one number a week."""


def bands(
    store: Store,
    metric: str,
    over: str = "resample",
    kind: str = "trimmed",
    *,
    trim: float = TRIM,
    q: Sequence[float] = QUANTILES,
) -> xr.Dataset:
    """Reduce a summary metric to a band over its samples.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    metric : str
        A variable of the summary, such as ``bounded_slowdown``.
    over : str
        The dimension to reduce. Over ``resample``, resample 0 is left out: it is the log itself.
    kind, trim, q
        As in `analysis.band_rule.band_rule`: ``trimmed`` is the published rule (Carastan-Santos
        et al. 2019, section V-A), ``quantile`` gives plain quantiles.

    Returns
    -------
    Dataset
        The metric on (trace, load, policy, band) or (trace, load, policy, quantile), NaN where
        fewer than two samples remain; ``n`` and ``missing``, the samples with a value and
        without, on (trace, load, policy). A metric's further dimension, such as ``width``, stays.

    Raises
    ------
    StoreError
        If the store cannot be read, a name is unknown, the metric holds no numbers, or no cell
        has samples enough.

    Examples
    --------
    >>> root = xr.Dataset({"wait": ("resample", [999.0, *range(1, 11)])}, {"resample": range(11)})
    >>> band = bands(xr.DataTree(root), "wait")
    >>> band["wait"].values.tolist(), band["band"].values.tolist(), int(band["n"])
    ([2.0, 5.5, 9.0], ['low', 'mean', 'high'], 10)
    """
    rule = band_rule(kind, trim, q)
    return _band(_samples(open_summary(store), metric, over), over, rule)


def weekly_bands(
    store: Store,
    trace: str,
    metric: str,
    load: str | None = None,
    kind: str = "trimmed",
    *,
    trim: float = TRIM,
    q: Sequence[float] = QUANTILES,
) -> xr.Dataset:
    """Reduce the cumulative mean over the jobs ended up to each week to bands over the samples.

    The figure 1 of Carastan-Santos et al. 2019. With the trimmed rule the best and the worst
    are whole samples, chosen per load and policy by their mean over all jobs; the band at each
    week is then lowest, mean and highest of the samples that stay. Quantiles are taken at each
    week on its own, over all samples. A sample's last entry, which holds every job that ended
    later, counts in that mean over all jobs, but is left out of the result: a line would leap.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    trace : str
        A label of the store's trace axis.
    metric : str
        A metric that the store has by week: ``wait``, ``bounded_slowdown``,
        ``pp_bounded_slowdown``.
    load : str, optional
        A label of the store's load axis; by default all loads.
    kind, trim, q
        The rule, as in `bands`.

    Returns
    -------
    Dataset
        The metric on (load, policy, week, band) or (..., quantile), NaN where no two samples
        have ended a job yet, and after the weeks of submissions at that load; ``n`` and
        ``missing`` on (load, policy). With one load its dimension is a scalar coordinate.

    Raises
    ------
    StoreError
        As `bands`.

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
    rule = band_rule(kind, trim, q)
    group = open_trace(store, trace)
    by_week = [str(name).removeprefix(WEEKLY) for name in group if str(name).startswith(WEEKLY)]
    check_known(metric, "weekly metric", sorted(set(by_week) - {"jobs"}))
    if load is not None:
        check_known(load, "load", group["load"].values.tolist())
        group = group.sel(load=load)
    group = of_samples(group)
    means = _cumulative(group, metric)
    means.attrs = _weekly_attrs(store, group, metric)
    weeks = group.get("weeks", xr.DataArray(max(1, group.sizes["week"] - 1)))
    drawn = means.where(means["week"] <= weeks).isel(week=slice(int(weeks.max())))
    band = _band(drawn, "resample", rule, rank_by=means.isel(week=-1, drop=True))
    return band.assign_attrs(trace=trace)


def gains(
    store: Store,
    metric: str,
    baseline: str,
    kind: str = "trimmed",
    *,
    trim: float = TRIM,
    q: Sequence[float] = QUANTILES,
) -> xr.Dataset:
    """Compare every policy with a baseline, resample by resample, as a band of relative gains.

    The gain is (baseline - policy) / baseline in the same resample, so that what both policies
    owe to the sample cancels; it is positive where the policy's number is smaller, or, of a
    metric of which the store says that larger is better, where it is larger. It has no value
    where either cell has none or the baseline is 0.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    metric : str
        A variable of the summary that depends on the policy.
    baseline : str
        A label of the store's policy axis.
    kind, trim, q
        The rule, as in `bands`.

    Returns
    -------
    Dataset
        As `bands`, without the baseline itself.

    Raises
    ------
    StoreError
        As `bands`.

    Examples
    --------
    >>> root = xr.Dataset({"wait": (("resample", "policy"), [[100.0, 80.0], [10.0, 5.0]])},
    ...                   {"resample": [1, 2], "policy": ["fcfs+easy", "saf+easy"]})
    >>> gains(xr.DataTree(root), "wait", "fcfs+easy", trim=0)["wait"].values.tolist()
    [[0.2, 0.35, 0.5]]
    """
    rule = band_rule(kind, trim, q)
    values = _samples(open_summary(store), metric, "resample")
    if "policy" not in values.dims:
        raise StoreError(f"metric {metric!r} is the same for every policy; compare another")
    check_known(baseline, "policy", values["policy"].values.tolist())
    base = values.sel(policy=baseline, drop=True)
    better_by = values - base if values.attrs.get("better") == "larger" else base - values
    gain = (better_by / base.where(base != 0)).drop_sel(policy=baseline)
    name = values.attrs.get("long_name", metric)
    gain.attrs = {"units": "1", "long_name": f"relative gain in {name} over {baseline}"}
    band = _band(gain.transpose(*values.dims).rename(metric), "resample", rule)
    return band.assign_attrs(baseline=baseline)


def _samples(summary: xr.Dataset, metric: str, over: str) -> xr.DataArray:
    check_known(metric, "metric", sorted(str(name) for name in summary))
    values = summary[metric]
    if values.dtype.kind not in "biuf":
        raise StoreError(f"metric {metric!r} is of {values.dtype}; a band needs numbers")
    check_known(over, "dimension", [str(name) for name in values.dims])
    if over == "resample":
        values = of_samples(values)
    # An integer metric has no NaN: the format writes 0 where a cell is missing.
    floats = values.astype(np.float64)
    return floats if values.dtype.kind == "f" else floats.where(values != 0)


def _cumulative(group: xr.Dataset, metric: str) -> xr.DataArray:
    jobs = group[f"{WEEKLY}jobs"].clip(min=0)
    # NaN in a week with jobs stays NaN from there on: the sum is then not known.
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
    if int(n.max()) < rule.need:
        raise StoreError(
            f"a {rule.kind} band of {values.name!r} needs at least {rule.need} samples over "
            f"{over}; the store has {int(n.max())}"
        )
    arrays = [values] if rank_by is None else [values, rank_by]
    band = xr.apply_ufunc(
        rule.reduce,
        *arrays,
        input_core_dims=[[over]] * len(arrays),
        output_core_dims=[[rule.dimension]],
    )
    result = xr.Dataset({str(values.name): band, "n": n, "missing": whole.sizes[over] - n})
    result = result.assign_coords({rule.dimension: rule.labels})
    result[str(values.name)].attrs = dict(values.attrs)
    result["n"].attrs = {"units": "1", "long_name": f"samples with a value, over {over}"}
    result["missing"].attrs = {"units": "1", "long_name": "samples without a value"}
    result.attrs = {"metric": str(values.name), "over": over, "n": whole.sizes[over], **rule.attrs}
    return result
