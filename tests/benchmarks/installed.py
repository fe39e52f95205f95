"""CPU time of a simulation's process with an installed wheel, next to that of this checkout.

    python -m tests.benchmarks.installed ENVIRONMENT --most 1.5

ENVIRONMENT is a virtual environment that has the wheel. Kernels are compiled before, so that it is
later processes that are compared; the least of each of several runs is taken. Exits with 1 where
the ratio is greater than --most.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from schedfarm.core import lublin, write_swf

RUNS = 5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("environment", type=Path)
    parser.add_argument("--most", type=float, required=True, metavar="RATIO")
    given = parser.parse_args()
    scripts = {
        "wheel": given.environment.resolve() / "bin" / "farm",
        "editable": Path(sys.executable).parent / "farm",
    }
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.swf"
        write_swf(lublin(64, jobs=2_000, seed=1), log)
        words = ("simulate", str(log), "--policy", "fcfs+easy", "--quiet")
        spent: dict[str, list[float]] = {name: [] for name in scripts}
        # In turn, so that a busy spell of the machine meets both; the first of each compiles.
        for _ in range(RUNS + 1):
            for name, script in scripts.items():
                spent[name].append(_cpu([str(script), *words], Path(folder)))
    least = {name: min(times[1:]) for name, times in spent.items()}
    ratio = least["wheel"] / least["editable"]
    for name, times in spent.items():
        first, *later = times
        said = f"first {first:.2f} s of CPU, then {min(later):.2f} to {max(later):.2f} s"
        sys.stdout.write(f"{name}: {said}\n")
    sys.stdout.write(f"wheel to editable: {ratio:.2f}, at most {given.most} allowed\n")
    return int(ratio > given.most)


def _cpu(command: list[str], folder: Path) -> float:
    """Run a command in a folder that is no checkout; return its CPU time, s."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.Popen(command, cwd=folder, env=kept, stdout=subprocess.DEVNULL)
    _, state, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(state)
    if process.returncode:
        raise RuntimeError(f"{command} failed")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
