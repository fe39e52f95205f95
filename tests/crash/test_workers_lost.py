"""A cluster that loses its last worker in the middle of a run: said, waited out, left at will."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedfarm.farm.watching.events import Said, read_events
from tests.crash.stages import CELLS, STRUCK
from tests.support.dask_processes import Site, site
from tests.support.harness import (
    Command,
    assert_same_results,
    campaign_of,
    counts,
    farm as farm_process,
    partial,
    recorded_cells,
    wait_for,
)
from tests.support.made import MadeStores


@pytest.fixture
def undisturbed(made_store: MadeStores) -> Path:
    """A store of the campaign that nothing happened to; the kernels are compiled after it."""
    return made_store(campaign_of(STRUCK))


@pytest.fixture
def there(tmp_path: Path, undisturbed: Path) -> Iterator[Site]:
    """A scheduler without a worker."""
    (tmp_path / "struck.toml").write_text(STRUCK)
    with site(tmp_path) as one:
        yield one


@pytest.fixture
def run(tmp_path: Path, there: Site) -> Iterator[Command]:
    """A run on that scheduler."""
    command = Command(tmp_path, "run", "struck.toml", "--json", "--on", there.address)
    yield command
    command.kill()


def said(run: Command, store: Path, sentence: str) -> None:
    """Wait until a run has said a sentence to whoever looks on, and to its log."""
    wait_for(lambda: sentence in run.err or run.process.poll() is not None, sentence)
    assert run.process.poll() is None, run.err
    wait_for(lambda: sentence in logged(store), f"{sentence} in the log")


def logged(store: Path) -> list[str]:
    return [event.text for event in read_events(store)[0] if isinstance(event, Said)]


def first_cells(run: Command, store: Path) -> None:
    wait_for(lambda: recorded_cells(store) or run.process.poll() is not None, "the first cells")
    assert run.process.poll() is None, run.err


def gone(there: Site) -> str:
    return f"all workers of {there.address} are gone; waiting for one (Ctrl-C stops)"


def none(there: Site) -> str:
    return f"{there.address} has no worker; waiting for one (Ctrl-C stops)"


def back(there: Site) -> str:
    return f"a worker of {there.address} has joined; the run continues"


def assert_interrupted(run: Command, store: Path) -> None:
    assert run.finish() == 130, run.err
    assert "the same command resumes" in run.err
    assert "Traceback" not in run.err
    # A worker that dies in the middle of a task has recorded blocks that it never told of.
    assert counts(run.out)["done"] <= recorded_cells(store) < CELLS
    assert partial(store) == []


def test_last_worker_killed__is_said_and_the_next_one_goes_on(
    run: Command, there: Site, tmp_path: Path, undisturbed: Path
) -> None:
    """The run says that it waits, and ends as if nothing had happened once a worker joins."""
    store = tmp_path / "struck.farm"
    said(run, store, none(there))
    worker = there.worker()
    said(run, store, back(there))
    first_cells(run, store)
    worker.kill()
    said(run, store, gone(there))
    there.worker()
    assert run.finish() == 0, run.err
    assert run.err.count(gone(there)) == 1
    assert run.err.count(back(there)) == 2
    assert "Traceback" not in run.err
    assert counts(run.out) == {"cells": CELLS, "before": 0, "done": CELLS, "failed": 0}
    assert_same_results(store, undisturbed)


def test_interrupt_without_a_worker__ends_the_run(
    run: Command, there: Site, tmp_path: Path, undisturbed: Path
) -> None:
    """One Ctrl-C is enough where no block runs that could be finished; a later run goes on."""
    store = tmp_path / "struck.farm"
    worker = there.worker()
    first_cells(run, store)
    worker.kill()
    said(run, store, gone(there))
    run.signal_group(signal.SIGINT)
    assert_interrupted(run, store)
    before = recorded_cells(store)
    there.worker()
    again = farm_process(tmp_path, "run", "struck.toml", "--json", "--on", there.address)
    assert again.returncode == 0, again
    assert counts(again.stdout)["before"] == before > 0
    assert_same_results(store, undisturbed)


def test_interrupt_before_the_first_worker__ends_the_run(
    run: Command, there: Site, tmp_path: Path
) -> None:
    """A scheduler that never had a worker keeps nobody waiting either."""
    store = tmp_path / "struck.farm"
    said(run, store, none(there))
    run.signal_group(signal.SIGINT)
    assert_interrupted(run, store)


def test_last_worker_dies_after_the_interrupt__ends_the_run(
    run: Command, there: Site, tmp_path: Path
) -> None:
    """A run that finishes its blocks does not wait for those whose last worker is gone."""
    store = tmp_path / "struck.farm"
    worker = there.worker()
    first_cells(run, store)
    # Stopped, it holds the blocks that the run waits for, until it dies.
    worker.send_signal(signal.SIGSTOP)
    run.signal_group(signal.SIGINT)
    wait_for(lambda: "stopping: finishing the blocks that end within 10 s" in run.err, "the answer")
    worker.kill()
    assert_interrupted(run, store)
    assert gone(there) not in run.err
