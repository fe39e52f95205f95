"""Comparisons of policies over the same samples: gains, groups of jobs, and intervals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.axes import (
    across,
    axis_named,
    by_origin,
    known_value,
    narrowed,
    value_label,
)
from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.groups import FELT, changes
from schedfarm.analysis.intervals import (
    better_share,
    correlation,
    critical_difference,
    difference_interval,
    holm,
    interval,
    mean_ranks,
)
from schedfarm.analysis.reading import reading
from schedfarm.analysis.store import (
    LOG,
    Labels,
    Store,
    at_labels,
    check_known,
    has_log,
    known_label,
    open_metric,
    open_summary,
)
from schedfarm.analysis.unfinished import no_pairs
from schedfarm.analysis.validation import mean_as_logged
from schedfarm.core.arrays import Float64
from schedfarm.core.bootstrap import NO_INTERVAL, Block, log_ratio, stopped_widening

METRICS = ("wait", "bounded_slowdown")
"""Default metrics of a comparison; metrics that the store lacks are left out."""

LEVEL = 0.9

BOUNDS = ("low", "estimate", "high")
"""Labels of the dimension `bound`: an estimate between the ends of its interval."""

CELL = ("trace", "load", "policy")


@dataclass(frozen=True)
class _Question:
    """Hold the checked arguments of a comparison."""

    metrics: dict[str, xr.DataArray]
    baseline: str
    policies: list[str]
    traces: list[str]
    blocks: list[list[str]]
    loads: list[str]
    level: float
    stopped: set[tuple[str, frozenset[str]]]

    def widening(self, metric: str, policy: str, pairs: int) -> float:
        """Return the factor of an interval's length; above 1 if the interval ended the sampling."""
        decided = (metric, frozenset((self.baseline, policy))) in self.stopped
        return stopped_widening(pairs) if decided else 1.0


@reading()
def compare(
    store: Store,
    baseline: str | None = None,
    policies: Sequence[str] = (),
    *,
    metrics: Sequence[str] = (),
    trace: Labels = None,
    load: Labels = None,
    level: float = LEVEL,
) -> xr.Dataset:
    """Compare policies with a baseline, sample by sample.

    Samples are paired: both policies simulate the same jobs. Traces are blocks, not samples: a
    number over several traces is the mean over the traces, and its interval follows from the
    samples within each trace. The loads of a sample are not independent, so they stay together. The
    same holds for the values of an axis.

    Parameters
    ----------
    store : path or DataTree
        The store's folder or address, or an open tree.
    baseline : str, optional
        The policy to compare with; by default the store's first.
    policies : sequence of str
        The policies to compare; by default all others.
    metrics : sequence of str
        Metrics of the summary, or of each participant of a network, such as ``origin_wait``; by
        default ``wait`` and ``bounded_slowdown``.
    trace, load : optional
        Restriction, as in `bands`.
    level : float
        Confidence level of the intervals, above 0 and below 1.

    Returns
    -------
    Dataset
        Variables on (metric, trace, load, policy); a further dimension ``bound`` is (low, estimate,
        high):

        - ``mean``, ``baseline_mean``: means over the pairs, in the metric's units;
        - ``difference``, ``ratio``: policy minus and divided by baseline, on ``bound``, with a
          studentised bootstrap interval (Student's for fewer than five pairs); the interval is NaN
          if most pairs have one ratio;
        - ``p``: two-sided p value of the hypothesis that the ratio is 1;
        - ``p_holm``: this p value, corrected for the number of policies;
        - ``better``: share of pairs in which the policy is better, on ``bound``, with Clopper and
          Pearson's interval, whose level is at least ``level``;
        - ``pairs``: number of pairs;
        - ``correlation``: correlation of the values of the pairs, NaN for fewer than five pairs;
        - ``ratio_of_log``: ratio in the log itself;
        - ``logged``: mean over the same samples with the waits of their jobs in the log, at the
          log's own load;
        - ``sample_ratio``: ratio of each pair, with ``resample`` as the last dimension.

        Variables over all traces and loads:

        - ``overall``, on (metric, policy, bound): geometric mean of the ratios;
        - ``overall_p``, ``overall_p_holm``, on (metric, policy): p values of ``overall``;
        - ``rank``, on (metric, ranked), where ``ranked`` includes the baseline: mean rank over the
          loads of a trace, averaged over the traces; 1 is the best;
        - ``ranked_traces``, on metric: number of these traces;
        - ``critical_difference``, on metric: Nemenyi's critical difference of ranks, NaN for a
          single trace.

        Attributes: ``baseline`` and ``level``. Coordinates on metric: ``units``, ``long_name`` and
        ``better_is``, which is ``smaller`` or ``larger``.

    Raises
    ------
    StoreError
        If the store cannot be read, a name is unknown, a metric is not a number of each policy, the
        level is out of range, or no two policies have a finished cell in common.

    Examples
    --------
    >>> waits = [[[100.0, 72.0]], [[40.0, 30.0]], [[60.0, 42.0]]]
    >>> root = xr.Dataset({"wait": (("resample", "load", "policy"), waits, {"units": "s"})},
    ...     {"resample": [1, 2, 3], "load": ["0.9"], "policy": ["fcfs+easy", "saf+easy"]})
    >>> found = compare(xr.DataTree(root.expand_dims(trace=["KTH"])))
    >>> found["ratio"].squeeze().round(3).values.tolist()
    [0.671, 0.72, 0.772]
    """
    asked = _checked(store, baseline, policies, metrics, trace, load, level)
    parts = [_of_metric(store, metric, values, asked) for metric, values in asked.metrics.items()]
    labels = pd.Index(list(asked.metrics), name="metric")
    found = xr.concat(parts, labels, combine_attrs="override")
    if not bool(found["pairs"].any()) and not bool(found["ratio_of_log"].notnull().any()):
        where = {"trace": asked.traces, "load": asked.loads}
        raise no_pairs(store, asked.baseline, asked.policies, list(asked.metrics), where)
    return found.assign_attrs(baseline=asked.baseline, level=level)


