"""Verify every byte of a store against its records; mark damaged blocks to run again."""

from __future__ import annotations

import json
import random
import tomllib
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Block, Cell
from schedfarm.core.format.names import (
    ARRAYS,
    CAMPAIGN,
    COPY,
    MANIFEST,
    block_of,
    record_name,
)
from schedfarm.core.format.record import Record
from schedfarm.core.own import modules_of
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.execution.cell import Simulations
from schedfarm.farm.store.arrays import open_results
from schedfarm.farm.store.files import Unavailable
from schedfarm.farm.store.fingerprint import fingerprint_of, recorded
from schedfarm.farm.store.logs import digest_in, encodings, load_log
from schedfarm.farm.store.place import Place, Where, place_of
from schedfarm.farm.store.product import PRODUCTS, REWORDED, Holding, Variable
from schedfarm.farm.store.records import record_names
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.summary import fold, folded
from schedfarm.farm.store.template import template_of, unknown_entries

STRANGE = "does not belong to the store; move it elsewhere if it is needed"


class Remedy(Enum):
    """Effect of a repair on the file of a fault."""

    DERIVE = auto()
    """The file is derived from the rest of the store, as at every repair, or by the next run."""

    REMOVE = auto()
    """The record is removed."""

    READ_AGAIN = auto()
    """The log is removed; the next run writes it again, from the trace's source."""

    ENCODE = auto()
    """The content of the log is encoded again."""

    KEEP = auto()
    """The file is left for its owner to decide on."""


@dataclass(frozen=True)
class Fault:
    """Name a fault of a store.

    Parameters
    ----------
    name : str
        The file, or the folder of the array, as a name in the store.
    why : str
        Description of the fault.
    block : Block or None
        The block to run again, if that repairs the fault.
    remedy : Remedy
        Effect of a repair on the file.
    """

    name: str
    why: str
    block: Block | None = None
    remedy: Remedy = Remedy.DERIVE


@dataclass
class Again:
    """Define the cells to simulate again, and count them.

    Parameters
    ----------
    each : int
        Number of cells of each policy and, for each policy, of each kind of fairness.
    seed : int
        Seed for drawing the cells.
    trust : bool
        Whether Python code in the store, or in modules that the store names, may run.
    done, cells : int
        Number of cells that were simulated again, and number of finished cells.
    left_out : tuple of str
        Untrusted modules that prevented further simulations.
    """

    each: int = 1
    seed: int = 0
    trust: bool = False
    done: int = 0
    cells: int = 0
    left_out: tuple[str, ...] = ()


def verify(where: Where, again: Again | None = None) -> Iterator[Fault]:
    """Find every altered, torn or missing byte of a store's arrays and records.

    Parameters
    ----------
    where : str, path or Place
        The store's folder or address.
    again : Again, optional
        Cells to simulate again and compare; by default one of each policy. No cell is simulated if
        untrusted modules are needed.

    Yields
    ------
    Fault
        Faults in the order of their detection; none if the store is sound.

    Raises
    ------
    InputError
        If the place is not a store, or neither its description nor the copy can be read.

    Notes
    -----
    Altered metadata ends the search, since values cannot be read: repair the store and verify
    again.
    """
    place = place_of(where)
    # First, anything other than a store is refused.
    store = _described(place)
    yield from _check_manifests(place)
    yield from _check_campaign(store)
    skeleton = list(_check_skeleton(store))
    yield from skeleton
    if any(fault.remedy is not Remedy.KEEP for fault in skeleton):
        return  # values cannot be read with wrong metadata
    logs = list(_check_logs(store))
    yield from logs
    sound, faulty = [], False
    names = record_names(place)
    for name, data in zip(names, place.read_each(names), strict=True):
        record, fault = _check_record(store, name, data or b"")
        if fault:
            faulty = True
            yield fault
        elif record:
            sound.append(record)
    if not faulty:
        yield from _check_summary(store)
    if not logs:
        yield from _check_again(store, sound, again or Again())


