"""Blocks: the cells of a trace that each contains, and the shards that it writes."""

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
"""Shape of blocks of a trace without any."""

Axes = Mapping[str, Sequence[Any]]
"""Labels along each dimension."""

Cell = tuple[int, str, str]
"""Resample, load and policy."""

ALL_POLICIES = "all"
"""Placeholder for the policy in a cell of values that all policies share."""

LATE, UNFAIR = "late", "unfair_jobs"
"""Sums in a record of fairness, over the jobs of a piece: lateness, and jobs that are late."""

JOBS, REFUSED = "jobs", "refused"
"""Figures whose difference is the number of accepted jobs of a cell, by which sums are divided."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Declare how blocks of one kind are cut and folded.

    Parameters
    ----------
    name : str
        Name of the kind, and of the folder of its records.
    policies : bool
        Whether there is a block for each policy; else all policies share one.
    simulates : bool
        Whether it is the simulation, which has the metrics and whose jobs are counted.
    long : bool
        Whether its cells may take long, and are cut along their jobs in that case.
    means : tuple of (str, str)
        Means in the summary: a sum over all pieces of a cell, divided by its accepted jobs; name of
        the sum in the records, and name of the figure.
    """

    name: str
    policies: bool = True
    simulates: bool = False
    long: bool = False
    means: tuple[tuple[str, str], ...] = ()

    @property
    def dims(self) -> tuple[str, ...]:
        """Leading dimensions of its arrays."""
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
    """Fix the sizes of one trace's shards, from its entry into the store on.

    Parameters
    ----------
    cells : tuple of 3 int
        Lengths of a shard along resample, load and policy; a block of cells is one shard.
    long : tuple of 3 int
        The same for long kinds.
    inner : mapping of str to int
        Lengths of a shard along job, week, user, width and, if they exist, node and origin: the
        whole dimension as of the trace's entry into the store.
    long_jobs : int
        Length along `job` for long kinds: a cell that takes longer than a block should is cut
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
        """Return whether blocks of a kind are cut along `job`; others hold all jobs of a cell."""
        return self.jobs(kind) < self.inner["job"]

    def lengths(self, kind: Kind) -> dict[str, int]:
        """Return the lengths of a shard of one kind along every dimension that it may have."""
        along = dict(zip(CELL, self.shape(kind), strict=True))
        return {**along, **self.inner, "job": self.jobs(kind)}

    def pieces(self, kind: Kind, jobs: int) -> int:
        """Return the number of pieces of a cell along `job`."""
        return max(1, -(-jobs // self.jobs(kind))) if self.cuts(kind) else 1


@dataclass(frozen=True, order=True)
class Block:
    """Identify one unit of work, which writes its own shard of each of its arrays, and one record.

    If `job` or `week` has become longer since the trace entered the store, it has several shards
    along that dimension; no block shares a shard with another.

    Parameters
    ----------
    trace : str
        Label.
    kind : str
        Name of a row of `KINDS`.
    resample, load, policy : int
        Index of the shard along each of these axes, from 0; 0 for an axis that the kind does not
        have.
    piece : int
        Index of the shard along `job`, from 0; 0 for a kind that is not cut along it.
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
        """The row of its kind."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class Span:
    """List the labels of a block's cells, which are all combinations, in C order."""

    resamples: tuple[int, ...]
    loads: tuple[str, ...]
    policies: tuple[str, ...]

    @property
    def shape(self) -> Shape:
        """Lengths along resample, load and policy."""
        return len(self.resamples), len(self.loads), len(self.policies)

    @property
    def cells(self) -> list[Cell]:
        """Cells, with the last axis varying fastest."""
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
"""By load, the number of weeks with submissions of the log and of its samples."""


def week_entries(weeks: Weeks) -> int:
    """Return the length of `week`: one more, for jobs that end after the last submission.

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
