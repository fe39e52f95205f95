"""Simulate one log with several published simulators, and audit the schedule of each.

    python -m tests.benchmarks.peers [LOG ...] [--jobs K] [--only NAME ...] [--rounds N]
                                     [--source cqsim=CHECKOUT] [--environments FOLDER]
                                     [--starts NAME=FILE.csv] [--policy fcfs+easy]

Every program simulates the same plain SWF file under what it calls FCFS with EASY backfilling. A
line of the table says how many jobs it simulates in a second of CPU (its slowest and its fastest
round, reading the file included, importing and compiling not), how many of its jobs start when
ours do, and the verdict of `farm audit` on its schedule. Below the table is the first job that
violates the policy. Our own line is measured in the same run; no figure is stored.

By default the logs are 5,000 jobs of the Lublin-Feitelson model, and the first 5,000 of KTH-SP2 if
it is in the folder of logs. Jobs without a run time are left out. Programs on PyPI get an
environment each, in FOLDER or for this once. CQSim is cloned by git, or read from CHECKOUT. A
program that cannot be had is named with the reason.

--starts judges the schedule of a program that was run elsewhere on the first log, which --write
FILE writes: a CSV with the columns job_id and starting_time, as Batsim's jobs.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from schedfarm.core import InputError, Schedule, Workload, read_swf, scale_load, simulate, write_swf
from schedfarm.core.audit import audit
from schedfarm.core.caches import ENVIRONMENT
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.logs.registry import here
from tests.benchmarks.peers.rows import ELSEWHERE, OURS, PEERS, Peer
from tests.benchmarks.published import Unavailable, comparable, environment, ours
from tests.benchmarks.rates import SHARED, tell
from tests.benchmarks.table import rounded

POLICY = "fcfs+easy"
JOBS = 5_000
ROUNDS = 3

MODEL = "lublin"
PROCESSORS, LOAD, SEED = 128, 0.85, 1
"""Of the model's log, which needs no file."""

HEAD = ("program", "jobs/s of CPU", "same start", "mean wait, s", "audit")


@dataclass(frozen=True)
class Line:
    """Say what one program made of a log.

    Parameters
    ----------
    name : str
        Of the program.
    starts : int64[n]
        Start of each job, s; -1 for a job that it did not start.
    seconds : list of float
        CPU time of each round, s; empty if it ran elsewhere.
    """

    name: str
    starts: np.ndarray
    seconds: Sequence[float] = ()


def found(peer: Peer, name: str, environments: Path, source: Path | None) -> list[str]:
    """Return the first words of the command that starts a peer's driver.

    Raises
    ------
    Unavailable
        If the peer cannot be installed or cloned.
    """
    python = environment(environments / name, peer.package) if peer.package else Path(OURS)
    words = [str(python), str(peer.driver)]
    if peer.source:
        words.append(str(source or cloned(peer, environments / name)))
    return words


def cloned(peer: Peer, folder: Path) -> Path:
    """Return a checkout of a peer's source, made where there is none."""
    if not folder.exists():
        for words in (
            ["git", "clone", "--quiet", "--no-checkout", peer.source, str(folder)],
            ["git", "-C", str(folder), "checkout", "--quiet", peer.commit, "--", "src"],
        ):
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode:
                said = done.stderr.strip().rpartition("\n")[2]
                raise Unavailable(f"its source cannot be cloned; git says: {said}")
    return folder


def simulated(
    command: list[str], peer: Peer, log: Path, jobs: Workload
) -> tuple[float, np.ndarray]:
    """Return the CPU time that a peer takes, s, and its starts.

    Raises
    ------
    Unavailable
        If it fails.
    """
    python, driver, *rest = command
    words = [python, driver, str(log), str(jobs.processors), *rest, *peer.options]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise Unavailable(f"it failed: {said}")
    answer = json.loads(done.stdout)
    starts = [answer["starts"].get(str(number), -1) for number in range(1, len(jobs) + 1)]
    return float(answer["seconds"]), np.array(starts, np.int64)


