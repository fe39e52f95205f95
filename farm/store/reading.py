"""Open a store with xarray, and take one cell out of it: as a table, or as the schedule it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InputError
from core.labels import find_label
from core.own import sources
from core.platform.platform import platform_from_dict
from core.schedule import Schedule
from core.workload.columns import STORED
from core.workload.workload import Workload
from farm.store.arrays import open_results
from farm.store.product import PRODUCTS
from farm.store.store import Store

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def open_store(store: str | Path) -> xr.DataTree:
    """Open a store as a labelled tree: the summary at its root, a group for each trace.

    Parameters
    ----------
    store : str or Path
        The folder.

    Returns
    -------
    xarray.DataTree
        Lazy: values are read when they are asked for.

    Raises
    ------
    InputError
        If it is not a store.
    """
    import xarray as xr

    return xr.open_datatree(Store.open(store).results, engine="zarr", chunks=None)


def job_table(
    store: str | Path, *, trace: str, policy: str, resample: int, load: float | str = "original"
) -> pd.DataFrame:
    """Return the jobs of one cell, one row a job in (submit, position) order.

    Parameters
    ----------
    store : str or Path
        The folder.
    trace, policy, load : str
        Labels of the cell, or other spellings of them: 0.9, ``SJF+easy``.
    resample : int
        Number of the resample; 0 is the log itself.

    Returns
    -------
    pandas.DataFrame
        Columns submit, run, estimate, start, wait (s), procs, job_user, number, killed,
        backfilled.

    Raises
    ------
    InputError
        If it is not a store, has no such cell, or the cell is not done.
    """
    opened = Store.open(store)
    cell = _cell(opened, trace=trace, resample=resample, load=load, policy=policy)
    group = open_store(store)[cell.pop("trace")].to_dataset()
    chosen = group.sel(cell)
    count = int(chosen["jobs"])
    kinds = [PRODUCTS[kind] for kind in opened.holds if not PRODUCTS[kind].optional]
    names = [v.name for kind in kinds for v in kind.arrays if v.dims[-1] == "job"]
    table = chosen[names].isel(job=slice(count)).to_dataframe()[names]
    if count == 0 or (table["start"] < 0).any():
        raise InputError(f"store {store}: the cell {trace}, {cell} is not done")
    return table.astype({"backfilled": bool, "killed": bool})


def schedule_of(
    store: str | Path, *, trace: str, policy: str, resample: int, load: float | str = "original"
) -> Schedule:
    """Return the schedule of one cell as it is stored, to be audited, measured or written.

    Parameters
    ----------
    store, trace, policy, resample, load
        As for `job_table`.

    Returns
    -------
    Schedule
        With its workload.

    Raises
    ------
    InputError
        As `job_table`.

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
    jobs = stored_jobs(opened, cell["trace"], cell["resample"], cell["load"])
    at = tuple(opened.axes[axis].index(cell[axis]) for axis in ("resample", "load", "policy"))
    group: Any = open_results(opened.results)[cell["trace"]]
    start = np.asarray(group["start"][(*at, slice(len(jobs)))])
    if not len(jobs) or start.min() < 0:
        raise InputError(f"store {store}: the cell {cell} is not done")
    backfilled = np.asarray(group["backfilled"][(*at, slice(len(jobs)))])
    return Schedule(jobs, cell["policy"], start, backfilled.astype(np.bool_))


def stored_jobs(store: Store, trace: str, resample: int, load: str) -> Workload:
    """Return the jobs of one resample at one load as they are stored; empty where they are not."""
    group: Any = open_results(store.results)[trace]
    at = store.axes["resample"].index(resample), store.axes["load"].index(load)
    count = slice(int(group["jobs"][at]))
    columns: dict[str, Any] = {
        name: np.asarray(group[column.stored][(*at, count)]).astype(column.dtype)
        for name, column in STORED.items()
    }
    return Workload(
        **columns,
        platform=platform_from_dict(store.sources[trace]["platform"]),
        name=trace,
        max_estimate=int(group["max_estimate"][at]),
    )


def _cell(store: Store, **given: Any) -> dict[str, Any]:
    """Return the labels of the cell that a user means."""
    try:
        with sources(store.own):
            return {axis: find_label(axis, one, store.axes[axis]) for axis, one in given.items()}
    except InputError as error:
        raise InputError(f"store {store.path}: {error}") from None
