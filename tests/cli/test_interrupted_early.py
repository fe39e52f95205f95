"""Ctrl-C before the first cell is begun."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest

from schedfarm.farm import cli
from schedfarm.farm.execution import run
from tests.support.command_line import Farm
from tests.support.refusals import GOOD, write


def test_an_early_interrupt_says_that_no_cell_was_begun(
    farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the store is prepared: one sentence, and status 130."""

    def interrupted(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "begin", interrupted)
    monkeypatch.setattr("schedfarm.farm.cli.os._exit", sys.exit)
    monkeypatch.chdir(tmp_path)
    write(GOOD, Path("c.toml"))
    done = farm("run", "c.toml", status=130)
    assert (
        done.stderr.lstrip()
        == "farm: interrupted; no cell was begun; the same command starts over\n"
    )


def test_an_interrupt_in_a_destructor__is_raised_again_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Python itself prints a traceback there and drops the interrupt."""

    class Interrupted:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    def destroy() -> None:
        held = Interrupted()
        del held
        time.sleep(60)
        pytest.fail("the interrupt is lost")

    monkeypatch.setattr("sys.unraisablehook", cli._interrupt_again)
    with pytest.raises(KeyboardInterrupt):
        destroy()
    assert capfd.readouterr().err == ""
