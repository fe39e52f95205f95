"""Bad options are refused with one sentence and exit status 2; nothing is written."""

from __future__ import annotations

import importlib
import socket
from pathlib import Path

import pytest

from tests.farm.harness import farm as farm_process
from tests.farm.harness import snapshot
from tests.farm.refusals import GOOD, LOG, Said, sentence, write


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a scheduler for absent that is not there within a second."""
    module = importlib.import_module("cluster.existing")
    monkeypatch.setattr(module, "CONNECT_TIMEOUT", 1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--workers", "0"), ("workers is 0", "at least 1")),
        (("--workers", "two"), ("--workers", "'two'")),
        (("--on", "nonsense"), ("'nonsense'", "local, tls://HOST:PORT, tcp://HOST:PORT")),
        (("--on", "tcp://127.0.0.1:8786", "--workers", "2"), ("workers is 2", "leave it out")),
        (("--on", "scheduler-file:none.json"), ("none.json", "dask scheduler")),
        (("--scheduler-file", "none.json"), ("none.json", "dask scheduler")),
        (("--scheduler-file", "c.toml"), ("c.toml", "scheduler")),
        (("--scheduler-file", "empty.json"), ("empty.json", "scheduler")),
        (("--scheduler-file", "empty.json", "--workers", "2"), ("workers is 2", "empty.json")),
        (
            ("--scheduler-file", "none.json", "--on", "tcp://127.0.0.1:8786"),
            ("--scheduler-file none.json", "--on tcp://127.0.0.1:8786"),
        ),
        (
            ("--on", "local", "--scheduler-file", "none.json"),
            ("--on local", "--scheduler-file none.json"),
        ),
        (("--on", "tcp://127.0.0.1:nine"), ("tcp://127.0.0.1:nine",)),
        (("--on", "tls://127.0.0.1:9"), ("tls://127.0.0.1:9",)),
        (("--frobnicate",), ("--frobnicate",)),
    ],
)
def test_run__nowhere(said: Said, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    """Without a cluster nothing is begun, and no store is made."""
    write(GOOD, Path("c.toml"))
    Path("empty.json").write_text("{}")
    text = said("run", "c.toml", *arguments)
    for word in words:
        assert word in text


def test_run__nobody_listens(said: Said) -> None:
    """An address where no scheduler answers is named."""
    write(GOOD, Path("c.toml"))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        assert f"no scheduler answers at {address}" in said("run", "c.toml", "--on", address)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("none.swf", "--policy", "saf+easy"), ("none.swf",)),
        (("a.swf", "--policy", "saf+esay"), ("'esay'", "easy")),
        (("a.swf",), ("--policy",)),
        (("a.swf", "--policy", "saf+easy", "--rows", "5"), ("'5'", "0:5000")),
        (("a.swf", "--policy", "saf+easy", "--rows", "5:3"), ("'5:3'", "A < B")),
        (("a.swf", "--policy", "saf+easy", "--rows", "0:400"), ("400", "29")),
        (("a.swf", "--policy", "saf+easy", "--jobs", "0"), ("jobs", "0", "at least 1")),
        (("a.swf", "--policy", "saf+easy", "--load", "0"), ("load '0'", "0.9")),
        (("a.swf", "--policy", "saf+easy", "--load", "much"), ("load 'much'", "0.9")),
        (("a.swf", "--policy", "saf+easy", "--processors", "0"), ("processors", "0", "at least 1")),
        (("a.swf", "--policy", "saf+easy", "--processors", "1"), ("no job is left",)),
        (("a.swf", "--policy", "saf+easy", "--tau", "0"), ("tau", "0")),
        (("a.swf", "--policy", "saf+easy", "--out", "no/such/b.swf"), ("no/such/b.swf",)),
        (("a.swf", "--policy", "saf+easy", "--resample", "1", "--draw", "x"), ("'x'", "replace")),
        (("a.swf", "--policy", "saf+easy", "--draw", "x"), ("'x'", "permute", "users")),
        (("a.swf", "--policy", "saf+easy", "--resample", "-1"), ("-1",)),
        (("a.swf", "--policy", "no.such.module:f+easy"), ("no.such.module",)),
    ],
    ids=" ".join,
)
def test_simulate(said: Said, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    """A wrong option or log is named, with what would be right."""
    Path("a.swf").write_text(LOG)
    text = said("simulate", *arguments)
    for word in words:
        assert word in text


def test_processes__exit_status_and_streams(tmp_path: Path) -> None:
    """The installed command itself: status 2, one line on standard error, nothing on output."""
    write({**GOOD, "policies": ["saf+esay"]}, tmp_path / "policy.toml")
    write({**GOOD, "frob": 1}, tmp_path / "key.toml")
    write({**GOOD, "traces": [{"file": "none.swf"}]}, tmp_path / "trace.toml")
    write(GOOD, tmp_path / "good.toml")
    before = snapshot(tmp_path)
    for arguments, word in (
        (("run", "policy.toml"), "'esay'"),
        (("run", "key.toml"), "'frob'"),
        (("run", "trace.toml"), "none.swf"),
        (("run", "good.toml", "--workers", "0"), "workers is 0"),
        (("run", "good.toml", "--scheduler-file", "none.json"), "none.json"),
        (("status", "."), "is not a store"),
    ):
        ended = farm_process(tmp_path, *arguments)
        assert (ended.returncode, ended.stdout) == (2, ""), ended
        assert word in sentence(ended.stderr)
    assert snapshot(tmp_path) == before
    assert not (tmp_path / "tiny.farm").exists()
