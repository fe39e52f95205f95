"""Workers that lack the run's versions, its program or its store are found out before any block."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.comm.core import CommClosedError

from schedfarm.farm.execution.workers import Preflight, RunContext, preflight
from schedfarm.farm.store.place import place_of
from schedfarm.farm.watching.events import BlockDone, Said, read_events
from tests.support.dask_processes import Site, site
from tests.support.harness import PATIENCE, Command, counts, two_machines
from tests.support.paths import IMPORTED

LOADS = (0.5, 0.7)
CELLS = 8
CAMPAIGN = two_machines("roll", 3, 2, LOADS, ("fcfs+easy",))

OLD = """\
Metadata-Version: 2.1
Name: numpy
Version: 1.26.0
"""
"""What pip has beside a package, by which a program tells its version."""


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "data").mkdir()
    (tmp_path / "roll.toml").write_text(CAMPAIGN)
    with site(tmp_path) as one:
        yield one


def old_numpy(folder: Path) -> str:
    (folder / "numpy-1.26.0.dist-info").mkdir(parents=True)
    (folder / "numpy-1.26.0.dist-info" / "METADATA").write_text(OLD)
    return os.pathsep.join([str(folder), IMPORTED])


def no_farm(folder: Path) -> str:
    """Hide the installed program, as if it were not."""
    (folder / "schedfarm").mkdir(parents=True)
    hidden = "raise ModuleNotFoundError(\"No module named 'schedfarm'\")\n"
    (folder / "schedfarm" / "__init__.py").write_text(hidden)
    return str(folder)


def run(there: Site, folder: Path, workers: int) -> Command:
    from distributed import Client

    with Client(there.address) as client:
        client.wait_for_workers(workers, timeout=PATIENCE)
    command = Command(
        folder, "run", "roll.toml", "--json", "--on", there.address, "--store", "data/roll.farm"
    )
    command.finish()
    return command


def said(store: Path) -> list[str]:
    """What was said before the first block was done."""
    events = read_events(store)[0]
    first = next(i for i, event in enumerate(events) if isinstance(event, BlockDone))
    return [event.text for event in events[:first] if isinstance(event, Said)]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (old_numpy, f"{platform.node()} has numpy 1.26.0 instead of "),
        (
            no_farm,
            "cannot run this schedfarm (ModuleNotFoundError(\"No module named 'schedfarm'\"))",
        ),
    ],
)
def test_another_version__is_named_and_set_aside(
    there: Site, tmp_path: Path, make: Callable[[Path], str], expected: str
) -> None:
    there.worker(PYTHONPATH=make(tmp_path / "other"))
    there.worker()
    command = run(there, tmp_path, 2)
    assert counts(command.out) == {"cells": CELLS, "before": 0, "done": CELLS, "failed": 0}
    [sentence] = said(tmp_path / "data" / "roll.farm")
    assert expected in sentence
    assert sentence.endswith("; it is quarantined, the others continue")


def test_none_has_the_version__the_run_ends_in_a_sentence(there: Site, tmp_path: Path) -> None:
    there.worker(PYTHONPATH=old_numpy(tmp_path / "other"))
    command = run(there, tmp_path, 1)
    assert command.process.returncode == 2
    [sentence] = [line for line in command.err.splitlines() if line.startswith("farm: ")]
    assert "no worker is usable: " in sentence
    assert "has numpy 1.26.0 instead of " in sentence


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None,
    reason="only root may give a process other mounts",
)
@pytest.mark.parametrize("has_folder", [True, False])
def test_another_disk_at_the_same_path__is_named_and_set_aside(
    there: Site, tmp_path: Path, has_folder: bool
) -> None:
    """A worker on a host that does not mount the store's disk, with or without a folder there."""
    store = tmp_path / "data" / "roll.farm"
    hide = f"mount -t tmpfs none {tmp_path / 'data'}" + f" && mkdir {store}" * has_folder
    there.worker("unshare", "--mount", "sh", "-c", f'{hide} && exec "$@"', "sh")
    there.worker()
    command = run(there, tmp_path, 2)
    assert counts(command.out) == {"cells": CELLS, "before": 0, "done": CELLS, "failed": 0}
    [sentence] = said(store)
    assert f"worker {platform.node()}:" in sentence
    expected = {
        True: f"has another folder at {store} than this run: the run's lock is not in it",
        False: f"cannot use {store / 'turn.lock'} (No such file or directory)",
    }
    assert expected[has_folder] in sentence


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (ModuleNotFoundError("No module named 'schedfarm'"), True),
        (
            AttributeError(
                "module 'schedfarm.farm.execution.workers' has no attribute 'check_worker'"
            ),
            True,
        ),
        (Exception("ModuleNotFoundError(\"No module named 'schedfarm'\")"), True),
        (Exception("OSError('timed out')"), False),
        (CommClosedError("Address removed."), False),
        (MemoryError(), False),
        (ImportError("libllvmlite.so: failed to map segment from shared object"), False),
        (Preflight("h:1", ""), False),
        (Preflight("h:1", "worker h:1 cannot use /s (Permission denied)"), True),
    ],
)
def test_only_what_proves_a_lack__sets_a_worker_aside(
    answer: Preflight | Exception, told: bool
) -> None:
    """A worker that dies while it is asked, or has no memory just then, may have the program."""
    client: Any = SimpleNamespace(run=lambda *given, **named: {"tcp://h:1": answer})
    found = preflight(client, ["tcp://h:1"], RunContext(place_of("s"), "", None))
    assert [address for address, one in found.items() if one.lacks] == ["tcp://h:1"] * told
