"""One coordinator at a time, named; a lock left behind by a killed one is free."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from core import InputError
from farm.store.lock import NAME, check_turn, locked

HOLD = """
import sys, time
from pathlib import Path
from farm.store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_second_coordinator_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    """The refusal names process and host, and nothing is taken from the holder."""
    with holder(tmp_path) as process:
        with (
            pytest.raises(InputError, match=f"in use by process {process.pid} on "),
            locked(tmp_path),
        ):
            pass
        assert (tmp_path / NAME).exists()
        process.communicate()
    assert not (tmp_path / NAME).exists()


def test_lock_of_a_killed_holder_is_free(tmp_path: Path) -> None:
    """The file of a killed run stays, and keeps nobody out."""
    with holder(tmp_path) as process:
        process.kill()
    assert (tmp_path / NAME).exists()
    with locked(tmp_path):
        pass
    assert not (tmp_path / NAME).exists()


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """A path below a file is one sentence."""
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"), locked(tmp_path / "file" / "store"):
        pass


def test_lock_of_another_run_outlives_the_first(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with locked(tmp_path):
            (tmp_path / NAME).unlink()
            process = stack.enter_context(holder(tmp_path))
        assert (tmp_path / NAME).exists()
        with pytest.raises(InputError, match=f"in use by process {process.pid}"), locked(tmp_path):
            pass
        process.communicate()


def test_locks_without_effect_do_not_end_the_run_that_holds_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run is refused by what the file says; after the first has ended, it is not."""
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    with locked(tmp_path) as run:
        with pytest.raises(InputError, match="locks have no effect on this disk, and lock.json na"):
            locked(tmp_path).__enter__()
        check_turn(tmp_path, run)
    with locked(tmp_path):
        pass
