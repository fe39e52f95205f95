"""Seconds of CPU to read a log of the Standard Workload Format, gzip, first and from the cache."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from schedfarm.core import read_swf
from schedfarm.core.caches import ENVIRONMENT
from tests.benchmarks.bench_simulate import LOGS
from tests.benchmarks.conftest import Log

pytestmark = pytest.mark.benchmark(timer=time.process_time)


@pytest.mark.parametrize("kept", [False, True], ids=("first", "cached"))
@pytest.mark.parametrize("name", LOGS)
def bench_read(
    benchmark: BenchmarkFixture,
    log: Log,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    kept: bool,
) -> None:
    """Without the cache the file is decompressed and parsed, and its columns are stored."""
    path, cache = log(name), tmp_path / "cache"
    monkeypatch.setenv(ENVIRONMENT, str(cache))
    read_swf(path)
    assert any(cache.rglob("*"))

    def forget() -> None:
        if not kept:
            shutil.rmtree(cache)

    jobs = benchmark.pedantic(read_swf, (path,), setup=forget, rounds=7 if kept else 3)
    benchmark.extra_info.update(table="reading", log=name, jobs=len(jobs), kept=kept)
