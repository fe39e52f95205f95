"""Unfairness of Sabin and Sadayappan (JSSPP 2005) from a store: of all jobs, by width, per job."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.papers.sabin_2005.printed import ORDERS, RULES
from schedfarm.analysis.store import check_known, of_log, open_trace
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.metrics.fairness import discrimination_of, lateness_of, unserved
from schedfarm.core.metrics.widths import WIDTHS, mean_by_width, width_classes

REPLANNING, NO_BACKFILLING = "re-planning", "no backfilling"

OWN_RULES = {"conservative": REPLANNING, "none": NO_BACKFILLING}
"""Rules that the paper did not simulate, with our names."""


class Fairness(NamedTuple):
    """Hold a row of `KINDS`."""

    measure: str
    """Label of the mean over jobs on an axis."""

    due: str
    """Array of a trace's group with the fair start or share of each job."""

    got: tuple[str, ...]
    """Arrays with the actual start or resources of each job."""

    unfairness: Callable[..., Any]
    """Returns each job's deficit, from the arrays `due` and `got`."""

    units: str
    marker: str

    def stated_units(self, values: xr.DataArray) -> str:
        """Return the units of a store's array; formats before 4 have "s" for processor-seconds.

        Examples
        --------
        >>> KINDS["resource"].stated_units(xr.DataArray(1.0, attrs={"units": "s"}))
        'processor-s'
        """
        stated = str(values.attrs.get("units", "s"))
        return self.units if stated == "s" else stated


def _late(fst: Any, start: Any) -> Any:
    return lateness_of(start, fst)


def _size(deserved: Float64, held: Int64, procs: Int64) -> Float64:
    return abs(discrimination_of(deserved, held, procs))


KINDS = {
    "strict": Fairness(
        "Mean time after strict fair start", "fst_strict", ("start",), _late, "s", "o"
    ),
    "relaxed": Fairness(
        "Mean time after relaxed fair start", "fst_relaxed", ("start",), _late, "s", "s"
    ),
    "resource": Fairness(
        "Mean unfairness by resource equality",
        "resource_share",
        ("run", "procs"),
        unserved,
        "processor-s",
        "^",
    ),
}
"""The kinds of fairness by their names in a store."""

BY_SIZE = "resource |D|"
"""Name of resource equality with the absolute value of D instead of max(D, 0)."""

READINGS = KINDS | {
    BY_SIZE: KINDS["resource"]._replace(measure="Mean size of discrimination", unfairness=_size)
}
"""The kinds, and a second reading of the third kind. Since D sums to 0, `BY_SIZE` over all jobs is
twice ``resource``, so a summary need not have it."""


def by_paper(values: xr.DataArray) -> xr.DataArray:
    """Split policy into order and rule, with the paper's names first and then those of `OWN_RULES`.

    A rule of `OWN_RULES` is included if it is present under every order. A missing policy of the
    paper's nine raises `StoreError`.

    Examples
    --------
    >>> names = [f"{order}+{rule}" for order in ORDERS for rule in RULES]
    >>> split = by_paper(xr.DataArray(range(9), {"policy": names}))
    >>> int(split.sel(order="SJF", rule="no guarantee"))
    3
    """
    there = values["policy"].values.tolist()
    for name in policies(RULES):
        check_known(name, "policy", there)
    own = {rule: name for rule, name in OWN_RULES.items() if set(policies([rule])) <= set(there)}
    rules = RULES | own
    pairs = pd.MultiIndex.from_product([ORDERS.values(), rules.values()], names=["order", "rule"])
    chosen = values.sel(policy=policies(rules)).drop_vars("policy")
    index = xr.Coordinates.from_pandas_multiindex(pairs, "policy")
    split = chosen.assign_coords(index).unstack("policy")
    return split.sel(order=list(ORDERS.values()), rule=list(rules.values()))


def policies(rules: Iterable[str]) -> list[str]:
    """Return the policies of the paper's orders under some rules."""
    return [f"{order}+{rule}" for order in ORDERS for rule in rules]


def sample_unfairness(of: Numbers, kind: str) -> xr.DataArray:
    """Return the mean unfairness over all jobs of each sample, and of the log (resample 0).

    The values are on (trace, resample, load, order, rule), in s, or processor-seconds for resource
    equality.
    """
    name = f"unfairness_{kind}"
    check_known(name, "metric", sorted(str(v) for v in of.summary))
    values = of.summary[name].load()
    return by_paper(values.assign_attrs(kind=kind, units=KINDS[kind].stated_units(values)))


def mean_unfairness(of: Numbers, kind: str) -> xr.DataArray:
    """Return the mean unfairness over all jobs of the log (figures 7, 8, 11, 12, 15 and 16)."""
    return of_log(sample_unfairness(of, kind))


def all_by_width(of: Numbers) -> dict[str, xr.DataArray]:
    """Return `unfairness_by_width` of every kind."""
    return {kind: unfairness_by_width(of, kind) for kind in KINDS}


def unfairness_by_width(of: Numbers, kind: str) -> xr.DataArray:
    """Return the mean unfairness over the log's jobs of each width (figures 9, 10, 13, 14, 17, 18).

    The values are on (trace, load, order, width, rule). They are NaN if no job has the width.
    """
    parts = {}
    for trace in of.traces:
        unfair = job_unfairness(of, trace, kind)
        means = xr.apply_ufunc(
            mean_by_width,
            _procs(of, trace),
            unfair,
            input_core_dims=[["job"], ["job"]],
            output_core_dims=[["width"]],
            vectorize=True,
        )
        parts[trace] = means.assign_coords(width=list(WIDTHS)).assign_attrs(unfair.attrs)
    joined: xr.DataArray = xr.concat(parts.values(), pd.Index(list(parts), name="trace"))
    return joined.transpose("trace", "load", "order", "width", "rule")


def job_unfairness(of: Numbers, trace: str, kind: str) -> xr.DataArray:
    """Return the unfairness to each job of a log, in the order of arrival.

    The values are on (load, job, order, rule) and at least 0: start - fair start time, s, or equal
    share - work, processor-seconds. They are NaN if a cell is not done.
    """
    data, row = open_trace(of.tree, trace), READINGS[kind]
    check_known(row.due, "variable", [str(name) for name in data])
    data = of_log(data[sorted({row.due, *row.got, "start", "procs"})]).load()
    due = data[row.due]
    unfair = xr.apply_ufunc(row.unfairness, due, *(data[name] for name in row.got))
    # A job exists under every load and policy; an unfinished cell has no mean.
    done = unfair.where((data["start"] >= 0) & (due >= 0)).astype(np.float64)
    jobs: xr.DataArray = done.isel(job=np.flatnonzero((data["procs"] > 0).any("load")))
    return by_paper(jobs).assign_attrs(kind=kind, units=row.stated_units(due))


def jobs_by_width(of: Numbers) -> pd.DataFrame:
    """Return the number of jobs of each width (Table 1), with a row for each trace."""
    counts = {
        trace: np.bincount(width_classes(_procs(of, trace)), minlength=len(WIDTHS))
        for trace in of.traces
    }
    return pd.DataFrame.from_dict(counts, orient="index", columns=list(WIDTHS)).rename_axis("trace")


def _procs(of: Numbers, trace: str) -> xr.DataArray:
    procs = of_log(open_trace(of.tree, trace)[["procs"]])["procs"].max("load")
    return procs[procs.values > 0]
