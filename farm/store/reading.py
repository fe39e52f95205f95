"""Open a store with xarray, and take one cell's jobs out of it as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InputError
from farm.store.schema import DECISIONS, WORKLOAD
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
    store: str | Path, *, trace: str, policy: str, resample: int, load: str = "original"
) -> pd.DataFrame:
    """Return the jobs of one cell, one row a job in (submit, position) order.

    Parameters
    ----------
    store : str or Path
        The folder.
    trace, policy, load : str
        Labels of the cell.
    resample : int
        Number of the resample; 0 is the log itself.

    Returns
    -------
    pandas.DataFrame
        Columns submit, run, estimate, start, wait (s), procs, user, number, backfilled.

    Raises
    ------
    InputError
        If it is not a store, has no such cell, or the cell is not done.
    """
    axes = Store.open(store).axes
    cell = {"trace": trace, "resample": resample, "load": load, "policy": policy}
    for axis, label in cell.items():
        if label not in axes[axis]:
            known = ", ".join(map(str, axes[axis]))
            raise InputError(f"store {store} has no {axis} {label!r}; known: {known}")
    group = open_store(store)[trace].to_dataset()
    del cell["trace"]
    chosen = group.sel(cell)
    count = int(chosen["jobs"])
    names = [v.name for v in (*WORKLOAD, *DECISIONS) if v.dims[-1] == "job"]
    table = chosen[names].isel(job=slice(count)).to_dataframe()[names]
    if count == 0 or (table["start"] < 0).any():
        raise InputError(f"store {store}: the cell {trace}, {cell} is not done")
    return table.astype({"backfilled": bool})
