"""Measure tasks, one JSON object a line, and answer each with one; against.py starts it.

It runs in the environment of any checkout, also an older one: of the project it uses the public
names of `core` alone, and of the tests nothing.
"""

from __future__ import annotations

import json
import sys
import time
import zlib
from collections.abc import Callable
from functools import cache, partial
from typing import Any

try:
    from schedfarm.core import Workload, fair_start_times, lublin, read_swf, scale_load, simulate
except ModuleNotFoundError:  # A checkout of before the four packages were one.
    from core import (  # type: ignore[no-redef,import-not-found]
        Workload,
        fair_start_times,
        lublin,
        read_swf,
        scale_load,
        simulate,
    )

SPAN = 0.2
"""A measurement is repeated for about so long, s of CPU, and made once at least."""

FEW = 60
"""Jobs of a model that are handled first, so that what a task needs is compiled."""

Starts = Any
"""int64[n], s."""

KINDS: dict[str, Callable[[Workload, str], Starts]] = {
    "simulate": lambda jobs, policy: simulate(jobs, policy).start,
    "strict": partial(fair_start_times, kind="strict"),
    "relaxed": partial(fair_start_times, kind="relaxed"),
}


@cache
def workload(log: str, rows: tuple[int, int] | None, load: float | None) -> Workload:
    """Read a log, or these rows of it, and bring it to a load."""
    jobs = read_swf(log, rows=rows)
    return jobs if load is None else scale_load(jobs, load)


@cache
def compiled(kind: str, policy: str) -> None:
    """Compile or load what this kind of task needs under a policy."""
    KINDS[kind](lublin(64, jobs=FEW), policy)


def measured(task: dict[str, Any]) -> dict[str, Any]:
    """Return the best CPU time of a task, s, its jobs, and a check sum of its starts."""
    kind, policy, rows = task["kind"], task["policy"], task["rows"]
    jobs = workload(task["log"], rows and tuple(rows), task["load"])
    compiled(kind, policy)
    best, spent = float("inf"), 0.0
    while spent < SPAN:
        begin = time.process_time()
        starts = KINDS[kind](jobs, policy)
        took = time.process_time() - begin
        best, spent = min(best, took), spent + took
    return {"seconds": best, "jobs": len(jobs), "starts": zlib.crc32(starts.tobytes())}


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(measured(json.loads(line))) + "\n")
        sys.stdout.flush()
