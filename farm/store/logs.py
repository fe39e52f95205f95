"""A log in a store: its columns and their metadata in a compressed npz file."""

from __future__ import annotations

import errno
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from schedfarm.core.machines.platform import platform_from_dict
from schedfarm.core.workload.columns import COLUMNS, STORED, is_filled
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.store.files import Unavailable

if TYPE_CHECKING:
    from schedfarm.farm.store.place import Place

ABOUT = "about"
"""Entry of the file with the metadata, as JSON."""

LEVEL = 1
"""Level of compression. With zlib's default level 6, which `numpy.savez_compressed` uses, five logs
took a tenth less space, but 1.3 s of CPU instead of 0.2 s, which is a tenth of the time of a
campaign on these logs."""

FORMER_LEVEL = 6
"""Level of compression in stores of earlier versions."""


def load_log(data: bytes) -> Workload:
    """Return the log that `log_bytes` encoded."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        columns = {name: file[name] for name in COLUMNS if name in file}
        about = json.loads(str(file[ABOUT]))
    return Workload(
        **columns,
        platform=platform_from_dict(about["platform"]),
        name=about["name"],
        max_estimate=about["max_estimate"],
        epoch=about["epoch"],
    )


def is_itself(place: Place, name: str) -> bool:
    """Return whether a stored log can be read and matches the digest in its name."""
    try:
        return load_log(place.read(name)).digest() == digest_in(name)
    except Unavailable:
        raise
    except Exception:  # numpy and zipfile raise many kinds of errors on altered bytes
        return False


def log_name(source: Mapping[str, Any]) -> str | None:
    """Return the name of the file with the columns of a trace's log; None for a model."""
    digest = source.get("columns")
    return f"traces/{digest}.npz" if digest else None


def digest_in(name: str) -> str:
    """Return the digest of a log's columns, given the name of the log's file.

    Examples
    --------
    >>> digest_in("traces/0123abcd.npz")
    '0123abcd'
    """
    return name.rpartition("/")[2].removesuffix(".npz")


def stored_log(place: Place, name: str) -> Workload:
    """Read a log for simulation; OSError if it does not match the digest in its file's name."""
    log = load_log(place.read(name))
    if log.digest() != digest_in(name):
        where = place.at(name)
        why = f"{where} does not match the digest in its name; the next run writes it again"
        raise OSError(errno.EBADMSG, why)
    return log


def stored_columns(data: bytes) -> list[str]:
    """Return the columns of a stored log; logs from later programs may have more columns."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return [name for name in COLUMNS if name in file]


def encodings(data: bytes) -> Iterator[bytes]:
    """Return the bytes of a stored log as this version, and versions before, write them."""
    log, columns = load_log(data), stored_columns(data)
    for level in (LEVEL, FORMER_LEVEL):
        yield log_bytes(log, columns, level)


def log_bytes(log: Workload, columns: Iterable[str] | None = None, level: int = LEVEL) -> bytes:
    """Return a log as a compressed npz file without pickles; equal logs give equal bytes.

    By default the file has the columns with arrays in stores, and other columns that have values.
    Names of users are left out.
    """
    if columns is None:
        columns = [name for name in COLUMNS if name in STORED or is_filled(log, name)]
    about = {
        "platform": log.platform.to_dict(),
        "name": log.name,
        "max_estimate": log.max_estimate,
        "epoch": log.epoch,
    }
    entries: dict[str, Any] = {name: getattr(log, name) for name in columns}
    entries[ABOUT] = np.array(json.dumps(about))
    stream = io.BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED, compresslevel=level) as file:
        for name, values in entries.items():
            # The size of an entry is unknown before it has been written.
            with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(values), allow_pickle=False)
    return stream.getvalue()
