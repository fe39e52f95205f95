"""What many workers cost one scheduler and one coordinator; run by hand, figures in docs/scale.md.

python tests/benchmarks/crowd.py WORKERS [--work S] [--block S] [--real]

Workers are objects of Dask's in a few processes, which wait for as long as a task was planned to
take, give or take a tenth, instead of simulating; with --real each is a process of its own, and
simulates. Everything else is what `farm run --on slurm` has, but for the scheduler, which has a
process of its own here to be told from the coordinator: settings, encrypted connections, the
coordinator in this one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import platform
import random
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from subprocess import Popen
from typing import Any

import psutil

from schedfarm.cluster.certificates import CONFIGURATION, make
from schedfarm.cluster.opening import lift_file_limit
from schedfarm.cluster.settings import JOBS, UNWATCHED, WORKERS
from schedfarm.farm.watching.events import BlockDone

IN_A_PROCESS = 125
"""Workers that one process stands for."""

AT_ONCE = 4
"""Workers of a process that join at a time: more at once are given up before they are heard."""

PATIENCE = 900.0

MIDST = (0.2, 0.8)
"""Share of the work that is done when the midst of a run begins, and when it ends."""

IDLE_SECONDS = 20.0
"""Time for which the scheduler is looked at before there is anything to do."""

JOBS_A_CELL = 280_000
"""Ten cells of so many jobs under EASY take about as long as a shard of a real log's cells."""


def tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@dataclass(frozen=True)
class Pretend:
    """Take as long as a task is planned to take, and say that its blocks are done."""

    def __call__(self, message: Any) -> Any:
        from schedfarm.farm.execution.messages import decoded, publish

        task = decoded(message)
        seconds = task.seconds * random.uniform(0.9, 1.1)
        time.sleep(seconds)
        worker = f"{platform.node()}:{os.getpid()}"
        told = [block for block in task.blocks if block.product.policies]
        each = seconds / max(1, len(told))
        done = [
            BlockDone(
                block=one, cells=1, failed=0, seconds=each * (one in told), worker=worker, why=""
            )
            for one in task.blocks
        ]
        publish(done)
        return done


async def stand_for(address: str, count: int) -> None:
    """Be so many workers, until the scheduler ends."""
    import dask
    from distributed import Worker

    from schedfarm.farm.store.provenance import program

    # Before anybody waits for an answer: on few cores it takes many workers' time.
    program()
    # What a process has once, or a core: so many ticks of a core of its own each would be what is
    # measured.
    dask.config.set({"distributed.admin.system-monitor.interval": "60s"})
    dask.config.set({"distributed.admin.tick.interval": "10s"})
    room = asyncio.Semaphore(AT_ONCE)

    async def join() -> Worker:
        async with room:
            return await Worker(
                address, nthreads=1, host="127.0.0.1", memory_limit=0, dashboard=False
            )

    workers = await asyncio.gather(*(join() for _ in range(count)))
    await asyncio.gather(*(worker.finished() for worker in workers))


def start(stack: ExitStack, *command: str) -> Popen[bytes]:
    """Start a process that ends with the stack."""
    folder = Path(tempfile.gettempdir())
    process = Popen([sys.executable, *command], stdout=-3, stderr=-3, cwd=folder)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


@dataclass
class Tasks:
    """Hold how long the tasks are to take that were handed out, s."""

    lengths: list[float] = field(default_factory=list)

    def watch(self) -> None:
        """Note the length of each task that is submitted from now on."""
        from schedfarm.farm.execution.executors import Window

        submit = Window._submit

        def noted(window: Window, tasks: list[Any]) -> None:
            self.lengths += [task.seconds for task in tasks]
            submit(window, tasks)

        Window._submit = noted  # type: ignore[method-assign]


