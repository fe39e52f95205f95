"""Starts of jobs, computed from stored submissions and waits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from schedfarm.core.schedule import starts_of

START, SUBMIT, WAIT = "start", "submit", "wait"
"""Names of the arrays in a trace's group."""


def with_starts(data: xr.Dataset) -> xr.Dataset:
    """Return a trace's group with the start instants of its jobs; lazy data remain lazy.

    Parameters
    ----------
    data : Dataset
        The group. Groups before version 6 contain the starts; groups without jobs have no starts.

    Returns
    -------
    Dataset
        The group with ``start``, s: submit + wait, or -1 if the wait is negative, as for refused
        jobs and padding.

    Examples
    --------
    >>> jobs = {"submit": (("load", "job"), [[5, 7]]),
    ...         "wait": (("load", "policy", "job"), [[[0, 3], [2, -1]]])}
    >>> with_starts(xr.Dataset(jobs))["start"].values.tolist()
    [[[5, 10], [7, -1]]]
    """
    if START in data or not {SUBMIT, WAIT} <= data.keys():
        return data
    submit, wait = data[SUBMIT].variable, data[WAIT].variable
    array: Any = indexing.LazilyIndexedArray(_Starts(submit, wait))
    cached: Any = indexing.MemoryCachedArray
    array = cached(indexing.CopyOnWriteArray(array))
    said = {**wait.attrs, "long_name": "start instant"}
    return data.assign({START: xr.Variable(wait.dims, array, said)})


class _Starts(BackendArray):
    """Compute starts from submissions and waits; submissions lack a dimension of the waits."""

    def __init__(self, submit: xr.Variable, wait: xr.Variable) -> None:
        self.shape, self.dtype = wait.shape, np.dtype(np.int64)
        self._submit, self._wait = submit, wait

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        outer = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, outer, self._read)

    def _read(self, key: tuple[Any, ...]) -> npt.NDArray[np.int64]:
        along = dict(zip(self._wait.dims, key, strict=True))
        wait = self._wait[key]
        submit = self._submit[tuple(along[name] for name in self._submit.dims)]
        whole = submit.values
        for axis, name in enumerate(wait.dims):
            if name not in submit.dims:
                whole = np.expand_dims(whole, axis)
        return starts_of(whole, wait.values)
