"""Guarantees that a store needs from its file system, and a probe of each."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import uuid
from collections.abc import Callable
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.core.files import PARTIAL, sync

_UNSUPPORTED = {errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOLCK, errno.ENOTTY}
"""Errors of calls that a file system does not support; other errors are transient."""

_LOCAL_LOCKS = {
    "nfs": r"nolock|local_lock=(all|flock)",
    "nfs4": r"nolock|local_lock=(all|flock)",
    "lustre": r"localflock",
}
"""Mount options, by type of file system, under which locks exclude only processes of one host."""

MOUNTS = Path("/proc/self/mountinfo")


def check_guarantees(folder: Path) -> None:
    """Probe each guarantee in a folder; refuse the folder after the first failed probe.

    The probes take some milliseconds and leave no file. Locks between hosts cannot be probed from
    one host, but mount options show where such locks have no effect.
    """
    one, other = (folder / f"probe.{uuid.uuid4().hex}{PARTIAL}" for _ in range(2))
    try:
        for guarantee, holds in _GUARANTEES:
            try:
                kept = holds(one, other)
            except OSError as error:
                if error.errno not in _UNSUPPORTED:
                    raise
                kept = False
            if not kept:
                raise InputError(
                    f"store {folder}: this file system does not guarantee {guarantee}, which a "
                    "store relies on; use a folder of another file system, or a bucket"
                )
    finally:
        for path in (one, other):
            path.unlink(missing_ok=True)


def _replaces(one: Path, other: Path) -> bool:
    one.write_bytes(b"before")
    other.write_bytes(b"after")
    other.replace(one)
    return one.read_bytes() == b"after" and not other.exists()


def _changes_etag(one: Path, other: Path) -> bool:
    """Return whether a replacement changes inode or time, which `Folder.etag` needs."""
    one.write_bytes(b"same")
    before = one.stat()
    other.write_bytes(b"same")
    other.replace(one)
    after = one.stat()
    return (before.st_ino, before.st_mtime_ns) != (after.st_ino, after.st_mtime_ns)


def _identifies(one: Path, other: Path) -> bool:
    """Return whether an open file differs in identity from a later file of the same name."""
    with one.open("wb") as stream:
        here = os.path.samestat(os.fstat(stream.fileno()), one.stat())
        other.touch()
        other.replace(one)
        return here and not os.path.samestat(os.fstat(stream.fileno()), one.stat())


def _excludes(one: Path, other: Path) -> bool:
    with one.open("w+b") as first, one.open("r+b") as second:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for kind in (fcntl.LOCK_EX, fcntl.LOCK_SH):
            try:
                fcntl.flock(second, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            return False
        fcntl.flock(first, fcntl.LOCK_UN)
        for stream in (first, second):
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return True


def _excludes_hosts(one: Path, other: Path) -> bool:
    kind, options = mounted(one.parent)
    known = _LOCAL_LOCKS.get(kind)
    return known is None or not any(re.fullmatch(known, option) for option in options)


def _syncs(one: Path, other: Path) -> bool:
    one.touch()
    sync(one.parent)
    return True


_GUARANTEES: tuple[tuple[str, Callable[[Path, Path], bool]], ...] = (
    ("that a rename replaces another file atomically (rename)", _replaces),
    ("that a replaced file is distinguishable (inode number or time)", _changes_etag),
    ("that an open file keeps its identity (inode number)", _identifies),
    ("that a lock excludes other processes (flock)", _excludes),
    ("that a lock excludes processes of other hosts (mount without nolock, local_lock or "
     "localflock)", _excludes_hosts),
    ("that new names in a folder can be made durable (fsync of a folder)", _syncs),
)  # fmt: skip


def mounted(folder: Path) -> tuple[str, set[str]]:
    """Return the type and the mount options of a folder's file system; empty if unknown."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return "", set()
    place, found = folder.resolve(), ("", set[str]())
    longest = -1
    for line in lines:
        mount, _, system = line.partition(" - ")
        fields, (kind, _, options) = mount.split(), system.split(maxsplit=2)
        at = Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), fields[4]))
        # The last mount at a path hides the earlier mounts.
        if place.is_relative_to(at) and len(at.parts) >= longest:
            longest, found = len(at.parts), (kind, {*fields[5].split(","), *options.split(",")})
    return found
