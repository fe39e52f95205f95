"""Long tables of a selection, in parts: one row per cell, or per job, week, user or width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import AXES, CELL
from schedfarm.farm.export.selection import WHAT, Cell, Selection
from schedfarm.farm.store.product import COORDINATES, DERIVED

if TYPE_CHECKING:
    import xarray as xr

Values = npt.NDArray[Any]

SLAB_VALUES = 2**20
"""Number of values of one array that are read at once; a larger cell is read as a whole."""


@dataclass(frozen=True)
class Column:
    """Declare one column of a table: `dtype` is a name of numpy, or ``str``."""

    name: str
    dtype: str
    units: str
    long_name: str


@dataclass(frozen=True)
class Part:
    """Hold some rows of a table by column, without the columns that their trace lacks."""

    rows: int
    cells: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """Hold the columns of a table, its attributes, and its rows in parts, read on iteration."""

    columns: tuple[Column, ...]
    attributes: Mapping[str, str]
    parts: Iterator[Part]


def table_of(selection: Selection) -> Table:
    """Return the table of a selection; refuse a kind of table that the store does not have."""
    along = WHAT[selection.what]
    groups = {} if along else {"": selection.summary()}
    if along:
        opened = {trace: selection.trace(trace) for trace in selection.done}
        groups = {trace: group for trace, group in opened.items() if along in group.dims}
    names = {where: _names(selection, where, group, along) for where, group in groups.items()}
    variables = {name: groups[where][name] for where, some in names.items() for name in some}
    if not variables:
        raise InputError(_absence(selection, along))
    labels = [
        Column(axis, "int64" if axis == "resample" else "str", "1", COORDINATES[axis])
        for axis in AXES
    ]
    labels += [Column(axis.name, axis.dtype, "1", axis.meaning) for axis in _axes(selection)]
    if along:
        labels.append(_inner_column(next(iter(groups.values())), along))
    columns = [_column(name, values) for name, values in variables.items()]
    attributes = {str(k): str(v) for k, v in selection.summary().attrs.items()}
    parts = (
        part
        for where, group in groups.items()
        for part in _parts(selection, where, group[names[where]], along)
    )
    return Table((*labels, *columns), {**attributes, "table": selection.what}, parts)


class _Axis(NamedTuple):
    """Hold an axis of the campaign: its values by label of `of`, the traces or policies."""

    name: str
    dtype: str
    of: str
    values: Mapping[str, Any]
    nothing: Any

    @property
    def meaning(self) -> str:
        """Long name of the axis's column."""
        return f"value of the {self.of} on the axis {self.name}"


def _axes(selection: Selection) -> list[_Axis]:
    """Return the axes of the campaign; a column of whole numbers without gaps remains integer."""
    store, found = selection.store, []
    for of, origins in store.labels.items():
        for name in dict.fromkeys(axis for one in origins.values() for axis in one["at"]):
            values = {label: one["at"][name] for label, one in origins.items() if name in one["at"]}
            if any(isinstance(one, str | bool) for one in values.values()):
                texts = {label: str(one) for label, one in values.items()}
                found.append(_Axis(name, "str", of, texts, ""))
                continue
            whole = all(isinstance(one, int) for one in values.values())
            complete = whole and len(values) == len(store.axes[of])
            found.append(_Axis(name, "int64" if complete else "float64", of, values, np.nan))
    return found


def selected(selection: Selection, data: xr.Dataset) -> xr.Dataset:
    """Return the part of a dataset at the selected labels of the store; lazy arrays remain lazy."""
    places = {axis: selection.places(axis) for axis in AXES if axis in data.dims}
    # A slice is lazy and does not copy the labels.
    return data.isel({axis: _as_slice(some) for axis, some in places.items()})


def _as_slice(places: list[int]) -> slice | list[int]:
    first, last = places[0], places[-1]
    return slice(first, last + 1) if places == list(range(first, last + 1)) else places


def _names(selection: Selection, where: str, group: xr.Dataset, along: str) -> list[str]:
    """Return the arrays of a table in the store's order, arrays of the jobs' workload first."""
    store = selection.store
    if along:
        order = [v.name for kind in store.holds for v in store.arrays_of(where, kind)]
        # Starts are not stored, since they follow from the waits.
        order.insert(order.index("wait") if "wait" in order else len(order), DERIVED)
    else:
        order = [v.name for v in store.figures]
    cells = AXES if not along else (*CELL, along)
    return [
        name
        for name in dict.fromkeys(order)
        if name in group
        and set(group[name].dims) <= set(cells)
        and (not along or along in group[name].dims)
    ]


def _column(name: str, values: xr.DataArray) -> Column:
    said = values.attrs
    return Column(name, str(values.dtype), str(said["units"]), str(said["long_name"]))


def _inner_column(group: xr.Dataset, along: str) -> Column:
    if along not in group.coords:
        return Column(along, "int64", "1", f"index of the {along} in its cell")
    text = group[along].dtype.kind in "UO"
    return Column(along, "str" if text else "int64", "1", COORDINATES[along])


