"""What `farm plan` says of a run holds within a factor of 2: CPU time, memory and disk.

Wall time is held against nothing here: other processes of a test machine decide it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

FARM = (sys.executable, "-m", "schedfarm")

WORKERS = 2


def used() -> float:
    """Return the CPU time of the processes that have ended, s."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def peak(process: psutil.Popen) -> int:
    """Wait for a process, and return what it and those that it started held at most, bytes."""
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
    """Plan twice: the first one compiles what has never run on this machine."""
    words = (*FARM, "plan", "quickstart", "--workers", str(WORKERS), "--json")
    for _ in range(2):
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    facts: dict[str, float] = json.loads(done.stdout)
    return facts


def test_a_plan_holds(tmp_path: Path, planned: dict[str, float]) -> None:
    words = (*FARM, "run", "quickstart", "--workers", str(WORKERS), "--quiet")
    before = used()
    memory = peak(psutil.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL))
    took = used() - before
    files = (path for path in (tmp_path / "quickstart.farm").rglob("*") if path.is_file())
    disk = sum(path.stat().st_size for path in files)
    found = {"run_cpu_time_s": took, "memory_bytes": memory, "disk_bytes": disk}
    ratios = {key: planned[key] / value for key, value in found.items()}
    assert {key: r for key, r in ratios.items() if not 0.5 < r < 2} == {}
