"""Simulate a log by the loop of SchedGym's environments, in plain Python.

    python schedgym.py LOG.swf PROCESSORS

prints one JSON object: `seconds` of CPU, reading included, and `starts` by the job's number, s.

The loop was written for this comparison from the description of the environments' steps; the code
of DIR-LAB's deep-batch-scheduler has no licence, and none of it is here. Its steps:

- The first job of the queue by submission starts as soon as enough processors are free.
- While it waits, its shadow time is the one of the instant at which it became the first, from the
  requested times; it is not calculated again when a job ends early.
- A later job is backfilled if it fits and is requested to end before the shadow time. Processors
  that the first job leaves free at the shadow time are not considered.
- Events are handled one at a time, submissions before completions.

D. Zhang, D. Dai, Y. He, F. S. Bao and B. Xie, RLScheduler: an automated HPC batch job scheduler
using reinforcement learning, SC 2020.
"""

from __future__ import annotations

import heapq
import json
import sys
import time
from typing import NamedTuple


class Job(NamedTuple):
    """One job: times in s."""

    number: int
    submit: int
    run: int
    procs: int
    requested: int


def read(log: str) -> list[Job]:
    """Return the jobs of a plain SWF file, by submission."""
    jobs = []
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith(";"):
                number, submit, _, run, procs, _, _, _, requested, *_ = map(int, line.split())
                jobs.append(Job(number, submit, min(run, requested), procs, requested))
    return sorted(jobs, key=lambda job: job.submit)


class Loop:
    """The state of one simulation."""

    def __init__(self, jobs: list[Job], processors: int) -> None:
        self.now, self.free = 0, processors
        self.coming = jobs[::-1]
        self.queue: list[Job] = []
        self.ends: list[tuple[int, int, int]] = []
        self.running: dict[int, tuple[int, int]] = {}
        self.starts: dict[int, int] = {}

    def next_event(self) -> None:
        """Handle the next submission or completion."""
        if self.coming and (not self.ends or self.coming[-1].submit <= self.ends[0][0]):
            job = self.coming.pop()
            self.now = max(self.now, job.submit)
            self.queue.append(job)
        else:
            end, number, procs = heapq.heappop(self.ends)
            self.now = max(self.now, end)
            self.free += procs
            del self.running[number]

    def start(self, job: Job) -> None:
        """Start a job now."""
        self.starts[job.number] = self.now
        self.free -= job.procs
        heapq.heappush(self.ends, (self.now + job.run, job.number, job.procs))
        self.running[job.number] = (self.now + job.requested, job.procs)

    def shadow(self, job: Job) -> int:
        """Return when enough processors are free by the requested times, s."""
        free, instant = self.free, self.now
        for end, procs in sorted(self.running.values()):
            free, instant = free + procs, end
            if free >= job.procs:
                break
        return instant

    def wait_for(self, first: Job) -> None:
        """Backfill until the first job fits."""
        shadow = self.shadow(first)
        while self.free < first.procs:
            kept = []
            for job in self.queue:
                if job.procs <= self.free and self.now + job.requested < shadow:
                    self.start(job)
                else:
                    kept.append(job)
            self.queue = kept
            self.next_event()

    def simulate(self) -> dict[int, int]:
        """Return the start of each job, s."""
        while self.coming or self.queue:
            if not self.queue:
                self.next_event()
                continue
            first = self.queue.pop(0)
            if self.free < first.procs:
                self.wait_for(first)
            self.start(first)
        return self.starts


def simulated(log: str, processors: int) -> dict[str, object]:
    """Return the CPU time of a simulation, and the starts of its jobs."""
    begin = time.process_time()
    starts = Loop(read(log), processors).simulate()
    return {"seconds": time.process_time() - begin, "starts": starts}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(simulated(sys.argv[1], int(sys.argv[2]))))
