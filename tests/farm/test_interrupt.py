"""Kill anything at any moment, run again, end with the same store."""

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

from core import simulate
from core.models.lublin import lublin
from tests.farm.harness import (
    Command,
    arrays,
    assert_same_results,
    counts,
    partial,
    recorded_cells,
    records,
    two_machines,
    wait_for,
)

LOADS = (0.5, 0.6, 0.7, 0.8, 0.9)
RESAMPLES = 8
POLICIES = ("fcfs+easy", "spf+easy", "saf+easy", "fcfs+none")
CELLS = 2 * RESAMPLES * len(LOADS) * len(POLICIES)

CAMPAIGN = two_machines("kill", 7, RESAMPLES, LOADS, POLICIES)
"""80 tasks, of which two workers hold 4 at a time: about 5 s of work, most of it in drawing the
model and in writing, so that a faster simulator leaves a middle to strike in."""

STOPPING = "stopping: finishing the blocks that end within 10 s"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the campaign that nothing happened to."""
    for policy in POLICIES:
        # Kernels are compiled once, here, and not by two workers of the first run.
        simulate(lublin(64, jobs=10), policy)
    folder = tmp_path_factory.mktemp("undisturbed")
    command = start(folder)
    assert command.finish() == 0
    assert counts(command.out) == {"cells": CELLS, "before": 0, "done": CELLS, "failed": 0}
    return folder / "kill.farm"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder whose commands do not outlive the test, however it ends."""
    yield tmp_path
    for command in STARTED:
        command.kill()
    STARTED.clear()


STARTED: list[Command] = []


def start(folder: Path, terminal: int | None = None) -> Command:
    (folder / "kill.toml").write_text(CAMPAIGN)
    STARTED.append(Command(folder, "run", "kill.toml", "--workers", "2", terminal=terminal))
    return STARTED[-1]


def first_cells(folder: Path) -> None:
    """Wait until a run has acknowledged cells."""
    run, store = STARTED[-1], folder / "kill.farm"
    wait_for(lambda: recorded_cells(store) or run.process.poll() is not None, "the first cells")
    assert run.process.poll() is None, run.err


def resume(folder: Path, undisturbed: Path) -> None:
    """Run again and hold: nothing that was acknowledged runs again, and the store is whole."""
    store = folder / "kill.farm"
    before, cells = records(store), recorded_cells(store)
    assert 0 < cells < CELLS
    again = start(folder)
    assert again.finish() == 0, again.err
    assert counts(again.out) == {
        "cells": CELLS,
        "before": cells,
        "done": CELLS - cells,
        "failed": 0,
    }
    after = records(store)
    assert {name: after[name] for name in before} == before
    assert partial(store) == []
    assert_same_results(store, undisturbed)


def test_the_campaign_has_a_middle(undisturbed: Path) -> None:
    """There are blocks enough to be interrupted among, and values in every one of them."""
    assert len(records(undisturbed)) == 2 * len(LOADS) * RESAMPLES * 2
    stored = arrays(undisturbed)
    assert (stored["m64/wait"].max(axis=-1) >= 0).all()
    assert (stored["wait"] > 0).any()


def test_interrupt__finishes_what_runs_and_goes_on_later(folder: Path, undisturbed: Path) -> None:
    """Ctrl-C reaches the whole process group; no finished cell is lost or simulated again."""
    run = start(folder)
    first_cells(folder)
    run.signal_group(signal.SIGINT)
    assert run.finish() == 130
    assert STOPPING in run.err
    assert "Traceback" not in run.err
    assert counts(run.out)["done"] == recorded_cells(folder / "kill.farm")
    assert partial(folder / "kill.farm") == []
    resume(folder, undisturbed)


def test_second_interrupt__abandons_what_runs(folder: Path, undisturbed: Path) -> None:
    """A second Ctrl-C waits for no block, and leaves neither processes nor harm."""
    run = start(folder)
    first_cells(folder)
    run.signal_group(signal.SIGINT)
    wait_for(lambda: STOPPING in run.err, "the answer to the first interrupt")
    run.signal_group(signal.SIGINT)
    assert run.finish() == 130
    assert "abandoned what was running" in run.err
    assert "Traceback" not in run.err
    resume(folder, undisturbed)


def test_killed_worker__is_replaced(folder: Path, undisturbed: Path) -> None:
    """A worker that is killed takes no cell with it: the run ends by itself, whole."""
    run = start(folder)
    first_cells(folder)
    workers = run.workers()
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    assert run.finish() == 0, run.err
    assert counts(run.out) == {"cells": CELLS, "before": 0, "done": CELLS, "failed": 0}
    assert_same_results(folder / "kill.farm", undisturbed)


def test_killed_group__loses_nothing_acknowledged(folder: Path, undisturbed: Path) -> None:
    """After kill -9 of everything the next run goes on from the records."""
    run = start(folder)
    first_cells(folder)
    run.signal_group(signal.SIGKILL)
    assert run.finish() == -signal.SIGKILL
    resume(folder, undisturbed)


def test_killed_coordinator__takes_its_workers_with_it(folder: Path, undisturbed: Path) -> None:
    """Workers that have lost their coordinator end by themselves, and the next run goes on."""
    run = start(folder)
    first_cells(folder)
    os.kill(run.process.pid, signal.SIGKILL)
    assert run.finish() == -signal.SIGKILL
    resume(folder, undisturbed)


def test_terminal__bar_message_and_status(folder: Path) -> None:
    """On a terminal a bar is drawn, and the key Ctrl-C ends the run with a message and 130."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    shown: list[bytes] = []
    try:
        run = start(folder, terminal=theirs)
        os.close(theirs)
        reader = threading.Thread(target=drain, args=(ours, shown))
        reader.start()
        first_cells(folder)
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
    assert "interrupted; the same command goes on from here" in text
    assert "Traceback" not in text
    assert counts(text)["done"] == recorded_cells(folder / "kill.farm")


def drain(terminal: int, shown: list[bytes]) -> None:
    """Read a terminal until its last process is gone."""
    while True:
        try:
            read = os.read(terminal, 65_536)
        except OSError:
            return
        if not read:
            return
        shown.append(read)


TRACES = 40
MANY_TRACES = """name = "many"
policies = ["fcfs+easy"]
loads = [0.5]
resamples = 1
""" + "".join(
    f'[[traces]]\nname = "m{k}"\nmodel = "poisson"\nprocessors = {64 + k}\njobs = 50\n'
    for k in range(TRACES)
)
"""A store of it takes a second to make."""


def test_interrupt_while_the_store_is_made__is_one_sentence(folder: Path) -> None:
    """Nothing of what was under way is told, and the next run makes the store as if new."""
    (folder / "many.toml").write_text(MANY_TRACES)
    results = folder / "many.farm" / "results.zarr"
    for groups in range(1, TRACES - 5, 5):
        shutil.rmtree(folder / "many.farm", ignore_errors=True)
        command = many(folder)
        wait_for(lambda n=groups: len(list(results.glob("m*"))) >= n, "groups of arrays")
        command.process.send_signal(signal.SIGINT)
        assert command.finish() == 130
        assert command.err.splitlines()[-1:] == ["farm: interrupted"]
        assert "Task" not in command.err
        assert "Error" not in command.err
    last = many(folder)
    assert last.finish() == 0
    assert counts(last.out) == {"cells": TRACES, "before": 0, "done": TRACES, "failed": 0}


def many(folder: Path) -> Command:
    STARTED.append(Command(folder, "run", "many.toml", "--workers", "1"))
    return STARTED[-1]
