"""What a block is: which cells of a trace it holds, which shards it writes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

WORKLOAD_BLOCK = "workload"
"""Kind of a block of the columns that all policies share; stands for their policy, too."""

CELLS = "cells"
"""Kind of a block of simulations."""

WHOLE = "resource"
"""The kind of fairness that looks at all jobs of a cell at once."""

Shape = tuple[int, int, int]
"""Lengths along resample, load and policy."""

Axes = Mapping[str, Sequence[Any]]
"""Labels along each dimension."""

Cell = tuple[int, str, str]
"""Resample, load and policy."""


@dataclass(frozen=True)
class TraceLayout:
    """Hold the sizes of one trace's arrays, fixed when the trace enters the store.

    Parameters
    ----------
    cells : tuple of 3 int
        Lengths of a shard along resample, load and policy; a block of cells is one shard.
    fair : tuple of 3 int
        The same for fair start times, which take longer.
    job_shard : int
        Length of a shard along `job`: the whole dimension, until a later cell has more jobs.
    fair_jobs : int
        The same for fair start times: a cell whose reruns would take longer than a block is cut
        into pieces of this many jobs.
    weeks : int
        Length of a shard along `week`: the whole dimension, until a later load needs more weeks.
    """

    cells: Shape
    fair: Shape
    job_shard: int
    fair_jobs: int
    weeks: int

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TraceLayout:
        """Return the layout that `dataclasses.asdict` gave, out of JSON."""
        return cls(**{**plain, "cells": tuple(plain["cells"]), "fair": tuple(plain["fair"])})

    def shape(self, kind: str) -> Shape:
        """Return the lengths of a shard of one kind of block along resample, load and policy."""
        return self.cells if kind in (CELLS, WORKLOAD_BLOCK, WHOLE) else self.fair

    def jobs(self, kind: str) -> int:
        """Return the length of a shard of one kind of block along `job`."""
        return self.job_shard if kind in (CELLS, WORKLOAD_BLOCK, WHOLE) else self.fair_jobs

    def cuts(self, kind: str) -> bool:
        """Tell whether blocks of a kind are cut along `job`; others hold all jobs of a cell."""
        return self.jobs(kind) < self.job_shard


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
        `WORKLOAD_BLOCK`, `CELLS`, or a kind of fairness.
    resample, load, policy : int
        Which shard along each of these axes, from 0; a workload has policy 0.
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


def pieces_of(layout: TraceLayout, kind: str, jobs: int) -> int:
    """Return into how many pieces a cell's jobs are cut for one kind of block."""
    return max(1, -(-jobs // layout.jobs(kind))) if layout.cuts(kind) else 1


def blocks_of(
    trace: str, layout: TraceLayout, jobs: int, axes: Axes, fairness: Sequence[str]
) -> Iterator[Block]:
    """Yield every block of a trace, the workload's own first."""
    for kind in (WORKLOAD_BLOCK, CELLS, *fairness):
        lengths = [len(axes[a]) for a in ("resample", "load", "policy")]
        if kind == WORKLOAD_BLOCK:
            lengths[2] = 1
        counts = (-(-n // d) for n, d in zip(lengths, layout.shape(kind), strict=True))
        pieces = range(pieces_of(layout, kind, jobs))
        for r, load, p, piece in product(*map(range, counts), pieces):
            yield Block(trace, kind, r, load, p, piece)
