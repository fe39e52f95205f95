"""Open a store with xarray, and read one cell as a table or a schedule."""

from __future__ import annotations

import zlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import ALL_POLICIES
from schedfarm.core.format.names import ARRAYS
from schedfarm.core.format.retention import RETENTION
from schedfarm.core.labels import find_label
from schedfarm.core.own import sources
from schedfarm.core.policy.rules import COUNTS
from schedfarm.core.schedule import Schedule, starts_of
from schedfarm.core.workload.columns import COLUMNS, STORED
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.store.arrays import open_results
from schedfarm.farm.store.codec import decode_schedule
from schedfarm.farm.store.missing import check_chunks, readable
from schedfarm.farm.store.place import Where
from schedfarm.farm.store.product import DERIVED, PRODUCTS, Product
from schedfarm.farm.store.records import read_record
from schedfarm.farm.store.store import Store

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def open_store(store: Where) -> xr.DataTree:
    """Open a store as a labelled tree with the summary at the root and a group for each trace.

    Parameters
    ----------
    store : str or path
        The folder or address.

    Returns
    -------
    xarray.DataTree
        Lazy: values are read on access.

    Raises
    ------
    InputError
        If the place is not a store, or if a chunk of an acknowledged block is missing.
    """
    import xarray as xr

    opened = Store.open(store)
    check_chunks(opened)
    return xr.open_datatree(readable(opened), engine="zarr", chunks=None)


def job_table(
    store: Where, trace: str, policy: str, resample: int, load: float | str = "original"
) -> pd.DataFrame:
    """Return the jobs of one cell, one row per job in (submit, position) order.

    Parameters
    ----------
    store : str or path
        The folder or address.
    trace, policy, load : str
        Labels of the cell, also in other spellings: 0.9, ``SJF+easy``.
    resample : int
        Number of the resample; 0 is the log itself.

    Returns
    -------
    pandas.DataFrame
        Columns submit, run, estimate, start, wait (s), procs, job_user, number, killed,
        backfilled; on a grid also place; on nodes also weight, properties, reserved (s), serial,
        end (s) and state; on a network also job_origin, communication, bandwidth (kbit/s),
        alltoall and end (s).

    Raises
    ------
    InputError
        If the place is not a store, keeps no jobs, or lacks the cell; if the cell is not done, or
        its values do not match its records.
    """
    import pandas as pd

    opened = Store.open(store)
    cell = _cell(opened, trace=trace, resample=resample, load=load, policy=policy)
    rows = _verified(opened, **cell)
    machine = opened.platform(cell["trace"])
    columns = [v for kind in _kinds(opened) for v in kind.columns(machine)]
    names = [v.name for v in columns if v.dims[-1] == "job"]
    rows[DERIVED] = starts_of(rows["submit"], rows["wait"])
    names.insert(names.index("wait"), DERIVED)
    table = pd.DataFrame({name: rows[name] for name in names if name in rows})
    return table.rename_axis("job").astype({"backfilled": bool, "killed": bool})


def schedule_of(
    store: Where, trace: str, policy: str, resample: int, load: float | str = "original"
) -> Schedule:
    """Return the stored schedule of one cell, for an audit, metrics or a file.

    Parameters
    ----------
    store, trace, policy, resample, load
        As for `job_table`.

    Returns
    -------
    Schedule
        The schedule with its workload.

    Raises
    ------
    InputError
        For the reasons of `job_table`.

    Examples
    --------
    >>> import tempfile, core, farm
    >>> c = farm.Campaign(name="tiny", traces=(farm.Trace(name="m", model="lublin", processors=64,
    ...                   jobs=50),), policies=("fcfs+easy",), resamples=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = farm.run(c, folder)
    ...     one = schedule_of(folder, trace="m", policy="fcfs+easy", resample=1)
    >>> bool((core.simulate(one.workload, "fcfs+easy").start == one.start).all())
    True
    """
    opened = Store.open(store)
    cell = _cell(opened, trace=trace, resample=resample, load=load, policy=policy)
    rows = _verified(opened, **cell)
    jobs = stored_jobs(opened, cell["trace"], cell["resample"], cell["load"])
    if "state" not in jobs.platform.keeps and (rows["wait"] < 0).any():
        raise InputError(
            f"store {opened.place}: jobs of trace {trace!r} left the queue before a start, and "
            "stores lack those instants; use farm simulate with --clean cancelled=queue"
        )
    return decode_schedule(jobs, cell["policy"], rows, _counts(opened, **cell))