@reading()
def compare_values(
    store: Store,
    axis: str | None = None,
    baseline: Any = None,
    values: Sequence[Any] = (),
    *,
    policy: str | None = None,
    trace: str | None = None,
    at: Mapping[str, Any] | None = None,
    metrics: Sequence[str] = (),
    load: Labels = None,
    level: float = LEVEL,
) -> xr.Dataset:
    """Compare the values of an axis of the campaign under one policy, sample by sample.

    Samples are paired: the jobs of a sample are the same at all sizes of the machine and for all
    options of a policy. Other keys of traces, such as ``weeks``, change the jobs of a sample.

    Parameters
    ----------
    store : path or DataTree
        The store's folder or address, or an open tree.
    axis : str, optional
        Name of the axis; by default the only one.
    baseline : int, float or str, optional
        The value to compare with; by default the first, or the smallest if the values are numbers.
    values : sequence of int, float or str
        The values to compare; by default all others.
    policy : str, optional
        The policy: a label, or the name in the campaign; by default the only policy.
    trace : str, optional
        The only trace to compare, by its name in the campaign; by default all traces.
    at : mapping, optional
        Value of each other axis.
    metrics, load, level
        As in `compare`; only metrics of the summary.

    Returns
    -------
    Dataset
        As in `compare`, but labels such as ``processors=120`` replace policies, and traces have
        their names in the campaign. There are two further attributes: ``axis``, and ``cells``,
        which gives the store's labels of trace and policy for each trace and label of a value.

    Raises
    ------
    StoreError
        For the reasons of `compare`; if the axis or a value does not exist; or if the policy or
        another axis is not fixed.

    Examples
    --------
    >>> labels = {"trace": {f"m.processors-{n}": {"of": "m", "at": {"processors": n}}
    ...                     for n in (64, 80)}}
    >>> waits = [[[[60.0]], [[90.0]]], [[[20.0]], [[40.0]]]]
    >>> root = xr.Dataset({"wait": (("trace", "resample", "load", "policy"), waits)},
    ...     {"trace": list(labels["trace"]), "resample": [1, 2], "load": ["0.9"],
    ...      "policy": ["fcfs+easy"]}, {"labels": json.dumps(labels)})
    >>> found = compare_values(xr.DataTree(root), "processors", 64)
    >>> found["policy"].values.tolist(), found["mean"].squeeze().item()
    (['processors=80'], 30.0)
    """
    axis = axis_named(store, axis)
    tree, known, cells = across(store, axis, narrowed(store, at or {}, trace, policy))
    first = known[0] if baseline is None else known_value(axis, baseline, known)
    others = [value_label(axis, known_value(axis, one, known)) for one in values]
    label = value_label(axis, first)
    found = compare(tree, label, others, metrics=metrics, load=load, level=level)
    return found.assign_attrs(axis=axis, cells=cells)


