"""The summary at the root of a store, folded from the completion records."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.metrics.summary import METRICS
from farm.execution.fair_start import UNFAIR
from farm.store.arrays import create_values, open_results, write_coordinates
from farm.store.geometry import WORKLOAD_BLOCK
from farm.store.schema import FAIRNESS, Variable

if TYPE_CHECKING:
    import zarr

    from farm.store.store import Store

ALL = ("trace", "resample", "load", "policy")
SHARED = ("trace", "resample", "load")

PER_SAMPLE = ("jobs", "offered_load")
"""Metrics that no policy changes."""


REFRESH_SECONDS = 60.0
"""Time between two summaries of a run that goes on, at least."""

REFRESH_SHARE = 0.02
"""Share of a run's time that they may take, where a summary is of millions of cells."""

NOTHING = np.empty(0)
"""Stands for the metrics of a block of which every cell has failed."""

UNFAIRNESS = {
    "unfairness": ("s", "mean lateness over all jobs"),
    "unfair_share": ("1", "share of jobs that are late"),
}
"""What the summary says of each kind of fairness that a campaign asks for."""


def summary_variables(fairness: Iterable[str]) -> list[Variable]:
    """Return the declaration of every array at the root of a store with these fairness kinds."""
    plain = [
        Variable(
            name,
            SHARED if name in PER_SAMPLE else ALL,
            "int64" if name == "jobs" else "float64",
            units,
            long_name,
        )
        for name, (units, long_name) in METRICS.items()
    ]
    fair = [
        Variable(
            f"{name}_{kind}", ALL, "float64", units, f"{long_name} ({FAIRNESS[kind].long_name})"
        )
        for kind in fairness
        for name, (units, long_name) in UNFAIRNESS.items()
    ]
    return [*plain, *fair]


def fit_summary(root: zarr.Group, store: Store) -> None:
    """Create the root's arrays anew for a store's axes; `fold` fills them.

    One chunk an array: a mean over a million cells then reads one file.
    """
    write_coordinates(root, store.axes)
    for variable in summary_variables(store.fairness):
        shape = tuple(len(store.axes[d]) for d in variable.dims)
        create_values(root, variable, shape, shape, None)


def fold(store: Store) -> None:
    """Write the summary of all finished blocks of a store."""
    root = open_results(store.results, "r+")
    for name, values in folded(store).items():
        root[name][...] = values  # type: ignore[index]


class Refresher:
    """Fold a store's summary now and then, for those who read it while a run goes on.

    Parameters
    ----------
    store : Store
        Whose summary.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._next = time.monotonic() + REFRESH_SECONDS

    def look(self) -> None:
        """Fold, if it is time to."""
        begun = time.monotonic()
        if begun < self._next:
            return
        fold(self._store)
        ended = time.monotonic()
        self._next = ended + max(REFRESH_SECONDS, (ended - begun) / REFRESH_SHARE)


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
    summary = {
        v.name: np.full([len(store.axes[d]) for d in v.dims], v.fill, v.dtype)
        for v in summary_variables(store.fairness)
    }
    sums = {kind: np.zeros((len(UNFAIR) + 1, *summary["wait"].shape)) for kind in store.fairness}
    for record in store.iterate_records():
        head, body = record.head, record.body
        block, shape = head.block, head.span.shape
        at: Any = store.axes["trace"].index(block.trace), *store.place_of(block, head.span)
        if block.kind == WORKLOAD_BLOCK:
            summary["jobs"][at] = body.jobs.reshape(shape[:2])
        if block.kind in sums:
            columns = [*(body.metrics.get(name, NOTHING) for name in UNFAIR), body.jobs]
            for total, column in zip(sums[block.kind], columns, strict=True):
                total[at] += column.reshape(shape) if column.size else math.nan
            continue
        for name, values in body.metrics.items():
            summary[name][at] = values.reshape(summary[name][at].shape)
    for kind, (late, unfair, seen) in sums.items():
        jobs = summary["jobs"][..., np.newaxis]
        # Pieces that are missing leave jobs unseen: their cell has no mean yet.
        whole = (seen == jobs) & (seen > 0)
        summary[f"unfairness_{kind}"] = _ratio(late, jobs, whole)
        summary[f"unfair_share_{kind}"] = _ratio(unfair, jobs, whole)
    return summary


def _ratio(
    part: npt.NDArray[Any], jobs: npt.NDArray[Any], whole: npt.NDArray[np.bool_]
) -> npt.NDArray[Any]:
    ratio: npt.NDArray[Any] = np.full(part.shape, np.nan)
    np.divide(part, jobs, out=ratio, where=whole)
    return ratio
