"""A folder of a file system that breaks what a store relies on is refused, naming it."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schedfarm.core import InputError
from schedfarm.farm.store import guarantees
from schedfarm.farm.store.guarantees import check_guarantees, mounted
from schedfarm.farm.store.lock import locked

Break = Callable[[pytest.MonkeyPatch], None]


def unsupported(code: int) -> Callable[..., Any]:
    def call(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    return call


def copies(patch: pytest.MonkeyPatch) -> None:
    """A rename that is a copy, which others can see half done."""
    patch.setattr(os, "replace", shutil.copyfile)


def writes_into(patch: pytest.MonkeyPatch) -> None:
    """A rename that leaves the file in its place, and its time, with other content."""

    def replace(source: Path, target: Path) -> None:
        about = os.stat(target)
        Path(target).write_bytes(Path(source).read_bytes())
        os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))
        os.unlink(source)

    patch.setattr(os, "replace", replace)


def numbers_anew(patch: pytest.MonkeyPatch) -> None:
    """An open file that has another number than the one in the folder."""
    fstat = os.fstat

    def other(handle: int) -> os.stat_result:
        about = fstat(handle)
        return os.stat_result((about.st_mode, about.st_ino + 1, *about[2:]))

    patch.setattr(os, "fstat", other)


def locks_for_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fcntl, "flock", lambda *_: None)


def no_locks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fcntl, "flock", unsupported(errno.ENOLCK))


def no_sync_of_folders(patch: pytest.MonkeyPatch) -> None:
    fsync = os.fsync

    def of_files(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            unsupported(errno.EINVAL)()
        fsync(handle)

    patch.setattr(os, "fsync", of_files)


@pytest.mark.parametrize(
    ("breaks", "named"),
    [
        (copies, "a rename replaces another file atomically"),
        (writes_into, "a replaced file is distinguishable"),
        (numbers_anew, "an open file keeps its identity"),
        (locks_for_nothing, "a lock excludes other processes"),
        (no_locks, "a lock excludes other processes"),
        (no_sync_of_folders, "new names in a folder can be made durable"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_broken_guarantee_is_named_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, breaks: Break, named: str
) -> None:
    breaks(monkeypatch)
    sentence = rf"^store {tmp_path}: this file system does not guarantee that {named} .* bucket$"
    with pytest.raises(InputError, match=sentence), locked(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_is_not_blamed_for_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", unsupported(errno.ENOSPC))
    with pytest.raises(InputError, match="cannot be written: No space left"), locked(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


MOUNTS = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
22 21 0:40 / {place} rw,relatime shared:2 - {kind} server:/home rw,vers=4.2,{option}
23 21 0:41 / /elsewhere rw - nfs4 server:/else rw,local_lock=all
"""


@pytest.mark.parametrize(
    ("kind", "option", "kept"),
    [
        ("nfs4", "local_lock=none", True),
        ("nfs", "local_lock=posix", True),
        ("nfs", "local_lock=flock", False),
        ("nfs4", "local_lock=all", False),
        ("nfs", "nolock", False),
        ("lustre", "flock", True),
        ("lustre", "localflock", False),
        ("xfs", "nolock", True),
    ],
)
def test_a_mount_whose_locks_are_one_hosts_own_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, option: str, kept: bool
) -> None:
    """They cannot be tried from one host; the mount's options say it."""
    place, table = tmp_path / "on a server", tmp_path / "mountinfo"
    place.mkdir()
    escaped = str(place).replace(" ", "\\040")
    table.write_text(MOUNTS.format(place=escaped, kind=kind, option=option))
    monkeypatch.setattr(guarantees, "MOUNTS", table)
    assert mounted(place / "store")[0] == kind
    assert mounted(tmp_path) == ("ext4", {"rw", "relatime"})
    if kept:
        check_guarantees(place)
    else:
        with pytest.raises(InputError, match="a lock excludes processes of other hosts"):
            check_guarantees(place)
    assert list(place.iterdir()) == []


def test_where_nobody_knows_the_mounts_they_are_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarantees, "MOUNTS", tmp_path / "none")
    assert mounted(tmp_path) == ("", set())
    check_guarantees(tmp_path)


def test_guarantees_are_tried_in_a_moment(tmp_path: Path) -> None:
    """In CPU time; on a disk it waits for one synchronised folder."""
    check_guarantees(tmp_path)
    begun = time.process_time()
    for _ in range(10):
        check_guarantees(tmp_path)
    assert time.process_time() - begun < 10 * 0.05