def _checked(
    store: Store,
    baseline: str | None,
    policies: Sequence[str],
    metrics: Sequence[str],
    trace: Labels,
    load: Labels,
    level: float,
) -> _Question:
    if not 0 < level < 1:
        raise StoreError(f"level is {level}; it must be above 0 and below 1")
    summary = open_summary(store)
    names = list(dict.fromkeys(metrics)) or [name for name in METRICS if name in summary]
    if not names:
        raise StoreError(f"the store has none of {', '.join(METRICS)}; name a metric that it has")
    chosen = {label: one for name in names for label, one in _values(store, name).items()}
    labels = [str(name) for name in summary["policy"].values]
    base = known_label("policy", labels[0] if baseline is None else baseline, labels)
    others = [known_label("policy", one, labels) for one in policies]
    others = [one for one in dict.fromkeys(others or labels) if one != base]
    if not others:
        known = [one for one in labels if one != base]
        wanted = f"one of {', '.join(known)}" if known else "a store with more policies"
        raise StoreError(f"{base!r} is the baseline; give {wanted} to compare with it")
    there = at_labels(next(iter(chosen.values())), trace=trace, load=load)
    traces = [str(name) for name in there["trace"].values]
    return _Question(
        chosen,
        base,
        others,
        traces,
        list(by_origin(store, traces).values()),
        [str(name) for name in there["load"].values],
        level,
        {
            (one["metric"], frozenset((one["policy"], one["over"])))
            for one in sampled_precision(summary).get("requests", ())
        },
    )


def sampled_precision(summary: xr.Dataset) -> dict[str, Any]:
    """Return the rounds and intervals that ended the sampling; empty without a request."""
    found: dict[str, Any] = json.loads(summary.attrs.get("precision", "{}"))
    return found


def _values(store: Store, metric: str) -> dict[str, xr.DataArray]:
    """Return a metric on cells by label, with an array for each index of a further dimension.

    An example of a label is ``origin_wait, north`` for the participant ``north`` of a network.
    """
    summary = open_metric(store, metric)
    cells = {"resample", *CELL}
    known = [str(name) for name, values in summary.items() if cells <= set(values.dims)]
    check_known(metric, "metric of each policy", sorted(known))
    values = summary[metric]
    if values.dtype.kind not in "biuf":
        raise StoreError(f"metric {metric!r} is of {values.dtype}; a comparison needs numbers")
    further = [name for name in values.dims if name not in cells]
    if not further:
        return {metric: values}
    (dimension,) = further
    return {
        f"{metric}, {label}": values.sel({dimension: label}, drop=True)
        for label in values[dimension].values.tolist()
    }


def _of_metric(store: Store, metric: str, given: xr.DataArray, asked: _Question) -> xr.Dataset:
    """Compare policies by one metric."""
    shown = [asked.baseline, *asked.policies]
    chosen = given.sel(trace=asked.traces, load=asked.loads, policy=shown)
    values = chosen.transpose("trace", "resample", "load", "policy").astype(np.float64)
    larger = given.attrs.get("better") == "larger"
    samples = values.sel(resample=values["resample"] > LOG)
    cells: dict[tuple[str, ...], dict[str, Any]] = {}
    for place in product(asked.traces, asked.loads, asked.policies):
        trace, load, policy = place
        pairs = _paired(samples.sel(trace=trace, load=[load]), asked.baseline, policy)
        widened = asked.widening(metric, policy, len(pairs[0]))
        cells[place] = _of_cell(pairs, larger, asked.level, (metric, *place), widened)
    data = _on_cells(cells, asked)
    data["ratio_of_log"] = _ratio_of_log(store, values, asked)
    data["logged"] = data["mean"].copy(data=_logged(store, metric, data["mean"], asked))
    data["p_holm"] = data["p"].copy(data=_corrected(data["p"]))
    overall = [_overall(samples, policy, asked, metric) for policy in asked.policies]
    data["overall"] = (("policy", "bound"), [[np.exp(x) for x in one[:3]] for one in overall])
    data["overall_p"] = ("policy", [one.p for one in overall])
    data["overall_p_holm"] = data["overall_p"].copy(data=holm(data["overall_p"].values))
    data["rank"] = ("ranked", _ranks(samples, asked.blocks, larger=larger))
    ranked = sum(_common(samples, block) for block in asked.blocks)
    data["ranked_traces"] = ranked
    data["critical_difference"] = critical_difference(len(shown), ranked, level=asked.level)
    base = samples.sel(policy=asked.baseline, drop=True)
    data["sample_ratio"] = (samples.sel(policy=asked.policies) / base.where(base != 0)).drop_attrs()
    attrs, label = given.attrs, metric.partition(", ")[2]
    name = str(attrs.get("long_name", metric)) + f", {label}" * bool(label)
    return data.assign_coords(
        ranked=shown,
        units=str(attrs.get("units", "1")),
        long_name=name,
        better_is="larger" if larger else "smaller",
    )


