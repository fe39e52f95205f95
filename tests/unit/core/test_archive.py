"""Archives of compiled kernels: which files are used, and which are refused."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

from schedfarm.core.caches import exposed
from schedfarm.core.engine.toolchain import PLAIN
from schedfarm.core.errors import InputError
from schedfarm.core.metrics.kernels.sums import add_whole_at

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT) or PLAIN, reason="no kernel is kept")


@pytest.fixture(name="packed", scope="module")
def pack_kernels(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return an archive of the kernels of one module, among all that this process uses."""
    from schedfarm.core.engine.archive import pack

    add_whole_at(np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1, np.int64))
    file = tmp_path_factory.mktemp("archive") / "kernels"
    file.write_bytes(pack())

    def of_sums(parts: dict[str, bytes]) -> None:
        first = json.loads(parts["kernels.json"])
        for name in [name for name in first["parts"] if "/sums." not in name]:
            del parts[name], first["parts"][name]
        parts["kernels.json"] = json.dumps(first).encode()

    changed(file, of_sums)
    return file.read_bytes()


@pytest.fixture(name="archive")
def make_archive(packed: bytes, tmp_path: Path) -> Path:
    """Return an archive with kernels that this process uses."""
    file = tmp_path / "kernels"
    file.write_bytes(packed)
    return file


def changed(file: Path, change: Callable[[dict[str, bytes]], object]) -> None:
    """Write an archive again after a change of its parts."""
    with zipfile.ZipFile(file) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    change(parts)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        for name, data in parts.items():
            made.writestr(name, data)
    file.write_bytes(stream.getvalue())


def refusal(file: Path, root: Path) -> str:
    """Return the sentence that refuses an archive, of which nothing is installed."""
    from schedfarm.core.engine.archive import unpack

    with pytest.raises(InputError) as refused:
        unpack(file, root)
    assert not root.exists()
    return str(refused.value)


def test_kernels_are_added_once(archive: Path, tmp_path: Path) -> None:
    """The code that an index names is that of the archive; no other is replaced."""
    from schedfarm.core.engine.archive import unpack

    root = tmp_path / "root"
    count = unpack(archive, root)
    assert count == len(list(root.rglob("*.nbc"))) > 0
    assert unpack(archive, root) == 0
    (index,) = root.rglob("*sums.add_whole_at*.nbi")
    index.unlink()
    assert unpack(archive, root) > 0
    assert {path.stat().st_mode & 0o777 for path in root.rglob("*.nb*")} == {0o600}


def test_a_file_that_others_can_write_is_refused(archive: Path, tmp_path: Path) -> None:
    archive.chmod(0o666)
    assert "other users can write to" in refusal(archive, tmp_path / "root")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "none", tmp_path / "root")