def repair(where: Where, faults: list[Fault]) -> list[Block]:
    """Repair data that can be derived, and drop the records of blocks that must run again.

    Parameters
    ----------
    where : str, path or Place
        The store's folder or address.
    faults : list of Fault
        Faults found by `verify`.

    Returns
    -------
    list of Block
        Blocks that the next run repeats.

    Raises
    ------
    InputError
        If a link leads out of the store; nothing is altered then.
    """
    place = place_of(where)
    for name, target in place.links_out():
        raise InputError(
            f"store {place}: {name} is a link to {target}, outside of the store, which is not "
            "repaired; replace the link by its target"
        )
    store = _described(place)
    store.save()
    blocks: dict[Block, None] = {}
    for fault in faults:
        if fault.remedy is Remedy.ENCODE:
            place.write(fault.name, next(encodings(place.read(fault.name))))
        elif fault.remedy in (Remedy.REMOVE, Remedy.READ_AGAIN):
            place.remove(fault.name)
        if fault.block is not None:
            place.remove(record_name(fault.block))
            # Several cells of a block may differ.
            blocks[fault.block] = None
    place.write_each(ARRAYS, template_of(store))
    fold(store)
    return list(blocks)


def _check_manifests(place: Place) -> Iterator[Fault]:
    found = {}
    for name in (MANIFEST, COPY):
        try:
            data = place.read(name)
            found[name] = Store.from_bytes(place, data).to_bytes()
        except Unavailable:
            raise
        except (InputError, OSError) as error:
            yield Fault(name, str(error))
            continue
        if found[name] != data:
            yield Fault(name, "its bytes are not the encoding of its content")
    if len(set(found.values())) == 2:
        yield Fault(COPY, f"differs from {MANIFEST}")


def _described(place: Place) -> Store:
    try:
        return Store.open(place)
    except Unavailable:
        raise
    except InputError:
        data, _ = place.read_with_etag(COPY)
        if data is None:
            raise
        try:
            return Store.from_bytes(place, data)
        except InputError as error:
            if "--repair" not in str(error):
                raise
            # The first error would advise the user to run this command.
            raise InputError(
                f"store {place}: neither {MANIFEST} nor its copy {COPY} is intact; restore one of "
                "them from a backup"
            ) from None


def _check_campaign(store: Store) -> Iterator[Fault]:
    if store.place.read_with_etag(CAMPAIGN)[0] != store.text.encode():
        yield Fault(CAMPAIGN, f"differs from the campaign in {MANIFEST}")


def _check_skeleton(store: Store) -> Iterator[Fault]:
    """Compare the metadata and the coordinates with those of a newly built store."""
    fresh = template_of(store)
    names = [f"{ARRAYS}/{name}" for name in fresh]
    for name, data, right in zip(names, store.place.read_each(names), fresh.values(), strict=True):
        if data is None:
            yield Fault(name, "is missing")
        elif data != right and _in_present_words(data) != right:
            yield Fault(name, "does not agree with the store's description")
    for name in unknown_entries(store, fresh):
        yield Fault(name, STRANGE, remedy=Remedy.KEEP)


def _in_present_words(metadata: bytes) -> bytes:
    """Return metadata with the present names of coordinates in place of those of old versions."""
    for former, present in REWORDED.items():
        metadata = metadata.replace(_as_json(former), _as_json(present))
    return metadata


def _as_json(name: str) -> bytes:
    return f'"long_name": {json.dumps(name)}'.encode()


def _check_logs(store: Store) -> Iterator[Fault]:
    for trace in store.axes["trace"]:
        name = store.log_name(trace)
        if name is None:
            continue
        try:
            data = store.place.read(name)
            if load_log(data).digest() != digest_in(name):
                why = "does not match the digest in its name"
                yield Fault(name, why, remedy=Remedy.READ_AGAIN)
            elif data not in encodings(data):
                why = "has other bytes than its content is encoded to"
                yield Fault(name, why, remedy=Remedy.ENCODE)
        except Unavailable:
            raise
        except FileNotFoundError:
            why = "is missing; the next run writes it again, from the trace's source"
            yield Fault(name, why, remedy=Remedy.READ_AGAIN)
        except Exception as error:  # numpy and zipfile raise many kinds of errors on altered bytes
            yield Fault(name, f"cannot be read: {error}", remedy=Remedy.READ_AGAIN)


