"""Names of a store's files and objects."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from schedfarm.core.format.geometry import Block

MANIFEST = "store.json"

COPY = "store.copy.json"
"""Copy of store.json, which protects the store against an altered byte."""

CAMPAIGN = "campaign.toml"
"""Readable copy of the campaign as last run; store.json also contains the campaign."""

GROWING = "growing"
"""File that exists while the arrays of a store are created or grown."""

LOCK = "lock.json"
"""File with the name of the run that holds the store."""

PARTS = "parts"
"""Folder of the locks of parts, which is removed after the completion of the summary."""

CHECKPOINTS = "checkpoints"
"""Folder of the states of unfinished long simulations, which is removed at the end of the run."""

RECORDS = "records"
"""Folder of completion records."""

ARRAYS = "results.zarr"
"""Folder of the Zarr hierarchy."""

CHUNKS = "c"
"""Folder in which Zarr stores the values of an array."""

METADATA = "zarr.json"
"""File in which Zarr describes an array or a group."""

RECORD_SUFFIX = ".json"

_PLAIN = re.compile(r"[A-Za-z0-9._-]+")


def record_name(block: Block) -> str:
    """Return the name of a block's record in its store."""
    name = f"{block.resample:05d}-{block.load:05d}-{block.policy:05d}.{block.piece:05d}"
    return f"{records_of(block.trace, block.kind)}/{name}{RECORD_SUFFIX}"


def records_of(trace: str, kind: str) -> str:
    """Return the folder with the records of one trace and kind of block."""
    return f"{RECORDS}/{trace}/{kind}"


def block_of(name: str) -> Block:
    """Return the block for the name of a record; raise ValueError for other names."""
    _, trace, kind, last = name.split("/")
    places, piece = last.removesuffix(RECORD_SUFFIX).split(".")
    resample, load, policy = map(int, places.split("-"))
    return Block(trace, kind, resample, load, policy, int(piece))


def part_lock(part: str) -> str:
    """Return the name of the lock of a part, such as 7-of-200.

    Examples
    --------
    >>> part_lock("7-of-200")
    'parts/7-of-200.json'
    """
    return f"{PARTS}/{part}.json"


def lock_of(run: str) -> str:
    """Return the name of the lock for a run's token: the lock of its part, or of the store.

    Examples
    --------
    >>> lock_of("7-of-200.6f1c"), lock_of("6f1c")
    ('parts/7-of-200.json', 'lock.json')
    """
    part, dot, _ = run.rpartition(".")
    return part_lock(part) if dot else LOCK


def summary_object(name: str, dims: Sequence[str]) -> str:
    """Return the name of the single object with all values of a figure of the summary.

    Examples
    --------
    >>> summary_object("offered_load", ("trace", "resample", "load"))
    'results.zarr/offered_load/c/0/0/0'
    """
    return "/".join([ARRAYS, name, CHUNKS, *("0" for _ in dims)])


def is_plain(name: object) -> bool:
    """Return whether a name of a trace, a log or an array cannot lead outside the store.

    Examples
    --------
    >>> is_plain("KTH-SP2"), is_plain("../other"), is_plain("..")
    (True, False, False)
    """
    return isinstance(name, str) and bool(_PLAIN.fullmatch(name)) and name not in (".", "..")


def is_free(lock: bytes | None) -> bool:
    """Return whether the store is certainly free, given its lock.json; None means no such file.

    False means that a run may be in progress; a killed run leaves its name in the file.

    Examples
    --------
    >>> is_free(None), is_free(b'{"run": null}'), is_free(b'{"run": "6f1c"}'), is_free(b"")
    (True, True, False, False)
    """
    if lock is None:
        return True
    try:
        found = json.loads(lock)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("run", "") is None
