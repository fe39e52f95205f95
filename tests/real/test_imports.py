"""Imports in processes of their own: what they bring in, and what they leave as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from tests.support.paths import ROOT

HEAVY = {
    "dask", "distributed", "matplotlib", "numba", "numpy", "obstore", "pandas", "scipy", "xarray",
    "zarr",
}  # fmt: skip

FIRST = """
import sys
from schedfarm.core import Workload, simulate

columns = {"submit": [0, 0], "run": [1, 1], "estimate": [1, 1], "procs": [2, 2]}
simulate(Workload.from_columns(**columns, processors=2), "fcfs+easy")
assert "numba" in sys.modules
assert not {"numba.np.linalg", "scipy.linalg"} & set(sys.modules)
"""

INTERRUPT = """
import signal
before = signal.getsignal(signal.SIGINT)
from schedfarm.cluster.launchers import imported
imported("dask_jobqueue:SLURMCluster")
assert signal.getsignal(signal.SIGINT) is before
"""


def printed(program: str, **variables: str) -> str:
    """Return what a program prints in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("schedfarm.farm.cli", HEAVY | {"msgspec"}),
        ("schedfarm", HEAVY | {"msgspec"}),
        ("schedfarm.farm", HEAVY | {"msgspec"}),
        ("schedfarm.core", HEAVY - {"numpy"}),
        ("schedfarm.cluster", HEAVY),
        ("schedfarm.analysis", {"matplotlib", "scipy", "numba", "distributed"}),
    ],
)
def test_import_is_light(module: str, heavy: set[str]) -> None:
    """Heavy packages are imported where they are used, so that `farm --help` is instant."""
    found = printed(f"import sys, {module}; print(*(m for m in sys.modules if '.' not in m))")
    assert not heavy & set(found.split())


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_simulation_imports_no_more_of_numba_than_it_needs(tmp_path: Path) -> None:
    """Neither the first one, which compiles, nor the second, which loads the compiled kernel."""
    for _ in range(2):
        printed(FIRST, NUMBA_CACHE_DIR=str(tmp_path))
        assert list(tmp_path.rglob("fixed_order.run_fixed*.nbc"))


def test_importing_a_launcher_leaves_the_handler_of_interrupts_alone() -> None:
    """Dask-jobqueue would otherwise decide what Ctrl-C means."""
    printed(INTERRUPT)
