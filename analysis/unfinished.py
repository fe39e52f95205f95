"""Reasons for missing values of a store: cells that are missing, failed, or without values."""

from __future__ import annotations

import os
from collections.abc import Mapping

import xarray as xr

from schedfarm.analysis.errors import NoValuesError
from schedfarm.analysis.store import Labels, Store, at_labels, failed_cells, open_summary
from schedfarm.core.numerals import counted

FINISHED = "counted"
"""Figure of the summary that every finished cell has."""


def no_values(store: Store, metric: str = "", **where: Labels) -> NoValuesError:
    """Return the error for a query of a metric without a value at some labels of a store.

    Examples
    --------
    >>> nothing = float("nan")
    >>> waits = {"counted": ("policy", [9.0, nothing]), "wait": ("policy", [nothing, nothing])}
    >>> root = xr.Dataset(waits)
    >>> str(no_values(xr.DataTree(root), "wait"))
    'wait has no value in any finished cell'
    """
    summary = open_summary(store)
    finished = FINISHED in summary and at_labels(summary[FINISHED], **where).notnull().any()
    if finished and metric:
        return NoValuesError(f"{metric} has no value in any finished cell")
    failed = failed_sentence(store, **where)
    return NoValuesError(
        f"the store has no finished cell: {failed}"
        if failed
        else "the store has no finished cell yet; run its campaign first"
    )


def no_pairs(
    store: Store,
    baseline: str,
    policies: list[str],
    metrics: list[str],
    where: Mapping[str, Labels],
) -> NoValuesError:
    """Return the error for a comparison of policies that has no pair of values.

    Examples
    --------
    >>> labels = {"resample": [1], "policy": ["fcfs+easy", "saf+easy"]}
    >>> root = xr.Dataset({"counted": xr.DataArray([[9.0, float("nan")]], labels)})
    >>> str(no_pairs(xr.DataTree(root), "fcfs+easy", ["saf+easy"], [], {}))
    "no two cells of one sample are finished under 'fcfs+easy' and another policy; run the campaign
    first"
    """
    summary = open_summary(store)
    if FINISHED in summary:
        done = at_labels(summary[FINISHED].notnull(), **where)
        both = done.sel(policy=policies) & done.sel(policy=baseline, drop=True)
        if bool(both.any()):
            names = " and ".join(metrics)
            return NoValuesError(
                f"no finished sample has a value of {names} under both {baseline!r} and another "
                "policy"
            )
    failed = failed_sentence(store, **where, policy=[baseline, *policies])
    return NoValuesError(
        f"no two cells of one sample are finished under {baseline!r} and another policy; "
        + (failed or "run the campaign first")
    )


def failed_sentence(store: Store, **where: Labels) -> str:
    """Return a sentence on failed cells at some labels, with a command; "" without failed cells."""
    if isinstance(store, xr.DataTree):
        return ""
    count = int(at_labels(failed_cells(store), **where).sum())
    if not count:
        return ""
    failed = f"{counted(count, 'cell')} {'has' if count == 1 else 'have'} failed"
    return f"{failed}; 'farm status --failed {os.fspath(store)}' lists the errors"
