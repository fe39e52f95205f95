"""The one atomic writer: a whole file or nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedfarm.core.files import PARTIAL, remove_partial, write_whole


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Its folder is made, and nothing is left beside it."""
    target = tmp_path / "new" / "file"
    write_whole(target, b"one")
    write_whole(target, b"other")
    assert target.read_bytes() == b"other"
    assert [p.name for p in target.parent.iterdir()] == ["file"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A full disk, or an interruption, at any step."""
    target = tmp_path / "file"
    write_whole(target, b"old")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), fail)
    with pytest.raises(KeyboardInterrupt):
        write_whole(target, b"new")
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_what_killed_writers_left_is_deleted(tmp_path: Path) -> None:
    """In every folder below; other files stay."""
    (tmp_path / "a").mkdir()
    for name in (f"x{PARTIAL}", f"a/y{PARTIAL}", "a/z"):
        (tmp_path / name).touch()
    assert remove_partial(tmp_path) == 2
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "z"]
