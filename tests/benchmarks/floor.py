"""What no simulation can be faster than: the processor's clock, and one pass over a job's columns.

    python -m tests.benchmarks.floor [--traces FOLDER]

prints both for the logs that are here.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

from schedfarm.core import Workload, read_swf
from schedfarm.farm.logs.registry import here
from tests.benchmarks.rates import LOGS, SHARED, tell

CHAIN = 6
"""Operations of a turn of `chained` of which each needs the one before: xor and shift, thrice."""

TURNS = 3_000_000
REPEATS = 9

WORKING = 20_000_000
"""Bytes that repeated passes go over in about, however few jobs there are."""

COLUMN_BYTES = 5 * 8 + 1
"""A job's submit, run, estimate, processors and start, int64, and whether it was backfilled."""


@numba.njit
def chained(turns: int) -> int:
    """Make xorshift numbers: each needs the last one, and no compiler can shorten the way."""
    x = np.uint64(88172645463325252)
    for _ in range(turns):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
    return x


@numba.njit
def passed(submit, run, estimate, procs, start, backfilled):
    """Read every column that decides on a schedule, and write both that are one."""
    for i in range(submit.size):
        start[i] = submit[i] + run[i]
        backfilled[i] = estimate[i] > procs[i]


def least(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the best CPU time of a call, s."""
    call()
    spent = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        spent.append(time.process_time() - begin)
    return min(spent)


def clock() -> float:
    """Return cycles a second of this core.

    Shift and xor take a cycle each on the x86 processors of the last twenty years; where a
    processor does both in one operation this is up to twice its clock.
    """
    chained(1)
    return CHAIN * TURNS / least(lambda: chained(TURNS))


def one_pass(jobs: Workload) -> float:
    """Return the CPU time of reading a job's columns and writing its outcome, s.

    As in a simulation that is repeated, what fits into the processor's caches stays there.
    """
    columns = [np.ascontiguousarray(c) for c in (jobs.submit, jobs.run, jobs.estimate, jobs.procs)]
    start, backfilled = np.empty(len(jobs), np.int64), np.empty(len(jobs), np.bool_)
    times = max(WORKING // (COLUMN_BYTES * len(jobs)), 1)

    def again() -> None:
        for _ in range(times):
            passed(*columns, start, backfilled)

    return least(again) / (times * len(jobs))


def main() -> None:
    """Print the clock, and for each log what a pass costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=Path, default=SHARED, help="folder of the archive's logs")
    folder = parser.parse_args().traces
    hertz = clock()
    tell(f"clock: {hertz / 1e9:.2f} GHz")
    for name in LOGS:
        if path := here(name, folder):
            each = one_pass(read_swf(path))
            tell(
                f"{name}: {1e9 * each:.2f} ns a job, {each * hertz:.1f} cycles, "
                f"{COLUMN_BYTES / each / 1e9:.1f} GB a second"
            )


if __name__ == "__main__":
    main()
