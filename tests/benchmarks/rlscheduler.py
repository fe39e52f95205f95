"""Repeat the heuristic columns of RLScheduler's tables V and VI under their own rules, and ours.

    python -m tests.benchmarks.rlscheduler lublin_256.swf

The file is that of the archive, "Lublin-1" in the tables. D. Zhang, D. Dai, Y. He, F. S. Bao,
B. Xie, RLScheduler: an automated HPC batch job scheduler using reinforcement learning, SC20. The
rules below are read from the authors' program (DIR-LAB/deep-batch-scheduler, cd433e3):

- ten windows of 1,024 jobs, at places drawn by the generator of the old Gym from seed 1;
- a chosen job is waited for, even if a job of a better score arrives before it fits;
- events come one by one, arrivals before completions of the same second;
- a job may be backfilled, oldest first, if it would end before (not at) the instant at which the
  chosen job was to start when it was chosen; extra processors are not counted;
- WFP3 and UNICEP take the wait of a waiting job from a start that is still -1: it is
  -1 - submit, so that both put the jobs first that the published formulas put last.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.logs.read import read_log
from schedfarm.core.metrics.slowdown import TAU
from schedfarm.core.metrics.summary import summarise
from schedfarm.core.workload.workload import Workload

WINDOWS, LENGTH, SEED = 10, 1_024, 1

PRINTED = {
    "FCFS": (7273.77, 235.82),
    "WFP3": (19753.53, 133.87),
    "UNICEP": (22274.74, 307.23),
    "SJF": (277.35, 73.31),
    "F1": (258.37, 75.07),
}
"""Mean bounded slowdown on Lublin-1, without and with backfilling: the repository's README."""

OURS = {"FCFS": "fcfs", "WFP3": "wfp3", "UNICEP": "unicef", "SJF": "spf", "F1": "f1"}
"""Our names of the orders."""


@dataclass(frozen=True)
class Job:
    """Hold what the rules read of a job."""

    submit: int
    run: int
    estimate: int
    procs: int


Score = Callable[[Job], tuple[float, float]]


def _wait(job: Job) -> int:
    return -1 - job.submit


def _log10(value: int) -> float:
    return math.log10(value if value > 0 else 0.1)


SCORES: dict[str, Score] = {
    "FCFS": lambda j: (j.submit, 0),
    "WFP3": lambda j: (-((_wait(j) / j.estimate) ** 3) * j.procs, 0),
    "UNICEP": lambda j: (-(_wait(j) + 1e-15) / (math.log2(j.procs + 1e-15) * j.estimate), 0),
    "SJF": lambda j: (j.estimate, j.submit),
    "F1": lambda j: (_log10(j.estimate) * j.procs + 870 * _log10(j.submit), 0),
}
"""Their scores, smallest first."""


def window_starts(jobs: int, seed: int = SEED, count: int = WINDOWS) -> list[int]:
    """Return the first job of each window, by the seeding of Gym before 0.22."""
    words = np.frombuffer(hashlib.sha512(str(seed).encode()).digest()[:8], "<u4")
    random = np.random.RandomState(words.astype(np.int64).tolist())  # noqa: NPY002
    return [int(random.randint(LENGTH, jobs - LENGTH - 1)) for _ in range(count)]


class Window:
    """Schedule a window under their rules; at one second jobs that started first end first."""

    def __init__(self, jobs: list[Job], processors: int) -> None:
        self.jobs, self.free = jobs, processors
        self.now, self.following, self.queue = jobs[0].submit, 1, [jobs[0]]
        self.running: list[tuple[int, int, Job]] = []
        self.starts = 0
        self.slowdowns = 0.0

    def start(self, job: Job) -> None:
        """Start a job now."""
        self.free -= job.procs
        self.starts += 1
        heapq.heappush(self.running, (self.now + job.run, self.starts, job))
        self.queue.remove(job)
        response = self.now - job.submit + job.run
        self.slowdowns += max(1.0, response / max(job.run, TAU))

    def pass_event(self) -> None:
        """Go to the next arrival or completion."""
        more = self.following < len(self.jobs)
        due = self.jobs[self.following].submit if more else math.inf
        if self.running and self.running[0][0] < due:
            end, _, job = heapq.heappop(self.running)
            self.now, self.free = max(self.now, end), self.free + job.procs
        else:
            self.now = max(self.now, int(due))
            self.queue.append(self.jobs[self.following])
            self.following += 1

    def limit(self, chosen: Job) -> int:
        """Return when the chosen job is to start by the estimates, s."""
        free, found = self.free, self.now
        ends = sorted((end - job.run + job.estimate, n, job.procs) for end, n, job in self.running)
        for end, _, procs in ends:
            if free >= chosen.procs:
                break
            free, found = free + procs, end
        return found

    def backfill(self, limit: int) -> None:
        """Start the jobs that fit and would end before the limit, oldest first."""
        for job in sorted(self.queue, key=lambda one: one.submit):
            if self.now + job.estimate < limit and job.procs <= self.free:
                self.start(job)

    def run(self, score: Score, backfills: bool) -> float:
        """Return the mean bounded slowdown under a score."""
        while self.queue:
            self.queue.sort(key=score)
            chosen = self.queue[0]
            limit = self.limit(chosen)
            while chosen.procs > self.free:
                if backfills:
                    self.backfill(limit)
                self.pass_event()
            self.start(chosen)
            while not self.queue and self.following < len(self.jobs):
                self.pass_event()
        return self.slowdowns / len(self.jobs)


def jobs_of(work: Workload) -> list[Job]:
    """Return the jobs as the rules read them."""
    columns = (work.submit, work.run, work.estimate, work.procs)
    return [Job(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def main(arguments: list[str]) -> int:
    """Print both columns of the tables: printed, under their rules, and under ours."""
    log = read_log(arguments[0])
    windows = [log.take(np.arange(s, s + LENGTH)) for s in window_starts(len(log))]
    sys.stdout.write(
        "| order | backfilling | printed | their rules | `simulate` |\n|---|---|---:|---:|---:|\n"
    )
    for name, score in SCORES.items():
        for backfills, rule in ((False, "none"), (True, "easy")):
            theirs = [Window(jobs_of(one), one.processors).run(score, backfills) for one in windows]
            policy = f"{OURS[name]}+{rule}"
            ours = [summarise(simulate(one, policy))["bounded_slowdown"] for one in windows]
            printed = PRINTED[name][backfills]
            sys.stdout.write(
                f"| {name} | {'yes' if backfills else 'no'} | {printed:,.2f} "
                f"| {np.mean(theirs):,.2f} | {np.mean(ours):,.2f} |\n"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
