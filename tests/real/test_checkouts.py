"""Benchmarks in processes of a checkout: tasks that they measure, and how they fail."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from schedfarm.core import lublin, read_swf, write_swf
from tests.benchmarks import against, published
from tests.benchmarks.checkout import HERE, Checkout, stand
from tests.benchmarks.stand import measured
from tests.benchmarks.whole import run


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """This project as a checkout of its own, run by the Python of the tests."""
    for folder in ("src", "core"):
        (tmp_path / folder).symlink_to(HERE / folder)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return Checkout(tmp_path)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of a few jobs."""
    write_swf(lublin(16, jobs=30, seed=2), tmp_path / "few.swf")
    return tmp_path / "few.swf"


def test_a_task_is_measured_in_a_process_of_the_checkout(checkout: Checkout, log: Path) -> None:
    task = against.asked("strict", log, "fcfs+easy", rows=(3, 23), load=0.9)
    with stand(checkout) as process:
        there = process.measure(json.loads(json.dumps(task)))
    assert there["jobs"] == 20
    assert there["seconds"] > 0
    assert there["starts"] == measured(task)["starts"]


def test_a_process_that_ends_instead_of_answering_is_told(checkout: Checkout) -> None:
    with stand(checkout) as process, pytest.raises(RuntimeError, match=r"ended at the task"):
        process.measure(against.asked("simulate", Path("no.swf"), "fcfs+easy"))


def test_a_checkout_runs_its_own_code(checkout: Checkout, tmp_path: Path) -> None:
    spent = run(
        checkout,
        (
            "-c",
            "import os, schedfarm; print(schedfarm.__file__, os.environ['NUMBA_CACHE_DIR'])",
        ),
        tmp_path / "in",
        tmp_path / "kernels",
    )
    said = (tmp_path / "in" / "said.txt").read_text().split()
    assert said == [str(tmp_path / "src" / "schedfarm" / "__init__.py"), str(tmp_path / "kernels")]
    assert spent.cpu > 0
    assert spent.wall > 0


def test_a_process_that_fails_is_told_with_what_it_said(checkout: Checkout, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no such luck"):
        run(checkout, ("-c", "raise SystemExit('no such luck')"), tmp_path, tmp_path)


def test_a_published_simulator_that_is_not_there_is_told(log: Path) -> None:
    with pytest.raises(published.Unavailable, match=r"FIFO of accasim.* No module named 'accasim'"):
        published.theirs(Path(sys.executable), log, read_swf(log), "FIFO")
