"""Warnings of a comparison: the limitations of its samples and intervals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import xarray as xr

from schedfarm.analysis.bands import bands
from schedfarm.analysis.compare import sampled_precision, stored_cell
from schedfarm.analysis.intervals import ALIKE
from schedfarm.analysis.notes import notes
from schedfarm.analysis.reading import reading
from schedfarm.analysis.store import Store, open_summary
from schedfarm.analysis.validation import far_from_log
from schedfarm.core.bootstrap import stopped_widening

QUANTILE = re.compile(r"_p\d+$")
"""End of the names of quantiles, such as medians; most pairs of quantiles are often equal."""


@reading()
def comparison_warnings(store: Store, found: xr.Dataset) -> list[str]:
    """Return the limitations of a comparison, one sentence each.

    Parameters
    ----------
    store : path or DataTree
        The store of the comparison.
    found : Dataset
        The result of `compare`.

    Returns
    -------
    list of str
        Sentences on a simulation far from the logged waits, on missing pairs and on too few pairs,
        and the notes on bands of the same samples.
    """
    traces = found["trace"].values.tolist()
    bases = [stored_cell(found, trace, str(found.attrs["baseline"])) for trace in traces]
    said = [
        one
        for policy in dict.fromkeys(policy for _, policy in bases)
        for one in far_from_log(store, policy, [trace for trace, _ in bases])
    ]
    precision, pairs = sampled_precision(open_summary(store)), found["pairs"].values
    if not pairs.any():
        said.append("no samples: each ratio is of one schedule, so that no interval can be given")
        return said
    valued = pairs.any(axis=(1, 2, 3))
    pairs = pairs[valued]
    least = pairs[pairs > 0].min()
    if least < pairs.max():
        said.append(f"some cells are missing: {least} to {pairs.max()} pairs are compared")
    empty = [trace for i, trace in enumerate(traces) if not pairs[:, i].any()]
    if empty:
        said.append(
            f"no pair of {', '.join(map(str, empty))} has a value: the answer is of the rest"
        )
    if pairs.max() < 2:
        return [*said, "a single pair gives no interval; run the campaign with more resamples"]
    every = [
        stored_cell(found, trace, label) for trace in traces for label in found["ranked"].values
    ]
    shown = {
        "trace": list(dict.fromkeys(trace for trace, _ in every)),
        "load": found["load"].values,
        "policy": list(dict.fromkeys(policy for _, policy in every)),
    }
    if precision.get("stopped"):
        said.append(_ended(precision))
    said += [*_mostly_alike(found), *_alike(found)]
    for metric in found["metric"].values[valued].tolist():
        name, _, place = metric.partition(", ")
        band = bands(store, name).sel(shown)
        further = {str(d): place for d in band[name].dims if d in ("origin", "width")}
        said += notes(store, band.sel(further))
    return list(dict.fromkeys(said))


def _alike(found: xr.Dataset) -> Iterator[str]:
    """Report, for each metric, correlations of pairs so high that an interval may be too short."""
    known = found["ratio"].sel(bound="low").notnull()
    for metric, of in found["correlation"].where(known).groupby("metric", squeeze=False):
        alike = (of > ALIKE).values
        if alike.any():
            where = "" if alike.size == 1 else f"in {alike.sum()} of {alike.size} comparisons "
            yield (
                f"{metric}: {where}the pairs have a correlation above {ALIKE:g} (up to "
                f"{float(of.max()):.3f}): the samples may lack the workloads in which the policies "
                "differ most, so that the interval may be too short; more samples show it"
            )


def _mostly_alike(found: xr.Dataset) -> Iterator[str]:
    """Report, for each metric, comparisons without an interval, as most pairs have one ratio."""
    ratio, each = found["ratio"], found["sample_ratio"]
    blank = ratio.sel(bound="estimate").notnull() & ratio.sel(bound="low").isnull()
    equal = blank & (each.max("resample") == each.min("resample")) & (found["pairs"] > 1)
    blank &= ~equal
    for metric, of in equal.groupby("metric", squeeze=False):
        if of.any():
            where = "" if of.size == 1 else f"in {int(of.sum())} of {of.size} comparisons "
            yield (
                f"{metric}: {where}all pairs have one ratio, so that the samples show no "
                "variation; compare at a higher load"
            )
    for metric, of in blank.groupby("metric", squeeze=False):
        if of.any():
            where = "" if of.size == 1 else f"in {int(of.sum())} of {of.size} comparisons "
            instead = "a mean instead of a median, or " if QUANTILE.search(str(metric)) else ""
            yield (
                f"{metric}: {where}most pairs have one ratio, so that the rarer others decide the "
                "change, and too few of them are known for an interval; compare "
                f"{'by ' if instead else ''}{instead}at a higher load"
            )


def _ended(precision: Mapping[str, Any]) -> str:
    """Return a sentence on the end of sampling and the widening of the intervals."""
    count, samples = len(precision["rounds"]), precision["rounds"][-1]
    why = "the requested precision" if precision["met"] else "the most samples of the campaign"
    asked = ", ".join(
        f"{one['metric']} of {one['policy']} over {one['over']} to {100 * one['relative']:g} %"
        for one in precision["requests"]
    )
    widened = 100 * (stopped_widening(samples) - 1)
    return (
        f"sampling ended after round {count} with {samples} samples, at {why} ({asked}); these "
        f"intervals are {widened:.2g} % longer for that"
    )
