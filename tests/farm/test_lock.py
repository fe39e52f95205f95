"""One coordinator at a time, named; a lock left behind by a killed one is free."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core import InputError
from farm.store.lock import NAME, locked

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
