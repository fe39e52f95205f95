"""The summary at the root of a store, folded from the completion records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.metrics import METRICS
from farm.arrays import create_values, open_results, write_coordinates
from farm.layout import WORKLOAD_BLOCK
from farm.schema import Variable

if TYPE_CHECKING:
    import zarr

    from farm.store import Store

ALL = ("trace", "resample", "load", "policy")
SHARED = ("trace", "resample", "load")

PER_SAMPLE = ("jobs", "offered_load")
"""Metrics that no policy changes."""


def summary_variables() -> list[Variable]:
    """Return the declaration of every array at the root of a store."""
    return [
        Variable(
            name,
            SHARED if name in PER_SAMPLE else ALL,
            "int64" if name == "jobs" else "float64",
            units,
            long_name,
        )
        for name, (units, long_name) in METRICS.items()
    ]


def fit_summary(root: zarr.Group, axes: Mapping[str, tuple[Any, ...]]) -> None:
    """Create the root's arrays anew for these axes; `fold` fills them.

    One chunk an array: a mean over a million cells then reads one file.
    """
    write_coordinates(root, axes)
    for variable in summary_variables():
        shape = tuple(len(axes[d]) for d in variable.dims)
        create_values(root, variable, shape, shape, None)


def fold(store: Store) -> None:
    """Write the summary of all finished blocks of a store."""
    root = open_results(store.results, "r+")
    for name, values in folded(store).items():
        root[name][...] = values  # type: ignore[index]


def folded(store: Store) -> dict[str, npt.NDArray[Any]]:
    """Return the summary of all finished blocks, by variable.

    Parameters
    ----------
    store : Store
        Whose summary.

    Returns
    -------
    dict of str to ndarray, shape (trace, resample, load[, policy])
        NaN, or 0 jobs, where no cell is done.
    """
    place = {
        axis: {label: i for i, label in enumerate(labels)} for axis, labels in store.axes.items()
    }
    summary = {
        v.name: np.full([len(store.axes[d]) for d in v.dims], v.fill, v.dtype)
        for v in summary_variables()
    }
    for record in store.iterate_records():
        head, body = record.head, record.body
        rows = [place["resample"][r] for r in head.resamples]
        at = place["trace"][head.block.trace], rows, place["load"][head.block.load]
        if head.block.policy == WORKLOAD_BLOCK:
            summary["jobs"][at] = body.jobs
        else:
            at = (*at, place["policy"][head.block.policy])  # type: ignore[assignment]
        for name, values in body.metrics.items():
            summary[name][at] = values
    return summary
