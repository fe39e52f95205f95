"""The `farm` command in this process, by the same entry point and with all of its output."""

from __future__ import annotations

import sys
from contextlib import chdir
from pathlib import Path
from typing import Any, Protocol

import click
import pytest
from click.testing import CliRunner, Result

from schedfarm.farm.cli import main


class Farm(Protocol):
    """Runs `farm` with arguments, and checks the exit status (None: any): fixture `farm`."""

    def __call__(self, *words: object, status: int | None = 0) -> Result: ...


class EntryPoint(click.Command):
    """The installed command, which turns errors into one sentence and a status.

    Click's runner would call the group below it, where bad input is still an exception.
    """

    def main(self, args: Any, prog_name: Any, **_: Any) -> Any:
        """Run `farm.cli.main` on these words."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sys, "argv", [prog_name, *args])
            main()


def run_farm(*words: object, status: int | None = 0) -> Result:
    """Run `farm`; an exception that a user would see as a traceback is raised."""
    done = CliRunner().invoke(EntryPoint("farm"), [*map(str, words)], catch_exceptions=False)
    assert status is None or done.exit_code == status, (words, done.exit_code, done.output)
    return done


def farm_in(folder: Path, *words: object) -> Result:
    """Run `farm` in a working folder, whatever its status."""
    with chdir(folder):
        return run_farm(*words, status=None)
