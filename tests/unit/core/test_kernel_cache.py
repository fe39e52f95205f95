"""The folder of compiled kernels: where it is, when it is not used, how much it holds."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest

from schedfarm.core.engine import cache, jit as decorators


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    """A process asks for its folder once."""
    cache._usable.cache_clear()
    yield
    cache._usable.cache_clear()


def test_it_is_among_the_users_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "schedfarm" / "kernels"
    assert (tmp_path / "schedfarm" / "kernels").stat().st_mode & 0o777 == 0o700


def test_it_is_where_numbas_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert cache.folder() == tmp_path / "schedfarm"


def test_a_folder_that_others_can_write_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once in a process, with the folder and the ways out."""
    tmp_path.chmod(0o777)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    with pytest.warns(RuntimeWarning, match=rf"write to {tmp_path}: .* chmod go-w {tmp_path}, or"):
        assert cache.folder() is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.folder() is None


@pytest.mark.filterwarnings("ignore:compiled kernels are neither kept")
def test_a_kernel_without_a_folder_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert decorators.kernel(lambda x: x)._cache.cache_path.startswith(str(tmp_path))  # type: ignore[attr-defined]
    cache._usable.cache_clear()
    tmp_path.chmod(0o777)
    assert decorators.kernel(lambda x: x)._cache.cache_path is None  # type: ignore[attr-defined]


def test_no_home_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cache.folder() is None


def test_other_sources_and_compilers_have_other_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "one.py"
    source.write_text("x = 1\n")
    (tmp_path / "two.py").write_text("x = 2\n")
    first = cache._version(source)
    assert cache._version(tmp_path / "two.py") != first
    monkeypatch.setattr(cache.numba, "__version__", "0.0")
    assert cache._version(source) != first


def test_kernels_used_longest_ago_go_first(tmp_path: Path) -> None:
    """The one just compiled stays, even if it is the oldest or too large by itself."""
    for used, name in enumerate(("kept", "b", "c", "d")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "code").write_bytes(bytes(100))
        os.utime(tmp_path / name, (used, used))
    cache.prune(tmp_path, 400, tmp_path / "kept")
    assert len(list(tmp_path.iterdir())) == 4
    cache.prune(tmp_path, 399, tmp_path / "kept")
    assert {one.name for one in tmp_path.iterdir()} == {"kept", "c", "d"}
    cache.prune(tmp_path, 10, tmp_path / "kept")
    assert {one.name for one in tmp_path.iterdir()} == {"kept"}
