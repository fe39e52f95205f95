"""Compare starts of a real Slurm with those of a simulation of its configuration.

    python -m tests.benchmarks.slurm_judge [SCENARIO ...] --jobs 200 --seconds 60 --seed 1 --runs 3

Each run starts a Slurm with accounting, whose jobs sleep, and takes about three minutes.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.judge import (
    MACHINES,
    RULES,
    SCENARIOS,
    compare,
    in_seconds,
    on_cycles,
    one_line,
    one_priorities,
    priorities,
)
from tests.support.judged import PROGRAMS
from tests.support.slurm import missing


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Run and compare as the command line says."""
    parser = argparse.ArgumentParser(
        description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenarios", nargs="*", default=[*SCENARIOS], metavar="SCENARIO")
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=60, help="all jobs are submitted in them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1, help="each with the next seed")
    parser.add_argument("--keep", type=Path, help="folder for the logs of each run")
    options = parser.parse_args()
    if why := missing(*PROGRAMS):
        parser.error(why)
    for name in options.scenarios:
        scenario = SCENARIOS[name]
        for seed in range(options.seed, options.seed + options.runs):
            with TemporaryDirectory() as folder:
                jobs = scenario.jobs(options.jobs, options.seconds, seed)
                ran = scenario.run(jobs)
                kept = options.keep or Path(folder)
                path = kept / f"{name}-{seed}.sacct"
                say(f"{name}, seed {seed}: {one_priorities(*priorities(ran, path))}")
                clocks = (in_seconds, on_cycles) if scenario.starts_in_cycles else (in_seconds,)
                for clock, rule, machine in product(clocks, RULES, MACHINES):
                    path = kept / f"{name}-{seed}-{clock.__name__}.sacct"
                    found = compare(clock(ran), scenario, path, rule, ran.reservations, machine)
                    say(f"  {clock.__name__}, {rule}, {machine}: {one_line(found)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
