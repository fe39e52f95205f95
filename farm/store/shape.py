"""Labels, sizes and blocks of a store's arrays, independent of the files with the values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import product as combinations
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.format.geometry import (
    ALL_POLICIES,
    CELL,
    KINDS,
    ORIGIN,
    SAMPLE,
    Block,
    Cell,
    Kind,
    Layout,
    Span,
    Weeks,
    blocks_of,
    positions,
    week_entries,
    weeks_at,
)
from schedfarm.core.format.retention import ALL, RETENTION
from schedfarm.core.machines.platform import Platform, platform_from_dict
from schedfarm.core.metrics.widths import WIDTHS
from schedfarm.farm.store.product import KEPT, PRODUCTS, Holding, Variable, is_had

CHUNK_VALUES = 262_144
"""Approximate number of values in a chunk of a shard. Short cells share a chunk: a chunk of any
size costs zarr 0.5 ms, and reading 2 MiB takes 3 ms."""

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")


def remembered(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Cache the results of a method of an immutable object, in the object itself."""
    name = f"_{method.__name__}_results"

    @wraps(method)
    def found(self: S, /, *key: P.args, **others: P.kwargs) -> T:
        known: dict[Any, T] = self.__dict__.setdefault(name, {})
        if key not in known:
            known[key] = method(self, *key, **others)
        return known[key]

    return found


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Describe the arrays of a store.

    Parameters
    ----------
    axes : mapping of str to tuple
        Labels along trace, resample, load and policy.
    sources : mapping of str to dict
        Definition of each trace, its platform, and the SHA-256 of a log's columns.
    holds : mapping of str to Holding
        Arrays and figures of each product, already computed or to be computed for every cell.
    layouts : mapping of str to Layout
        Sizes of the blocks of each trace.
    jobs : mapping of str to int
        Number of jobs of each trace's largest resample: the length of the dimension `job`.
    weeks : mapping of str to Weeks
        Weeks of each trace's submissions.
    users : mapping of str to tuple of int
        Numbers of each trace's users, ascending: the labels of the dimension `user`.
    keep : str
        Retention: a key of `core.format.retention.RETENTION`.
    """

    axes: Mapping[str, tuple[Any, ...]]
    sources: Mapping[str, Mapping[str, Any]]
    holds: Mapping[str, Holding]
    layouts: Mapping[str, Layout]
    jobs: Mapping[str, int]
    weeks: Mapping[str, Weeks]
    users: Mapping[str, tuple[int, ...]]
    keep: str = ALL

    @property
    def cells(self) -> int:
        """Number of cells: one for each simulation and for each piece of its fairness measures."""
        return sum(self.cells_of(trace) for trace in self.axes["trace"])

    def cells_of(self, trace: str) -> int:
        """Return the number of cells of one trace."""
        simulations: int = math.prod(len(self.axes[a]) for a in CELL)
        layout, jobs = self.layouts[trace], self.jobs[trace]
        kinds = [KINDS[name] for name in self.holds]
        return simulations * sum(layout.pieces(kind, jobs) for kind in kinds if kind.policies)

    @property
    def figures(self) -> tuple[Variable, ...]:
        """Declarations of the arrays of the summary."""
        return tuple(v for holding in self.holds.values() for v in holding.figures)

    @remembered
    def platform(self, trace: str) -> Platform:
        """Return the machine of a trace."""
        return platform_from_dict(self.sources[trace]["platform"])

    def parts(self, trace: str) -> dict[str, tuple[str, ...]]:
        """Return the labels of the dimensions that only some platforms have."""
        platform = self.platform(trace)
        arrays = (v for kind in self.holds for v in PRODUCTS[kind].columns(platform))
        keep = RETENTION[self.keep]
        is_kept = any("node" in v.dims and keep.has(v.dims) for v in arrays)
        nodes = platform.places if is_kept else ()
        labels = {"node": nodes, ORIGIN: platform.participants}
        return {dimension: names for dimension, names in labels.items() if names}

    @remembered
    def sizes(self, trace: str) -> Mapping[str, int]:
        """Return the length of every dimension of a trace's group."""
        along = {axis: len(self.axes[axis]) for axis in CELL}
        weeks, users = week_entries(self.weeks[trace]), len(self.users[trace])
        return {
            **along, "job": self.jobs[trace], "week": weeks, "user": users, "width": len(WIDTHS),
            **{dimension: len(names) for dimension, names in self.parts(trace).items()},
        }  # fmt: skip

    @remembered
    def arrays_of(self, trace: str, kind: str) -> tuple[Variable, ...]:
        """Return the declarations of a trace's arrays of one product."""
        users, platform = self.users[trace], self.platform(trace)
        own = PRODUCTS[kind].columns(platform)
        others = KEPT.difference(v.name for v in own)
        return tuple(
            v
            for v in self.holds[kind].arrays
            if (users or "user" not in v.dims) and v.name not in others and is_had(v, platform)
        )

    @remembered
    def figures_of(self, trace: str, kind: str) -> tuple[Variable, ...]:
        """Return the declarations of a trace's figures of one product, metrics only."""
        platform = self.platform(trace)
        return tuple(v for v in self.holds[kind].figures if v.of and is_had(v, platform))

    def blocks(self) -> list[Block]:
        """Return every block of the store, in the order of its axes."""
        return [
            block
            for trace in self.axes["trace"]
            for block in blocks_of(
                trace, self.layouts[trace], self.jobs[trace], self.axes, self.holds
            )
        ]

    def block_at(self, trace: str, product: Kind, cell: Cell) -> Block:
        """Return the block of one cell; if the cell is cut along jobs, the first block."""
        lengths = self.layouts[trace].shape(product)
        resample, load, policy = (
            self.axes[axis].index(label) // length
            for axis, label, length in zip(CELL, cell, lengths, strict=True)
        )
        return Block(trace, product.name, resample, load, policy if product.policies else 0)

    def span_of(self, block: Block) -> Span:
        """Return the labels of a block's cells, given the present lengths of the axes."""
        labels = []
        for axis, length in zip(CELL, self.layouts[block.trace].shape(block.product), strict=True):
            known = self.axes[axis]
            places = positions(getattr(block, axis), length, len(known))
            labels.append(tuple(known[i] for i in places))
        if not block.product.policies:
            labels[2] = (ALL_POLICIES,)
        return Span(*labels)

    def has_cells(self, block: Block, span: Span) -> bool:
        """Return whether the labels of a span are those of the axes in the region of a block."""
        if block.trace not in self.axes["trace"] or block.kind not in self.holds:
            return False
        region, labels = self.region_of(block, span), (span.resamples, span.loads, span.policies)
        known = [self.axes[axis][along] for axis, along in zip(CELL, region, strict=False)]
        if not block.product.policies:
            known.append((ALL_POLICIES,))
        return all(map(len, labels)) and tuple(known) == labels

    def region_of(self, block: Block, span: Span) -> tuple[slice, ...]:
        """Return the slices of a block's cells along resample, load and, if it varies, policy."""
        dims = CELL if block.product.policies else SAMPLE
        region = []
        # A lookup by label would take minutes for many blocks and 100,000 resamples.
        for axis, length, count in zip(
            dims, self.layouts[block.trace].shape(block.product), span.shape, strict=False
        ):
            first = getattr(block, axis) * length
            region.append(slice(first, first + count))
        return tuple(region)

    def job_range(self, block: Block) -> slice:
        """Return the slice of a block along `job`."""
        layout = self.layouts[block.trace]
        if not layout.cuts(block.product):
            return slice(0, self.jobs[block.trace])
        places = positions(block.piece, layout.jobs(block.product), self.jobs[block.trace])
        return slice(places.start, places.stop)

    def block_shape(self, block: Block, variable: Variable) -> tuple[int, ...]:
        """Return the shape of one cell's values in a block, including padding."""
        return self._cell_shape(block.trace, self._job_count(block), variable)

    def block_bytes(self, block: Block) -> int:
        """Return the uncompressed size of a block's arrays in bytes, including padding."""
        cell = self._cell_bytes(block.trace, block.kind, self._job_count(block))
        return len(self.span_of(block)) * cell

    def lengths_of(self, block: Block, cell: Cell, jobs: int) -> dict[str, int]:
        """Return the number of a cell's values in each array of its block, without padding."""
        factors = self._factors(block.trace, block.kind)
        if not factors:
            return {}
        own = {"job": jobs, "week": self.week_entries(block.trace, cell)}
        return {name: math.prod((own[d] for d in dims), start=n) for name, dims, n in factors}

    def week_entries(self, trace: str, cell: Cell) -> int:
        """Return the length of a cell's weekly series; the last entry covers all later ends."""
        resample, load, _ = cell
        return 1 + weeks_at(self.weeks[trace], resample, load)

    def weeks_of(self, trace: str) -> Int64:
        """Return the number of weeks with submissions, of every resample at every load."""
        known, pairs = self.weeks[trace], combinations(self.axes["resample"], self.axes["load"])
        found = [weeks_at(known, *pair) for pair in pairs]
        return np.array(found, np.int64).reshape(len(self.axes["resample"]), -1)

    def _job_count(self, block: Block) -> int:
        jobs = self.job_range(block)
        return int(jobs.stop - jobs.start)

    def _cell_shape(self, trace: str, jobs: int, variable: Variable) -> tuple[int, ...]:
        sizes = {**self.sizes(trace), "job": jobs}
        return tuple(sizes[d] for d in variable.inner)

    @remembered
    def _factors(self, trace: str, kind: str) -> list[tuple[str, list[str], int]]:
        """Return each array's dimensions that vary among cells, and its size along the others."""
        sizes = self.sizes(trace)
        return [
            (
                v.name,
                [d for d in v.inner if d in ("job", "week")],
                math.prod(sizes[d] for d in v.inner if d not in ("job", "week")),
            )
            for v in self.arrays_of(trace, kind)
        ]

    @remembered
    def _cell_bytes(self, trace: str, kind: str, jobs: int) -> int:
        return sum(
            math.prod(self._cell_shape(trace, jobs, v)) * np.dtype(v.dtype).itemsize
            for v in self.arrays_of(trace, kind)
        )


def chunk_shape(shard: Sequence[int], inner: int) -> tuple[int, ...]:
    """Return the lengths of a chunk along a shard's leading axes, filled in order of the axes.

    inner: number of values of a cell in the shard.

    >>> chunk_shape((40, 2, 10), 3328), chunk_shape((40, 2, 10), 64), chunk_shape((40, 2), 7)
    ((40, 1, 1), (40, 2, 10), (40, 2))
    """
    room = max(1, CHUNK_VALUES // inner)
    lengths = []
    for length in shard:
        lengths.append(divisor(length, room))
        room //= lengths[-1]
    return tuple(lengths)


def divisor(length: int, most: int) -> int:
    """Return the largest divisor of a length that is at most `most`; at least 1."""
    return next(d for d in range(max(1, min(length, most)), 0, -1) if length % d == 0)
