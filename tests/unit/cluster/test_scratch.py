"""Scratch folders of Dask's processes: this user's own, or a sentence."""

from __future__ import annotations

from pathlib import Path

import dask
import pytest

from schedfarm.cluster import scratch
from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.scratch import KEY


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder as a machine has it: everybody's, with the sticky bit."""
    place = tmp_path / "tmp"
    place.mkdir()
    place.chmod(0o1777)
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(place))
    return place


def test_it_is_this_users_own_and_the_same_again(temporary: Path) -> None:
    """Dask cleans it of what killed runs have left."""
    place = scratch.scratch()
    assert place.parent == temporary
    assert place.stat().st_mode & 0o777 == 0o700
    assert scratch.scratch() == place


def test_one_that_somebody_else_has_made_first_is_left_alone(temporary: Path) -> None:
    first = scratch.scratch()
    first.chmod(0o777)
    place = scratch.scratch()
    assert place != first
    assert place.stat().st_mode & 0o777 == 0o700


def test_a_temporary_folder_in_which_all_can_rename_is_refused(temporary: Path) -> None:
    temporary.chmod(0o777)
    with pytest.raises(ClusterError, match=rf"write to {temporary}: .* set TMPDIR"):
        scratch.scratch()


def test_one_that_dasks_configuration_names_is_looked_at_too(tmp_path: Path) -> None:
    named = tmp_path / "named"
    with dask.config.set({KEY: str(named)}):
        assert scratch.scratch() == named
        named.chmod(0o777)
        with pytest.raises(ClusterError, match=rf"{named} is not safe"):
            scratch.scratch()


def test_one_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    named = str(tmp_path / "file" / "in")
    refusal = pytest.raises(ClusterError, match=r"cannot be used \(File exists\)")
    with dask.config.set({KEY: named}), refusal:
        scratch.scratch()
