"""What many workers cost one scheduler and one coordinator; run by hand, figures in docs/scale.md.

python tests/benchmarks/crowd.py WORKERS [--seconds S] [--tasks N] [--real]

Workers are objects of Dask's in a few processes, which wait instead of simulating; with --real
each is a process of its own, and simulates. Everything else is what `farm run` has: a scheduler in
a process of its own, encrypted connections, the coordinator in this one.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Any

import psutil

from cluster.certificates import CONFIGURATION, make

IN_A_PROCESS = 128
"""Workers that one process stands for."""

PATIENCE = 900.0


def tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@dataclass(frozen=True)
class Pretend:
    """Take as long as a task, and say that its blocks are done."""

    seconds: float

    def __call__(self, task: Any) -> Any:
        from farm.watching.events import BlockDone

        time.sleep(self.seconds)
        worker = f"{platform.node()}:{os.getpid()}"
        return [
            BlockDone(block=one, cells=1, failed=0, seconds=0.1, worker=worker, why="")
            for one in task.blocks
        ]


async def stand_for(address: str, count: int) -> None:
    """Be so many workers, until the scheduler ends."""
    import dask
    from distributed import Worker

    # What a process has once: 128 looks at its memory would be what is measured.
    dask.config.set({"distributed.admin.system-monitor.interval": "60s"})
    workers = [Worker(address, nthreads=1, host="127.0.0.1", memory_limit=0, dashboard=False)
               for _ in range(count)]  # fmt: skip
    await asyncio.gather(*workers)
    await asyncio.gather(*(worker.finished() for worker in workers))


def start(stack: ExitStack, *command: str) -> Popen[bytes]:
    """Start a process that ends with the stack."""
    folder = Path(tempfile.gettempdir())
    process = Popen([sys.executable, *command], stdout=-3, stderr=-3, cwd=folder)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def measure(count: int, seconds: float, tasks: int, real: bool, folder: Path) -> None:
    """Run a campaign on a crowd and tell what scheduler and coordinator spent."""
    from distributed import Client

    from farm.execution import window
    from farm.execution.runner import begin, carry_out
    from farm.watching.events import All

    file = folder / "scheduler.json"
    with ExitStack() as stack:
        ends = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--host", "127.0.0.1")
        ends = (*ends, "--scheduler-file", str(file))
        scheduler = start(stack, "-m", "distributed.cli.dask_scheduler", "--port", "0", *ends)
        while not file.exists() or not file.read_text().endswith("}"):
            time.sleep(0.1)
        client = stack.enter_context(Client(scheduler_file=str(file)))
        address = client.scheduler.address
        if real:
            for _ in range(count):
                one = ("--no-nanny", "--nthreads", "1", "--memory-limit", "0", *ends)
                start(stack, "-m", "distributed.cli.dask_worker", *one)
        else:
            for first in range(0, count, IN_A_PROCESS):
                many = str(min(IN_A_PROCESS, count - first))
                start(stack, str(Path(__file__).resolve()), many, "--stand-for", address)
            window.attempt = Pretend(seconds)  # type: ignore[assignment]
        client.wait_for_workers(count, timeout=PATIENCE)
        other = psutil.Process(scheduler.pid)
        idle = spent(other)
        time.sleep(10)
        idle = (spent(other) - idle) / 10
        own, its, begun = time.process_time(), spent(other), time.perf_counter()
        with begin(campaign(tasks, real), folder / "s") as prepared:
            planned = time.process_time() - own
            carry_out(prepared, client, All())
            done = len(prepared.tasks)
        wall = time.perf_counter() - begun
        own, its = time.process_time() - own - planned, spent(other) - its
        tell(
            f"{count} workers, {done} tasks in {wall:.1f} s ({done / wall:.1f} a second): CPU of "
            f"the scheduler {1e3 * (its - idle * wall) / done:.2f} ms a task and "
            f"{1e3 * idle / count:.3f} ms a second for each idle worker, "
            f"{its / wall:.3f} of a core in all; of the coordinator {1e3 * own / done:.2f} ms a "
            f"task, {own / wall:.3f} of a core; {other.memory_info().rss / 2**20:.0f} MiB of "
            "memory in the scheduler"
        )


def spent(process: psutil.Process) -> float:
    """Return the CPU time of a process so far, s."""
    times = process.cpu_times()
    return float(times.user + times.system)


def campaign(tasks: int, real: bool) -> Any:
    """Return a campaign of about so many tasks, each of one block."""
    from farm.campaign.campaign import Campaign
    from farm.campaign.trace import Trace

    return Campaign(
        name="crowd",
        traces=(Trace(name="m", model="lublin", processors=64, jobs=4000 if real else 50),),
        policies=("fcfs+easy",),
        resamples=tasks,
        seed=1,
        block_seconds=1e-6,
    )


def main() -> None:
    """Measure, or be a part of what is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workers", type=int)
    parser.add_argument("--seconds", type=float, default=10.0, help="that a task takes")
    parser.add_argument("--tasks", type=int, help="by default three a worker")
    parser.add_argument("--real", action="store_true", help="a process for each worker")
    parser.add_argument("--stand-for", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stand_for:
        asyncio.run(stand_for(given.stand_for, given.workers))
        return
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        make(folder / "certificates")
        settings = str(folder / "certificates" / CONFIGURATION)
        if os.environ.get("SCHEDFARM_CROWD") != "1":
            # Dask reads its configuration as it is imported.
            os.environ |= {"DASK_CONFIG": settings, "SCHEDFARM_CROWD": "1"}
            import dask

            dask.config.refresh()
        measure(given.workers, given.seconds, given.tasks or 3 * given.workers, given.real, folder)


if __name__ == "__main__":
    main()
