"""Clusters of the README and of the pages: no port beyond loopback, and no HTTP."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.support.default_port import default_port
from tests.support.harness import MARK, marked, wait_for
from tests.support.paths import DOCS, ROOT

PAGES = {
    "README": ROOT / "README.md",
    "shared-machine": DOCS / "howto" / "shared-machine.md",
    "own-order": DOCS / "howto" / "own-order.md",
}
"""Texts that show how a cluster is started."""

PROCESSES = ("farm certificates", "export DASK_CONFIG", "dask scheduler", "dask worker")
"""Beginnings of the lines that do it."""

ASKED = b"GET /json/identity.json HTTP/1.0\r\n\r\n"


@pytest.fixture(params=PAGES.values(), ids=PAGES.keys())
def ports(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[set[tuple[str, int]]]:
    """Addresses and ports on which a page's scheduler and workers listen."""
    lines = [one for one in request.param.read_text().splitlines() if one.startswith(PROCESSES)]
    mark = uuid.uuid4().hex
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    log = tmp_path / "log"
    with default_port(), log.open("wb") as stream:
        shell = subprocess.Popen(
            ["bash", "-c", "\n".join([*lines, "wait"])],
            cwd=tmp_path,
            env={**os.environ, MARK: mark, "PATH": path, "TMPDIR": str(tmp_path)},
            stdout=subprocess.DEVNULL,
            stderr=stream,
        )
        try:
            wait_for(lambda: "Registered to" in log.read_text() or shell.poll() is not None, "it")
            assert shell.poll() is None, log.read_text()
            yield listening(mark)
        finally:
            for pid in marked(mark):
                with suppress(ProcessLookupError):
                    os.kill(pid, 9)
            shell.wait()


def listening(mark: str) -> set[tuple[str, int]]:
    found = set()
    for pid in marked(mark):
        with suppress(psutil.NoSuchProcess):
            for one in psutil.Process(pid).net_connections("inet"):
                if one.status == psutil.CONN_LISTEN:
                    found.add((one.laddr.ip, one.laddr.port))
    return found


def test_no_port_answers_from_another_address(ports: set[tuple[str, int]]) -> None:
    """Nor does any answer HTTP on the loopback interface, where every user of the machine is."""
    assert len(ports) >= 2
    assert {address for address, _ in ports} == {"127.0.0.1"}
    # Every address of 127.0.0.0/8 is this machine's: another one than that which is listened on.
    for _, port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), timeout=5)
        with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
            one.sendall(ASKED)
            one.settimeout(2)
            answer = b""
            with suppress(OSError):
                answer = one.recv(100)
        assert not answer.startswith(b"HTTP")