def _check_record(store: Store, name: str, data: bytes) -> tuple[Record | None, Fault | None]:
    try:
        block = block_of(name)
    except ValueError:
        return None, Fault(name, "is the record of no block", None, Remedy.REMOVE)
    try:
        record = Record.from_bytes(data)
    except ValueError as error:
        return None, Fault(name, str(error), block, Remedy.REMOVE)
    header = record.header
    ours = header.block == block and header.store == store.identity
    if not ours or not store.has_cells(block, header.span):
        return None, Fault(name, "belongs to another block or campaign", block, Remedy.REMOVE)
    if header.own != store.definition_digest(header.span.policies):
        named = ", ".join(header.span.policies)
        why = f"{named} was simulated by orders or rules that have changed since"
        return None, Fault(name, why, block, Remedy.REMOVE)
    return record, _check_values(_as_recorded(store, record), record)


def _as_recorded(store: Store, record: Record) -> Store:
    """Return the store as it was for a record, without arrays and metrics that were added later."""
    kind = record.header.block.kind
    if record.header.holds == store.holding_digest(record.header.block):
        return store
    arrays, figures = store.holds[kind].arrays, store.holds[kind].figures
    known = Holding(
        tuple(v for v in arrays if v.name in record.payload.crc),
        tuple(v for v in figures if v.name in record.payload.figures),
    )
    return replace(store, holds={**store.holds, kind: known})


def _check_values(store: Store, record: Record) -> Fault | None:
    """Compare every stored value of a block, including padding, with the record's CRCs."""
    block, span = record.header.block, record.header.span
    group: Any = open_results(store.place)[block.trace]
    jobs = record.payload.jobs.tolist()
    lengths = [store.lengths_of(block, *one) for one in zip(span.cells, jobs, strict=True)]
    for variable in store.arrays_of(block.trace, block.kind):
        name = f"{ARRAYS}/{block.trace}/{variable.name}"
        try:
            along = (store.job_range(block),) if "job" in variable.dims else ()
            place = *store.region_of(block, span), *along
            values = np.asarray(group[variable.name][place]).reshape(len(span), -1)
        except Unavailable:
            raise
        except Exception as error:  # zarr's codecs raise many kinds of errors on altered bytes
            return Fault(name, f"cannot be read: {error}", block)
        why = _unsound(record, variable, values, [known[variable.name] for known in lengths])
        if why:
            return Fault(name, f"{block}: {why}", block)
    return None


def _unsound(
    record: Record, variable: Variable, values: npt.NDArray[Any], lengths: Iterable[int]
) -> str:
    """Return the fault in the values of a block's cells, one row per cell; "" without one.

    `lengths` has the number of values without padding of each row.
    """
    payload, name = record.payload, variable.name
    for place, (row, length) in enumerate(zip(values, lengths, strict=True)):
        if place in payload.errors:
            length = 0
        elif zlib.crc32(row[:length].data) != payload.crc[name][place]:
            return "not the values that were written"
        padding = row[length:]
        if not np.array_equal(padding, np.full_like(padding, variable.fill), equal_nan=True):
            return "values beyond the last job or week"
    return ""


def _check_summary(store: Store) -> Iterator[Fault]:
    root: Any = open_results(store.place)
    stale = []
    for name, values in folded(store):
        path = f"{ARRAYS}/{name}"
        try:
            stored = np.asarray(root[name][...])
        except Unavailable:
            raise
        except Exception as error:  # zarr's codecs raise many kinds of errors on altered bytes
            yield Fault(path, f"cannot be read: {error}")
            continue
        same = (stored == values) | ((stored != stored) & (values != values))
        nothing = np.isnan(stored) if stored.dtype.kind == "f" else stored == 0
        if not (same | nothing).all():
            yield Fault(path, "does not agree with the records")
        elif not same.all():
            stale.append(name)
    if stale:
        # A run folds the summary once a minute, and at its end.
        why = (
            f"{', '.join(stale[:3])}{', ...' * (len(stale) > 3)}: the summary is stale: it lacks "
            "finished cells; the end of a run updates it"
        )
        yield Fault(ARRAYS, why)