def read_starts(file: Path, jobs: Workload) -> np.ndarray:
    """Return the starts in a CSV with the columns job_id and starting_time, s."""
    starts = np.full(len(jobs), -1, np.int64)
    with file.open(newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            # Batsim puts the name of the workload before the number.
            starts[int(row["job_id"].rpartition("!")[2]) - 1] = round(float(row["starting_time"]))
    return starts


def verdict(jobs: Workload, starts: np.ndarray, policy: str) -> tuple[str, str]:
    """Return the audit's verdict on a schedule in two words, and the first violation if any."""
    unstarted = np.flatnonzero(starts < 0)
    if len(unstarted):
        return "refuted", f"job {jobs.job[unstarted[0]]} does not start"
    judged = audit(Schedule(jobs, "", starts, np.zeros(len(jobs), np.bool_)), policy)
    if judged.ok:
        return "sound", ""
    kept = f"; it keeps {judged.keeps.name}" if judged.keeps else ""
    return "refuted", f"{judged.rule}: {judged.why}{kept}"


def rates(jobs: int, seconds: Sequence[float]) -> str:
    """Write the slowest and the fastest of some rounds, jobs a second."""
    low, high = (rounded(jobs / edge(seconds)) for edge in (max, min))
    return low if low == high else f"{low} to {high}"


def laid_out(jobs: Workload, lines: Sequence[Line], policy: str) -> Iterator[str]:
    """Give the table, then the first violation of each schedule that the audit refutes."""
    right, violations = lines[0].starts, []
    yield "| " + " | ".join(HEAD) + " |"
    yield "|:--|--:|--:|--:|:--|"
    for line in lines:
        short, why = verdict(jobs, line.starts, policy)
        started = line.starts >= 0
        wait = float((line.starts - jobs.submit)[started].mean()) if started.any() else 0.0
        same = f"{int((line.starts == right).sum()):,}"
        speed = rates(len(jobs), line.seconds) if line.seconds else "ran elsewhere"
        yield "| " + " | ".join((line.name, speed, same, f"{wait:,.0f}", short)) + " |"
        violations += [f"- {line.name}: {why}"] if why else []
    if violations:
        yield ""
        yield f"First violation of `{policy}`:"
        yield ""
        yield from violations


def workload(name: str, jobs: int, traces: Path) -> Workload:
    """Return the jobs of the model, or the first ones of a log."""
    if name == MODEL:
        drawn = scale_load(lublin(PROCESSORS, jobs=jobs, seed=SEED), LOAD)
        return replace(comparable(drawn), name=MODEL)
    return comparable(read_swf(here(name, traces) or Path(name), jobs=jobs))


def compared(name: str, jobs: Workload, given: argparse.Namespace, folder: Path) -> list[Line]:
    """Simulate a log with every program; name those that cannot be had."""
    log = folder / "jobs.swf"
    write_swf(jobs, log)
    # The first simulation compiles, or loads what has been compiled.
    right = simulate(jobs, given.policy).start
    spent = [ours(log, given.policy) for _ in range(given.rounds)]
    lines = [Line("schedfarm", right, spent)]
    for short in given.only or PEERS:
        peer = PEERS[short]
        try:
            command = found(peer, short, given.environments, given.source.get(short))
            rounds = [simulated(command, peer, log, jobs) for _ in range(given.rounds)]
        except Unavailable as error:
            tell(f"{peer.name} is left out: {error}")
            continue
        lines.append(Line(peer.name, rounds[-1][1], [seconds for seconds, _ in rounds]))
    return lines


def pair(text: str) -> tuple[str, Path]:
    """Parse NAME=PATH."""
    name, equals, path = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=PATH")
    return name, Path(path)


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logs", nargs="*", help=f"{MODEL}, or names or files of logs")
    parser.add_argument("--jobs", type=int, default=JOBS, help=f"of each log; {JOBS:,}")
    parser.add_argument("--only", nargs="*", choices=PEERS, help="by default every peer")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"by default {ROUNDS}")
    parser.add_argument("--policy", default=POLICY, help=f"by default {POLICY}")
    parser.add_argument("--source", type=pair, nargs="*", default=[], help="checkouts")
    parser.add_argument("--starts", type=pair, nargs="*", default=[], help="other schedules")
    parser.add_argument("--environments", type=Path, help="folder with, or for, the peers")
    parser.add_argument("--write", type=Path, help="file for the first log, then stop")
    parser.add_argument("--traces", type=Path, default=SHARED, help="folder of the archive's logs")
    given = parser.parse_args(words)
    given.source = dict(given.source)
    if given.rounds < 1 or given.jobs < 1:
        parser.error("--rounds and --jobs take at least 1")
    given.logs = given.logs or [MODEL, *(["KTH-SP2"] if here("KTH-SP2", given.traces) else [])]
    return given


def main() -> None:
    """Compare and print."""
    given = arguments()
    os.environ[ENVIRONMENT] = ""
    with TemporaryDirectory() as scratch:
        given.environments = given.environments or Path(scratch)
        try:
            for name in given.logs:
                jobs = workload(name, given.jobs, given.traces)
                if given.write:
                    write_swf(jobs, given.write)
                    return
                tell(f"\n{name}: {len(jobs):,} jobs on {jobs.processors} processors\n")
                lines = compared(name, jobs, given, Path(scratch))
                if name == given.logs[0]:
                    lines += [Line(*one) for one in judged_elsewhere(given, jobs)]
                for text in laid_out(jobs, lines, given.policy):
                    tell(text)
        except InputError as error:
            sys.exit(str(error))
    tell("\nNot run here; --starts NAME=FILE.csv judges their schedules:\n")
    for name, needs in ELSEWHERE.items():
        tell(f"- {name}: needs {needs}")


def judged_elsewhere(given: argparse.Namespace, jobs: Workload) -> list[tuple[str, np.ndarray]]:
    """Return the schedules of --starts by name."""
    return [(name, read_starts(file, jobs)) for name, file in given.starts]


if __name__ == "__main__":
    main()