def stored_jobs(store: Store, trace: str, resample: int, load: str) -> Workload:
    """Return the stored jobs of one resample at one load; empty if none are stored."""
    group = _Arrays(store, trace)
    at = store.axes["resample"].index(resample), store.axes["load"].index(load)
    count = slice(int(group["jobs"][at]))
    machine = store.platform(trace)
    names = {name: column.stored for name, column in STORED.items()}
    names |= {name: COLUMNS[name].stored for name in machine.asks}
    columns: dict[str, Any] = {
        name: np.asarray(group[array][(*at, count)]).astype(COLUMNS[name].dtype)
        for name, array in names.items()
    }
    return Workload(
        **columns,
        platform=machine,
        name=trace,
        max_estimate=int(group["max_estimate"][at]),
        epoch=store.sources[trace].get("epoch", -1),
    )


class _Arrays:
    """Open the arrays of a trace by name; `InputError` for an array that cannot be opened."""

    def __init__(self, store: Store, trace: str) -> None:
        self._store, self._trace = store, trace

    @cached_property
    def _group(self) -> Any:
        return open_results(self._store.place)[self._trace]

    def __getitem__(self, name: str) -> Any:
        place = self._store.place
        try:
            return self._group[name]
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                f"store {place}: {ARRAYS}/{self._trace}/{name} cannot be opened ({error}); 'farm "
                f"verify {place} --repair' repairs it"
            ) from error


def _verified(store: Store, trace: str, resample: int, load: str, policy: str) -> dict[str, Any]:
    """Return the values of one cell, checked against its records.

    The check is necessary because Zarr reads a missing shard as fill, and a misplaced shard as
    other numbers.
    """
    if RETENTION[store.keep].without:
        raise InputError(
            f"store {store.place} was made with keep = {store.keep!r} and has no jobs of its "
            "cells; run the required ones with keep = 'jobs' into another store"
        )
    group = _Arrays(store, trace)
    rows: dict[str, Any] = {}
    for kind in _kinds(store):
        labels = (resample, load, policy if kind.policies else ALL_POLICIES)
        block = store.block_at(trace, kind, (resample, load, policy))
        try:
            record = read_record(store.place, block)
        except ValueError:
            record = None
        if record is None or labels not in record.header.succeeded:
            raise InputError(
                f"store {store.place}: the cell {trace}, resample {resample}, load {load}, "
                f"{policy} is not done"
            )
        place = record.header.span.cells.index(labels)
        jobs = int(record.payload.jobs[place])
        at = [store.axes[axis].index(x) for axis, x in zip(kind.dims, labels, strict=False)]
        for variable in kind.columns(store.platform(trace)):
            if variable.name not in record.payload.crc:
                continue  # this array is still to be backfilled
            inner = [slice(jobs)] * ("job" in variable.dims)
            rows[variable.name] = _read(group[variable.name], (*at, *inner))
            found = zlib.crc32(np.ascontiguousarray(rows[variable.name]).data)
            if found != record.payload.crc[variable.name][place]:
                raise InputError(
                    f"store {store.place}: {variable.name} of {block} does not match its record; "
                    f"'farm verify {store.place} --repair' marks it to run again"
                )
    return rows


def _counts(store: Store, trace: str, resample: int, load: str, policy: str) -> dict[str, int]:
    """Return the counters of a finished cell's simulation from the cell's record."""
    (kind,) = (row for row in _kinds(store) if row.simulates)
    record = read_record(store.place, store.block_at(trace, kind, (resample, load, policy)))
    place = record.header.span.cells.index((resample, load, policy)) if record else 0
    found = record.payload.figures if record else {}
    counts = {name: found[name][place] for name in COUNTS if name in found}
    return {name: int(value) for name, value in counts.items() if value == value}


def _read(array: Any, at: tuple[Any, ...]) -> npt.NDArray[Any]:
    try:
        return np.asarray(array[at])
    except OSError:
        raise
    except Exception:  # zarr's codecs raise many kinds of errors on altered bytes
        return np.empty(0, array.dtype)


def _kinds(store: Store) -> list[Product]:
    """Return the products that a store has for each cell."""
    return [PRODUCTS[kind] for kind in store.holds if not PRODUCTS[kind].optional]


def _cell(store: Store, **given: Any) -> dict[str, Any]:
    """Return the labels of a cell, given other spellings of the labels."""
    try:
        with sources(store.own):
            return {
                axis: find_label(
                    axis, one, store.axes[axis], store.policy_names if axis == "policy" else None
                )
                for axis, one in given.items()
            }
    except InputError as error:
        raise InputError(f"store {store.place}: {error}") from None
