"""A cluster on this machine: loopback only, one thread a process, nothing left behind."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

import farm
from cluster import ClusterSpec, connect
from farm.campaign import Campaign
from farm.traces import Trace
from tests.farm.harness import assert_same_results, wait_for

LISTENING = "0A"
LOOPBACK = {"0100007F", "00000000000000000000000001000000"}
"""127.0.0.1 and ::1 as /proc writes them."""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with connect(ClusterSpec.parse("local", 2)) as client:
        yield client


def listening(pid: int) -> set[str]:
    """Addresses on which a process listens."""
    sockets = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            sockets.add(os.readlink(entry))
        except FileNotFoundError:
            continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENING and f"socket:[{words[9]}]" in sockets:
                found.add(words[1].partition(":")[0])
    return found


def ignores_interrupts() -> bool:
    assert threading.current_thread() is not threading.main_thread()
    ignored = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if "SigIgn" in line
    )
    return bool(int(ignored.split()[1], 16) >> (signal.SIGINT - 1) & 1)


def test_listens_on_loopback_only(client: Client) -> None:
    """Nothing of scheduler, workers or client listens beyond this machine."""
    workers = client.run(os.getpid)
    assert len(set(workers.values())) == 2
    for pid in (os.getpid(), *workers.values()):
        addresses = listening(pid)
        assert addresses
        assert addresses <= LOOPBACK


def test_one_thread_each(client: Client) -> None:
    """Processes run side by side, not threads."""
    assert list(client.nthreads().values()) == [1, 1]


def test_workers_ignore_interrupts(client: Client) -> None:
    """A terminal's Ctrl-C reaches workers too; it is not theirs to act on."""
    ignored = client.gather([client.submit(ignores_interrupts, pure=False) for _ in range(4)])
    assert ignored == [True] * 4


def test_two_clusters_at_once_and_no_process_left(client: Client) -> None:
    """A second cluster disturbs no one, and ends with its context."""
    with connect(ClusterSpec.parse("local", 1)) as other:
        assert len(other.scheduler_info()["workers"]) == 1
        assert other.submit(sum, [1, 2]).result() == 3
        pids = list(other.run(os.getpid).values())
    for pid in pids:
        wait_for(lambda pid=pid: not Path(f"/proc/{pid}").exists(), f"the end of worker {pid}")
    assert client.submit(sum, [1, 2]).result() == 3


def test_same_bytes_wherever_it_runs(client: Client, tmp_path: Path) -> None:
    """One campaign, serial and on one worker and on two: every file of the results is the same."""
    campaign = Campaign(
        name="bytes",
        traces=(
            Trace(name="m", model="lublin", processors=64, jobs=90),
            Trace(name="n", model="lublin", processors=32, jobs=70),
        ),
        policies=("fcfs+easy", "saf+easy", "fcfs+conservative"),
        loads=("original", "0.9"),
        resamples=3,
    )
    serial = farm.run(campaign, tmp_path / "serial")
    assert (serial.done, serial.failed) == (36, 0)
    assert farm.run(campaign, tmp_path / "two", client).done == 36
    with connect(ClusterSpec.parse("local", 1)) as one:
        assert farm.run(campaign, tmp_path / "one", one).done == 36
    assert_same_results(tmp_path / "one", tmp_path / "serial")
    assert_same_results(tmp_path / "two", tmp_path / "serial")
