"""A cluster on this machine: loopback only, one thread a process, nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

from schedfarm import farm
from schedfarm.cluster import ClusterSpec, connect
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.cli.stopping import NONE_BEGUN
from tests.support.harness import (
    Command,
    assert_same_results,
    forked_workers,
    recorded_cells,
    wait_for,
)
from tests.support.made import MadeStores

LISTENING = "0A"
LOOPBACK = {"0100007F", "00000000000000000000000001000000"}
"""127.0.0.1 and ::1 as /proc writes them."""


CAMPAIGN = Campaign(
    name="bytes",
    traces=(
        Trace(name="m", model="lublin", processors=64, jobs=90),
        Trace(name="n", model="lublin", processors=32, jobs=70),
    ),
    policies=("fcfs+easy", "saf+easy", "fcfs+conservative"),
    loads=("original", "0.9"),
    resamples=3,
)


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
    return holds_interrupt("self", "SigIgn")


def parent_of(pid: int) -> int:
    """Return the process that started another."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("PPid")).split()[1])


def holds_interrupt(pid: int | str, signals: str) -> bool:
    """Return whether a set of a process's signals, as /proc names it, holds SIGINT."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    mask = next(line for line in lines if line.startswith(signals))
    return bool(int(mask.split()[1], 16) >> (signal.SIGINT - 1) & 1)


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


def test_workers_keep_freed_memory(client: Client) -> None:
    """Dask would have each block's memory given back, and faulted in again by the next one."""
    assert set(client.run(os.environ.get, "MALLOC_TRIM_THRESHOLD_").values()) == {None}
    assert set(client.run(os.environ.get, "OMP_NUM_THREADS").values()) == {"1"}


def test_workers_ignore_interrupts(client: Client) -> None:
    """A terminal's Ctrl-C reaches workers too; it is not theirs to act on."""
    ignored = client.gather([client.submit(ignores_interrupts, pure=False) for _ in range(4)])
    assert ignored == [True] * 4


def test_worker_that_replaces_a_dead_one__blocks_interrupts() -> None:
    """It is safe from Ctrl-C from its first instruction on, long before it can ignore it.

    It inherits the mask from the server that forks it; on a busy machine it ignores SIGINT before
    it is found here.
    """
    with connect(ClusterSpec.parse("local", 1)) as client:
        before = set(forked_workers(os.getpid()))
        (dead,) = client.run(os.getpid).values()
        os.kill(dead, signal.SIGKILL)
        (new,) = wait_for(lambda: set(forked_workers(os.getpid())) - before, "the next worker")
        assert holds_interrupt(parent_of(new), "SigBlk")
        assert holds_interrupt(new, "SigBlk") or holds_interrupt(new, "SigIgn")
        client.wait_for_workers(1)


@pytest.mark.parametrize("number", [1, 2], ids=["once", "twice"])
@pytest.mark.parametrize("moment", ["resource tracker", "fork server", "second worker"])
def test_interrupt_at_the_start__ends_the_command(tmp_path: Path, moment: str, number: int) -> None:
    """Ctrl-C is not lost while processes start: one sentence, status 130, and nothing is left."""
    (tmp_path / "c.toml").write_text(CAMPAIGN.to_toml())
    run = Command(tmp_path, "run", "c.toml", "--workers", "2")
    try:
        wait_for(lambda: moment in moments(run) or run.process.poll() is not None, moment, rest=0)
        for _ in range(number):
            run.signal_group(signal.SIGINT)
        assert run.finish() == 130, run.err
        assert run.err.split("\n")[-2:] == [f"farm: interrupted; {NONE_BEGUN}", ""]
        assert "Traceback" not in run.err
        assert not (tmp_path / "bytes.farm" / "lock.json").exists()
        assert recorded_cells(tmp_path / "bytes.farm") == 0
    finally:
        run.kill()