def _paired(samples: xr.DataArray, baseline: str, policy: str) -> Block:
    """Return the finished pairs of one trace: float64[pairs, loads] for each of two policies."""
    base, other = (samples.sel(policy=one).values for one in (baseline, policy))
    there = np.isfinite(base).all(axis=1) & np.isfinite(other).all(axis=1)
    return base[there], other[there]


def _of_cell(
    pairs: Block, larger: bool, level: float, key: Sequence[object], widened: float
) -> dict[str, Any]:
    """Compare two policies on the pairs of one trace and load."""
    base, other = pairs
    better = int(((other > base) if larger else (other < base)).sum())
    ratio = interval([pairs], log_ratio, level=level, key=("ratio", *key), widened=widened)
    by = difference_interval(pairs, level=level, key=("difference", *key), widened=widened)
    return {
        "mean": other.mean() if len(other) else np.nan,
        "baseline_mean": base.mean() if len(base) else np.nan,
        "difference": by[:3],
        "ratio": tuple(np.exp(ratio[:3])),
        "p": ratio.p,
        "better": better_share(better, len(base), level=level)[:3],
        "pairs": len(base),
        "correlation": correlation(pairs),
    }


def _on_cells(cells: Mapping[tuple[str, ...], Mapping[str, Any]], asked: _Question) -> xr.Dataset:
    """Return the found values on (trace, load, policy), and intervals on a further dimension."""
    shape = (len(asked.traces), len(asked.loads), len(asked.policies))
    data = {}
    for name, example in next(iter(cells.values())).items():
        column = np.array([one[name] for one in cells.values()])
        within = ("bound",) if isinstance(example, tuple) else ()
        data[name] = ((*CELL, *within), column.reshape(*shape, *column.shape[1:]))
    labels = (asked.traces, asked.loads, asked.policies)
    return xr.Dataset(data, {**dict(zip(CELL, labels, strict=True)), "bound": list(BOUNDS)})


def _ratio_of_log(store: Store, values: xr.DataArray, asked: _Question) -> xr.DataArray:
    """Return the ratio of policy to baseline in the logs themselves; NaN for models."""
    blank = values.isel(resample=0, drop=True).sel(policy=asked.policies)
    if LOG not in values["resample"].values:
        return blank * np.nan
    own = values.sel(resample=LOG, drop=True)
    base = own.sel(policy=asked.baseline, drop=True)
    ratio = own.sel(policy=asked.policies) / base.where(base != 0)
    logs = [has_log(store, trace) for trace in asked.traces]
    return ratio.where(xr.DataArray(logs, dims="trace")).drop_attrs()


def _logged(store: Store, metric: str, mean: xr.DataArray, asked: _Question) -> Float64:
    """Return each trace's mean with logged waits: over its samples or, if none, over its log."""
    values = np.full(mean.shape, np.nan)
    for i, trace in enumerate(asked.traces):
        values[i] = mean_as_logged(store, trace, metric)
    return values


def _corrected(p: xr.DataArray) -> Float64:
    """Correct the p values of each trace and load for the number of policies."""
    return np.apply_along_axis(holm, p.dims.index("policy"), p.values)


