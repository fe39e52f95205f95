"""A store, as its store.json describes it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import product as combinations
from typing import Any

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
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
from schedfarm.core.format.names import CAMPAIGN, COPY, MANIFEST, record_name
from schedfarm.core.format.record import Header, Record
from schedfarm.core.format.retention import ALL, RETENTION
from schedfarm.core.machines.platform import Platform, platform_from_dict
from schedfarm.core.metrics.widths import WIDTHS
from schedfarm.core.own import source_digest, sources
from schedfarm.core.policy.orders import revised_orders
from schedfarm.core.policy.rules import COUNTS
from schedfarm.farm.store.bucket import Unavailable
from schedfarm.farm.store.manifest import sealed, unsealed
from schedfarm.farm.store.place import Place, Where, place_of
from schedfarm.farm.store.product import KEPT, PRODUCTS, Holding, is_had
from schedfarm.farm.store.records import REMEDY, iterate_records, read_headers
from schedfarm.farm.store.schema import Variable


@dataclass(frozen=True)
class Store:
    """Stand for one store.

    Parameters
    ----------
    place : Place
        Where it is.
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
        What each trace is: its definition, its platform, and the SHA-256 of a log's columns.
    holds : mapping of str to Holding
        Arrays and figures of each product that every cell has, or is to have.
    layouts : mapping of str to Layout
        Sizes of each trace's arrays.
    jobs : mapping of str to int
        Jobs of each trace's largest resample: the length of its dimension `job`.
    weeks : mapping of str to Weeks
        Weeks of each trace's submissions.
    users : mapping of str to tuple of int
        Numbers of each trace's users, ascending: the labels of its dimension `user`.
    own : mapping of str to str, optional
        Text of each module with orders, rules or metrics of the user's.
    acknowledgements : mapping of str to str, optional
        Whom to thank for a trace's log, where that is known.
    cautions : mapping of str to mapping, optional
        Where answers from a trace are unsafe, a sentence by its key; no result depends on it.
        Without a trace where the store was made by a program that did not look.
    keep : str
        How much it keeps of each cell: a key of `core.format.retention.RETENTION`.
    precision : mapping, optional
        Finished rounds of a campaign that asks for precision, and the intervals of the last one:
        `farm.planning.rounds.Verdict.to_dict`. No result depends on it.
    """

    place: Place
    campaign: str
    text: str
    settings: Mapping[str, Any]
    axes: Mapping[str, tuple[Any, ...]]
    sources: Mapping[str, Mapping[str, Any]]
    holds: Mapping[str, Holding]
    layouts: Mapping[str, Layout]
    jobs: Mapping[str, int]
    weeks: Mapping[str, Weeks]
    users: Mapping[str, tuple[int, ...]]
    own: Mapping[str, str] = field(default_factory=dict)
    acknowledgements: Mapping[str, str] = field(default_factory=dict)
    cautions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    keep: str = ALL
    precision: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def open(cls, store: Where) -> Store:
        """Open an existing store, by its folder or address.

        Raises
        ------
        InputError
            If there is none there, its description has been altered, or its format is
            not this program's.
        """
        place = place_of(store)
        try:
            return cls.from_bytes(place, place.read(MANIFEST))
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(f"{place} is not a store: it has no {MANIFEST}") from None
        except Unavailable:
            raise
        except OSError as error:
            raise InputError(f"store {place} cannot be read: {error.strerror}") from None

    @classmethod
    def from_bytes(cls, place: Place, data: bytes) -> Store:
        """Read the text of a store.json.

        Raises
        ------
        InputError
            As `open`.
        """
        try:
            return cls._from_plain(place, unsealed(place, data))
        except InputError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f"{place.at(MANIFEST)} lacks what a store has, or has it in another form "
                f"({error!r}); this is no store that farm run wrote, so leave it alone"
            ) from None

    @classmethod
    def _from_plain(cls, place: Place, plain: Mapping[str, Any]) -> Store:
        _check_known(place, plain["holds"])
        of_each = ("sources", "layouts", "jobs", "weeks", "users")
        for key, trace in combinations(of_each, plain["axes"]["trace"]):
            if trace not in plain[key]:
                raise KeyError(f"{key} of {trace}")
        return cls(
            place=place,
            campaign=plain["campaign"],
            text=plain["text"],
            settings=plain["settings"],
            axes={k: tuple(v) for k, v in plain["axes"].items()},
            sources=plain["sources"],
            holds={k: Holding.from_dict(v) for k, v in plain["holds"].items()},
            layouts={k: Layout.from_dict(v) for k, v in plain["layouts"].items()},
            jobs=plain["jobs"],
            weeks={
                k: {load: (n, m) for load, (n, m) in v.items()} for k, v in plain["weeks"].items()
            },
            users={k: tuple(v) for k, v in plain["users"].items()},
            own={k: v["text"] for k, v in plain["own"].items()},
            acknowledgements=plain["acknowledgements"],
            cautions=plain.get("cautions", {}),
            keep=_known_keep(plain["keep"]),
            precision=plain.get("precision", {}),
        )

    @property
    def cells(self) -> int:
        """How many cells there are: one for each simulation and each piece of its fairness."""
        return sum(self.cells_of(trace) for trace in self.axes["trace"])

    def cells_of(self, trace: str) -> int:
        """Return how many cells one trace has."""
        simulations: int = math.prod(len(self.axes[a]) for a in CELL)
        layout, jobs = self.layouts[trace], self.jobs[trace]
        kinds = [KINDS[name] for name in self.holds]
        return simulations * sum(layout.pieces(kind, jobs) for kind in kinds if kind.policies)

    @cached_property
    def identity(self) -> str:
        """Digest of what makes this store's cells mean what they mean, whatever its axes."""
        text = json.dumps([self.campaign, dict(self.settings)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def digest(self) -> str:
        """SHA-256 of the campaign's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def figures(self) -> tuple[Variable, ...]:
        """Declarations of the arrays of the summary."""
        return tuple(v for holding in self.holds.values() for v in holding.figures)

    def holding_digest(self, block: Block) -> str:
        """Return what a block's record says it has of its product: 8 hexadecimal digits.

        They stand for all names, and for the sources of the metrics that users bring.
        """
        platform = self.platform(block.trace)
        key = block.kind, bool(platform.participants)
        if key not in self._digests:
            holding = self.holds[block.kind]
            lines = [
                f"{v.name} {self.own.get(v.of.partition(':')[0], '') if ':' in v.of else ''}"
                for v in (*holding.arrays, *holding.figures)
                if v.name not in KEPT and v.name not in COUNTS and is_had(v, platform)
            ]
            text = "\n".join(sorted(lines))
            self._digests[key] = hashlib.sha256(text.encode()).hexdigest()[:8]
        return self._digests[key]

    @cached_property
    def _digests(self) -> dict[tuple[str, bool], str]:
        return {}

    def definition_digest(self, policies: tuple[str, ...]) -> str:
        """Return what stands for the definitions of policies beyond their names.

        These are the text of the user's own orders and rules, and the revisions of orders that
        ship; empty where there are neither.

        Raises
        ------
        InputError
            If a module that an installed package brought is gone.
        """
        if policies not in self._definitions:
            with sources(self.own):
                own = source_digest(policies)
            revisions = (f"{name} {number}" for name, number in revised_orders(policies).items())
            lines = "\n".join([own, *revisions])
            new = hashlib.sha256(lines.encode()).hexdigest()[:16]
            # Orders that are as they first were say nothing, as in the records of before.
            self._definitions[policies] = own if lines == own else new
        return self._definitions[policies]

    @cached_property
    def _definitions(self) -> dict[tuple[str, ...], str]:
        return {}

    def span_of(self, block: Block) -> Span:
        """Return the labels of the cells that a block covers now, in axis order."""
        labels = []
        for axis, length in zip(CELL, self.layouts[block.trace].shape(block.product), strict=True):
            known = self.axes[axis]
            places = positions(getattr(block, axis), length, len(known))
            labels.append(tuple(known[i] for i in places))
        if not block.product.policies:
            labels[2] = (ALL_POLICIES,)
        return Span(*labels)

    def block_at(self, trace: str, product: Kind, cell: Cell) -> Block:
        """Return the block that holds one cell; the first, of a product that is cut along jobs."""
        lengths = self.layouts[trace].shape(product)
        resample, load, policy = (
            self.axes[axis].index(label) // length
            for axis, label, length in zip(CELL, cell, lengths, strict=True)
        )
        return Block(trace, product.name, resample, load, policy if product.policies else 0)

    def blocks(self) -> list[Block]:
        """Return every block of the store, in the order of its axes."""
        return [
            block
            for trace in self.axes["trace"]
            for block in blocks_of(
                trace, self.layouts[trace], self.jobs[trace], self.axes, self.holds
            )
        ]

    def arrays_of(self, trace: str, kind: str) -> tuple[Variable, ...]:
        """Return the declarations of the arrays that a trace has of one product."""
        users, platform = self.users[trace], self.platform(trace)
        own = PRODUCTS[kind].columns(platform)
        others = KEPT.difference(v.name for v in own)
        return tuple(
            v
            for v in self.holds[kind].arrays
            if (users or "user" not in v.dims) and v.name not in others and is_had(v, platform)
        )

    def platform(self, trace: str) -> Platform:
        """Return the machine of a trace."""
        if trace not in self._platforms:
            self._platforms[trace] = platform_from_dict(self.sources[trace]["platform"])
        return self._platforms[trace]

    @cached_property
    def _platforms(self) -> dict[str, Platform]:
        return {}

    def parts(self, trace: str) -> dict[str, tuple[str, ...]]:
        """Return the labels of those dimensions that a trace has by its platform."""
        platform = self.platform(trace)
        made = (v for kind in self.holds for v in PRODUCTS[kind].columns(platform))
        keep = RETENTION[self.keep]
        is_kept = any("node" in v.dims and keep.has(v.dims) for v in made)
        nodes = platform.places if is_kept else ()
        labels = {"node": nodes, ORIGIN: platform.participants}
        return {dimension: names for dimension, names in labels.items() if names}

    def place_of(self, block: Block, span: Span) -> tuple[slice, ...]:
        """Return the places of a block's cells along resample, load and, if it has one, policy."""
        dims = CELL if block.product.policies else SAMPLE
        places = []
        # Not by the labels: to look one up among 100,000 resamples, block by block, takes minutes.
        for axis, length, count in zip(
            dims, self.layouts[block.trace].shape(block.product), span.shape, strict=False
        ):
            first = getattr(block, axis) * length
            places.append(slice(first, first + count))
        return tuple(places)

    def job_range(self, block: Block) -> slice:
        """Return the places along `job` that a block covers."""
        layout = self.layouts[block.trace]
        if not layout.cuts(block.product):
            return slice(0, self.jobs[block.trace])
        places = positions(block.piece, layout.jobs(block.product), self.jobs[block.trace])
        return slice(places.start, places.stop)

    def sizes(self, trace: str) -> dict[str, int]:
        """Return the length of every dimension of a trace's group."""
        along = {axis: len(self.axes[axis]) for axis in CELL}
        weeks, users = week_entries(self.weeks[trace]), len(self.users[trace])
        return {
            **along, "job": self.jobs[trace], "week": weeks, "user": users, "width": len(WIDTHS),
            **{dimension: len(names) for dimension, names in self.parts(trace).items()},
        }  # fmt: skip

    def block_shape(self, block: Block, variable: Variable) -> tuple[int, ...]:
        """Return the shape of one cell's values in a block, padding included."""
        places = self.job_range(block)
        sizes = {**self.sizes(block.trace), "job": places.stop - places.start}
        return tuple(sizes[d] for d in variable.inner)

    def block_bytes(self, block: Block) -> int:
        """Return how many bytes the arrays of a block take, uncompressed, padding included."""
        places = self.job_range(block)
        key = block.trace, block.kind, places.stop - places.start
        if key not in self._cell_bytes:
            self._cell_bytes[key] = sum(
                math.prod(self.block_shape(block, v)) * np.dtype(v.dtype).itemsize
                for v in self.arrays_of(block.trace, block.kind)
            )
        return len(self.span_of(block)) * self._cell_bytes[key]

    @cached_property
    def _cell_bytes(self) -> dict[tuple[str, str, int], int]:
        return {}

    def lengths_of(self, block: Block, cell: Cell, jobs: int) -> dict[str, int]:
        """Return how many values of a cell each array of its block has, padding left out."""
        sizes = self._sizes(block.trace) | {
            "job": jobs,
            "week": self.week_entries(block.trace, cell),
        }
        return {
            v.name: math.prod(sizes[d] for d in v.inner)
            for v in self.arrays_of(block.trace, block.kind)
        }

    def _sizes(self, trace: str) -> dict[str, int]:
        """Return `sizes`, counted once: there are 100,000 cells to ask for."""
        if trace not in self._counted:
            self._counted[trace] = self.sizes(trace)
        return self._counted[trace]

    @cached_property
    def _counted(self) -> dict[str, dict[str, int]]:
        return {}

    def week_entries(self, trace: str, cell: Cell) -> int:
        """Return the length of a cell's series: the last entry is for all that ends later."""
        resample, load, _ = cell
        return 1 + weeks_at(self.weeks[trace], resample, load)

    def weeks_of(self, trace: str) -> Int64:
        """Return the weeks that hold the submissions of every resample at every load."""
        known, pairs = self.weeks[trace], combinations(self.axes["resample"], self.axes["load"])
        found = [weeks_at(known, *pair) for pair in pairs]
        return np.array(found, np.int64).reshape(len(self.axes["resample"]), -1)

    def headers(self) -> dict[Block, Header]:
        """Return the header of the record of every finished block.

        Raises
        ------
        InputError
            If a file among the records is not one of this store's.
        """
        found = read_headers(self.place, self.identity)
        for header in found.values():
            self._check_known(header)
        return found

    def check_definitions(self, headers: Iterable[Header]) -> None:
        """Refuse records of cells that were simulated by other orders or rules than those of now.

        Raises
        ------
        InputError
            Naming the first of them.
        """
        for header in headers:
            if header.own != self.definition_digest(header.span.policies):
                raise InputError(
                    f"store {self.place}: an order or a rule of {', '.join(header.span.policies)} "
                    f"has changed since {header.block} was simulated; 'farm verify {self.place} "
                    "--repair' has its cells run again, or give another --store"
                )

    def iterate_records(self, blocks: Iterable[Block] | None = None) -> Iterator[Record]:
        """Yield the record of every finished block, or of some.

        Raises
        ------
        InputError
            As `headers`, and if a byte of a record has changed.
        """
        for record in iterate_records(self.place, self.identity, blocks):
            self._check_known(record.header)
            yield record

    def knows(self, header: Header) -> bool:
        """Tell whether a record is of cells that the store has, where its block has them."""
        block, span = header.block, header.span
        if block.trace not in self.axes["trace"] or block.kind not in self.holds:
            return False
        places, labels = self.place_of(block, span), (span.resamples, span.loads, span.policies)
        known = [self.axes[axis][place] for axis, place in zip(CELL, places, strict=False)]
        if not block.product.policies:
            known.append((ALL_POLICIES,))
        return all(map(len, labels)) and tuple(known) == labels

    def _check_known(self, header: Header) -> None:
        if not self.knows(header):
            name = self.place.at(record_name(header.block))
            raise InputError(
                f"record {name} names cells that the store's axes do not have; {REMEDY}"
            )

    def log_name(self, trace: str) -> str | None:
        """Return the name of the file with the columns of a trace's log; None for a model."""
        digest = self.sources[trace].get("columns")
        return f"traces/{digest}.npz" if digest else None

    def to_bytes(self) -> bytes:
        """Return the text of store.json, sealed with a CRC-32 of the rest."""
        plain = {
            "campaign": self.campaign,
            "text": self.text,
            "sha256": self.digest,
            "settings": dict(self.settings),
            "keep": self.keep,
            "axes": {k: list(v) for k, v in self.axes.items()},
            "sources": {k: dict(v) for k, v in self.sources.items()},
            "holds": {k: v.to_dict() for k, v in self.holds.items()},
            "layouts": {k: asdict(v) for k, v in self.layouts.items()},
            "jobs": dict(self.jobs),
            "weeks": {k: dict(v) for k, v in self.weeks.items()},
            "users": {k: list(v) for k, v in self.users.items()},
            "own": {
                k: {"sha256": hashlib.sha256(v.encode()).hexdigest(), "text": v}
                for k, v in self.own.items()
            },
            "acknowledgements": dict(self.acknowledgements),
        }
        if self.cautions:
            # A store of before has none, and is to be sound as it stands.
            plain["cautions"] = {k: dict(v) for k, v in self.cautions.items()}
        if self.precision:
            plain["precision"] = dict(self.precision)
        return sealed(plain)

    def save(self) -> None:
        """Write store.json, the campaign, and the copy from which `farm verify` restores both."""
        self.place.write(COPY, self.to_bytes())
        self.place.write(CAMPAIGN, self.text.encode())
        self.place.write(MANIFEST, self.to_bytes())


def _known_keep(name: str) -> str:
    if name not in RETENTION:
        raise ValueError(f"keep = {name!r}")
    return name


def _check_known(place: Place, holds: Mapping[str, Any]) -> None:
    unknown = [kind for kind in holds if kind not in PRODUCTS]
    if unknown:
        raise InputError(
            f"store {place} holds {unknown[0]!r}, which this schedfarm does not know; "
            "use a newer one"
        )
