"""What the farm adds to the simulations, in time and memory; run by hand, figures in docs/scale.md.

python tests/benchmarks/overhead.py cells|plan|flat|resume|summary [--plot FILE] [--millions N]
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from schedfarm.core.format.names import record_name
from schedfarm.core.format.record import Header, Payload, Record
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.run import begin, execute
from schedfarm.farm.store.provenance import origin
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.summary import fold
from schedfarm.farm.watching.events import All, Begin, BlockDone, read_events
from schedfarm.farm.watching.status import status

WORKERS = 2
ORDERS = ("fcfs", "lcfs", "spf", "lpf", "sqf", "lqf", "saf", "laf", "f1", "f2")
LOADS = tuple(str(round(0.5 + 0.05 * i, 2)) for i in range(10))
MIB = 2**20
SAMPLE_SECONDS = 0.25

CELLS = {"5 ms": (3300, 200), "50 ms": (16000, 80)}
"""Jobs of a cell whose simulation takes about this long under conservative backfilling, and
resamples."""


def tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def campaign(name: str, traces: int, resamples: int, jobs: int, rule: str = "easy") -> Campaign:
    return Campaign(
        name=name,
        traces=tuple(
            Trace(name=f"m{i}", model="lublin", processors=64 + i, jobs=jobs) for i in range(traces)
        ),
        policies=tuple(f"{order}+{rule}" for order in ORDERS),
        loads=LOADS,
        resamples=resamples,
        seed=1,
    )


@contextmanager
def measured(what: str) -> Iterator[None]:
    """Tell wall and CPU time, and the most memory that this process has ever had."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    tell(f"{what}: {wall:.2f} s of wall, {cpu:.2f} s of CPU, at most {most:.0f} MiB")


def run(wanted: Campaign, folder: Path) -> None:
    """Run a campaign on local workers and tell what of their time was simulation."""
    from schedfarm.cluster import ClusterSpec, connect

    with connect(ClusterSpec("local", workers=WORKERS)) as client:
        client.wait_for_workers(WORKERS)
        client.run(warm, wanted.policies)
        before = sum(client.run(time.process_time).values())
        own = time.process_time()
        with begin(wanted, folder) as prepared:
            planned = time.process_time()
            outcome = execute(prepared, client, All())
        own, planned = time.process_time() - planned, planned - own
        spent = sum(client.run(time.process_time).values()) - before
    events, _ = read_events(folder)
    begun = next(e.time for e in events if isinstance(e, Begin))
    wall = max(e.time for e in events if isinstance(e, BlockDone)) - begun
    useful = status(folder).seconds
    tell(
        f"{outcome.done} cells, {1e3 * useful / outcome.done:.2f} ms of simulation each, "
        f"{wall:.1f} s: simulation is {useful / (WORKERS * wall):.3f} of workers x wall, "
        f"{useful / spent:.3f} of the workers' CPU; coordinator and scheduler "
        f"{1e3 * own / outcome.done:.3f} ms of CPU a cell (planning {planned:.2f} s)"
    )


def warm(policies: tuple[str, ...]) -> None:
    """Compile or load the kernels: once a host, not once a cell."""
    from schedfarm.core import simulate, summarise
    from schedfarm.core.models.lublin import lublin

    for policy in policies:
        summarise(simulate(lublin(64, jobs=50), policy))


def cells(folder: Path, plot: Path | None) -> None:
    for name, (jobs, resamples) in CELLS.items():
        tell(f"cells of {name}:")
        wanted = campaign("cells", 1, resamples, jobs, "conservative")
        run(wanted, folder / name.replace(" ", ""))


def million(count: int = 1) -> Campaign:
    return campaign("million", 10, 1000 * count, 50)


def plan(folder: Path, plot: Path | None) -> None:
    with measured("plan a million cells and make their store"), begin(million(), folder / "s") as s:
        tell(f"{s.store.cells} cells, {len(s.missing)} blocks, {len(s.tasks)} tasks")