Drawn = tuple[Record, int]
"""A record, and the index of a cell in the record."""


def _check_again(store: Store, sound: Iterable[Record], again: Again) -> Iterator[Fault]:
    """Simulate random cells of every policy again and compare every value."""
    if not again.each:
        return
    if not again.trust and (modules := modules_in(store)):
        again.left_out = modules
        return
    # The store's settings are used, even if the campaign's text has changed since.
    plain = {**tomllib.loads(store.text), "overload": True}
    # Nothing is read from the current folder: logs and modules come from the store.
    campaign = Campaign.from_dict(plain, Path(str(store.place)), store.own)
    traces = {t.name: t for t in campaign.traces}
    made = {name: Simulations(store, trace) for name, trace in traces.items()}
    for record, place in _drawn(sound, again):
        block = record.header.block
        again.done += bool(block.product.policies)
        known = _as_recorded(store, record)
        one = made[block.trace] if known is store else Simulations(known, traces[block.trace])
        yield from _differences(one, record, place)


def modules_in(store: Store) -> tuple[str, ...]:
    """Return the user's modules that a simulation of the store's cells executes."""
    plain = tomllib.loads(store.text)
    held = [v.of for holding in store.holds.values() for v in (*holding.arrays, *holding.figures)]
    names = [*store.axes["policy"], *plain.get("policies", ()), *plain.get("metrics", ()), *held]
    return tuple(sorted({*store.own, *modules_of(filter(None, names))}))


def _drawn(sound: Iterable[Record], again: Again) -> list[Drawn]:
    """Draw equal numbers of cells for each policy and kind, sorted by resample and load.

    The arrays that all policies share are simulated again with the cells, and drawn like a policy.
    """
    groups: dict[tuple[str, str], list[Drawn]] = defaultdict(list)
    for record in sound:
        for place, cell in enumerate(record.header.span.cells):
            if place not in record.payload.errors:
                groups[record.header.block.kind, cell[2]].append((record, place))
    draw = random.Random(again.seed)
    again.cells = sum(len(g) for (kind, _), g in groups.items() if PRODUCTS[kind].policies)
    drawn = [
        one for group in groups.values() for one in draw.sample(group, min(again.each, len(group)))
    ]
    return sorted(drawn, key=_order)


def _order(drawn: Drawn) -> tuple[str, Cell]:
    record, place = drawn
    return record.header.block.trace, record.header.span.cells[place]


def _differences(made: Simulations, record: Record, place: int) -> Iterator[Fault]:
    store, block, payload = made.store, record.header.block, record.payload
    cell = record.header.span.cells[place]
    try:
        jobs, rows, figures = made.values(block, cell, None)
    except Exception as error:  # a plug-in order may raise anything
        why = f"{block}: simulated again, {cell} fails: {type(error).__name__}: {error}"
        yield Fault(record_name(block), why, block)
        return
    # The program may have new metrics since then, but only recorded values can differ.
    found = fingerprint_of(store, block, jobs, rows, figures)
    for kind, name in recorded(record, place).differing(found):
        if kind == "values" and name in payload.crc:
            why = f"{block}: simulated again, {cell} comes out differently"
            yield Fault(f"{ARRAYS}/{block.trace}/{name}", why, block)
        elif kind == "figures":
            now, before = figures[name], payload.figures[name][place]
            why = f"{block}: simulated again, {name} of {cell} is {now:g} instead of {before:g}"
            yield Fault(record_name(block), why, block)
        else:
            why = f"{block}: simulated again, {name or kind} of {cell} comes out differently"
            yield Fault(record_name(block), why, block)
