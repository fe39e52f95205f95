"""Simulate a log with HPCSim 0.3.1, in an environment that has it.

    python hpcsim.py LOG.swf PROCESSORS

prints one JSON object: `seconds` of CPU, reading included, and `starts` by the job's number, s.

Processors are GPUs of one node. A job without a model of a network computes one iteration a second
on each of its GPUs, so that its iterations are its processors times its run time. It takes the
whole memory of its GPUs: HPCSim lets jobs share GPUs as far as their memory reaches.
"""

from __future__ import annotations

import json
import sys
import time

# The folder of this script holds a module of the same name.
sys.path.pop(0)

from hpcsim.cluster.cluster import Cluster, ClusterConfig, NodeSpec  # noqa: E402
from hpcsim.cluster.hardware import GPUType  # noqa: E402
from hpcsim.scheduler.backfill import wrap_with_backfill  # noqa: E402
from hpcsim.scheduler.schedulers import FIFOScheduler  # noqa: E402
from hpcsim.simulator.engine import SimulationEngine  # noqa: E402
from hpcsim.workload.job import TrainingJob  # noqa: E402

EPOCH = 1
"""Added to submits: HPCSim takes a start at 0 for a job that has not started, s."""

EVER = 10**12
"""Longer than any simulation, s: no statistics are collected on the way."""


def read(log: str, memory: float) -> list[TrainingJob]:
    """Return the jobs of a plain SWF file."""
    jobs = []
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(";"):
                continue
            number, submit, _, run, procs, _, _, _, requested, *_ = map(int, line.split())
            job = TrainingJob(
                job_id=str(number),
                submit_time=submit + EPOCH,
                arch=None,
                num_gpus_requested=procs,
                num_iterations=procs * min(run, requested),
                memory_per_gpu_gb=memory,
            )
            job.requested_runtime = requested
            jobs.append(job)
    return jobs


def simulated(log: str, processors: int) -> dict[str, object]:
    """Return the CPU time of a simulation, and the starts of its jobs."""
    begin = time.process_time()
    node = NodeSpec(gpu_type=GPUType.V100, num_nodes=1, gpus_per_node=processors)
    cluster = Cluster(ClusterConfig("log", nodes=[node]))
    memory = next(iter(cluster.gpus.values())).memory_free_gb
    jobs = read(log, memory)
    scheduler = wrap_with_backfill(FIFOScheduler(cluster), "easy")
    SimulationEngine.METRIC_INTERVAL = EVER
    # One job after the other would be done by then; what it prepares grows with this span.
    longest = max(job.submit_time for job in jobs) + sum(job.requested_runtime for job in jobs)
    SimulationEngine(cluster, scheduler, jobs, max_sim_time=longest).run()
    spent = time.process_time() - begin
    starts = {job.job_id: int(job.start_time) - EPOCH for job in jobs if job.start_time}
    return {"seconds": spent, "starts": starts}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(simulated(sys.argv[1], int(sys.argv[2]))))
