"""A second read comes from the cache, and no state of the cache changes what is read."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedfarm.core import read_swf
from schedfarm.core.caches import ENVIRONMENT, folder_of
from schedfarm.core.logs.swf import CACHED_FROM, read_fields
from schedfarm.core.logs.swf_cache import load, store
from schedfarm.core.logs.swf_text import FIELDS
from tests.support.swf_texts import big, row

pytestmark = pytest.mark.usefixtures("swf_cache")


def test_second_read_comes_from_the_cache(tmp_path: Path, swf_cache: Path) -> None:
    """An entry stands under the content's hash: whatever it holds is what a reader gets."""
    path = tmp_path / "big.swf"
    path.write_text(big(2_000))
    assert path.stat().st_size >= CACHED_FROM
    before = read_swf(path)
    (entry,) = swf_cache.glob(f"{hashlib.sha256(path.read_bytes()).hexdigest()}-v*.npy")
    assert read_swf(path).digest() == before.digest()
    log = load(entry.name, FIELDS)
    assert log is not None
    store(entry.name, replace(log, columns=log.columns | {"run": log.columns["run"] + 1}))
    assert np.array_equal(read_swf(path).run, before.run + 1)


def test_damaged_entries_are_ignored_and_rewritten(tmp_path: Path, swf_cache: Path) -> None:
    """An entry cut short, emptied, or with any byte changed never reaches a reader."""
    path = tmp_path / "frail.swf"
    path.write_text(big(1_900))
    right = read_swf(path).digest()
    (entry,) = swf_cache.glob(f"{hashlib.sha256(path.read_bytes()).hexdigest()}-v*.npy")
    whole = entry.read_bytes()
    places = np.random.default_rng(5).integers(0, len(whole), 150)
    flips = [whole[:k] + bytes([whole[k] ^ 2]) + whole[k + 1 :] for k in places.tolist()]
    for content in (b"", b"PK", whole[:100], whole[: len(whole) // 2], *flips):
        entry.write_bytes(content)
        assert read_swf(path).digest() == right
    entry.write_bytes(whole[:-1])
    assert read_fields(path).columns["think"].size == 1_900
    assert entry.read_bytes() == whole


def test_reversed_columns_are_damage(tmp_path: Path, swf_cache: Path) -> None:
    """Which a sum of them would not show."""
    path = tmp_path / "turned.swf"
    rows = (row(submit=k, run=k % 97) for k in range(4_000))
    path.write_text("\n".join(["; MaxProcs: 64", *rows]))
    right = read_swf(path).digest()
    (entry,) = swf_cache.glob(f"{hashlib.sha256(path.read_bytes()).hexdigest()}-v*.npy")
    values = np.load(entry)
    run = values.size - (len(FIELDS) - FIELDS.index("run")) * 4_000
    turned = values.copy()
    turned[run : run + 4_000] = values[run : run + 4_000][::-1]
    assert turned.sum() == values.sum()
    assert not np.array_equal(turned, values)
    np.save(entry, turned)
    assert read_swf(path).digest() == right


@pytest.mark.parametrize("mode", [0o772, 0o702])
def test_folder_that_others_may_write_is_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    """They could have put anything under the name of a log."""
    path = tmp_path / "big.swf"
    path.write_text(big(2_000))
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "cache"))
    read_swf(path)
    place = folder_of("swf")
    assert place is not None
    assert place.stat().st_mode & 0o777 == 0o700
    (entry,) = place.iterdir()
    assert load(entry.name, FIELDS) is not None
    place.chmod(mode)
    assert load(entry.name, FIELDS) is None
    entry.unlink()
    assert len(read_swf(path)) == 2_000
    assert list(place.iterdir()) == []


def test_unusable_cache_means_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder that cannot be made, or none, changes nothing else."""
    path = tmp_path / "big.swf"
    path.write_text(big(2_100))
    (tmp_path / "file").touch()
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "file"))
    assert len(read_swf(path)) == 2_100
    monkeypatch.setenv(ENVIRONMENT, "")
    assert folder_of("swf") is None
    assert len(read_swf(path)) == 2_100


def test_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """SCHEDFARM_CACHE names the folder, else XDG_CACHE_HOME, else the home's .cache."""
    monkeypatch.setenv(ENVIRONMENT, "/one")
    assert folder_of("swf") == Path("/one/swf")
    monkeypatch.delenv(ENVIRONMENT)
    monkeypatch.setenv("XDG_CACHE_HOME", "/two")
    assert folder_of("swf") == Path("/two/schedfarm/swf")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/three")
    assert folder_of("swf") == Path("/three/.cache/schedfarm/swf")


def test_many_readers_share_one_cache(tmp_path: Path, swf_cache: Path) -> None:
    """Readers that start at once all get the log, and leave one entry and nothing else."""
    path = tmp_path / "shared.swf"
    path.write_text(big(2_200))
    before = set(swf_cache.glob("*"))
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(lambda _: read_swf(path).digest(), range(24)))
    assert len(digests) == 1
    assert len(set(swf_cache.glob("*")) - before) == 1


def test_read_fields_is_64_bits_wide_from_the_cache_too(tmp_path: Path) -> None:
    """Columns can be added without overflow, though the cache holds 32 bits where they fit."""
    path = tmp_path / "big.swf"
    path.write_text(big(2_300))
    for _ in range(2):
        assert {column.dtype for column in read_fields(path).columns.values()} == {
            np.dtype(np.int64)
        }
    (tmp_path / "wide.swf").write_text(big(2_300) + row(submit=2**40))
    for _ in range(2):
        assert read_swf(tmp_path / "wide.swf").submit[-1] == 2**40
