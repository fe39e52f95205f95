"""A worker that is stopped, and goes on when another run has grown the store, harms nothing."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import farm
import farm.store.lock
from core.errors import InputError
from farm.execution.runner import begin
from farm.planning import block_shape
from farm.verify import Again, verify
from tests.farm.growing import SMALL, assert_same_by_label, counts
from tests.farm.harness import PATIENCE, POLL, ROOT

POLICIES = ("fcfs+easy", "saf+easy", "spf+easy", "sqf+easy", "fcfs+none")

THREE, FIVE = (
    replace(SMALL, policies=POLICIES[:count], loads=("original",), resamples=1) for count in (3, 5)
)
"""In blocks of two cells the third is alone in its shard, which the growth to five then fills."""

SLEEPER = """
import pickle, signal, sys, threading
from pathlib import Path

task, where = pickle.loads(Path(sys.argv[1]).read_bytes()), sys.argv[2]
slept = []

def sleep(place):
    if place == where and not slept:
        slept.append(place)
        # This thread, which a signal to the process might let go on for a moment.
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)

from zarr.storage import _local
put, replace = _local._put, Path.replace

def stopped_put(path, *arguments, **keys):
    if "/wait/c/0/0/1/" in str(path):
        sleep("writing")
    return put(path, *arguments, **keys)

def stopped_replace(self, target):
    if "/wait/c/0/0/1/" in str(target) and str(target).endswith(".partial"):
        sleep("renaming")
    if "/wait/c/" in str(target) and not str(target).endswith(".partial"):
        sleep("moving")
    if "/records/" in str(target):
        sleep("acknowledging")
    return replace(self, target)

_local._put, Path.replace = stopped_put, stopped_replace
from farm.execution.task import run_task
run_task(task)
"""
"""Carries a task out, and stops before it writes a shard, when half of one is there, before it
moves one, or acknowledges a block."""


@pytest.fixture(autouse=True)
def pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut the campaigns into blocks of two cells."""
    monkeypatch.setattr(block_shape, "SHARD_BYTES", 8 * block_shape.JOB_STEP * 2)


class Sleeper:
    """A worker of a run that has ended, stopped."""

    def __init__(self, folder: Path, store: Path, where: str) -> None:
        (folder / "sleeper.py").write_text(SLEEPER)
        with begin(THREE, store) as prepared:
            assert len(prepared.tasks) == 1
            (folder / "task").write_bytes(pickle.dumps(prepared.tasks[0]))
            words = [sys.executable, str(folder / "sleeper.py"), str(folder / "task"), where]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            self._process = subprocess.Popen(
                words, env=environment, cwd=folder, stderr=subprocess.PIPE, text=True
            )
            stat, until = Path(f"/proc/{self._process.pid}/stat"), time.monotonic() + PATIENCE
            while stat.read_text().rpartition(")")[2].split()[0] != "T":
                assert time.monotonic() < until
                assert self._process.poll() is None
                time.sleep(POLL)

    def wake(self) -> str:
        """Let it go on to its end, and return what it said."""
        self._process.send_signal(signal.SIGCONT)
        return self._process.communicate(timeout=PATIENCE)[1]


@pytest.mark.parametrize("where", ["writing", "renaming"])
def test_a_sleeper_that_writes__finds_that_it_is_not_its_turn(tmp_path: Path, where: str) -> None:
    """It was stopped inside a shard; what the next run acknowledged stays, byte by byte.

    So does the block of two cells that it had stored before.
    """
    store = tmp_path / "s"
    sleeper = Sleeper(tmp_path, store, where)
    assert counts(farm.run(FIVE, store)) == (5, 2, 3, 0)
    said = sleeper.wake()
    assert list(verify(store, Again(0))) == []
    assert "the run that asked for this block has ended" in said
    farm.run(FIVE, tmp_path / "at-once")
    assert_same_by_label(store, tmp_path / "at-once")
    assert list(store.rglob("*.partial")) == []


@pytest.mark.parametrize("where", ["moving", "acknowledging"])
def test_a_sleeper_that_has_its_turn__is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """The next run says so instead of growing under it, and goes on once it has ended.

    It ends with the block that it was at: before the one behind it the turn is over.
    """
    store = tmp_path / "s"
    sleeper = Sleeper(tmp_path, store, where)
    monkeypatch.setattr(farm.store.lock, "PATIENCE", 0.2)
    with pytest.raises(InputError, match="is still in the midst of writing a block, perhaps stop"):
        farm.run(FIVE, store)
    assert "the run that asked for this block has ended" in sleeper.wake()
    assert counts(farm.run(FIVE, store)) == (5, 2, 3, 0)
    assert list(verify(store, Again(0))) == []
    farm.run(FIVE, tmp_path / "at-once")
    assert_same_by_label(store, tmp_path / "at-once")
