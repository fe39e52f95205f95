"""Whole processes: the first that compiles, the next that starts warm, and a million jobs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmarks.conftest import Log
from tests.benchmarks.whole import STARTS

ROOT = Path(__file__).resolve().parents[2]

MILLION = """
import sys
from resource import RUSAGE_SELF, getrusage
from schedfarm.core import lublin, simulate
jobs = lublin(256, jobs=1_000_000, load=0.9, seed=1)
before = getrusage(RUSAGE_SELF).ru_maxrss
simulate(jobs, sys.argv[1])
print(len(jobs), before, getrusage(RUSAGE_SELF).ru_maxrss)
"""


def children() -> float:
    """Return the CPU time of the ended child processes, user and system, s."""
    spent = os.times()
    return spent.children_user + spent.children_system


pytestmark = pytest.mark.benchmark(timer=children)


def run(cache: Path, *words: str) -> str:
    """Run Python with compiled kernels kept in this folder; return what it prints."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder in which the cold benchmarks leave their kernels for the warm ones."""
    return tmp_path_factory.mktemp("kernels")


@pytest.mark.parametrize("warm", [False, True], ids=("cold", "warm"))
@pytest.mark.parametrize("process", STARTS)
def bench_start(
    benchmark: BenchmarkFixture, log: Log, compiled: Path, process: str, warm: bool
) -> None:
    """A process on the KTH log, with an empty and with a filled folder of kernels."""
    words = (*STARTS[process], str(log("KTH-SP2")))
    folder = compiled / process
    if warm:
        run(folder, *words)
    assert warm == folder.exists()
    benchmark.pedantic(run, (folder, *words), rounds=5 if warm else 1)
    benchmark.extra_info.update(table="starts", process=process, warm=warm)


@pytest.mark.parametrize("policy", ["fcfs+easy", "saf+easy", "fcfs+conservative"])
def bench_million(benchmark: BenchmarkFixture, compiled: Path, policy: str) -> None:
    """A million jobs of the Lublin-Feitelson model at an offered load of 0.9, and their memory."""
    folder = compiled / policy.replace("saf", "fcfs")  # one kernel is for every fixed order
    printed = benchmark.pedantic(run, (folder, "-c", MILLION, policy), rounds=1)
    jobs, before, peak = map(int, printed.split())
    assert jobs == 1_000_000
    benchmark.extra_info.update(
        table="memory", policy=policy, before=before // 1024, peak=peak // 1024
    )
