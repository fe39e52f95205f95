"""Fixtures of the benchmarks: where the logs are, and how often a measurement is repeated."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from schedfarm.core import Workload, read_swf
from schedfarm.farm.logs.registry import here

SHARED = Path(__file__).resolve().parents[3] / "shared" / "traces"
"""Where this project's developers keep the archive's logs, outside of it."""

SPAN = 0.3
"""A measurement is repeated for about so long, s of CPU: the best of at most 9."""

Log = Callable[[str], Path]
Repeat = Callable[[Callable[[], Any]], Any]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--traces", type=Path, default=SHARED, help="folder of the archive's logs")


@pytest.fixture(scope="session")
def log(pytestconfig: pytest.Config) -> Log:
    """Give the file of a named log; skip where it is neither in --traces nor fetched."""

    def find(name: str) -> Path:
        path = here(name, pytestconfig.getoption("--traces"))
        if path is None:
            pytest.skip(f"the log {name} is not here; `farm traces fetch {name}` brings it")
        return path

    return find


@pytest.fixture
def repeat(benchmark: BenchmarkFixture) -> Repeat:
    """Measure a call by process CPU time after one that does not count, and return its result."""

    def measure(call: Callable[[], Any]) -> Any:
        begin = time.process_time()
        call()
        rounds = SPAN / max(time.process_time() - begin, 1e-9)
        return benchmark.pedantic(call, rounds=min(max(int(rounds), 1), 9), iterations=1)

    return measure


@cache
def read(path: Path) -> Workload:
    """Read a log once for all benchmarks."""
    return read_swf(path)
