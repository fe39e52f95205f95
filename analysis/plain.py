"""Values of single cells, for stores with too few samples for bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.store import (
    LOG,
    Labels,
    Store,
    at_labels,
    check_known,
    has_log,
    open_summary,
)
from schedfarm.analysis.tables import aligned, block_label, decimals_for, fact
from schedfarm.analysis.unfinished import no_values
from schedfarm.core.numerals import grouped

HEADLINE = ("wait", "wait_p90", "bounded_slowdown", "pp_bounded_slowdown", "utilisation")
"""Default metrics of a table of cells."""

CELL = ("trace", "load", "resample", "policy")
"""Levels of the index of a table of single cells."""


def plain(
    store: Store,
    metrics: Sequence[str] = (),
    *,
    trace: Labels = None,
    load: Labels = None,
    policy: Labels = None,
) -> pd.DataFrame:
    """Return the values of a store's cells as a table: one row per cell, one column per metric.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    metrics : sequence of str
        Metrics of the summary to show first; those of `HEADLINE` follow.
    trace, load, policy : optional
        Restrictions, as in `bands`.

    Returns
    -------
    DataFrame
        Indexed by (trace, load, resample, policy) in the store's order; cells without values are
        left out. Its ``attrs`` have ``units`` by metric, and ``logs``, the traces whose resample 0
        is a log.

    Raises
    ------
    StoreError
        If the store cannot be read, a metric is unknown or not a number per policy, or no cell
        has a value.

    Examples
    --------
    >>> import xarray as xr
    >>> root = xr.Dataset(
    ...     {"wait": (("trace", "resample", "load", "policy"), [[[[4.0]]]], {"units": "s"})},
    ...     {"trace": ["KTH"], "resample": [0], "load": ["0.9"], "policy": ["fcfs+easy"]})
    >>> plain(xr.DataTree(root)).to_dict()
    {'wait': {('KTH', '0.9', 0, 'fcfs+easy'): 4.0}}
    """
    summary = at_labels(open_summary(store), trace=trace, load=load, policy=policy)
    of_cells = [str(name) for name, values in summary.items() if set(values.dims) == set(CELL)]
    for metric in metrics:
        check_known(metric, "metric of each policy", sorted(of_cells))
    shown = list(dict.fromkeys([*metrics, *(name for name in HEADLINE if name in of_cells)]))
    if not shown:
        raise StoreError(f"the store has none of {', '.join(HEADLINE)}; name metrics that it has")
    frame = summary[shown].to_dataframe(dim_order=list(CELL))[shown].dropna(how="all")
    if frame.empty:
        raise no_values(store, trace=trace, load=load, policy=policy)
    if metrics and not frame[list(metrics)].notna().any(axis=None):
        raise no_values(store, " and ".join(metrics), trace=trace, load=load, policy=policy)
    units = {name: str(summary[name].attrs.get("units", "1")) for name in shown}
    logs = [str(trace) for trace in summary["trace"].values if has_log(store, str(trace))]
    frame.attrs = {"units": units, "logs": logs}
    return frame


def plain_facts(frame: pd.DataFrame) -> dict[str, Any]:
    """Return single cells as JSON-compatible values; None for missing numbers.

    Parameters
    ----------
    frame : DataFrame
        The result of `plain`.

    Returns
    -------
    dict
        ``kind``, which is ``cells``; ``units`` by metric; and ``cells``, a dict per cell.

    Examples
    --------
    >>> import xarray as xr
    >>> root = xr.Dataset(
    ...     {"wait": (("trace", "resample", "load", "policy"), [[[[4.5]]]], {"units": "s"})},
    ...     {"trace": ["KTH"], "resample": [0], "load": ["0.9"], "policy": ["fcfs+easy"]})
    >>> plain_facts(plain(xr.DataTree(root)))["cells"]
    [{'trace': 'KTH', 'load': '0.9', 'resample': 0, 'policy': 'fcfs+easy', 'wait': 4.5}]
    """
    rows = frame.reset_index().to_dict("records")
    cells = [{str(name): fact(value) for name, value in row.items()} for row in rows]
    return {"kind": "cells", "units": dict(frame.attrs["units"]), "cells": cells}


def plain_text(frame: pd.DataFrame) -> str:
    """Return single cells as a text table: a block for each workload, a line for each policy.

    Parameters
    ----------
    frame : DataFrame
        The result of `plain`.

    Returns
    -------
    str
        Lines for a terminal, without a line break at the end.

    Examples
    --------
    >>> import xarray as xr
    >>> root = xr.Dataset(
    ...     {"wait": (("trace", "resample", "load", "policy"), [[[[4.5]]]], {"units": "s"})},
    ...     {"trace": ["KTH"], "resample": [0], "load": ["0.9"], "policy": ["fcfs+easy"]})
    >>> print(plain_text(plain(xr.DataTree(root))))
    Single cells, each one schedule: no samples stand behind these numbers
    <BLANKLINE>
    KTH, load 0.9, the log itself
    policy     wait (s)
    fcfs+easy      4.50
    """
    lines = ["Single cells, each one schedule: no samples stand behind these numbers"]
    for key, block in frame.groupby(level=list(CELL[:-1]), sort=False):
        trace, load, resample = key if isinstance(key, tuple) else (key, "", LOG)
        own = resample == LOG and trace in frame.attrs["logs"]
        whose = "the log itself" if own else f"sample {resample}"
        label = f"{block_label({'trace': trace, 'load': load})}, {whose}"
        lines += ["", label, *aligned(_rows(block, frame.attrs["units"]))]
    return "\n".join(lines)


def _rows(block: pd.DataFrame, units: dict[str, str]) -> list[list[str]]:
    columns = []
    for name in block:
        values = block[name].to_numpy(dtype=np.float64)
        unit = units[str(name)]
        head = str(name) if unit == "1" else f"{name} ({unit})"
        columns.append([head, *(grouped(x, decimals_for(values)) for x in values.tolist())])
    places = [CELL[-1], *map(str, block.index.get_level_values(CELL[-1]))]
    return [list(row) for row in zip(places, *columns, strict=True)]
