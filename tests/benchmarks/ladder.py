"""Runs of 10^4 to 10^6 cells of 50 jobs, in a folder or in a bucket; figures in docs/scale.md.

    python -m tests.benchmarks.ladder CELLS [--bucket]

For each command: CPU and wall time, and the peak memory of one process and of all of them.
`--bucket` starts an S3 server on the loopback interface, whose own CPU time is not counted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import psutil

from tests.support.seaweed import BUCKET, Seaweed

FARM = (sys.executable, "-m", "schedfarm")

POLICIES = ("fcfs+easy", "spf+easy", "sqf+easy", "saf+easy", "lxf+easy")

LOADS = (0.7, 0.9)

CAMPAIGN = """
name = "ladder"
seed = 1
keep = "summary"
resamples = {resamples}
loads = {loads}
policies = {policies}

[[traces]]
name = "lublin"
model = "lublin"
processors = 128
jobs = 50
"""

OPEN = """
import sys, schedfarm
repr(schedfarm.open(sys.argv[1]))
"""

LOOK_SECONDS = 0.2


def commands(store: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the commands to measure and their names in the table."""
    run = (*FARM, "run", "ladder.toml", "--store", store, "--workers", "2", "--quiet")
    yield "run", run
    yield "the same command again", run
    yield "status", (*FARM, "status", store)
    yield "verify", (*FARM, "verify", store)
    yield "bands", (*FARM, "bands", store)
    yield "open", (sys.executable, "-c", OPEN, store)


def measured(words: tuple[str, ...], folder: Path) -> str:
    """Run a command to its end, and return its times and its memory."""
    begin, most, together = time.monotonic(), 0, 0
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL)
    over = threading.Event()
    tree = psutil.Process(process.pid)
    while True:
        pid, state, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        try:
            held = [one.memory_info().rss for one in (tree, *tree.children(recursive=True))]
            most, together = max(most, *held), max(together, sum(held))
        except psutil.NoSuchProcess:
            pass
        over.wait(LOOK_SECONDS)
    process.returncode = os.waitstatus_to_exitcode(state)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} failed: exit status {process.returncode}")
    cpu, wall = usage.ru_utime + usage.ru_stime, time.monotonic() - begin
    return f"CPU {cpu:.1f} s, wall {wall:.1f} s, {most >> 20} MiB, all {together >> 20} MiB"


@contextmanager
def where(folder: Path, bucket: bool) -> Iterator[str]:
    """Yield the address of the store, and keep a server for a bucket until the end."""
    if not bucket:
        yield str(folder / "ladder.farm")
        return
    server = Seaweed(folder / "server")
    server.start()
    os.environ.update(server.environment())
    try:
        yield f"s3://{BUCKET}/ladder"
    finally:
        server.kill()


def main() -> None:
    """Measure all commands on one store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cells", type=int)
    parser.add_argument("--bucket", action="store_true")
    asked = parser.parse_args()
    resamples = asked.cells // (len(LOADS) * len(POLICIES))
    with tempfile.TemporaryDirectory() as name, where(Path(name), asked.bucket) as store:
        folder = Path(name)
        text = CAMPAIGN.format(resamples=resamples, loads=list(LOADS), policies=list(POLICIES))
        (folder / "ladder.toml").write_text(text)
        for title, words in commands(store):
            click.echo(f"{title}: {measured(words, folder)}")
        if not asked.bucket:
            files = [path for path in Path(store).rglob("*") if path.is_file()]
            sizes = sum(path.stat().st_size for path in files)
            described = (Path(store) / "store.json").stat().st_size
            click.echo(f"{len(files)} files, {sizes >> 20} MiB, store.json {described} bytes")


if __name__ == "__main__":
    main()
