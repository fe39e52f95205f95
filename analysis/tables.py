"""Bands as tables: a frame, text for a terminal, CSV, JSON."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.band_rule import ranks_text, share_text
from schedfarm.core.arrays import Float64
from schedfarm.core.format.geometry import ORIGIN
from schedfarm.core.labels import load_number
from schedfarm.core.numerals import NOTHING, grouped

STANDING = ("first", "last", "n", "missing", "coverage")
"""Columns that describe the samples of a row: ranks, number, and coverage."""

LOG, LOGGED = "log", "logged"
"""Columns of the log itself, and of the mean as logged."""

DIGITS = 3
"""Number of significant digits in the text for the typical value of a block."""

SAME_LOAD = 0.01
"""Negligible difference between the offered loads of samples: runs are rounded to whole seconds."""


def table(bands: xr.Dataset) -> pd.DataFrame:
    """Return a band as a frame with a row for each cell.

    Parameters
    ----------
    bands : Dataset
        The result of `bands` or `weekly_bands`.

    Returns
    -------
    DataFrame
        Indexed by the cell, such as (trace, load, policy), in the store's order. Columns are the
        band's labels (``low``, ``trimmed_mean``, ``high``; ``min``, ``median``, ``max``; the
        quantiles, ...), followed by ``first``, ``last``, ``n``, ``missing``, ``coverage`` as in
        `bands`. There is a column ``log`` if the store has the log itself, and a column ``logged``
        if the mean as logged was added. ``attrs`` describe the metric and the band.

    Examples
    --------
    >>> from schedfarm.analysis import bands
    >>> root = xr.Dataset({"wait": (("resample", "policy"), [[4.0], [6.0]])},
    ...                   {"resample": [1, 2], "policy": ["fcfs+easy"]})
    >>> frame = table(bands(xr.DataTree(root), "wait"))
    >>> frame.columns.tolist()
    ['min', 'median', 'max', 'first', 'last', 'n', 'missing', 'coverage']
    >>> frame.loc["fcfs+easy", ["min", "median", "max"]].tolist()
    [4.0, 5.0, 6.0]
    """
    values = bands[str(bands.attrs["metric"])]
    *cell, numbers = values.dims
    columns = values.to_dataset(dim=numbers)
    labels = list(columns)
    others = [name for name in (LOG, LOGGED, *STANDING) if name in bands]
    columns = columns.assign({name: bands[name] for name in others})
    frame = columns.to_dataframe(dim_order=cell)[[*labels, *others]]
    if ORIGIN in cell:
        # A trace has no samples for clusters of other traces; such samples do not count as missing.
        frame = frame[frame["n"] > 0]
    frame.attrs = {**bands.attrs, **values.attrs}
    return frame


def table_csv(bands: xr.Dataset) -> str:
    """Return a band as CSV: a line for each cell with all digits; fields without a band are empty.

    Parameters
    ----------
    bands : Dataset
        As for `table`.

    Returns
    -------
    str
        A header line and a line for each cell. Quantiles have names such as ``q0.1``. The columns
        ``metric``, ``units``, ``kind`` and, for an interval, ``level`` are repeated on every line.

    Examples
    --------
    >>> from schedfarm.analysis import bands
    >>> root = xr.Dataset({"wait": (("resample", "policy"), [[4.0], [6.0]], {"units": "s"})},
    ...                   {"resample": [1, 2], "policy": ["fcfs+easy"]})
    >>> print(table_csv(bands(xr.DataTree(root), "wait", kind="quantile", q=[0, 1])), end="")
    policy,metric,units,kind,q0,q1,first,last,n,missing,coverage
    fcfs+easy,wait,s,quantile,4.0,6.0,1.0,2.0,2,0,0.3333333333333333
    """
    return _csv_frame(bands).to_csv(lineterminator="\n")


def _csv_frame(bands: xr.Dataset) -> pd.DataFrame:
    frame = table(bands).rename(columns=_named)
    said = {"metric": bands.attrs["metric"], "units": frame.attrs.get("units", "1")}
    said |= {key: bands.attrs[key] for key in ("kind", "level") if key in bands.attrs}
    for place, (name, value) in enumerate(said.items()):
        frame.insert(place, name, value)
    return frame


def tables_csv(bands: Sequence[xr.Dataset]) -> str:
    """Return several bands of one metric, such as weekly bands of each trace, as one CSV.

    Parameters
    ----------
    bands : sequence of Dataset
        The result of `all_weekly_bands`.

    Returns
    -------
    str
        The lines of `table_csv` with one header line.
    """
    return pd.concat([_csv_frame(one) for one in bands]).to_csv(lineterminator="\n")


def table_facts(bands: xr.Dataset) -> dict[str, Any]:
    """Return a band as JSON-compatible values: its description and its cells.

    Parameters
    ----------
    bands : Dataset
        As for `table`.

    Returns
    -------
    dict
        The attributes of the band, ``units``, and ``cells``, a dict for each cell with the columns
        of `table`. A missing number is None. Quantiles have names such as ``q0_1``.

    Examples
    --------
    >>> from schedfarm.analysis import bands
    >>> root = xr.Dataset({"wait": (("resample", "policy"), [[4.0], [6.0]], {"units": "s"})},
    ...                   {"resample": [1, 2], "policy": ["fcfs+easy"]})
    >>> facts = table_facts(bands(xr.DataTree(root), "wait"))
    >>> facts["units"], facts["samples"], facts["cells"][0]["median"]
    ('s', '1 to 2 of 2', 5.0)
    """
    frame = table(bands).rename(columns=_named)
    cells = [
        {str(name).replace(".", "_"): fact(value) for name, value in row.items()}
        for row in frame.reset_index().to_dict("records")
    ]
    return {**bands.attrs, "units": frame.attrs.get("units", "1"), "cells": cells}


def _named(label: Hashable) -> Hashable:
    return f"q{label:g}" if isinstance(label, float) else label


def fact(value: Any) -> Any:
    """Return a JSON-compatible value: None for a number that is not finite.

    Examples
    --------
    >>> fact(float("nan")), fact(2.5)
    (None, 2.5)
    """
    return None if isinstance(value, float) and not math.isfinite(value) else value


def table_text(bands: xr.Dataset) -> str:
    r"""Return a band as aligned text: a block for each trace and load, a line for each policy.

    All numbers of a block have the same number of decimals, chosen so that the middle value shows
    three digits. Thousands are separated by a blank. The column ``samples`` has the ranks of the
    samples that a line spans, and the number of all samples. ``holds`` is the expected share of all
    possible samples between these ranks, and ``log`` is the value of the log itself. The heading of
    a block shows the offered load of its samples if their loads differ.

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
    >>> from schedfarm.analysis import bands
    >>> root = xr.Dataset({"wait": (("resample", "trace", "policy"), [[[1234.5]], [[1300.0]]],
    ...                    {"units": "s", "long_name": "mean wait"})},
    ...                   {"resample": [1, 2], "trace": ["KTH"], "policy": ["fcfs+easy"]})
    >>> print(table_text(bands(xr.DataTree(root), "wait")).partition("\n\n")[2])
    KTH
    policy       min  median    max      samples   holds
    fcfs+easy  1 234   1 267  1 300  1 to 2 of 2  33.3 %
    """
    frame = table(bands)
    # The column is shown if samples are missing, so that readers notice the lack.
    if not frame["missing"].any():
        frame = frame.drop(columns="missing")
    lines = [heading(bands)]
    for label, block in _blocks(frame, bands):
        lines += ["", *([label] if label else []), *aligned(_cells(block))]
    return "\n".join(lines)


def heading(bands: xr.Dataset) -> str:
    """Describe a band in one line: the metric, its units, and the rule.

    Examples
    --------
    >>> root = xr.Dataset({"wait": ("band", [1.0], {"units": "s", "long_name": "mean wait"})},
    ...                   attrs={"metric": "wait", "description": "highest of the samples"})
    >>> heading(root)
    'Mean wait (s): highest of the samples'
    """
    log = "; log: the log itself" if LOG in bands else ""
    logged = "; as logged: the same samples with the waits of the log" if LOGGED in bands else ""
    return f"{axis_label(bands)}: {bands.attrs['description']}{log}{logged}"


def axis_label(bands: xr.Dataset) -> str:
    """Return the label of an axis of a band's metric: its long name and its units.

    Examples
    --------
    >>> attrs = {"units": "1", "long_name": "mean bounded slowdown"}
    >>> axis_label(xr.Dataset({"slow": ("band", [1.0], attrs)}, attrs={"metric": "slow"}))
    'Mean bounded slowdown'
    """
    units = bands[str(bands.attrs["metric"])].attrs.get("units", "1")
    return axis_name(bands) + ("" if units == "1" else f" ({units})")


def axis_name(bands: xr.Dataset) -> str:
    """Return a band's metric in words, capitalised.

    Examples
    --------
    >>> axis_name(xr.Dataset({"slow": ("band", [1.0])}, attrs={"metric": "slow"}))
    'Slow'
    """
    metric = str(bands.attrs["metric"])
    name = str(bands[metric].attrs.get("long_name", metric))
    return name[:1].upper() + name[1:]


def _blocks(frame: pd.DataFrame, bands: xr.Dataset) -> Iterator[tuple[str, pd.DataFrame]]:
    outer = list(frame.index.names[:-1])
    if not outer:
        yield "", frame
        return
    for key, block in frame.groupby(level=outer, sort=False):
        keys = key if isinstance(key, tuple) else (key,)
        place = dict(zip(map(str, outer), keys, strict=True))
        yield block_label(place) + _loads(bands, place), block.droplevel(outer)


def block_label(place: Mapping[str, object]) -> str:
    """Return the description of the cells in a block of a table.

    Examples
    --------
    >>> block_label({"trace": "KTH", "load": "0.9"})
    'KTH, load 0.9'
    """
    return ", ".join(str(k) if name == "trace" else f"{name} {k}" for name, k in place.items())


def _loads(bands: xr.Dataset, place: Mapping[str, object]) -> str:
    """Return the offered loads of a block's samples as text, if the loads differ."""
    if "load_least" not in bands or not set(bands["load_least"].dims) <= set(place):
        return ""
    at = {name: place[str(name)] for name in bands["load_least"].dims}
    least, most = (float(bands[name].sel(at)) for name in ("load_least", "load_most"))
    if not most - least > SAME_LOAD:
        # At another size of the machine, the offered load differs from the label.
        label = load_number(place.get("load"))
        return f"; offered load there {least:.3f}" if abs(least - label) > SAME_LOAD else ""
    log = float(bands["load_log"].sel(at)) if "load_log" in bands else math.nan
    own = f", of the log {log:.3f}" if math.isfinite(log) else ""
    return f"; offered load of the samples {least:.3f} to {most:.3f}{own}"


