"""Compiled kernels in one file, for the other hosts of a site.

The file contains machine code, which the reading process executes. So a process reads the file only
if no other user could have written it, if each part has the digest in the first part, and if the
sources, the compiler and the processor match this host.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import lzma
import os
import pickle
import re
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import serialize
from numba.core.registry import cpu_target

from schedfarm.core.caches import exposed, is_own, make_private, remedy
from schedfarm.core.engine.cache import STAMP, lock, used
from schedfarm.core.errors import InputError
from schedfarm.core.files import write_whole

LIST, FORMAT = "kernels.json", 1
"""Name of the first part, and its version."""

NAME = re.compile(r"[0-9a-f]{32}/[\w.<>-]+\.nb[ic]", re.ASCII)
"""Names of the other parts."""

_ODD = (KeyError, IndexError, TypeError, ValueError, EOFError, RuntimeError, struct.error)
"""Errors of malformed contents; zipfile raises a RuntimeError for an encrypted part."""

_NO_INDEX = (pickle.UnpicklingError, AttributeError, ImportError, *_ODD)
"""Errors of a malformed index."""

INDEX, CODE = ".nbi", ".nbc"
"""Suffixes of numba's files: an index of combinations of types, and the code for a combination."""


def host() -> dict[str, str]:
    """Return the versions and the processor for which this process compiles kernels.

    Examples
    --------
    >>> host()["numba"] == numba.__version__
    True
    """
    triple, processor, features = cpu_target.target_context.codegen().magic_tuple()
    return {
        "sources": _sources(),
        "Python": sys.version,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "system": triple,
        "processor": processor,
        "features of the processor": features,
    }


def _sources() -> str:
    """Return a digest of all modules of `core`."""
    text, root = hashlib.sha256(), Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        text.update(f"{path.relative_to(root)}\n".encode())
        text.update(path.read_bytes())
    return text.hexdigest()


def pack() -> bytes:
    """Return an archive of the kernels that this process has loaded or compiled."""
    parts = {}
    for place in sorted(used()):
        # Another process may add or remove kernels meanwhile. Indices are read before code: the
        # code that an index names is then in the folder, or another process has removed it, and the
        # archive lacks it too.
        for end in (INDEX, CODE):
            for path in sorted(place.glob(f"*{end}")):
                with contextlib.suppress(FileNotFoundError):
                    parts[f"{place.name}/{path.name}"] = path.read_bytes()
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in parts.items()}
    first = json.dumps({"format": FORMAT, "host": host(), "parts": digests}, indent=1)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(LIST, first)
        for name, data in parts.items():
            made.writestr(name, data)
    return stream.getvalue()


def unpack(file: Path, root: Path) -> int:
    """Add the kernels of a file to a folder of compiled kernels; return the number of new ones.

    Parameters
    ----------
    file : Path
        File with an archive from `pack`.
    root : Path
        The folder of all compiled kernels.

    Raises
    ------
    InputError
        If other users could have written the file, or the file is damaged or for other hosts.
    """
    parts = _read(file)
    codes = {name: _codes(file, name, parts) for name in parts if name.endswith(INDEX)}
    return sum(_add(root, name, found) for name, found in codes.items())


def _read(file: Path) -> dict[str, bytes]:
    """Return the parts of a file that this host can use."""
    made_for, listed, parts = _opened(file, _own_bytes(file))
    for key, own in host().items():
        if (other := made_for.get(key)) != own:
            raise InputError(f"{file}: {_difference(key, other, own)}; make one on such a host")
    if parts.keys() != listed.keys():
        raise InputError(f"{file} is damaged: its parts differ from its list; copy it again")
    for name, part in parts.items():
        if not NAME.fullmatch(name) or hashlib.sha256(part).hexdigest() != listed[name]:
            raise InputError(f"{file} is damaged: part {name!r} is not as listed; copy it again")
    return parts


