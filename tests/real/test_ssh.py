"""Hosts by SSH: this one, through a real server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedfarm.cluster import ClusterError, ClusterSpec, connect
from schedfarm.core.caches import exposed
from tests.support.harness import PATIENCE, wait_for


@pytest.fixture
def options(tmp_path: Path) -> Iterator[dict[str, object]]:
    """Options of a cluster over a server that runs."""
    pytest.importorskip("asyncssh")
    known = tmp_path / "known_hosts"
    server = subprocess.Popen([sys.executable, "-m", "tests.support.ssh_server", str(known)])
    try:
        wait_for(known.exists, "the server")
        port = int(known.read_text().partition("]:")[2].split()[0])
        yield {
            "hosts": ["127.0.0.1", "127.0.0.1"],
            "connect_options": {"port": port, "known_hosts": str(known)},
            "remote_python": sys.executable,
        }
    finally:
        server.kill()
        server.wait()


def test_workers_compute__encrypted(options: dict[str, object]) -> None:
    """Two processes of one host, which speak TLS with the scheduler there."""
    spec = ClusterSpec("ssh", options={**options, "worker_options": {"n_workers": 2}})
    with connect(spec) as client:
        assert client.scheduler.address.startswith("tls://")
        client.wait_for_workers(2, timeout=PATIENCE)
        assert all(address.startswith("tls://") for address in client.nthreads())
        assert client.submit(sum, [1, 2]).result(PATIENCE) == 3


def test_host_that_is_not_known__is_one_sentence(
    options: dict[str, object], tmp_path: Path
) -> None:
    (tmp_path / "none").touch()
    connecting = {"port": options["connect_options"]["port"], "known_hosts": str(tmp_path / "none")}  # type: ignore[index]
    spec = ClusterSpec("ssh", options={**options, "connect_options": connecting})
    with pytest.raises(ClusterError, match="ssh: .*Host key is not trusted"), connect(spec):
        raise AssertionError


def test_ssh_without_hosts__is_one_sentence() -> None:
    """Not among the unit tests: asyncssh looks for its libraries in processes."""
    pytest.importorskip("asyncssh")
    with pytest.raises(ClusterError, match="ssh needs hosts"), connect("ssh"):
        raise AssertionError


def test_what_others_planted_on_a_host_is_not_used(
    options: dict[str, object], tmp_path: Path
) -> None:
    """Neither Dask's folder nor the one that the coordinator uses on its own host."""
    planted = tmp_path / "shared" / "dask-scratch-space"
    planted.mkdir(parents=True)
    for folder in (planted, planted.parent):
        folder.chmod(0o777)
    opened = ClusterSpec("ssh", options=options)
    with connect(opened) as client:
        client.wait_for_workers(1, timeout=PATIENCE)
        (place,) = client.run(lambda: os.environ["DASK_TEMPORARY_DIRECTORY"]).values()
        (used,) = client.run(lambda dask_worker: dask_worker.local_directory).values()
        assert Path(place) in Path(used).parents
        assert exposed(Path(place)) is None
    environment = {**os.environ, "DASK_TEMPORARY_DIRECTORY": str(planted.parent)}
    code = "import os; print(os.environ['DASK_TEMPORARY_DIRECTORY'])"
    words = [sys.executable, "-m", "schedfarm.cluster.scratch", "-c", code]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert exposed(Path(done.stdout.strip())) is None
    assert Path(done.stdout.strip()) != planted.parent
    Path(done.stdout.strip()).rmdir()
