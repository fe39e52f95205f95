"""Hosts by SSH: this one, through a real server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import ClusterError, ClusterSpec, connect
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
