"""Blocks of a trace: the cells and the shards of each block."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

SAMPLE = ("resample", "load")
"""Leading dimensions of values that all policies share."""

CELL = (*SAMPLE, "policy")
"""Leading dimensions of values that depend on the policy."""

AXES = ("trace", *CELL)
"""Dimensions of the summary."""

ORIGIN = "origin"
"""Dimension of participants."""

Shape = tuple[int, int, int]
"""Lengths along resample, load and policy."""

NO_SHAPE = (0, 0, 0)
"""Shape of the blocks of a trace without blocks."""

Axes = Mapping[str, Sequence[Any]]
"""Labels along each dimension."""

Cell = tuple[int, str, str]
"""Resample, load and policy."""

ALL_POLICIES = "all"
"""Placeholder for the policy in cells with values that all policies share."""

LATE, UNFAIR = "late", "unfair_jobs"
"""Sums over the jobs of a piece in a record of fairness: lateness, and number of late jobs."""

JOBS, REFUSED = "jobs", "refused"
"""Figures of all jobs and of refused jobs; sums are divided by the difference, the accepted
jobs."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Declare the division into blocks, and the sums, of one kind of results.

    Parameters
    ----------
    name : str
        Name of the kind, and of the folder of its records.
    policies : bool
        Whether each policy has its own block; otherwise all policies share one block.
    simulates : bool
        Whether this is the kind of the simulation, which has the metrics and the numbers of jobs.
    long : bool
        Whether the cells may take long; long cells are cut along their jobs.
    means : tuple of (str, str)
        Means in the summary: the name of a sum in the records, and the name of the figure. The
        figure is the sum over all pieces of a cell, divided by the accepted jobs of the cell.
    """

    name: str
    policies: bool = True
    simulates: bool = False
    long: bool = False
    means: tuple[tuple[str, str], ...] = ()

    @property
    def dims(self) -> tuple[str, ...]:
        """Leading dimensions of the kind's arrays."""
        return CELL if self.policies else SAMPLE


def _fairness(name: str, *, long: bool = False) -> Kind:
    means = (LATE, f"unfairness_{name}"), (UNFAIR, f"unfair_share_{name}")
    return Kind(name=name, long=long, means=means)


_ROWS = (
    Kind(name="workload", policies=False),
    Kind(name="cells", simulates=True),
    _fairness("strict", long=True),
    _fairness("relaxed", long=True),
    _fairness("resource"),
    _fairness("promise"),
    _fairness("isolation"),
)

KINDS: dict[str, Kind] = {row.name: row for row in _ROWS}
"""Every kind of block by its name, in the order of computation."""


@dataclass(frozen=True)
class Layout:
    """Hold the sizes of one trace's shards, which are fixed when the trace enters the store.

    Parameters
    ----------
    cells : tuple of 3 int
        Lengths of a shard along resample, load and policy; a block of cells is one shard.
    long : tuple of 3 int
        Lengths of a shard of a long kind along resample, load and policy.
    inner : mapping of str to int
        Lengths of a shard along job, week, user, width and, if present, node and origin. Each is
        the length of the whole dimension when the trace entered the store.
    long_jobs : int
        Length of a shard of a long kind along `job`: a cell that takes too long for a block is cut
        into pieces of this many jobs.
    """

    cells: Shape
    long: Shape
    inner: Mapping[str, int]
    long_jobs: int

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Layout:
        """Return the layout that `dataclasses.asdict` encoded."""
        return cls(**{**plain, "cells": tuple(plain["cells"]), "long": tuple(plain["long"])})

    def shape(self, kind: Kind) -> Shape:
        """Return the lengths of a shard of one kind along resample, load and policy."""
        return self.long if kind.long else self.cells

    def jobs(self, kind: Kind) -> int:
        """Return the length of a shard of one kind along `job`."""
        return self.long_jobs if kind.long else self.inner["job"]

    def cuts(self, kind: Kind) -> bool:
        """Return whether blocks of a kind are cut along `job`."""
        return self.jobs(kind) < self.inner["job"]

    def lengths(self, kind: Kind) -> dict[str, int]:
        """Return the lengths of a shard of one kind along all possible dimensions."""
        along = dict(zip(CELL, self.shape(kind), strict=True))
        return {**along, **self.inner, "job": self.jobs(kind)}

    def pieces(self, kind: Kind, jobs: int) -> int:
        """Return the number of pieces of a cell along `job`."""
        return max(1, -(-jobs // self.jobs(kind))) if self.cuts(kind) else 1


@dataclass(frozen=True, order=True)
class Block:
    """Identify a unit of work, which writes one record and a separate shard of each array.

    If `job` or `week` has become longer since the trace entered the store, a block has several
    shards along this dimension. Two blocks never share a shard.

    Parameters
    ----------
    trace : str
        Label of the trace.
    kind : str
        Name of a row of `KINDS`.
    resample, load, policy : int
        Index of the shard along each of these axes, from 0; 0 if the kind lacks the axis.
    piece : int
        Index of the shard along `job`, from 0; 0 if the kind is not cut along `job`.
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
    def product(self) -> Kind:
        """Row of `KINDS` for the block's kind."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class Span:
    """Hold the labels of a block's cells; the cells are all combinations, in C order."""

    resamples: tuple[int, ...]
    loads: tuple[str, ...]
    policies: tuple[str, ...]

    @property
    def shape(self) -> Shape:
        """Lengths along resample, load and policy."""
        return len(self.resamples), len(self.loads), len(self.policies)

    @property
    def cells(self) -> list[Cell]:
        """Cells; the last axis varies fastest."""
        return list(product(self.resamples, self.loads, self.policies))

    def __len__(self) -> int:
        return math.prod(self.shape)


def positions(number: int, length: int, total: int) -> range:
    """Return the indices along an axis of length `total` that a shard covers.

    Examples
    --------
    >>> list(positions(1, 4, 6))
    [4, 5]
    """
    return range(number * length, min((number + 1) * length, total))


def blocks_of(
    trace: str, layout: Layout, jobs: int, axes: Axes, kinds: Iterable[str]
) -> Iterator[Block]:
    """Yield every block of a trace, by kind."""
    for kind in map(KINDS.__getitem__, kinds):
        lengths = [len(axes[a]) for a in CELL]
        if not kind.policies:
            lengths[2] = 1
        counts = (-(-n // d) for n, d in zip(lengths, layout.shape(kind), strict=True))
        for r, load, p, piece in product(*map(range, counts), range(layout.pieces(kind, jobs))):
            yield Block(trace, kind.name, r, load, p, piece)


Weeks = Mapping[str, tuple[int, int]]
"""Numbers of weeks with submissions, in the log and in its samples, by load."""


def week_entries(weeks: Weeks) -> int:
    """Return the length of `week`, with one more week for jobs that end after the last submission.

    Examples
    --------
    >>> week_entries({"original": (9, 9), "0.5": (11, 12)})
    13
    """
    return 1 + max(map(max, weeks.values()))


def weeks_at(weeks: Weeks, resample: int, load: str) -> int:
    """Return the number of weeks with submissions of one resample at one load."""
    of_log, of_samples = weeks[load]
    return of_samples if resample else of_log
