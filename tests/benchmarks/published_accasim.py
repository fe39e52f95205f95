"""Simulate a log with AccaSim 1.1.3, in an environment that has it; published.py starts this.

    python published_accasim.py LOG.swf PROCESSORS DISPATCHER

prints one JSON object: `seconds` of CPU, reading included, and `starts` by the job's number, s.

C. Galleguillos, Z. Kiziltan, A. Netti and R. Soto, AccaSim: a customizable workload management
simulator for job dispatching research in HPC systems, Cluster Computing 23, 2020.
"""

from __future__ import annotations

import collections
import collections.abc
import contextlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# AccaSim asks for it where Python had it before 3.10.
collections.Mapping = collections.abc.Mapping  # type: ignore[attr-defined]

from accasim.base.allocator_class import FirstFit  # noqa: E402
from accasim.base.event_class import Event  # noqa: E402
from accasim.base.scheduler_class import (  # noqa: E402
    EASYBackfilling,
    FirstInFirstOut,
    ShortestJobFirst,
)
from accasim.base.simulator_class import Simulator  # noqa: E402
from accasim.utils.reader_class import Tweaker  # noqa: E402

EPOCH = 1
"""Added to submits: AccaSim takes an instant 0 for a clock that has not begun, s."""

DISPATCHERS = {
    "FIFO": lambda: FirstInFirstOut(FirstFit()),
    "SJF": lambda: ShortestJobFirst(FirstFit()),
    "FIFO, skipping": lambda: FirstInFirstOut(FirstFit(), skip_jobs_on_allocation=True),
    "SJF, skipping": lambda: ShortestJobFirst(FirstFit(), skip_jobs_on_allocation=True),
    "EASY": lambda: EASYBackfilling(FirstFit()),
}


class WholeMachine(Tweaker):
    """Ask for all processors of a job at once: one node is the machine that costs AccaSim least."""

    def tweak_function(self, job_dict: dict[str, Any]) -> dict[str, Any]:
        processors = job_dict["total_processors"]
        return {
            **job_dict,
            "queued_time": job_dict["queued_time"] + EPOCH,
            "queue": job_dict["queue_number"],
            "core": processors,
            "requested_resources": {"core": processors},
            "requested_nodes": 1,
        }


class Noted(Event):
    """A job that is still known when it has ended."""

    all: list[Noted] = []

    def __init__(self, job_id, queued_time, duration, requested_nodes, requested_resources):
        super().__init__(job_id, queued_time, duration, requested_nodes, requested_resources)
        self.all.append(self)


def simulated(log: str, processors: int, dispatcher: str, folder: Path) -> dict[str, Any]:
    """Return the CPU time of a simulation, and when its jobs started."""
    machine = folder / "machine.json"
    machine.write_text(
        json.dumps({"groups": {"all": {"core": processors}}, "resources": {"all": 1}})
    )
    begin = time.process_time()
    Simulator(
        log,
        str(machine),
        DISPATCHERS[dispatcher](),
        RESULTS_FOLDER_PATH=str(folder / "results"),
        job_class=Noted,
        tweak_function=WholeMachine(),
        scheduling_output=False,
        pprint_output=False,
        benchmark_output=False,
        statistics_output=False,
        show_statistics=False,
        LOG_LEVEL="ERROR",
    ).start_simulation()
    spent = time.process_time() - begin
    starts = {job.id: job.start_time - EPOCH for job in Noted.all if job.start_time is not None}
    return {"seconds": spent, "starts": starts}


if __name__ == "__main__":
    path, size, name = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(sys.stderr):
        found = simulated(path, int(size), name, Path(scratch))
    sys.stdout.write(json.dumps(found))
