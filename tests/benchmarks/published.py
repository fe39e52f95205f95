"""Simulate a log with a published simulator and with this one, compare starts and CPU time.

    python -m tests.benchmarks.published [LOG] [--jobs K] [--environment FOLDER] [--rounds N]

The other is AccaSim 1.1.3 (Galleguillos et al. 2020). It gets an environment of its own, in FOLDER
or for this once, by pip. Both simulate the same plain SWF file: jobs without a run time are left
out, since after one of them AccaSim does not look at its queue at that instant; and a job that
was killed is one that ran as long as it had asked for. The two take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from schedfarm.core import InputError, Workload, read_swf, simulate, write_swf
from schedfarm.core.caches import ENVIRONMENT
from schedfarm.farm.logs.registry import here
from tests.benchmarks.floor import least
from tests.benchmarks.rates import SHARED, tell
from tests.benchmarks.table import rounded

PACKAGE = "accasim==1.1.3"
DRIVER = Path(__file__).with_name("published_accasim.py")

POLICIES = {
    "FIFO": "fcfs+none",
    "SJF": "spf+none",
    "FIFO, skipping": "fcfs+aggressive",
    "SJF, skipping": "spf+aggressive",
    "EASY": "fcfs+easy",
}
"""Dispatchers of AccaSim, as the driver names them, and the policy that is nearest."""

ROUNDS = 3

HEAD = (
    "AccaSim",
    "here",
    "jobs",
    "same start",
    "AccaSim, k jobs/s",
    "here, k jobs/s",
    "`simulate()`, k jobs/s",
    "times as fast",
)


class Unavailable(Exception):
    """Say why there is no published simulator to compare with."""


@dataclass(frozen=True)
class Line:
    """Compare one dispatcher with one policy.

    Parameters
    ----------
    dispatcher, policy : str
        Their names.
    jobs, same : int
        How many there are, and start at the same instant.
    theirs, ours : list of float
        CPU time of each round, reading included, s.
    alone : float
        CPU time of `simulate()`, s.
    """

    dispatcher: str
    policy: str
    jobs: int
    same: int
    theirs: list[float]
    ours: list[float]
    alone: float

    def __str__(self) -> str:
        cells = (
            self.dispatcher,
            f"`{self.policy}`",
            f"{self.jobs:,}",
            f"{self.same:,}",
            rates(self.jobs, self.theirs),
            rates(self.jobs, self.ours),
            rounded(self.jobs / 1000 / self.alone),
            f"{min(self.theirs) / min(self.ours):,.0f}",
        )
        return "| " + " | ".join(cells) + " |"


def rates(jobs: int, seconds: Sequence[float]) -> str:
    """Write the slowest and the fastest of some rounds, thousands of jobs a second."""
    low, high = (rounded(jobs / 1000 / edge(seconds)) for edge in (max, min))
    return low if low == high else f"{low} to {high}"


def environment(folder: Path, package: str = PACKAGE) -> Path:
    """Return the Python of an environment with a published simulator, made where there is none.

    Raises
    ------
    Unavailable
        If it cannot be installed.
    """
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        words = [str(python), "-m", "pip", "install", "--quiet", package]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            said = done.stderr.strip().rpartition("\n")[2]
            raise Unavailable(f"{package} cannot be installed in {folder}; pip says: {said}")
    return python


def comparable(jobs: Workload) -> Workload:
    """Return the jobs that both simulators can be held to."""
    lasts = jobs.run > 0
    columns = {name: getattr(jobs, name)[lasts] for name in ("submit", "run", "estimate", "procs")}
    return Workload.from_columns(**columns, processors=jobs.processors)


def theirs(python: Path, log: Path, jobs: Workload, dispatcher: str) -> tuple[float, np.ndarray]:
    """Return the CPU time that AccaSim takes, s, and its starts; -1 for a job without.

    Raises
    ------
    Unavailable
        If it fails.
    """
    words = [str(python), str(DRIVER), str(log), str(jobs.processors), dispatcher]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise Unavailable(f"{dispatcher} of {PACKAGE} failed under {python}: {said}")
    answer = json.loads(done.stdout)
    starts = [answer["starts"].get(str(number), -1) for number in range(1, len(jobs) + 1)]
    return float(answer["seconds"]), np.array(starts)


def ours(log: Path, policy: str) -> float:
    """Return the CPU time to read and simulate the file, s."""
    begin = time.process_time()
    simulate(read_swf(log), policy)
    return time.process_time() - begin


def compared(python: Path, jobs: Workload, folder: Path, rounds: int) -> Iterator[Line]:
    """Give a line for each dispatcher."""
    log = folder / "jobs.swf"
    write_swf(jobs, log)
    for dispatcher, policy in POLICIES.items():
        starts = simulate(jobs, policy).start
        spent: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            seconds, found = theirs(python, log, jobs, dispatcher)
            spent[0].append(seconds)
            spent[1].append(ours(log, policy))
        alone = least(lambda policy=policy: simulate(jobs, policy))
        same = int((found == starts).sum())
        yield Line(dispatcher, policy, len(jobs), same, *spent, alone)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", nargs="?", default="KTH-SP2", help="name or file; KTH-SP2")
    parser.add_argument("--jobs", type=int, help="only the first ones")
    parser.add_argument("--environment", type=Path, help="folder with, or for, AccaSim")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"by default {ROUNDS}")
    parser.add_argument("--traces", type=Path, default=SHARED, help="folder of the archive's logs")
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error(f"--rounds {given.rounds}: it takes at least 1")
    path = here(given.log, given.traces) or Path(given.log)
    os.environ[ENVIRONMENT] = ""
    with TemporaryDirectory() as scratch:
        try:
            jobs = comparable(read_swf(path, jobs=given.jobs))
            python = environment(given.environment or Path(scratch, "environment"))
            tell("| " + " | ".join(HEAD) + " |\n|:--|:--|" + "--:|" * (len(HEAD) - 2))
            for line in compared(python, jobs, Path(scratch), given.rounds):
                tell(str(line))
        except (InputError, Unavailable) as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