@dataclass
class Ledger:
    """Write down every second what was spent, and what had been heard of by then.

    scheduler: its process. work: what the blocks took that were heard of so far, s. blocks: how
    many. lines: time, CPU time of the scheduler and of this process, all s; blocks, and work.
    """

    scheduler: psutil.Process
    work: float = 0.0
    blocks: int = 0
    lines: list[tuple[float, ...]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def see(self, event: Any) -> None:
        """Count a block that is done."""
        if isinstance(event, BlockDone):
            self.blocks += 1
            self.work += event.seconds

    def keep(self) -> None:
        """Write a line now, and every second until all is over."""
        while True:
            its = spent(self.scheduler)
            now, own = time.perf_counter(), time.process_time()
            self.lines.append((now, its, own, self.blocks, self.work))
            if self.over.wait(1.0):
                return

    def midst(self) -> tuple[tuple[float, ...], ...]:
        """Return the lines between which the work but its first and last fifth was done."""
        least, most = (share * self.work for share in MIDST)
        within = [line for line in self.lines if least <= line[-1] <= most]
        return within[0], within[-1]


def measure(given: argparse.Namespace, folder: Path) -> None:
    """Run a campaign on a crowd and tell what scheduler and coordinator spent."""
    from distributed import Client

    from schedfarm.farm.execution.run import begin, execute

    count, file, tasks = given.workers, folder / "scheduler.json", Tasks()
    with ExitStack() as stack:
        scheduler = psutil.Process(start_scheduler(stack, file).pid)
        client = stack.enter_context(Client(scheduler_file=str(file)))
        joined, began = spent(scheduler), time.perf_counter()
        start_workers(stack, given, file)
        while (there := len(client.nthreads())) < count:
            if time.perf_counter() - began > PATIENCE:
                raise SystemExit(f"only {there} of {count} workers were there in {PATIENCE} s")
            time.sleep(1.0)
        tell(
            f"{count} workers joined in {time.perf_counter() - began:.0f} s: "
            f"{1e3 * (spent(scheduler) - joined) / count:.1f} ms of the scheduler's CPU each"
        )
        tasks.watch()
        time.sleep(IDLE_SECONDS)
        idle = spent(scheduler)
        time.sleep(IDLE_SECONDS)
        idle = (spent(scheduler) - idle) / IDLE_SECONDS
        ledger = Ledger(scheduler)
        with begin(campaign(given), folder / "s") as prepared:
            work, blocks = math.fsum(t.seconds for t in prepared.tasks), len(prepared.missing)
            own, its, began = time.process_time(), spent(scheduler), time.perf_counter()
            keeping = threading.Thread(target=ledger.keep)
            keeping.start()
            execute(prepared, client, ledger)
            ledger.over.set()
            keeping.join()
        wall = time.perf_counter() - began
        own, its, done = time.process_time() - own, spent(scheduler) - its, len(tasks.lengths)
        tell(
            f"{blocks} blocks in {done} tasks of {min(tasks.lengths):.1f} to "
            f"{max(tasks.lengths):.1f} s, on the mean {work / done:.1f}, in {wall:.1f} s: the "
            f"workers' share {work / (count * wall):.3f} of their time, {done / wall:.1f} tasks a "
            f"second\nscheduler {1e3 * its / done:.2f} ms of CPU a task, {its / wall:.3f} of a "
            f"core ({idle:.3f} where all idle: {1e3 * idle / count:.3f} ms a second for each "
            f"worker), {scheduler.memory_info().rss / 2**20:.0f} MiB\ncoordinator "
            f"{1e3 * own / done:.2f} ms a task, {own / wall:.3f} of a core, "
            f"{psutil.Process().memory_info().rss / 2**20:.0f} MiB\n"
            f"together {(own + its) / wall:.3f} of a core"
        )
        tell_midst(ledger, count)


def tell_midst(ledger: Ledger, count: int) -> None:
    """Tell what was spent in the midst of a run, and how busy the workers were meanwhile."""
    first, last = ledger.midst()
    wall, its, own, blocks, work = (b - a for a, b in zip(first, last, strict=True))
    tell(
        f"in the midst, {wall:.0f} s: scheduler {its / wall:.3f} and coordinator {own / wall:.3f} "
        f"of a core, together {(its + own) / wall:.3f}; {blocks / wall:.0f} blocks a second, the "
        f"workers' share {work / (count * wall):.3f} of their time"
    )
    began = ledger.lines[0][0]
    for share in (0.0, 0.1, 0.5, 0.9):
        when = next(line[0] for line in ledger.lines if line[-1] > share * ledger.work)
        tell(f"{100 * share:.0f} % of the work was heard of after {when - began:.0f} s")


def ends(file: Path) -> tuple[str, ...]:
    """Return the options of Dask's commands for who meets by a file on the loopback interface."""
    here = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--host", "127.0.0.1")
    return (*here, "--scheduler-file", str(file))


def start_scheduler(stack: ExitStack, file: Path) -> Popen[bytes]:
    """Start a scheduler and wait for the file that it writes."""
    # It reads what it hands on, by the modules of that: to import them takes a second of its loop.
    known = ("--preload", "schedfarm.farm.execution.worker", "--preload", Path(__file__).stem)
    command = ("-m", "distributed.cli.dask_scheduler", "--port", "0", *known, *ends(file))
    process = start(stack, *command)
    while not file.exists() or not file.read_text().endswith("}"):
        time.sleep(0.1)
    return process


def start_workers(stack: ExitStack, given: argparse.Namespace, file: Path) -> None:
    """Start workers, or processes that stand for many of them each."""
    from schedfarm.farm.execution import executors

    if given.real:
        one = ("--no-nanny", "--nthreads", "1", "--memory-limit", "0", *ends(file))
        for _ in range(given.workers):
            start(stack, "-m", "distributed.cli.dask_worker", *one)
        return
    address = json.loads(file.read_text())["address"]
    for first in range(0, given.workers, IN_A_PROCESS):
        many = str(min(IN_A_PROCESS, given.workers - first))
        start(stack, str(Path(__file__).resolve()), many, "--stand-for", address)
    # By the name of the module: a program's own things are pickled as a whole.
    executors.run_message = import_module(Path(__file__).stem).Pretend()


def spent(process: psutil.Process) -> float:
    """Return the CPU time of a process so far, s."""
    times = process.cpu_times()
    return float(times.user + times.system)


def campaign(given: argparse.Namespace) -> Any:
    """Return a campaign of so much work for each worker, in blocks of a length."""
    from schedfarm.farm.campaign.campaign import Campaign
    from schedfarm.farm.campaign.trace import Trace
    from schedfarm.farm.planning.cost import cell_seconds

    policies = tuple(f"{order}+easy" for order in ORDERS)
    jobs = 4000 if given.real else JOBS_A_CELL
    each = math.fsum(cell_seconds(jobs, policy, "original") for policy in policies)
    return Campaign(
        name="crowd",
        traces=(Trace(name="m", model="lublin", processors=64, jobs=jobs),),
        policies=policies,
        resamples=math.ceil(given.workers * given.work / each),
        seed=1,
        block_seconds=given.block,
    )


ORDERS = ("fcfs", "lcfs", "spf", "lpf", "sqf", "lqf", "saf", "laf", "f1", "f2")


def settings(folder: Path) -> str:
    """Write Dask's settings of a cluster of jobs, and return the folder of their files."""
    made, here = folder / "certificates", folder / "dask"
    make(made)
    here.mkdir()
    (made / CONFIGURATION).rename(here / CONFIGURATION)
    plain: dict[str, Any] = {}
    for key, value in {**JOBS, **WORKERS, **UNWATCHED}.items():
        inner = plain
        *path, last = key.split(".")
        for name in path:
            inner = inner.setdefault(name, {})
        inner[last] = value
    (here / "settings.json").write_text(json.dumps(plain))
    return str(here)


def main() -> None:
    """Measure, or be a part of what is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workers", type=int)
    parser.add_argument("--work", type=float, default=60.0, help="of each worker, s")
    parser.add_argument("--block", type=float, default=1.5, help="that a block takes, s")
    parser.add_argument("--real", action="store_true", help="a process for each worker")
    parser.add_argument("--stand-for", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stand_for:
        asyncio.run(stand_for(given.stand_for, given.workers))
        return
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        # Dask reads its configuration as it is imported.
        os.environ["DASK_CONFIG"] = settings(folder)
        here = str(Path(__file__).resolve().parent)
        os.environ["PYTHONPATH"] = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
        import dask

        dask.config.refresh()
        lift_file_limit()
        measure(given, folder)


if __name__ == "__main__":
    main()
