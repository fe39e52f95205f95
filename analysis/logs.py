"""Logs that a store keeps with their samples."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from typing import NamedTuple

import numpy as np
import xarray as xr

from schedfarm.analysis.errors import NoValuesError, StoreError
from schedfarm.analysis.place import StoreName, read_file
from schedfarm.analysis.store import Store, source_of
from schedfarm.core.arrays import Int64
from schedfarm.core.workload.resample_weeks import whole_weeks


class LogJobs(NamedTuple):
    """Jobs of a log as read, and numbers of whole weeks of the log and of each sample.

    submit, run, procs : int64[jobs], in s, s and processors, in order of submission. weeks,
    sample_weeks : int.
    """

    submit: Int64
    run: Int64
    procs: Int64
    weeks: int
    sample_weeks: int


def log_jobs(store: Store, trace: str) -> LogJobs | None:
    """Return the stored log of a trace's samples.

    None for a model, and for a store without store.json.

    Examples
    --------
    >>> log_jobs(xr.DataTree(xr.Dataset()), "KTH") is None
    True
    """
    if isinstance(store, xr.DataTree):
        return None
    columns = log_columns(store, trace, "submit", "run", "procs")
    if not columns:
        return None
    weeks = whole_weeks(columns["submit"])
    sampled = source_of(store, trace).get("weeks") or weeks
    return LogJobs(**columns, weeks=weeks, sample_weeks=sampled)


def logged_values(store: Store, trace: str, column: str, jobs: Int64) -> Int64:
    """Return values of a column of the stored log, by job number.

    Parameters
    ----------
    store : path or DataTree
        The store's folder; an open tree has no log.
    trace : str
        A label of the store's trace axis.
    column : str
        Name of an array of whole numbers in the log's npz, such as ``partition``.
    jobs : int64[n]
        Job numbers of the log, the store's array ``number``.

    Returns
    -------
    int64[n]
        Values of the jobs; -1 for a number that several rows share with different values.

    Examples
    --------
    >>> logged_values(xr.DataTree(xr.Dataset()), "KTH", "queue", np.array([1]))
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.NoValuesError: the log of trace 'KTH' has no 'queue' of its jobs
    """
    known = not isinstance(store, xr.DataTree)
    columns = log_columns(store, trace, "job", column) if known else {}
    if column not in columns:
        raise NoValuesError(f"the log of trace {trace!r} has no {column!r} of its jobs")
    order = np.lexsort((columns[column], columns["job"]))
    number, value = columns["job"][order], columns[column][order]
    first, last = (np.searchsorted(number, jobs, side=side) for side in ("left", "right"))
    least, most = value[first], value[last - 1]
    values: Int64 = np.where(least == most, least, -1)
    return values


def log_text(store: StoreName, trace: str, name: str) -> str:
    """Return a text of a trace's stored log, such as ``about``; empty for a model."""
    return str(log_columns(store, trace, name).get(name, ""))


def log_columns(store: StoreName, trace: str, *names: str) -> dict[str, Int64]:
    """Return columns of a trace's log; empty for a model.

    Raises `StoreError` if the file is missing or damaged.
    """
    name = source_of(store, trace).get("columns")
    if name is None:
        return {}
    file = f"traces/{name}.npz"
    try:
        data = read_file(store, file)
    except FileNotFoundError:
        raise StoreError(
            f"store {os.fspath(store)!r}: {file}, the log of {trace}, is missing; 'farm verify "
            f"{os.fspath(store)}' names each fault"
        ) from None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as columns:
            return {name: columns[name] for name in names if name in columns}
    # The file is empty, or the archive or an array in it is damaged.
    except (EOFError, OSError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise StoreError(
            f"store {os.fspath(store)!r}: {file}, the log of {trace}, is damaged ({error}); 'farm "
            f"verify {os.fspath(store)}' names each fault"
        ) from error
