"""`farm warm` with an empty cache: whatever it compiles, no process compiles after it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = """
import sys
from schedfarm.core.engine.compiling import each_compiled
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.workload.workload import Workload
work = Workload.from_columns(submit=[0, 1, 2, 3], run=[10, 10, 5, 20], estimate=[10, 10, 5, 20],
                             procs=[3, 4, 1, 1], processors=4)
compiled = []
with each_compiled(lambda: compiled.append(1)):
    for name in sys.argv[1:]:
        simulate(work, name)
        fair_start_times(work, name)
print(len(compiled))
"""


ALIKE = {
    "saf+easy": "fcfs+easy",
    "unicef+easy": "lxf+easy",
    "fair-usage+easy": "fair-share+easy",
    "sxf+conservative": "lxf+conservative",
    "lcfs+depth(7)": "fcfs+depth(2)",
    "fcfs+planned": "fcfs+planned",
    "wfp3+planned,walk=queue": "lxf+planned,walk=queue",
    "fcfs+tabu,seed=3": "fcfs+tabu",
}
"""A policy of each kind, and the one that is precompiled for its kind."""

PRECOMPILED = """
import sys
from schedfarm.farm.execution import precompile as p
p.MACHINES = p.MACHINES[:1]
policies = [one for one in p.every_policy() if one.name in sys.argv[1:]]
assert len(policies) == len({*sys.argv[1:]}), policies
assert list(p.precompile(policies))
"""
"""Compiles kernels on a pool, where the other process simulates."""

LOADED = """
import gc
from numba.core.dispatcher import Dispatcher
from schedfarm.core.engine.cache import KernelCache
for one in gc.get_objects():
    if isinstance(one, Dispatcher) and isinstance(one._cache, KernelCache):
        for kinds in one.signatures:
            print(one.py_func.__module__, one.py_func.__qualname__, kinds)
"""
"""Prints the kernels of this process."""


def run(cache: Path | None, *words: str) -> str:
    """Run Python with a folder of compiled kernels, by default that of all tests."""
    # An empty folder is filled without optimisation, in two thirds of the time.
    own = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache), "NUMBA_OPT": "0"}
    done = subprocess.run(
        [sys.executable, *words],
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def warm(cache: Path, *policies: str) -> str:
    return run(cache, "-m", "schedfarm", "warm", *policies)


@pytest.fixture(name="with_jit")
def needs_jit() -> None:
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("without the JIT nothing is compiled")


@pytest.mark.usefixtures("with_jit")
def test_what_is_warm_is_not_compiled_again(tmp_path: Path) -> None:
    """A first time it is, a second time it is at hand, and a simulation finds it."""
    first = warm(tmp_path, "fcfs+none")
    assert "fcfs+none on pool: " in first
    assert f"kept in {tmp_path}" in first
    assert "at hand" not in first.splitlines()[0]
    again = warm(tmp_path, "fcfs+none")
    assert "fcfs+none on pool: at hand" in again
    assert "0 functions compiled in" in again
    assert run(tmp_path, "-c", COUNT, "fcfs+none", "saf+easy", "spf+aggressive").strip() == "0"


@pytest.mark.usefixtures("with_jit")
def test_a_policy_uses_the_kernels_of_its_kind_only() -> None:
    """Precompilation covers each kernel of a pool, by its name and the types of its arguments.

    Both processes use the kernels that other tests have compiled: an empty cache, all policies and
    all machines took 200 s of CPU.
    """
    compiled = {*run(None, "-c", PRECOMPILED + LOADED, *ALIKE.values()).splitlines()}
    used = {*run(None, "-c", COUNT + LOADED, *ALIKE).splitlines()[1:]}
    assert len(used) >= len(ALIKE) / 2
    assert used - compiled == set()
