"""A worker that is stopped, and goes on when another run has grown the store, harms nothing."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from schedfarm import farm
from schedfarm.core.errors import InputError
from schedfarm.farm.execution.run import begin
from schedfarm.farm.planning import block_shape
from schedfarm.farm.verify import Again, verify
from tests.support.growing import SMALL, assert_same_by_label, counts
from tests.support.harness import PATIENCE, wait_for
from tests.support.made import MadeStores
from tests.support.sleeping import sleep_within

POLICIES = ("fcfs+easy", "saf+easy", "spf+easy", "sqf+easy", "fcfs+none")

THREE, FIVE = (
    replace(SMALL, policies=POLICIES[:count], loads=("original",), resamples=1) for count in (3, 5)
)
"""In blocks of two cells the third is alone in its shard, which the growth to five then fills."""


@pytest.fixture(autouse=True)
def pairs(monkeypatch: pytest.MonkeyPatch, made_store: MadeStores) -> None:
    """Cut the campaigns into blocks of two cells, but not the store that others may read."""
    made_store(FIVE)
    monkeypatch.setattr(block_shape, "SHARD_BYTES", 8 * block_shape.JOB_STEP * 2)


class Sleeper:
    """A worker of a run that has ended, stopped."""

    def __init__(self, store: Path, where: str) -> None:
        # Not from a fork: another thread of this process may hold a lock.
        spawn = multiprocessing.get_context("spawn")
        self._answer, theirs = spawn.Pipe(duplex=False)
        with begin(THREE, store) as prepared:
            (task,) = prepared.tasks
            self._process = spawn.Process(target=sleep_within, args=(task, where, theirs))
            self._process.start()
            theirs.close()
            stat = Path(f"/proc/{self._process.pid}/stat")
            wait_for(lambda: state(stat) in "TZ", "the sleep")
            assert state(stat) == "T"

    def wake(self) -> str:
        """Let it go on to its end, and return its answer."""
        os.kill(self._process.pid, signal.SIGCONT)
        assert self._answer.poll(PATIENCE)
        answer: str = self._answer.recv()
        self._process.join(PATIENCE)
        return answer

    def end(self) -> None:
        """Leave no process to the next test."""
        self._process.kill()
        self._process.join()


def state(stat: Path) -> str:
    """Return the letter by which /proc tells that a process runs, sleeps or is stopped."""
    return stat.read_text().rpartition(")")[2].split()[0]


@pytest.fixture
def sleeper(tmp_path: Path, where: str) -> Iterator[Sleeper]:
    one = Sleeper(tmp_path / "s", where)
    yield one
    one.end()


@pytest.mark.parametrize("where", ["writing", "half"])
def test_a_sleeper_that_writes__finds_that_it_is_not_its_turn(
    tmp_path: Path, made_store: MadeStores, sleeper: Sleeper
) -> None:
    """It was stopped inside a shard; what the next run acknowledged stays, byte by byte.

    So does the block of two cells that it had stored before.
    """
    store = tmp_path / "s"
    assert counts(farm.run(FIVE, store)) == (5, 2, 3, 0)
    said = sleeper.wake()
    assert list(verify(store, Again(0))) == []
    assert "the run of this block has ended" in said
    assert_same_by_label(store, made_store(FIVE))
    assert list(store.rglob("*.partial")) == []


@pytest.mark.parametrize("where", ["moving", "acknowledging"])
def test_a_sleeper_that_has_its_turn__is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_store: MadeStores, sleeper: Sleeper
) -> None:
    """The next run says so instead of growing under it, and goes on once it has ended.

    It ends with the block that it was at: before the one behind it the turn is over.
    """
    store = tmp_path / "s"
    monkeypatch.setattr(farm.store.lock, "PATIENCE", 0.2)
    with pytest.raises(InputError, match="is still writing a block, or suspended"):
        farm.run(FIVE, store)
    assert "the run of this block has ended" in sleeper.wake()
    assert counts(farm.run(FIVE, store)) == (5, 2, 3, 0)
    assert list(verify(store, Again(0))) == []
    assert_same_by_label(store, made_store(FIVE))
