"""Another user of the machine meets a cluster and its files: nothing of theirs works or runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import dask
import psutil
import pytest
from distributed import Client
from distributed.security import Security

from schedfarm.cluster import ClusterError, connect, exposure
from schedfarm.cluster.certificates import found, make
from schedfarm.cluster.scratch import KEY
from tests.real.test_existing_cluster import CAMPAIGN
from tests.support.dask_processes import site
from tests.support.harness import farm as farm_process

INTRUDER = """\
import json, socket, ssl, sys

def answer(port, wrap, text):
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as plain, wrap(plain) as line:
            line.settimeout(3)
            line.sendall(text)
            return line.recv(4096).decode("latin-1")
    except (OSError, EOFError):
        return ""

def tls(line):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(line)

GET = b"GET /%s HTTP/1.0\\r\\n\\r\\n"
pages = b"health", b"metrics", b"info/main/workers.html"
print(json.dumps({
    port: [answer(port, wrap, GET % page) for page in pages
           for wrap in (lambda line: line, tls)]
    for port in map(int, sys.argv[1:])
}))
"""
"""What anybody can do with the standard library: ask in plain, and with TLS but no certificate."""


def as_another() -> list[str]:
    """The beginning of a command that runs as nobody, where this user may do that."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return []
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def ports() -> list[int]:
    """Every port on which this process or one of its children listens."""
    me = psutil.Process()
    found = set()
    for process in (me, *me.children(recursive=True)):
        for line in process.net_connections("tcp"):
            if line.status == psutil.CONN_LISTEN:
                found.add(line.laddr.port)
    return sorted(found)


def ask(asked: list[int]) -> dict[str, list[str]]:
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    command = [*as_another(), python, "-c", INTRUDER, *map(str, asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    answers: dict[str, list[str]] = json.loads(done.stdout)
    return answers


@pytest.fixture(scope="module")
def others() -> list[int]:
    """Ports that were open before: servers that tests of buckets leave running in this process."""
    return ports()


@pytest.fixture(scope="module")
def client(others: list[int]) -> Iterator[Client]:
    with connect("local") as client:
        yield client


def test_no_port_answers_whoever_has_no_certificate(client: Client, others: list[int]) -> None:
    asked = [port for port in ports() if port not in others]
    assert int(client.scheduler.address.rpartition(":")[2]) in asked
    assert {text for answers in ask(asked).values() for text in answers} == {""}
    assert client.submit(sum, [1, 2]).result() == 3


def test_an_open_port_would_be_found(tmp_path: Path) -> None:
    """The same questions get answers from Dask as it comes."""
    with site(tmp_path) as there:
        there.worker()
        me = psutil.Process()
        asked = [
            line.laddr.port
            for process in me.children(recursive=True)
            for line in process.net_connections("tcp")
            if line.status == psutil.CONN_LISTEN
        ]
        assert any("200 OK" in text for answers in ask(asked).values() for text in answers)


def test_no_client_of_dask_gets_in(client: Client) -> None:
    address = client.scheduler.address
    with pytest.raises((OSError, ValueError)):
        Client(address.replace("tls://", "tcp://"), timeout=2)
    with pytest.raises((OSError, ValueError)):
        Client(address, security=Security.temporary(), timeout=2)


def test_who_uses_a_scheduler_of_everybody_is_told(client: Client, tmp_path: Path) -> None:
    assert exposure(client) == ""
    with site(tmp_path) as there:
        there.worker()
        with connect(f"scheduler-file:{there.file}") as known:
            assert "is not encrypted and has no authentication" in exposure(known)


def test_a_scratch_folder_that_another_user_has_made_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask would take it, and put a folder in it first on each worker's path."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tmp_path.chmod(0o1777)
    theirs = tmp_path / "dask-scratch-space"
    theirs.mkdir()
    theirs.chmod(0o777)
    # Another cluster of this module may be open, whose folder would be taken again.
    with dask.config.set({KEY: None}), connect("local") as client:
        paths = list(client.run(lambda: __import__("sys").path).values())
        workers = client.scheduler_info()["workers"].values()
        places = [Path(info["local_directory"]) for info in workers]
    own = tmp_path / f"schedfarm-{os.geteuid()}"
    assert places
    assert [place for place in places if not place.is_relative_to(own)] == []
    assert own.stat().st_mode & 0o777 == 0o700
    assert not any(Path(entry).is_relative_to(theirs) for path in paths for entry in path)
    assert list(theirs.iterdir()) == []


THEIRS = "open({ran!r}, 'w').close()\ndef widest(procs):\n    return -procs\n"


def write_as_another(place: Path, text: str) -> None:
    """Put a file in the place of what is there, as another user can in a folder that is open."""
    writes = "import os, sys; os.path.exists(sys.argv[1]) and os.unlink(sys.argv[1]); "
    writes += "open(sys.argv[1], 'w').write(sys.argv[2])"
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    command = [*as_another(), python, "-c", writes, str(place), text]
    subprocess.run(command, check=True, cwd="/")


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder below those that any user can enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        yield Path(place)


@pytest.mark.skipif(not as_another(), reason="only the superuser can become another user")
@pytest.mark.parametrize(
    ("mode", "why"),
    [(0o777, "another user owns"), (0o1777, "another user owns"), (0o755, "")],
)
def test_a_module_of_another_user_is_not_run(shared: Path, mode: int, why: str) -> None:
    """Next to a campaign, where they replaced it or put it where there was none."""
    project, ran = shared / "project", shared / "open" / "ran"
    for folder in (project, ran.parent):
        folder.mkdir()
        folder.chmod(0o777)
    sticky = mode == 0o1777
    module = project / "mine.py"
    if not sticky:
        module.write_text("def widest(procs):\n    return procs\n")
    if why:
        write_as_another(module, THEIRS.format(ran=str(ran)))
    project.chmod(mode)
    campaign = CAMPAIGN.to_toml().replace('"fcfs+easy"', '"mine:widest+easy"')
    assert "mine:widest" in campaign
    (project / "there.toml").write_text(campaign)
    done = farm_process(project, "plan", "there.toml", "--trust")
    assert not ran.exists()
    if why:
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{module.name} is not safe to run, because {why} {module}" in done.stderr
        assert done.stderr.count("\n") == 1
    else:
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not as_another(), reason="only the superuser can become another user")
def test_an_authority_of_another_user_is_not_believed(shared: Path) -> None:
    folder, theirs = shared / "ours", shared / "theirs"
    make(folder)
    make(theirs)
    folder.chmod(0o777)
    write_as_another(folder / "ca.pem", (theirs / "ca.pem").read_text())
    folder.chmod(0o755)
    with pytest.raises(ClusterError, match=rf"another user owns {folder / 'ca.pem'}: use a copy"):
        found(folder)