def _cells(block: pd.DataFrame) -> list[list[str]]:
    labels = [label for label in block.columns if label not in STANDING]
    decimals = decimals_for(block[labels].to_numpy(dtype=np.float64))
    numbers = [[grouped(x, decimals) for x in block[label].astype(float)] for label in labels]
    rows = block.to_dict("records")
    said = {"samples": [_samples(row) for row in rows]}
    if "coverage" in block:
        said["holds"] = [_share(row) for row in rows]
    if "missing" in block:
        said["missing"] = [str(int(row["missing"])) for row in rows]
    head = [str(block.index.name), *map(_heading_of, labels), *said]
    places = [str(place) for place in block.index]
    return [head, *map(list, zip(places, *numbers, *said.values(), strict=True))]


def _heading_of(label: object) -> str:
    if label == LOGGED:
        return "as logged"
    return f"{100 * label:g} %" if isinstance(label, float) else str(label).replace("_", " ")


def _samples(row: Mapping[Hashable, Any]) -> str:
    n, first = int(row["n"]), float(row.get("first", math.nan))
    if not math.isfinite(first):
        return f"{NOTHING} of {n}"
    return ranks_text(first, float(row["last"]), n)


def _share(row: Mapping[Hashable, Any]) -> str:
    first, last, share = (float(row[name]) for name in ("first", "last", "coverage"))
    return share_text(first, last, share) if math.isfinite(share) else NOTHING


def decimals_for(values: Float64) -> int:
    """Return the common number of decimals with which the middle value has three digits.

    Examples
    --------
    >>> decimals_for(np.array([12.34, 11.0])), decimals_for(np.array([1234.5, np.nan]))
    (1, 0)
    """
    there = np.abs(values[np.isfinite(values)])
    if not there.size or (there == np.round(there)).all():
        return 0
    typical = float(np.median(there))
    before = math.floor(math.log10(typical)) + 1 if typical > 0 else 0
    return min(max(DIGITS - before, 0), DIGITS)


LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "&%#_${}"},
}
"""LaTeX for characters with a special meaning in LaTeX."""


def latex_text(text: str) -> str:
    r"""Return a text as LaTeX.

    Examples
    --------
    >>> print(latex_text("own_log 5 %"))
    own\_log 5 \%
    """
    return "".join(LATEX.get(letter, letter) for letter in text)


def aligned(rows: list[list[str]]) -> list[str]:
    """Return lines of columns: the first column aligned left, the others right.

    Examples
    --------
    >>> aligned([["policy", "n"], ["easy", "10"]])
    ['policy   n', 'easy    10']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        right = (x.rjust(w) for x, w in zip(others, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *right]))
    return lines
