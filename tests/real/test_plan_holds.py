"""The memory and disk that `farm plan` predicts for a run hold within a factor of 2.

`python -m tests.benchmarks.planned` compares the CPU time: other processes of a test machine
change it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

FARM = (sys.executable, "-m", "schedfarm")

WORKERS = 2


def peak(process: psutil.Popen) -> int:
    """Wait for a process, and return the peak memory of it and its children, bytes."""
    most, over = 0, threading.Event()
    while not over.wait(0.2):
        try:
            held = [p.memory_info().rss for p in [process, *process.children(recursive=True)]]
        except psutil.NoSuchProcess:
            held = []
        most = max(most, sum(held))
        if process.poll() is not None:
            over.set()
    return most


@pytest.fixture
def planned(tmp_path: Path) -> dict[str, float]:
    """Return the second of two plans: the first one may compile kernels."""
    words = (*FARM, "plan", "quickstart", "--workers", str(WORKERS), "--json")
    for _ in range(2):
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    facts: dict[str, float] = json.loads(done.stdout)
    return facts


def test_a_plan_holds(tmp_path: Path, planned: dict[str, float]) -> None:
    words = (*FARM, "run", "quickstart", "--workers", str(WORKERS), "--quiet")
    memory = peak(psutil.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL))
    files = (path for path in (tmp_path / "quickstart.farm").rglob("*") if path.is_file())
    disk = sum(path.stat().st_size for path in files)
    found = {"memory_bytes": memory, "disk_bytes": disk}
    ratios = {key: planned[key] / value for key, value in found.items()}
    assert {key: r for key, r in ratios.items() if not 0.5 < r < 2} == {}
