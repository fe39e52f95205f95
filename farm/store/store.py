"""A store on the disk, as its store.json describes it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.files import write_whole
from farm.store.geometry import (
    CELLS,
    WORKLOAD_BLOCK,
    Block,
    Cell,
    Span,
    TraceLayout,
    blocks_of,
    pieces_of,
    positions,
)
from farm.store.manifest import CAMPAIGN, COPY, MANIFEST, sealed, unsealed
from farm.store.records import REMEDY, Head, Record, iterate_records, read_heads, record_path
from farm.store.schema import DECISIONS, FAIRNESS, WORKLOAD, Variable
from farm.store.weeks import Weeks, entries, weeks_at, weeks_of_lists

AXES = ("trace", "resample", "load", "policy")


@dataclass(frozen=True)
class Store:
    """Stand for one store.

    Parameters
    ----------
    path : Path
        The folder.
    campaign : str
        Name of the campaign that it belongs to.
    text : str
        The campaign in canonical form, as last run; no result depends on it.
    settings : mapping
        What every cell depends on beside its coordinates: seed, tau, draw, load_by, and warmup
        and cooldown where they leave something out.
    axes : mapping of str to tuple
        Labels along trace, resample, load and policy.
    sources : mapping of str to dict
        What each trace is: its definition, and the SHA-256 of a log's columns.
    layouts : mapping of str to TraceLayout
        Sizes of each trace's arrays.
    jobs : mapping of str to int
        Jobs of each trace's largest resample: the length of its dimension `job`.
    weeks : mapping of str to Weeks
        Weeks of each trace's submissions.
    acknowledgements : mapping of str to str, optional
        Whom to thank for a trace's log, where that is known.
    """

    path: Path
    campaign: str
    text: str
    settings: Mapping[str, Any]
    axes: Mapping[str, tuple[Any, ...]]
    sources: Mapping[str, Mapping[str, Any]]
    layouts: Mapping[str, TraceLayout]
    jobs: Mapping[str, int]
    weeks: Mapping[str, Weeks]
    acknowledgements: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Open an existing store.

        Raises
        ------
        InputError
            If there is none at the path, its description has been altered, or its format is
            not this program's.
        """
        path = Path(path)
        try:
            return cls.from_bytes(path, (path / MANIFEST).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(f"{path} is not a store: it has no {MANIFEST}") from None
        except OSError as error:
            raise InputError(f"store {path} cannot be read: {error.strerror}") from None

    @classmethod
    def from_bytes(cls, path: Path, data: bytes) -> Store:
        """Read the text of a store.json.

        Raises
        ------
        InputError
            As `open`.
        """
        plain = unsealed(path, data)
        return cls(
            path=path,
            campaign=plain["campaign"],
            text=plain["text"],
            settings=plain["settings"],
            axes={k: tuple(v) for k, v in plain["axes"].items()},
            sources=plain["sources"],
            layouts={k: TraceLayout.from_dict(v) for k, v in plain["layouts"].items()},
            jobs=plain["jobs"],
            weeks={k: weeks_of_lists(v) for k, v in plain["weeks"].items()},
            acknowledgements=plain.get("acknowledgements", {}),
        )

    @property
    def results(self) -> Path:
        """Folder of the Zarr hierarchy."""
        return self.path / "results.zarr"

    @property
    def records(self) -> Path:
        """Folder of the completion records."""
        return self.path / "records"

    @property
    def cells(self) -> int:
        """How many cells there are: one for each simulation and each piece of its fairness."""
        return sum(self.cells_of(trace) for trace in self.axes["trace"])

    def cells_of(self, trace: str) -> int:
        """Return how many cells one trace has."""
        simulations: int = math.prod(len(self.axes[a]) for a in AXES[1:])
        layout, jobs = self.layouts[trace], self.jobs[trace]
        return simulations * sum(pieces_of(layout, kind, jobs) for kind in (CELLS, *self.fairness))

    @cached_property
    def identity(self) -> str:
        """Digest of what makes this store's cells mean what they mean, whatever its axes."""
        text = json.dumps([self.campaign, dict(self.settings)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def digest(self) -> str:
        """SHA-256 of the campaign's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def span_of(self, block: Block) -> Span:
        """Return the labels of the cells that a block covers now, in axis order."""
        shape = self.layouts[block.trace].shape(block.kind)
        labels = []
        for axis, length in zip(AXES[1:], shape, strict=True):
            known = self.axes[axis]
            places = positions(getattr(block, axis), length, len(known))
            labels.append(tuple(known[i] for i in places))
        if block.kind == WORKLOAD_BLOCK:
            labels[2] = (WORKLOAD_BLOCK,)
        return Span(*labels)

    @property
    def fairness(self) -> tuple[str, ...]:
        """Kinds of fairness that every cell has."""
        return tuple(self.settings.get("fairness", ()))

    def blocks(self) -> list[Block]:
        """Return every block of the store, in the order of its axes."""
        return [
            block
            for trace in self.axes["trace"]
            for block in blocks_of(
                trace, self.layouts[trace], self.jobs[trace], self.axes, self.fairness
            )
        ]

    def variables_of(self, block: Block) -> tuple[Variable, ...]:
        """Return the declarations of the arrays that a block writes."""
        plain = {WORKLOAD_BLOCK: WORKLOAD, CELLS: DECISIONS}
        return plain[block.kind] if block.kind in plain else (FAIRNESS[block.kind],)

    def place_of(self, block: Block, span: Span) -> tuple[slice, ...]:
        """Return the places of a block's cells along resample, load and, if it has one, policy."""
        labels = [span.resamples, span.loads]
        if block.kind != WORKLOAD_BLOCK:
            labels.append(span.policies)
        first = [self.axes[a].index(known[0]) for a, known in zip(AXES[1:], labels, strict=False)]
        return tuple(slice(f, f + len(known)) for f, known in zip(first, labels, strict=True))

    def job_range(self, block: Block) -> slice:
        """Return the places along `job` that a block covers."""
        layout = self.layouts[block.trace]
        if not layout.cuts(block.kind):
            return slice(0, self.jobs[block.trace])
        length = layout.jobs(block.kind)
        places = positions(block.piece, length, self.jobs[block.trace])
        return slice(places.start, places.stop)

    def inner_length(self, block: Block, dimension: str) -> int:
        """Return how many values of one cell stand in a block along `job` or `week`."""
        if dimension == "week":
            return entries(self.weeks[block.trace])
        places = self.job_range(block)
        return int(places.stop - places.start)

    def week_entries(self, trace: str, cell: Cell) -> int:
        """Return the length of a cell's series: the last entry is for all that ends later."""
        resample, load, _ = cell
        return 1 + weeks_at(self.weeks[trace], resample, load)

    def weeks_of(self, trace: str) -> npt.NDArray[np.int64]:
        """Return the weeks that hold the submissions of every resample at every load."""
        known, pairs = self.weeks[trace], product(self.axes["resample"], self.axes["load"])
        found = [weeks_at(known, *pair) for pair in pairs]
        return np.array(found, np.int64).reshape(len(self.axes["resample"]), -1)

    def lengths_of(self, block: Block, cell: Cell, jobs: int) -> dict[str, int]:
        """Return how many values of a cell each array of its block has, padding left out."""
        lengths = {"job": jobs, "week": self.week_entries(block.trace, cell)}
        return {v.name: lengths.get(v.dims[-1], 1) for v in self.variables_of(block)}

    def heads(self) -> dict[Block, Head]:
        """Return the head of the record of every finished block.

        Raises
        ------
        InputError
            If a file among the records is not one of this store's.
        """
        found = read_heads(self.records, self.identity)
        for head in found.values():
            self._check_known(head)
        return found

    def iterate_records(self) -> Iterator[Record]:
        """Yield the record of every finished block.

        Raises
        ------
        InputError
            As `heads`, and if a byte of a record has changed.
        """
        for record in iterate_records(self.records, self.identity):
            self._check_known(record.head)
            yield record

    def knows(self, head: Head) -> bool:
        """Tell whether a record is of cells that the store has."""
        span, policies = head.span, {*self.axes["policy"], WORKLOAD_BLOCK}
        return (
            head.block.trace in self.axes["trace"]
            and head.block.kind in (WORKLOAD_BLOCK, CELLS, *self.fairness)
            and set(span.resamples) <= set(self.axes["resample"])
            and set(span.loads) <= set(self.axes["load"])
            and set(span.policies) <= policies
        )

    def _check_known(self, head: Head) -> None:
        if not self.knows(head):
            path = record_path(self.records, head.block)
            raise InputError(
                f"record {path} names cells that the store's axes do not have; {REMEDY}"
            )

    def log_path(self, trace: str) -> Path | None:
        """Return where the columns of a trace's log stand; None for a model."""
        digest = self.sources[trace].get("columns")
        return self.path / "traces" / f"{digest}.npz" if digest else None

    def to_bytes(self) -> bytes:
        """Return the text of store.json, sealed with a CRC-32 of the rest."""
        plain = {
            "campaign": self.campaign,
            "text": self.text,
            "sha256": self.digest,
            "settings": dict(self.settings),
            "axes": {k: list(v) for k, v in self.axes.items()},
            "sources": {k: dict(v) for k, v in self.sources.items()},
            "layouts": {k: asdict(v) for k, v in self.layouts.items()},
            "jobs": dict(self.jobs),
            "weeks": {k: dict(v) for k, v in self.weeks.items()},
            "acknowledgements": dict(self.acknowledgements),
        }
        return sealed(plain)

    def save(self) -> None:
        """Write store.json, the campaign, and the copy from which `farm verify` restores both."""
        write_whole(self.path / COPY, self.to_bytes())
        write_whole(self.path / CAMPAIGN, self.text.encode())
        write_whole(self.path / MANIFEST, self.to_bytes())