def flat(folder: Path, plot: Path | None) -> None:
    import psutil

    process, begun = psutil.Process(), time.perf_counter()
    points: list[tuple[float, float, int]] = []
    over = threading.Event()

    def sample() -> None:
        while not over.wait(SAMPLE_SECONDS):
            events, _ = read_events(folder / "s")
            done = sum(e.cells for e in events if isinstance(e, BlockDone))
            points.append((time.perf_counter() - begun, process.memory_info().rss / MIB, done))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        run(campaign("flat", 10, 100, 50), folder / "s")
    finally:
        over.set()
        thread.join()
    working = [p for p in points if p[2]]
    tell(f"memory from {working[0][1]:.0f} MiB at the first cells to {working[-1][1]:.0f} MiB")
    if plot:
        draw(points, plot)


def draw(points: list[tuple[float, float, int]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 2.6), layout="constrained")
    axes = figure.subplots()
    axes.plot([p[2] / 1000 for p in points], [p[1] for p in points], color="black", linewidth=1)
    axes.set(xlabel="cells done (thousands)", ylabel="coordinator and\nscheduler (MiB)", ylim=0)
    figure.savefig(path, dpi=80)


def resume(folder: Path, plot: Path | None, millions: int = 1) -> None:
    with begin(million(millions), folder / "s") as prepared:
        store, blocks = prepared.store, list(prepared.missing)
    for block in blocks:
        store.place.write(record_name(block), fabricated(store, block).to_bytes())
    size = sum(p.stat().st_size for p in (folder / "s" / "records").rglob("*.json"))
    tell(f"{len(blocks)} records of {store.cells} cells, {size / MIB:.0f} MiB")
    for part in AGAIN:
        # In a process of its own, for the most memory that this takes.
        command = [sys.executable, __file__, part, "--at", str(folder / "s")]
        subprocess.run([*command, "--millions", str(millions)], check=True)


def resumed(store: Path, millions: int) -> None:
    with measured("resume over them"), begin(million(millions), store) as prepared:
        assert not prepared.missing


def fold_again(store: Path, millions: int) -> None:
    with measured("fold their summary"):
        fold(Store.open(store))
    digest = hashlib.sha256()
    for path in sorted(store.glob("results.zarr/*/c/**/*")):
        digest.update(path.read_bytes() if path.is_file() else b"")
    tell(f"SHA-256 of the summary {digest.hexdigest()[:16]}")


def count_again(store: Path, millions: int) -> None:
    with measured("count them for farm status"):
        status(store)


AGAIN = {"again": resumed, "fold": fold_again, "status": count_again}
"""What is done over records that are there."""


def fabricated(store: Store, block: Any) -> Record:
    """Return a record as a block's would be: one value a cell for everything."""
    span, rng = store.span_of(block), np.random.default_rng(0)
    count, holding = len(span), store.holds[block.kind]
    names = [v.name for v in holding.figures]
    arrays = [v.name for v in store.arrays_of(block.trace, block.kind)]
    return Record(
        Header(block, store.identity, span, (), store.holding_digest(block)),
        Payload(
            np.full(count, 50),
            {},
            {name: rng.random(count) for name in names},
            {name: rng.integers(0, 2**32, count, np.uint32) for name in arrays},
            {},
            1.0,
            (origin(),),
        ),
    )


def summary(folder: Path, plot: Path | None) -> None:
    import xarray as xr

    wanted = campaign("summary", 1, 100, 50)
    with begin(wanted, folder / "s") as prepared:
        for block in prepared.missing:
            record = fabricated(prepared.store, block)
            prepared.store.place.write(record_name(block), record.to_bytes())
        fold(prepared.store)
    for _ in range(3):
        with measured("mean over resamples, by policy, of 10,000 cells"):
            tree = xr.open_zarr(folder / "s" / "results.zarr")
            tree["wait"].mean("resample").sel(load="0.9").load()


PARTS: dict[str, Callable[..., None]] = {
    "cells": cells,
    "plan": plan,
    "flat": flat,
    "resume": resume,
    "summary": summary,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=[*PARTS, *AGAIN])
    parser.add_argument("--plot", type=Path, help="Where `flat` draws memory over cells.")
    parser.add_argument("--millions", type=int, default=1, help="of cells to resume over")
    parser.add_argument("--at", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.at:
        AGAIN[given.part](given.at, given.millions)
        sys.exit()
    with tempfile.TemporaryDirectory() as scratch:
        more = {"millions": given.millions} if given.part == "resume" else {}
        PARTS[given.part](Path(scratch), given.plot, **more)