def _own_bytes(file: Path) -> bytes:
    """Return the contents of a file, unless another user could have written it."""
    try:
        with file.open("rb") as stream:
            about, open_to_others = os.fstat(stream.fileno()), exposed(file)
            # After the file was opened, another user may have changed a link in its path.
            same = os.path.samestat(about, file.stat()) and is_own(about)
            data = stream.read() if open_to_others is None and same else b""
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}; name a file of farm warm --archive") from None
    if open_to_others is not None:
        raise InputError(f"{file} is not used, because {remedy(open_to_others)}")
    if not same:
        raise InputError(f"{file} is not used, because it was replaced while being read; try again")
    return data


def _opened(file: Path, data: bytes) -> tuple[dict[str, Any], dict[str, Any], dict[str, bytes]]:
    """Return the host, the digests of parts and the parts of an archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            first = json.loads(packed.read(LIST))
            found = first["format"] if isinstance(first, dict) else None
            parts = {name: packed.read(name) for name in packed.namelist() if name != LIST}
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, *_ODD):
        raise InputError(
            f"{file} is damaged, or no archive of kernels; make one with farm warm --archive"
        ) from None
    if found != FORMAT:
        raise InputError(f"{file}: format {found!r} of an archive of kernels; this one is {FORMAT}")
    made_for, listed = first.get("host"), first.get("parts")
    if not isinstance(made_for, dict) or not isinstance(listed, dict):
        raise InputError(f"{file} is damaged: {LIST} has no 'host' or no 'parts'; copy it again")
    return made_for, listed, parts


def _difference(key: str, other: object, own: str) -> str:
    if key == "sources":
        return "its kernels are those of another version of schedfarm than this one"
    return f"its kernels are for {key} {other!r}, and this host has {own!r}"


def _codes(file: Path, index: str, parts: dict[str, bytes]) -> dict[Any, bytes]:
    """Return the code of each combination of types in an index, except for missing code.

    Code is missing if another process was about to write or remove it during `pack`.
    """
    folder = index.partition("/")[0]
    try:
        named = {types: f"{folder}/{code}" for types, code in _entries_of(parts[index]).items()}
        return {types: parts[name] for types, name in named.items() if name in parts}
    except _NO_INDEX:
        raise InputError(f"{file} is damaged: part {index!r} is no index; copy it again") from None


def _add(root: Path, name: str, codes: dict[Any, bytes]) -> int:
    """Add the code named by one index, unless the folder has code for the same types."""
    folder, _, index = name.partition("/")
    place = root / folder
    make_private(place)
    # The lock is needed because a process that compiles this kernel also changes the index.
    handle = lock(place, index)
    try:
        return _merge(place, index, codes)
    finally:
        if handle is not None:
            os.close(handle)


def _merge(place: Path, index: str, codes: dict[Any, bytes]) -> int:
    known, count = _entries(place / index), 0
    for types, code in codes.items():
        if types in known and (place / known[types]).is_file():
            continue
        taken, number = {*known.values()}, 1
        base = index.removesuffix(INDEX)
        while (free := f"{base}.{number}{CODE}") in taken:
            number += 1
        # The index is written last, so that it never names a missing file.
        write_whole(place / free, code, private=True)
        known[types], count = free, count + 1
    if count:
        head = pickle.dumps(numba.__version__, protocol=-1)
        write_whole(place / index, head + serialize.dumps((STAMP, known)), private=True)
    return count


def _entries(path: Path) -> dict[Any, str]:
    try:
        return _entries_of(path.read_bytes())
    except (OSError, *_NO_INDEX):
        return {}


def _entries_of(index: bytes) -> dict[Any, str]:
    """Return the name of the file with the code for each combination of types."""
    stream = io.BytesIO(index)
    if pickle.load(stream) != numba.__version__:
        return {}
    stamp, found = pickle.load(stream)
    return dict(found) if stamp == STAMP else {}