def moments(run: Command) -> list[str]:
    """What a command that starts a cluster has come to."""
    commands = " ".join(run.alive().values())
    tracker, server = "resource_tracker" in commands, "forkserver" in commands
    return (
        ["resource tracker"] * tracker
        + ["fork server"] * server
        + ["first worker", "second worker"][: len(run.workers())]
    )


def test_nanny_that_gives_up__is_replaced() -> None:
    """It closes if a worker dies while it replaces a dead one, or takes long to start."""
    with connect(ClusterSpec.parse("local", 1)) as client:
        [(name, nanny)] = client.cluster.workers.items()
        [dead] = client.nthreads()
        client.cluster.sync(nanny.close)
        wait_for(lambda: client.nthreads().keys() - {dead}, "another worker")
        assert client.submit(os.getpid).result() > 0
        assert client.cluster.workers[name] is not nanny


def test_interrupt_while_closing__waits_for_the_end() -> None:
    """Ctrl-C breaks no closing off: it is acted on when the workers are gone."""
    told: list[str] = []

    def interrupt() -> None:
        wait_for(lambda: client.status != "running", "the closing")
        os.kill(os.getpid(), signal.SIGINT)

    old = signal.signal(signal.SIGINT, lambda *_: told.append(cluster.status.name))
    try:
        with connect(ClusterSpec.parse("local", 1)) as client:
            cluster = client.cluster
            thread = threading.Thread(target=interrupt)
            thread.start()
        thread.join()
        assert wait_for(lambda: told, "the interrupt") == ["closed"]
    finally:
        signal.signal(signal.SIGINT, old)


def test_two_clusters_at_once_and_no_process_left(client: Client) -> None:
    """A second cluster disturbs no one, and ends with its context."""
    with connect(ClusterSpec.parse("local", 1)) as other:
        assert len(other.scheduler_info()["workers"]) == 1
        assert other.submit(sum, [1, 2]).result() == 3
        pids = list(other.run(os.getpid).values())
    for pid in pids:
        wait_for(lambda pid=pid: not Path(f"/proc/{pid}").exists(), f"the end of worker {pid}")
    assert client.submit(sum, [1, 2]).result() == 3


def test_same_bytes_wherever_it_runs(
    client: Client, tmp_path: Path, made_store: MadeStores
) -> None:
    """One campaign, serial and on one worker and on two: every file of the results is the same."""
    serial = made_store(CAMPAIGN)
    assert recorded_cells(serial) == 36
    assert farm.run(CAMPAIGN, tmp_path / "two", client).done == 36
    with connect(ClusterSpec.parse("local", 1)) as one:
        assert farm.run(CAMPAIGN, tmp_path / "one", one).done == 36
    assert_same_results(tmp_path / "one", serial)
    assert_same_results(tmp_path / "two", serial)


def test_workers_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    """The server of the workers starts there, and its modules are not the folder's."""
    for name in ("distributed", "numba", "multiprocessing", "zarr"):
        (tmp_path / f"{name}.py").write_text("print('taken from the current folder')")
    (tmp_path / "c.toml").write_text(CAMPAIGN.to_toml())
    run = Command(tmp_path, "run", "c.toml", "--json")
    try:
        assert run.finish() == 0, run.err
        assert "taken from" not in run.out + run.err, run.out
    finally:
        run.kill()


SHARING = """
import json, os, sys
from schedfarm.cluster import ClusterSpec, Opening, connect
from schedfarm.farm.execution import WORKER_IMPORTS

def seen():
    safe = os.environ.get("PYTHONSAFEPATH")
    return [name in sys.modules for name in WORKER_IMPORTS], os.environ.get("LATER"), safe

for _ in range(2):
    with connect(ClusterSpec.parse("local", 1), Opening(imports=WORKER_IMPORTS)) as client:
        print(json.dumps([*client.run(seen).values()]))
    os.environ["LATER"] = "yes"
"""


def test_workers_share_what_farm_imports() -> None:
    """They have modules that they did not import, and the variables of their own start."""
    done = subprocess.run([sys.executable, "-c", SHARING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [[[[True], None, ""]], [[[True], "yes", ""]]]
