"""The predictions of `farm plan` next to what a run then uses: CPU time, memory and disk.

`python -m tests.benchmarks.planned [CAMPAIGN] [--workers 1 2 4]` prints predicted / used.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import click

FARM = (sys.executable, "-m", "schedfarm")

KEYS = ("run_cpu_time_s", "disk_bytes")


def used() -> float:
    """Return the CPU time of all children that have ended, s."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def ratios(campaign: str, workers: int) -> dict[str, float]:
    """Plan and run a campaign in an empty folder, and return predicted / used for each key."""
    words = (campaign, "--workers", str(workers))
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):  # The first plan may compile kernels.
            plan = subprocess.run(
                (*FARM, "plan", *words, "--json"), cwd=folder, capture_output=True, check=True
            )
        before = used()
        run = (*FARM, "run", *words, "--quiet")
        subprocess.run(run, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        spent = used() - before
        files = (path for path in Path(folder).rglob("*.farm/**/*") if path.is_file())
        found = {"run_cpu_time_s": spent, "disk_bytes": sum(path.stat().st_size for path in files)}
        return {key: json.loads(plan.stdout)[key] / found[key] for key in KEYS}


def main() -> None:
    """Print one line for each number of workers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("campaign", nargs="?", default="quickstart")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    asked = parser.parse_args()
    for workers in asked.workers:
        found = ratios(asked.campaign, workers)
        line = ", ".join(f"{key} {ratio:.2f}" for key, ratio in found.items())
        click.echo(f"{workers} workers: {line}")


if __name__ == "__main__":
    main()
