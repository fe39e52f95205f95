"""The summary at the root of a store, folded from the completion records."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from farm.store.arrays import open_aside, write_values

if TYPE_CHECKING:
    from farm.store.product import Product
    from farm.store.records import Record
    from farm.store.store import Store

REFRESH_SECONDS = 60.0
"""Time between two summaries of a run that goes on, at least."""

REFRESH_SHARE = 0.02
"""Share of a run's time that they may take, where a summary is of millions of cells."""

Figures = dict[str, npt.NDArray[Any]]


def fold(store: Store) -> None:
    """Write the summary of all finished blocks of a store, and put it on the disk."""
    root, shards = open_aside(store.place), []
    for name, values in folded(store).items():
        shards += write_values(root[name], (), values)
    store.place.settle(shards)
    store.place.put(shards)


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


def folded(store: Store) -> Figures:
    """Return the summary of all finished blocks, by variable.

    Parameters
    ----------
    store : Store
        Whose summary.

    Returns
    -------
    dict of str to ndarray, shape (trace, resample, load[, policy])
        NaN, or 0 of whole numbers, where no cell is done.
    """
    summary = {
        v.name: np.full([len(store.axes[d]) for d in v.dims], v.fill, v.dtype)
        for v in store.figures
    }
    sums: dict[Product, _Sums] = {}
    for record in store.iterate_records():
        block, span = record.head.block, record.head.span
        at: Any = store.axes["trace"].index(block.trace), *store.place_of(block, span)
        if block.product.sums:
            if block.product not in sums:
                sums[block.product] = _Sums(block.product, summary)
            sums[block.product].add(record, at)
            continue
        for name, values in record.body.figures.items():
            target = summary[name]
            # What is missing in a column of whole numbers is 0 there.
            kept = values if target.dtype.kind == "f" else np.nan_to_num(values)
            target[at] = kept.reshape(target[at].shape)
    for one in sums.values():
        one.divide(summary)
    return summary


class _Sums:
    """Add up what the pieces of cells came to, and divide it by their jobs."""

    def __init__(self, product: Product, summary: Figures) -> None:
        self._product = product
        shape = next(summary[v.name].shape for _, v in product.sums)
        self._sums = {name: np.zeros(shape) for name, _ in product.sums}
        self._seen = np.zeros(shape)

    def add(self, record: Record, at: Any) -> None:
        body, shape = record.body, record.head.span.shape
        for name, total in self._sums.items():
            # A block of which every cell has failed has no figures.
            column = body.figures.get(name)
            total[at] += math.nan if column is None else column.reshape(shape)
        self._seen[at] += body.jobs.reshape(shape)

    def divide(self, summary: Figures) -> None:
        jobs = summary["jobs"][..., np.newaxis]
        # A store of before this metric has none.
        refused = np.nan_to_num(summary.get("refused", np.zeros(1)))
        # Pieces that are missing leave jobs unseen: their cell has no mean yet.
        whole = (self._seen == jobs) & (jobs > refused)
        for name, variable in self._product.sums:
            np.divide(self._sums[name], jobs - refused, out=summary[variable.name], where=whole)