def _overall(samples: xr.DataArray, policy: str, asked: _Question, metric: str) -> Any:
    blocks = [_paired(_joined(samples, one), asked.baseline, policy) for one in asked.blocks]
    blocks = [block for block in blocks if len(block[0])]
    if not blocks:
        return NO_INTERVAL
    # A mean over one cell has the interval of this cell: new draws would give another length.
    alone = len(asked.traces) == len(asked.loads) == 1
    cell = (asked.traces[0], asked.loads[0])
    key = ("ratio", metric, *cell, policy) if alone else ("overall", metric, policy)
    widened = asked.widening(metric, policy, min(len(base) for base, _ in blocks))
    return interval(blocks, log_ratio, level=asked.level, key=key, widened=widened)


def _joined(values: xr.DataArray, traces: Sequence[str]) -> xr.DataArray:
    """Join the values of some traces along ``load``.

    The values of an axis of the campaign are traces with the same samples. Like the loads of a
    trace, they are not independent. An interval that ignored this would be too short.
    """
    return xr.concat([values.sel(trace=one, drop=True) for one in traces], "load")


def _common(samples: xr.DataArray, traces: Sequence[str]) -> bool:
    """Return whether at least one sample of these traces has values under all policies."""
    return bool(samples.sel(trace=list(traces)).notnull().all("policy").any())


def _ranks(samples: xr.DataArray, blocks: Sequence[Sequence[str]], *, larger: bool) -> Float64:
    """Return the mean rank of each policy over the loads of a trace, averaged over the traces."""
    common = samples.where(samples.notnull().all("policy"))
    means = -common.mean("resample") if larger else common.mean("resample")
    ranks = []
    for traces in blocks:
        values = _joined(means, traces).transpose("load", "policy").values
        loads = values[np.isfinite(values).all(axis=1)]
        if len(loads):
            ranks.append(mean_ranks(loads))
    nothing = np.full(samples.sizes["policy"], np.nan)
    found: Float64 = np.mean(ranks, axis=0) if ranks else nothing
    return found


@reading()
def losers(
    store: Store,
    found: xr.Dataset,
    by: str = "user",
    names: Mapping[str, Mapping[int, str]] | None = None,
) -> list[pd.DataFrame]:
    """Return the changes of groups of jobs under each compared policy, by trace and load.

    Parameters
    ----------
    store : path or DataTree
        The store of the comparison.
    found : Dataset
        The result of `compare`; its first metric of single jobs (``wait`` or ``bounded_slowdown``)
        is used.
    by : str
        Grouping of jobs, as in `changes`.
    names : mapping of str to mapping of int to str, optional
        Names of the groups by trace and number.

    Returns
    -------
    list of DataFrame
        The result of `changes` for each trace, load and policy; empty if the comparison has no
        metric of single jobs.

    Raises
    ------
    StoreError
        For the reasons of `changes`, for example a store without single jobs.
    """
    metric = next((name for name in found["metric"].values.tolist() if name in FELT), None)
    if metric is None:
        return []
    called, baseline = names or {}, str(found.attrs["baseline"])

    def changed(trace: str, load: str, policy: str) -> pd.DataFrame:
        of, one = stored_cell(found, trace, policy)
        before, base = stored_cell(found, trace, baseline)
        known = {"load": load, "metric": metric, "names": called.get(of, {})}
        frame = changes(store, of, one, base, by, baseline_trace=before, **known)
        frame.attrs |= {"trace": trace, "policy": policy, "baseline": baseline}
        return frame

    pairs = found["pairs"].sel(metric=metric)
    alone = not bool(found["pairs"].any())
    return [
        changed(trace, load, policy)
        for trace in found["trace"].values.tolist()
        for load in found["load"].values.tolist()
        for policy in found["policy"].values.tolist()
        if alone or int(pairs.sel(trace=trace, load=load, policy=policy))
    ]


def stored_cell(found: xr.Dataset, trace: str, label: str) -> tuple[str, str]:
    """Return the store's labels of trace and policy, given the labels in a comparison."""
    cells: Mapping[str, Mapping[str, tuple[str, str]]] = found.attrs.get("cells", {})
    return cells[trace][label] if cells else (trace, label)


def traces_of(found: xr.Dataset) -> list[str]:
    """Return the labels of the store's traces in a comparison."""
    labels = found["ranked"].values.tolist()
    each = (
        stored_cell(found, trace, label)[0] for trace in found["trace"].values for label in labels
    )
    return list(dict.fromkeys(map(str, each)))
