"""Pipes of the installed command: a reader that leaves early, a shell that asks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from schedfarm.farm import Campaign, run
from schedfarm.farm.cli.command import READER_GONE
from tests.support.harness import FARM
from tests.support.refusals import GOOD, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a campaign and its finished store, which has enough samples for a band."""
    folder = tmp_path_factory.mktemp("done")
    write({**GOOD, "resamples": 4}, folder / "c.toml")
    run(Campaign.from_toml(folder / "c.toml"), folder / "tiny.farm")
    return folder


@pytest.mark.parametrize(
    "words", [("policies",), ("bands", "tiny.farm"), ("run", "c.toml", "--store", "tiny.farm")]
)
def test_a_reader_that_leaves_is_no_failure(folder: Path, words: tuple[str, ...]) -> None:
    """No error is printed, and the status is that of a program that SIGPIPE has ended."""
    read, written = os.pipe()
    os.close(read)
    done = subprocess.run([FARM, *words], cwd=folder, stdout=written, stderr=subprocess.PIPE)
    os.close(written)
    assert done.returncode == READER_GONE
    assert b"rror" not in done.stderr
    assert b"ipe" not in done.stderr


def test_the_installed_command_answers_a_shell() -> None:
    """As it is called by the script, whatever `farm` does with exceptions and exit statuses."""
    asked = {"COMP_WORDS": "farm stat", "COMP_CWORD": "1", "_FARM_COMPLETE": "bash_complete"}
    done = subprocess.run(
        [FARM], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "plain,status\n"