def _absence(selection: Selection, along: str) -> str:
    store = selection.store
    if along == "job":
        return (
            f"store {store.place} was made with keep = {store.keep!r} and has no jobs of its "
            "cells; run the required ones with keep = 'jobs' into another store"
        )
    known = ", ".join(what for what in WHAT if what != selection.what)
    return f"store {store.place} has no {selection.what} of the selected cells; known: {known}"


def _parts(selection: Selection, where: str, data: xr.Dataset, along: str) -> Iterator[Part]:
    """Yield the rows of a group, or of the summary, slab by slab."""
    lengths = _lengths(selection, where, along)
    inner = data[along].values if along else None
    traces = (where,) if along else tuple(selection.done)
    size = max(1, data.sizes.get(along, 1))
    for slab in _slabs([len(selection.labels[axis]) for axis in CELL], size):
        runs = {
            axis: [selection.places(axis)[i] for i in places]
            for axis, places in zip(CELL, slab, strict=True)
        }
        picked = data.isel({axis: _as_slice(runs[axis]) for axis in CELL if axis in data.dims})
        loaded = picked.load()
        for trace in traces:
            one = loaded if along else loaded.sel(trace=trace)
            found = _rows(selection, trace, one, slab, lengths, along, inner)
            if found is not None:
                yield found


def _rows(
    selection: Selection,
    trace: str,
    loaded: xr.Dataset,
    slab: Sequence[range],
    lengths: Mapping[tuple[Any, Any], int],
    along: str,
    inner: Values | None,
) -> Part | None:
    """Return the rows of the finished cells of a trace in a slab; None without rows."""
    chosen: list[tuple[tuple[int, ...], Cell, int]] = []
    for at in product(*(range(len(one)) for one in slab)):
        resample, load, policy = (
            selection.labels[axis][places[i]]
            for axis, places, i in zip(CELL, slab, at, strict=True)
        )
        cell = resample, load, policy
        if cell in selection.done[trace]:
            chosen.append((at, cell, lengths.get((resample, load), 1)))
    if not chosen:
        return None
    counts = [count for _, _, count in chosen]
    cells = [(trace, *cell) for _, cell, _ in chosen]
    values = {
        axis: _repeated(selection.store.axes[axis], [cell[i] for cell in cells], counts)
        for i, axis in enumerate(AXES)
    }
    for axis in _axes(selection):
        place = AXES.index(axis.of)
        known = [axis.values.get(str(cell[place]), axis.nothing) for cell in cells]
        every = list(dict.fromkeys(axis.values.values()))
        texts = axis.dtype == "str"
        values[axis.name] = _repeated([*every, axis.nothing] if texts else [0], known, counts)
    if inner is not None:
        values[along] = np.concatenate([inner[:count] for count in counts])
    for name, variable in loaded.data_vars.items():
        axes = [i for i, axis in enumerate(CELL) if axis in variable.dims]
        whole = variable.values
        rows = [np.atleast_1d(whole[tuple(at[i] for i in axes)])[:n] for at, _, n in chosen]
        values[str(name)] = np.concatenate(rows)
    return Part(sum(counts), len(chosen), values)


def _repeated(known: Sequence[Any], labels: Sequence[Any], counts: Sequence[int]) -> Any:
    """Return each label repeated by its count; texts become categories, one byte per row."""
    if not isinstance(known[0], str):
        return np.repeat(np.array(labels), counts)
    import pandas as pd

    index = {label: i for i, label in enumerate(known)}
    codes = np.array([index[label] for label in labels], np.int64)
    return pd.Categorical.from_codes(np.repeat(codes, counts), pd.Index(known))


def _lengths(selection: Selection, where: str, along: str) -> dict[tuple[Any, Any], int]:
    """Return the number of rows of a cell by its resample and load, without padding."""
    if not along:
        return {}
    store = selection.store
    pairs = list(product(selection.labels["resample"], selection.labels["load"]))
    if along == "week":
        return {pair: store.week_entries(where, (*pair, "")) for pair in pairs}
    if along != "job":
        return dict.fromkeys(pairs, store.sizes(where)[along])
    counts = selected(selection, selection.trace(where)[["jobs"]])["jobs"].values
    return {pair: int(count) for pair, count in zip(pairs, counts.ravel(), strict=True)}


def steps(lengths: Sequence[int], size: int) -> list[int]:
    """Return the lengths of a box of cells of `size` values each, at most `SLAB_VALUES` in all.

    Boxes are cut along the leading axes, so that rows follow the order of the axes.

    Examples
    --------
    >>> steps([100, 2, 4], 2**16), steps([100, 2, 4], 2**18), steps([100, 2, 4], 2**30)
    ([2, 2, 4], [1, 1, 4], [1, 1, 1])
    """
    room, found = max(1, SLAB_VALUES // size), []
    for length in reversed(lengths):
        found.append(min(length, room))
        room = max(1, room // length)
    return found[::-1]


def _slabs(lengths: Sequence[int], size: int) -> Iterator[tuple[range, ...]]:
    """Yield the indices of the boxes of cells, in order."""
    yield from product(
        *(
            [range(i, min(i + step, length)) for i in range(0, length, step)]
            for length, step in zip(lengths, steps(lengths, size), strict=True)
        )
    )
