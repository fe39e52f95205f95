"""Errors of the system under a command: one sentence, a status, and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOST = "-dac_override,-dac_read_search"
"""Capabilities by which root reads every file."""

FARM = [sys.executable, "-m", "schedfarm"]


def test_output_that_does_not_fit() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*FARM, "policies"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "farm: standard output or a file: No space left on device; make room, and run the command "
        "again\n"
    )


def test_output_that_is_closed() -> None:
    """There is nothing to write to, which is no error."""
    done = subprocess.run(
        ["sh", "-c", f"{FARM[0]} -m schedfarm --version >&-"], capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/a\xff.swf"
    Path(os.fsdecode(path)).write_text("; MaxProcs: 4\n")
    done = subprocess.run(
        [*FARM, "simulate", path, "--policy", "easy"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith("farm: '")
    assert done.stderr.endswith(
        "a\\udcff.swf' is not UTF-8; rename the file, or link to it by another name\n"
    )


UNPRIVILEGED = ["setpriv", "--bounding-set", LOST, "--inh-caps", LOST] if os.getuid() == 0 else []
"""Root may read every file unless it gives up these capabilities."""


@pytest.mark.parametrize("command", ["status", "compare", "verify"])
def test_a_folder_that_may_not_be_read(tmp_path: Path, command: str) -> None:
    (tmp_path / "s").mkdir(mode=0)
    words = [*UNPRIVILEGED, *FARM, command, tmp_path / "s"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("farm: ")
    assert done.stderr.count("\n") == 1
    assert "Permission denied" in done.stderr
