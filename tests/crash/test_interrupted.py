"""An interrupt from a terminal, and one while the store is being made."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedfarm.farm.cli.stopping import NONE_BEGUN
from tests.crash.failures import STOPPING
from tests.crash.stages import CELLS, STRUCK
from tests.support.harness import Command, counts, recorded_cells, wait_for

TRACES = 16
MANY_TRACES = """name = "many"
policies = ["fcfs+easy"]
loads = [0.5]
resamples = 1
""" + "".join(
    f'[[traces]]\nname = "m{k}"\nmodel = "poisson"\nprocessors = {64 + k}\njobs = 50\n'
    for k in range(TRACES)
)
"""A store of it takes half a second to make."""

MOMENTS = 3
"""Interrupts while it is made; the option --rounds multiplies them."""


@pytest.fixture
def started() -> Iterator[list[Command]]:
    """Commands that do not outlive the test, however it ends."""
    commands: list[Command] = []
    yield commands
    for command in commands:
        command.kill()


@pytest.mark.usefixtures("compiled")
def test_terminal__bar_message_and_status(tmp_path: Path, started: list[Command]) -> None:
    """On a terminal a bar is drawn, and the key Ctrl-C ends the run with a message and 130."""
    (tmp_path / "struck.toml").write_text(STRUCK)
    store = tmp_path / "struck.farm"
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    shown: list[bytes] = []
    try:
        run = Command(tmp_path, "run", "struck.toml", "--workers", "2", terminal=theirs)
        started.append(run)
        os.close(theirs)
        reader = threading.Thread(target=drain, args=(ours, shown))
        reader.start()
        wait_for(lambda: recorded_cells(store) or run.process.poll() is not None, "first cells")
        wait_for(lambda: b"0 failed" in b"".join(shown), "a bar that has moved")
        os.write(ours, b"\x03")
        assert run.finish() == 130
        reader.join()
    finally:
        os.close(ours)
    text = b"".join(shown).decode()
    assert f"/{CELLS} cells, " in text
    assert "0 failed" in text
    assert STOPPING in text
    assert "interrupted; the same command resumes" in text
    assert "Traceback" not in text
    assert counts(text)["done"] == recorded_cells(store)


def drain(terminal: int, shown: list[bytes]) -> None:
    """Read a terminal until its last process has ended."""
    while True:
        try:
            read = os.read(terminal, 65_536)
        except OSError:
            return
        if not read:
            return
        shown.append(read)


def test_interrupt_while_the_store_is_made__is_one_sentence(
    tmp_path: Path, started: list[Command], request: pytest.FixtureRequest
) -> None:
    """Nothing of the work under way is printed, and the next run makes the store as if new."""

    def start() -> Command:
        started.append(Command(tmp_path, "run", "many.toml", "--json", "--workers", "1"))
        return started[-1]

    (tmp_path / "many.toml").write_text(MANY_TRACES)
    results = tmp_path / "many.farm" / "results.zarr"
    moments = MOMENTS * request.config.getoption("--rounds")
    for number in range(moments):
        groups = 1 + number * (TRACES - 4) // moments
        shutil.rmtree(tmp_path / "many.farm", ignore_errors=True)
        command = start()
        wait_for(lambda n=groups: len(list(results.glob("m*"))) >= n, "groups of arrays")
        command.process.send_signal(signal.SIGINT)
        assert command.finish() == 130
        assert command.err.splitlines()[-1:] == [f"farm: interrupted; {NONE_BEGUN}"]
        assert "Task" not in command.err
        assert "Error" not in command.err
    last = start()
    assert last.finish() == 0
    assert counts(last.out) == {"cells": TRACES, "before": 0, "done": TRACES, "failed": 0}
