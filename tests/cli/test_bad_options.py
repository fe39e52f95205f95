"""Bad options are refused with one sentence and exit status 2; nothing is written."""

from __future__ import annotations

import importlib
import socket
from pathlib import Path

import pytest

from tests.support.refusals import GOOD, LOG, Said, unlike, write


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a scheduler for absent that is not there within a second."""
    module = importlib.import_module("schedfarm.cluster.existing")
    monkeypatch.setattr(module, "CONNECT_TIMEOUT", 1.0)


RUN = [
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
]
"""Options of `farm run`, and what their refusal names."""

EASY = ("a.swf", "--policy", "saf+easy")

SIMULATE = [
    (("none.swf", "--policy", "saf+easy"), ("none.swf",)),
    (("a.swf", "--policy", "saf+esay"), ("'esay'", "easy")),
    (("a.swf",), ("--policy",)),
    ((*EASY, "--rows", "5"), ("'5'", "0:5000")),
    ((*EASY, "--rows", "5:3"), ("'5:3'", "A < B")),
    ((*EASY, "--rows", "0:400"), ("400", "29")),
    ((*EASY, "--jobs", "0"), ("'--jobs': 0", "x>=1")),
    ((*EASY, "--load", "0"), ("load '0'", "0.9")),
    ((*EASY, "--load", "much"), ("load 'much'", "0.9")),
    ((*EASY, "--processors", "0"), ("'--processors': 0", "x>=1")),
    ((*EASY, "--processors", "1"), ("no job is left",)),
    ((*EASY, "--tau", "0"), ("tau", "0")),
    ((*EASY, "--out", "no/such/b.swf"), ("no/such/b.swf",)),
    ((*EASY, "--resample", "1", "--draw", "x"), ("'x'", "replace")),
    ((*EASY, "--draw", "x"), ("'x'", "permute", "users")),
    ((*EASY, "--resample", "-1"), ("-1",)),
    (("a.swf", "--policy", "no.such.module:f+easy"), ("no.such.module",)),
]
"""Words of `farm simulate`, and what their refusal names."""


def test_run__nowhere(said: Said) -> None:
    """Without a cluster nothing is begun, and no store is made."""
    write(GOOD, Path("c.toml"))
    Path("empty.json").write_text("{}")
    assert unlike(RUN, lambda options: said("run", "c.toml", *options)) == []


def test_run__nobody_listens(said: Said) -> None:
    """An address where no scheduler answers is named."""
    write(GOOD, Path("c.toml"))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        assert f"no scheduler answers at {address}" in said("run", "c.toml", "--on", address)


def test_simulate(said: Said) -> None:
    """A wrong option or log is named, with what would be right."""
    Path("a.swf").write_text(LOG)
    assert unlike(SIMULATE, lambda words: said("simulate", *words)) == []


FIRST_USE = [
    (("traces", "info", "https://a.b/c.swf"), ("is an address", "farm traces fetch https://a.b/c")),
    (("simulate", "https://a.b/c.swf", "--policy", "easy"), ("farm traces fetch https://a.b/c",)),
    (("simulate", "a.swf", "--policy", "easy", "--grid"), ("--grid: the clusters", "METACENTRUM")),
    (("cancel", "nostore"), ("nostore is not a store",)),
    (("verify", "."), (". is not a store: it has no store.json",)),
    (("plan", "c.toml"), ("'slrum' is unknown; did you mean 'slurm'",)),
    (("init", "a.swf", "a.swf", "--processors", "8"), ("--processors 8", "2 logs")),
    (
        (*("what-if", "a.swf", "--instead-of", "easy", "--use", "none"), "--minutes", "nan"),
        ("'--minutes'", "'nan' is not a number"),
    ),
]
"""Words of a command, and what their refusal names."""


def test_first_steps(said: Said) -> None:
    """One sentence each, and nothing before it."""
    Path("a.swf").write_text(LOG)
    write({**GOOD, "cluster": {"on": "slrum"}}, Path("c.toml"))
    assert unlike(FIRST_USE, lambda words: said(*words)) == []
