"""The clock of the processor, and what one pass over the columns of a log costs."""

from __future__ import annotations

import time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmarks.bench_simulate import LOGS
from tests.benchmarks.conftest import Log, read
from tests.benchmarks.floor import clock, one_pass

pytestmark = pytest.mark.benchmark(timer=time.process_time)


def bench_clock(benchmark: BenchmarkFixture) -> None:
    """Cycles a second, with which times become cycles."""
    hertz = benchmark.pedantic(clock)
    benchmark.extra_info.update(table="clock", hertz=hertz)


@pytest.mark.parametrize("name", LOGS)
def bench_pass(benchmark: BenchmarkFixture, log: Log, name: str) -> None:
    """What decides on a schedule is read once, and what a schedule is written once."""
    jobs = read(log(name))
    each = benchmark.pedantic(one_pass, (jobs,))
    benchmark.extra_info.update(
        table="pass", policy="one pass over the columns", log=name, jobs=len(jobs), each=each
    )