def test_a_damaged_archive_is_refused(archive: Path, tmp_path: Path) -> None:
    """As a whole, in one part, and without one."""
    root, whole = tmp_path / "root", archive.read_bytes()
    archive.write_bytes(whole[: len(whole) // 2])
    assert "damaged" in refusal(archive, root)
    archive.write_bytes(whole)
    changed(archive, lambda parts: parts.update({[*parts][1]: b"other code"}))
    assert "is not as listed" in refusal(archive, root)
    archive.write_bytes(whole)
    changed(archive, lambda parts: parts.pop([*parts][-1]))
    assert "its parts differ from its list" in refusal(archive, root)


def listed(file: Path, **values: object) -> None:
    """Write an archive again with other values in its first part."""

    def change(parts: dict[str, bytes]) -> None:
        first = json.loads(parts["kernels.json"])
        parts["kernels.json"] = json.dumps(first | values).encode()

    changed(file, change)


def test_a_file_that_is_replaced_meanwhile_is_refused(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path is checked after it has been opened, and leads elsewhere by then."""
    from schedfarm.core.engine import archive as archives

    other, link = tmp_path / "other", tmp_path / "link"
    other.write_bytes(archive.read_bytes())
    link.symlink_to(archive)

    def swapped(place: Path) -> Path | None:
        place.unlink()
        place.symlink_to(other)
        return exposed(place)

    monkeypatch.setattr(archives, "exposed", swapped)
    assert "was replaced while being read" in refusal(link, tmp_path / "root")


def test_a_damaged_folder_is_mended(archive: Path, tmp_path: Path) -> None:
    """An index that cannot be read, or that names code that is gone."""
    from schedfarm.core.engine.archive import unpack

    root = tmp_path / "root"
    count = unpack(archive, root)
    index = next(root.rglob("*.nbi"))
    for damage in (b"", b"no index"):
        index.write_bytes(damage)
        assert unpack(archive, root) > 0
    for code in root.rglob("*.nbc"):
        code.unlink()
    assert unpack(archive, root) == count
    assert unpack(archive, root) == 0


def test_code_that_another_process_removed_is_left_out(archive: Path, tmp_path: Path) -> None:
    """An archive may have an index that names more code than there is."""
    from schedfarm.core.engine.archive import unpack

    def drop(parts: dict[str, bytes]) -> None:
        first = json.loads(parts["kernels.json"])
        gone = next(name for name in parts if name.endswith(".nbc"))
        del parts[gone], first["parts"][gone]
        parts["kernels.json"] = json.dumps(first).encode()

    root = tmp_path / "root"
    whole = unpack(archive, tmp_path / "whole")
    changed(archive, drop)
    assert unpack(archive, root) == whole - 1


def test_an_index_is_changed_by_one_process_at_a_time(archive: Path, tmp_path: Path) -> None:
    """The kernels of an archive wait for the lock of a process that compiles."""
    from schedfarm.core.engine.archive import unpack
    from schedfarm.core.engine.cache import lock

    root = tmp_path / "root"
    count = unpack(archive, root)
    index = next(root.rglob("*.nbi"))
    kept = index.read_bytes()
    index.unlink()
    handle = lock(index.parent, index.name)
    assert handle is not None
    with ThreadPoolExecutor() as pool:
        added = pool.submit(unpack, archive, root)
        with pytest.raises(TimeoutError):
            added.result(timeout=0.2)
        index.write_bytes(kept)
        os.close(handle)
        assert added.result() == 0 < count


@pytest.mark.parametrize("key", ["host", "parts"])
@pytest.mark.parametrize("value", [None, [], "odd"])
def test_an_odd_list_is_refused(archive: Path, tmp_path: Path, key: str, value: object) -> None:
    listed(archive, **{key: value})
    assert "has no 'host' or no 'parts'" in refusal(archive, tmp_path / "root")


def test_an_odd_index_is_refused(archive: Path, tmp_path: Path) -> None:
    """Its digest is right, but it is none."""

    def other(parts: dict[str, bytes]) -> None:
        first = json.loads(parts["kernels.json"])
        name = next(name for name in parts if name.endswith(".nbi"))
        parts[name] = b"odd"
        first["parts"][name] = hashlib.sha256(b"odd").hexdigest()
        parts["kernels.json"] = json.dumps(first).encode()

    changed(archive, other)
    assert "is no index" in refusal(archive, tmp_path / "root")


def test_an_encrypted_archive_is_refused(archive: Path, tmp_path: Path) -> None:
    """Bit 0 of the flags of each entry, in both places where they stand."""
    changed(archive, lambda parts: None)
    data = bytearray(archive.read_bytes())
    with zipfile.ZipFile(archive) as packed:
        data[packed.infolist()[0].header_offset + 6] |= 1
    data[data.rindex(b"PK\x01\x02", 0, data.index(b"kernels.json", packed.start_dir)) + 8] |= 1
    archive.write_bytes(data)
    assert "damaged, or no archive" in refusal(archive, tmp_path / "root")


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("processor", "are for processor 'other'"),
        ("numba", "are for numba 'other'"),
        ("sources", "of another version of schedfarm"),
    ],
)
def test_an_archive_for_other_hosts_is_refused(
    archive: Path, tmp_path: Path, key: str, told: str
) -> None:
    from schedfarm.core.engine.archive import host

    listed(archive, host=host() | {key: "other"})
    assert told in refusal(archive, tmp_path / "root")
