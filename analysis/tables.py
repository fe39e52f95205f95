"""Bands as tables: a frame, text for a terminal, CSV."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

COUNTS = ("n", "missing")
"""Columns that say what a row rests on."""

DIGITS = 3
"""Significant digits with which the text shows the typical value of a block."""

NOTHING = "-"
"""Stands in the text where too few samples remain for a band."""


def table(bands: xr.Dataset) -> pd.DataFrame:
    """Lay a band out as a frame, a row a cell.

    Parameters
    ----------
    bands : Dataset
        What `bands`, `weekly_bands` or `gains` returned.

    Returns
    -------
    DataFrame
        Indexed by the cell, such as (trace, load, policy), in the store's order; columns are
        the band's labels (``low``, ``mean``, ``high`` or the quantiles), ``n`` and ``missing``.
        Its ``attrs`` say what the metric and the band are.

    Examples
    --------
    >>> from analysis import bands
    >>> root = xr.Dataset({"wait": (("resample", "policy"), [[4.0], [6.0]])},
    ...                   {"resample": [1, 2], "policy": ["fcfs+easy"]})
    >>> table(bands(xr.DataTree(root), "wait", trim=0)).loc["fcfs+easy"].to_dict()
    {'low': 4.0, 'mean': 5.0, 'high': 6.0, 'n': 2.0, 'missing': 0.0}
    """
    values = bands[str(bands.attrs["metric"])]
    *cell, numbers = values.dims
    columns = values.to_dataset(dim=numbers)
    labels = list(columns)
    columns = columns.assign({name: bands[name] for name in COUNTS})
    frame = columns.to_dataframe(dim_order=cell)[[*labels, *COUNTS]]
    frame.attrs = {**bands.attrs, **values.attrs}
    return frame


def table_csv(bands: xr.Dataset) -> str:
    """Write a band as CSV: a line a cell, every digit kept, empty where there is no band.

    Parameters
    ----------
    bands : Dataset
        As for `table`.

    Returns
    -------
    str
        A head line and a line a cell; quantiles are named such as ``q0.1``, and the columns
        ``metric`` and ``units`` say on every line what the numbers are.

    Examples
    --------
    >>> from analysis import bands
    >>> root = xr.Dataset({"wait": (("resample", "policy"), [[4.0], [6.0]], {"units": "s"})},
    ...                   {"resample": [1, 2], "policy": ["fcfs+easy"]})
    >>> print(table_csv(bands(xr.DataTree(root), "wait", trim=0)), end="")
    policy,metric,units,low,mean,high,n,missing
    fcfs+easy,wait,s,4.0,5.0,6.0,2,0
    """
    frame = table(bands)
    names = {label: f"q{label}" for label in frame.columns if isinstance(label, float)}
    units = frame.attrs.get("units", "1")
    frame = frame.rename(columns=names)
    frame.insert(0, "metric", str(bands.attrs["metric"]))
    frame.insert(1, "units", units)
    return frame.to_csv(lineterminator="\n")


def table_text(bands: xr.Dataset) -> str:
    """Write a band as aligned text, a block for each trace and load, a line for each policy.

    Numbers of a block share their decimals, chosen so that its middle value shows three
    digits; thousands are set apart by a blank.

    Parameters
    ----------
    bands : Dataset
        As for `table`.

    Returns
    -------
    str
        Lines for a terminal, without a line break at the end.

    Examples
    --------
    >>> from analysis import bands
    >>> root = xr.Dataset({"wait": (("resample", "trace", "policy"), [[[1234.5]], [[1300.0]]],
    ...                    {"units": "s", "long_name": "mean wait"})},
    ...                   {"resample": [1, 2], "trace": ["KTH"], "policy": ["fcfs+easy"]})
    >>> print(table_text(bands(xr.DataTree(root), "wait", trim=0)))
    Mean wait (s): lowest, mean and highest of the samples
    <BLANKLINE>
    KTH
    policy       low   mean   high  n
    fcfs+easy  1 234  1 267  1 300  2
    """
    frame = table(bands)
    # Samples are missing for a reason that the reader must see, so the column comes with them.
    if not frame["missing"].any():
        frame = frame.drop(columns="missing")
    lines = [heading(bands)]
    for label, block in _blocks(frame):
        lines += ["", *([label] if label else []), *_aligned(_cells(block))]
    return "\n".join(lines)


def heading(bands: xr.Dataset) -> str:
    """Say in a line what a band is of: the metric, its units, and the rule.

    Examples
    --------
    >>> root = xr.Dataset({"wait": ("band", [1.0], {"units": "s", "long_name": "mean wait"})},
    ...                   attrs={"metric": "wait", "description": "highest of the samples"})
    >>> heading(root)
    'Mean wait (s): highest of the samples'
    """
    return f"{axis_label(bands)}: {bands.attrs['description']}"


def axis_label(bands: xr.Dataset) -> str:
    """Return the label of an axis of a band's metric: its long name and its units.

    Examples
    --------
    >>> attrs = {"units": "1", "long_name": "mean bounded slowdown"}
    >>> axis_label(xr.Dataset({"slow": ("band", [1.0], attrs)}, attrs={"metric": "slow"}))
    'Mean bounded slowdown'
    """
    metric = str(bands.attrs["metric"])
    attrs = bands[metric].attrs
    name = str(attrs.get("long_name", metric))
    units = attrs.get("units", "1")
    return name[:1].upper() + name[1:] + ("" if units == "1" else f" ({units})")


def _blocks(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    outer = list(frame.index.names[:-1])
    if not outer:
        yield "", frame
        return
    for key, block in frame.groupby(level=outer, sort=False):
        keys = key if isinstance(key, tuple) else (key,)
        named_keys = zip(outer, keys, strict=True)
        label = ", ".join(str(k) if name == "trace" else f"{name} {k}" for name, k in named_keys)
        yield label, block.droplevel(outer)


def _cells(block: pd.DataFrame) -> list[list[str]]:
    labels = [label for label in block.columns if label not in COUNTS]
    counts = [label for label in block.columns if label in COUNTS]
    decimals = _decimals(block[labels].to_numpy(dtype=np.float64))
    head = [f"{100 * x:g} %" if isinstance(x, float) else str(x) for x in labels]
    rows = [[str(block.index.name), *head, *counts]]
    for row, values in zip(block.index, block.itertuples(index=False), strict=True):
        numbers = [_number(float(x), decimals) for x in values[: len(labels)]]
        rows.append([str(row), *numbers, *(str(int(x)) for x in values[len(labels) :])])
    return rows


def _decimals(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
    there = np.abs(values[np.isfinite(values)])
    if not there.size or (there == np.round(there)).all():
        return 0
    typical = float(np.median(there))
    before = math.floor(math.log10(typical)) + 1 if typical > 0 else 0
    return min(max(DIGITS - before, 0), DIGITS)


def _number(x: float, decimals: int) -> str:
    return f"{x:,.{decimals}f}".replace(",", " ") if math.isfinite(x) else NOTHING


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        right = (x.rjust(w) for x, w in zip(others, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *right]))
    return lines
