"""Cycles, instructions, mispredicted branches and cache misses per job of each kind of kernel.

    python -m tests.benchmarks.roofline [KERNEL ...] [--jobs N] [--traces FOLDER]

Cycles are CPU time times the clock rate, measured on this machine. The other columns are counted
by Valgrind's Callgrind, with its models of the caches and of the branch predictor, since virtual
machines rarely have hardware counters. Valgrind knows no AVX-512, so that both measure kernels
built for AVX2. Needs Debian's `valgrind` and `gcc`. The log is the start of KTH-SP2, or without it
a model of the same size.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from shutil import which
from typing import NamedTuple

import click
import numpy as np

from schedfarm.core import Grid, Schedule, Workload, fair_start_times, lublin, read_swf, simulate
from schedfarm.core.workload.on_nodes import OnNodes, put_on_nodes
from schedfarm.core.workload.select import on_platform
from schedfarm.farm.logs.registry import here
from tests.benchmarks.floor import clock, least
from tests.benchmarks.network import drawn
from tests.benchmarks.rates import SHARED

JOBS = 3_000

AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""}

MISPREDICTED, FROM_L2, FROM_MEMORY, WIDTH = 16, 12, 200, 4
"""Cycles of a mispredicted branch, of a miss of the first cache and of the last one, and the
instructions of a cycle: round numbers of the x86 processors of the last ten years."""

BINDS = 0.4
"""Share of the measured cycles above which a cause is named."""

REQUESTS = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; }
void zero(void) { CALLGRIND_ZERO_STATS; }
void dump(const char *name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""

HEADS = (
    "per job",
    "cycles",
    "instants",
    "instructions",
    "accesses",
    "branches",
    "mispredicted",
    "L1 misses",
    "last-level misses",
    "bound by",
)

CACHES = ("--cache-sim=yes", "--D1=32768,8,64", "--I1=32768,8,64", "--LL=33554432,16,64")


class Row(NamedTuple):
    """One kind of kernel: its name, its jobs and the call to measure."""

    name: str
    jobs: Workload
    call: Callable[[], object]


class Counted(NamedTuple):
    """Events of a call, as Callgrind counts them."""

    instructions: int
    accesses: int
    branches: int
    mispredicted: int
    first_misses: int
    last_misses: int


POOL = (
    "fcfs+none",
    "fcfs+easy",
    "spf+easy",
    "lxf+easy",
    "(log10(estimate) * procs + 870 * log10(submit))+easy",
    "fair-share+easy",
    "fcfs+depth(4)",
    "fcfs+conservative",
    "fcfs+planned",
    "fcfs+tabu",
)

FAIR = ("fcfs+easy", "fcfs+conservative")


def rows(log: Workload) -> Iterator[Row]:
    """Yield each kind of kernel; on nodes and networks a tenth of the jobs."""
    few = max(len(log) // 10, 1)
    for policy in POOL:
        yield Row(policy, log, partial(simulate, log, policy))
    for policy in FAIR:
        for kind in ("strict", "relaxed"):
            call = partial(fair_start_times, log, policy, kind=kind)
            yield Row(f"{policy}, {kind} fair starts", log, call)
    halves = Grid([log.processors - log.processors // 2, log.processors // 2])
    clusters = on_platform(log, halves)
    for policy in ("fcfs+easy", "fcfs+conservative"):
        yield Row(f"{policy}, two clusters", clusters, partial(simulate, clusters, policy))
    nodes = put_on_nodes(log.take(slice(0, few)), OnNodes(properties=0.3, sets=(50,)))
    yield Row("fcfs+conservative, nodes", nodes, partial(simulate, nodes, "fcfs+conservative"))
    network = drawn(2, 570, 10**6, 1, few)
    yield Row("fcfs+icsb(10), network", network, partial(simulate, network, "fcfs+icsb(10)"))


def log_of(jobs: int, traces: Path) -> Workload:
    """Return the start of the KTH log, or a model where it is not here."""
    path = here("KTH-SP2", traces)
    return read_swf(path).take(slice(0, jobs)) if path else lublin(100, jobs=jobs, load=0.7)


def wanted(asked: argparse.Namespace) -> Iterator[Row]:
    """Yield the rows that were named, or all."""
    for row in rows(log_of(asked.jobs, asked.traces)):
        if not asked.kernels or row.name in asked.kernels:
            yield row


def timed(asked: argparse.Namespace) -> None:
    """Print the cycles of every row, one JSON object per line."""
    rate = clock()
    for row in wanted(asked):
        row.call()
        cycles = rate * least(row.call, repeats=5)
        click.echo(json.dumps([row.name, len(row.jobs), cycles, instants(row)]))


def instants(row: Row) -> int | None:
    """Return the number of instants at which a job arrives or ends; None for fair starts."""
    schedule = row.call()
    if not isinstance(schedule, Schedule):
        return None
    return int(np.unique(np.concatenate([row.jobs.submit, schedule.end])).size)


def counted(asked: argparse.Namespace) -> None:
    """Run every row under Callgrind, which writes one file each; started by `main`."""
    library = ctypes.CDLL(os.environ["ROOFLINE_REQUESTS"])
    for row in wanted(asked):
        row.call()
        library.begin()
        row.call()
        library.zero()
        row.call()
        library.dump(row.name.encode())


def read_counts(folder: Path) -> dict[str, Counted]:
    """Return the counts of every row from the files of Callgrind."""
    found = {}
    for path in folder.glob("callgrind.out.*"):
        name, events, totals = "", [], []
        for line in path.read_text().splitlines():
            key, _, rest = line.partition(": ")
            if key == "desc" and rest.startswith("Trigger: Client Request: "):
                name = rest.removeprefix("Trigger: Client Request: ")
            elif key == "events":
                events = rest.split()
            elif key in ("totals", "summary"):
                totals = [int(word) for word in rest.split()]
        if not name:
            continue
        of = dict(zip(events, totals, strict=False))
        found[name] = Counted(
            of["Ir"],
            of["Dr"] + of["Dw"],
            of["Bc"] + of["Bi"],
            of["Bcm"] + of["Bim"],
            of["D1mr"] + of["D1mw"],
            of["DLmr"] + of["DLmw"],
        )
    return found


def binding(cycles: float, of: Counted) -> str:
    """Name the causes that explain a large share of the cycles, largest first."""
    shares = {
        "issue": of.instructions / WIDTH / cycles,
        "branches": of.mispredicted * MISPREDICTED / cycles,
        "caches": of.first_misses * FROM_L2 / cycles,
        "memory": of.last_misses * FROM_MEMORY / cycles,
    }
    named = sorted(shares, key=shares.__getitem__, reverse=True)
    large = [f"{name} {shares[name]:.0%}" for name in named if shares[name] >= BINDS]
    return (
        ", ".join(large) or f"latency of dependent operations ({named[0]} {shares[named[0]]:.0%})"
    )


def child(mode: str, words: list[str], environment: dict[str, str], *before: str) -> str:
    """Run this module once more in a mode, and return its output."""
    command = [*before, sys.executable, "-m", "tests.benchmarks.roofline", *words, "--mode", mode]
    done = subprocess.run(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def main() -> None:
    """Measure and count, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--traces", type=Path, default=SHARED)
    parser.add_argument("--mode", choices=("timed", "counted"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.mode:
        {"timed": timed, "counted": counted}[asked.mode](asked)
        return
    missing = [tool for tool in ("valgrind", "gcc") if not which(tool)]
    if missing:
        raise SystemExit(f"{' and '.join(missing)} not found; install Debian's {missing[0]}")
    words = sys.argv[1:]
    cycles = [json.loads(line) for line in child("timed", words, AVX2).splitlines()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, library = folder / "requests.c", folder / "requests.so"
        source.write_text(REQUESTS)
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
        out = f"--callgrind-out-file={folder}/callgrind.out"
        tool = ("valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--branch-sim=yes", out)
        child("counted", words, {**AVX2, "ROOFLINE_REQUESTS": str(library)}, *tool, *CACHES)
        counts = read_counts(folder)
    click.echo("| " + " | ".join(HEADS) + " |")
    click.echo("|:--|" + "--:|" * (len(HEADS) - 2) + ":--|")
    for name, jobs, spent, instants in cycles:
        of = counts[name]
        each = ["" if one is None else short(one / jobs) for one in (spent, instants, *of)]
        click.echo("| " + " | ".join([name, *each, binding(spent, of)]) + " |")


def short(number: float) -> str:
    """Write a number with three figures at most behind the leading digits."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


if __name__ == "__main__":
    main()
