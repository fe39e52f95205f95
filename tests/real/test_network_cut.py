"""Workers whose network is cut in mid-run, and mended at once, later or never: nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from schedfarm import farm
from schedfarm.cluster.certificates import CONFIGURATION, make
from schedfarm.farm.watching.events import BlockDone, read_events
from tests.support.dask_processes import start_dask, wait_for_scheduler
from tests.support.harness import PATIENCE, Command, assert_same_results, counts, wait_for

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None,
    reason="networks of their own need root, and ip of the package iproute2",
)

TIMEOUT = 12
"""Time, s, after which Dask gives a silent connection up: 30 by default, and 11 is the least."""

HOSTS = {"head": "10.99.0.1", "one": "10.99.0.2", "two": "10.99.0.3"}

SLOW = """
import os, time

def order(submit):
    if os.path.exists(os.environ.get("CUT_SLOW", "")):
        time.sleep(0.3)
    return submit
"""
"""Makes a run long enough to be cut in its midst, as long as a file is there, and leaves the
machine to other tests.

A task takes 10 s, and a worker is known to work when its first one is done.
"""

CAMPAIGN = """
name = "cut"
block_seconds = 0.001
seed = 5
resamples = 400
policies = ["slow:order+easy"]

[[traces]]
name = "m64"
model = "lublin"
processors = 64
jobs = 60
"""
CELLS = 400


class Network:
    """Hosts of one network that nothing else is in, joined by a bridge in a space of its own."""

    def __init__(self) -> None:
        self._prefix = f"farm{uuid.uuid4().hex[:6]}"
        self._ip("netns", "add", f"{self._prefix}-hub")
        self._hub("link", "add", "bridge", "type", "bridge")
        self._hub("link", "set", "bridge", "up")
        for host, address in HOSTS.items():
            space = f"{self._prefix}-{host}"
            self._ip("netns", "add", space)
            self._hub("link", "add", host, "type", "veth", "peer", "name", "eth0", "netns", space)
            self._hub("link", "set", host, "master", "bridge")
            self._hub("link", "set", host, "up")
            self._ip("-n", space, "address", "add", f"{address}/24", "dev", "eth0")
            self._ip("-n", space, "link", "set", "eth0", "up")
            self._ip("-n", space, "link", "set", "lo", "up")

    def on(self, host: str) -> list[str]:
        """The beginning of a command that runs on a host."""
        return ["ip", "netns", "exec", f"{self._prefix}-{host}"]

    def cut(self, host: str) -> None:
        """Take a host's cable out: nobody is told."""
        self._hub("link", "set", host, "down")

    def mend(self, host: str) -> None:
        self._hub("link", "set", host, "up")

    def end(self) -> None:
        for host in (*HOSTS, "hub"):
            self._ip("netns", "delete", f"{self._prefix}-{host}")

    def _hub(self, *arguments: str) -> None:
        self._ip("-n", f"{self._prefix}-hub", *arguments)

    def _ip(self, *arguments: str) -> None:
        subprocess.run(["ip", *arguments], check=True)


@pytest.fixture
def network() -> Iterator[Network]:
    made = Network()
    yield made
    made.end()


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    """Encrypted, as a scheduler on a network has to be, and soon to give a connection up."""
    make(tmp_path / "certificates")
    return {
        "DASK_CONFIG": str(tmp_path / "certificates" / CONFIGURATION),
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": f"{TIMEOUT}s",
    }


def done_by(store: Path) -> list[str]:
    """Process ids of the workers of all blocks done, in their order."""
    if not (store / "store.json").exists():
        return []
    events = read_events(store)[0]
    return [event.worker.rpartition(":")[2] for event in events if isinstance(event, BlockDone)]


def test_a_scheduler_that_a_network_can_use__is_refused_unless_wanted(
    network: Network, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "cut.toml").write_text(CAMPAIGN.replace("resamples = 400", "resamples = 2"))
    file, on = tmp_path / "scheduler.json", network.on("head")
    command = ("run", "cut.toml", "--json", "--scheduler-file", str(file))
    with ExitStack() as stack:
        for role, *options in (("scheduler", "--port", "0"), ("worker", "--no-nanny")):
            pages = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--host", "10.99.0.1")
            log = tmp_path / f"{role}.log"
            process = start_dask(role, file, log, *pages, *options, before=on)
            stack.callback(process.wait, PATIENCE)
            stack.callback(process.kill)
        wait_for_scheduler(file)
        refused = Command(tmp_path, *command, before=on)
        assert refused.finish() == 2
        assert "farm: tcp://10.99.0.1:" in refused.err
        assert "over the network can run code as you" in refused.err
        assert "--insecure accepts this one" in refused.err
        assert not (tmp_path / "cut.farm").exists()
        taken = Command(tmp_path, *command, "--insecure", before=on)
        assert taken.finish() == 0, taken.err
        assert "note: tcp://10.99.0.1:" in taken.err
        assert counts(taken.out)["done"] == 2


def test_a_cut_worker_costs_no_cell(
    network: Network, settings: dict[str, str], tmp_path: Path
) -> None:
    """One is cut for 2 s, then until it is given up and replaced; then the other one for good."""
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "cut.toml").write_text(CAMPAIGN)
    slow = tmp_path / "slow"
    slow.touch()
    settings["CUT_SLOW"] = str(slow)
    file, log, store = tmp_path / "scheduler.json", tmp_path / "dask.log", tmp_path / "cut.farm"

    def start(role: str, host: str, *options: str) -> subprocess.Popen[bytes]:
        pages = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--host", HOSTS[host])
        process = start_dask(role, file, log, *pages, *options, before=network.on(host), **settings)
        stack.callback(process.wait, PATIENCE)
        stack.callback(process.kill)
        return process

    def until_it_works(worker: subprocess.Popen[bytes]) -> None:
        since, pid = len(done_by(store)), str(worker.pid)
        wait_for(lambda: pid in done_by(store)[since:], f"a block of {pid}")

    with ExitStack() as stack:
        start("scheduler", "head", "--port", "0")
        wait_for_scheduler(file)
        worker = ("--no-nanny", "--nthreads", "1", "--death-timeout", "120")
        one, _ = (start("worker", host, *worker) for host in ("one", "two"))
        command = Command(
            tmp_path, "run", "cut.toml", "--json", "--scheduler-file", str(file),
            before=network.on("head"), **settings,
        )  # fmt: skip
        stack.callback(command.kill)
        until_it_works(one)
        network.cut("one")
        time.sleep(2)
        network.mend("one")
        until_it_works(one)
        network.cut("one")
        wait_for(lambda: "Remove worker" in log.read_text(), "the scheduler to give it up")
        network.mend("one")
        wait_for(lambda: one.poll() is not None, "the end of a worker that was given up")
        until_it_works(start("worker", "one", *worker))
        network.cut("two")
        slow.unlink()
        assert command.finish() == 0, command.err
    assert counts(command.out) == {"cells": CELLS, "before": 0, "done": CELLS, "failed": 0}
    alone = tmp_path / "alone.farm"
    assert farm.run(farm.Campaign.from_toml(tmp_path / "cut.toml"), alone).done == CELLS
    assert_same_results(store, alone)
