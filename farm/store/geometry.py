"""What a block is: which cells of a trace it holds, which shards it writes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from schedfarm.farm.store.product import PRODUCTS, Product
from schedfarm.farm.store.schema import CELL

Shape = tuple[int, int, int]
"""Lengths along resample, load and policy."""

NO_SHAPE = (0, 0, 0)
"""Of what a trace does not have yet."""

Axes = Mapping[str, Sequence[Any]]
"""Labels along each dimension."""

Cell = tuple[int, str, str]
"""Resample, load and policy."""

ALL_POLICIES = "all"
"""Stands for the policy in a cell of what every policy meets alike."""


@dataclass(frozen=True)
class Layout:
    """Hold the sizes of one trace's shards, fixed when the trace enters the store.

    Parameters
    ----------
    cells : tuple of 3 int
        Lengths of a shard along resample, load and policy; a block of cells is one shard.
    long : tuple of 3 int
        The same for products that take long.
    inner : mapping of str to int
        Lengths of a shard along job, week, user, width and, where there are such dimensions,
        node and origin: the whole dimension, until a later cell or load has more of them.
    long_jobs : int
        Length along `job` of products that take long: a cell that would take longer than a block
        is cut into pieces of this many jobs.
    """

    cells: Shape
    long: Shape
    inner: Mapping[str, int]
    long_jobs: int

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Layout:
        """Return the layout that `dataclasses.asdict` gave, out of JSON."""
        return cls(**{**plain, "cells": tuple(plain["cells"]), "long": tuple(plain["long"])})

    def shape(self, kind: Product) -> Shape:
        """Return the lengths of a shard of one kind of block along resample, load and policy."""
        return self.long if kind.long else self.cells

    def jobs(self, kind: Product) -> int:
        """Return the length of a shard of one kind of block along `job`."""
        return self.long_jobs if kind.long else self.inner["job"]

    def cuts(self, kind: Product) -> bool:
        """Tell whether blocks of a kind are cut along `job`; others hold all jobs of a cell."""
        return self.jobs(kind) < self.inner["job"]

    def lengths(self, kind: Product) -> dict[str, int]:
        """Return the lengths of a shard of one kind along every dimension that it may have."""
        along = dict(zip(CELL, self.shape(kind), strict=True))
        return {**along, **self.inner, "job": self.jobs(kind)}


@dataclass(frozen=True, order=True)
class Block:
    """Name one unit of work that writes a shard of its own of each of its arrays, and one record.

    Where `job` or `week` has become longer since the trace entered the store, it is several shards
    along that dimension: nobody else's either.

    Parameters
    ----------
    trace : str
        Label.
    kind : str
        Name of a product.
    resample, load, policy : int
        Which shard along each of these axes, from 0; 0 along what the product does not have.
    piece : int
        Which shard along `job`, from 0; 0 of a kind that is not cut along it.
    """

    trace: str
    kind: str
    resample: int
    load: int
    policy: int
    piece: int = 0

    def __str__(self) -> str:
        places = f"{self.resample}-{self.load}-{self.policy}"
        return f"block {self.trace}/{self.kind}/{places}" + (f".{self.piece}" * bool(self.piece))

    @property
    def product(self) -> Product:
        """What it holds."""
        return PRODUCTS[self.kind]


@dataclass(frozen=True)
class Span:
    """Hold the labels of a block's cells, which are all combinations, in C order."""

    resamples: tuple[int, ...]
    loads: tuple[str, ...]
    policies: tuple[str, ...]

    @property
    def shape(self) -> Shape:
        """Lengths along resample, load and policy."""
        return len(self.resamples), len(self.loads), len(self.policies)

    @property
    def cells(self) -> list[Cell]:
        """Every cell, the last label varying fastest."""
        return list(product(self.resamples, self.loads, self.policies))

    def __len__(self) -> int:
        return math.prod(self.shape)


def positions(number: int, length: int, total: int) -> range:
    """Return the places along an axis that its shard of this number covers.

    Examples
    --------
    >>> list(positions(1, 4, 6))
    [4, 5]
    """
    return range(number * length, min((number + 1) * length, total))


def pieces_of(layout: Layout, kind: Product, jobs: int) -> int:
    """Return into how many pieces a cell's jobs are cut for one kind of block."""
    return max(1, -(-jobs // layout.jobs(kind))) if layout.cuts(kind) else 1


def blocks_of(
    trace: str, layout: Layout, jobs: int, axes: Axes, kinds: Iterable[str]
) -> Iterator[Block]:
    """Yield every block of a trace, by kind."""
    for kind in map(PRODUCTS.__getitem__, kinds):
        lengths = [len(axes[a]) for a in CELL]
        if not kind.policies:
            lengths[2] = 1
        counts = (-(-n // d) for n, d in zip(lengths, layout.shape(kind), strict=True))
        pieces = range(pieces_of(layout, kind, jobs))
        for r, load, p, piece in product(*map(range, counts), pieces):
            yield Block(trace, kind.name, r, load, p, piece)
