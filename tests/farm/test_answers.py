"""What commands answer: JSON with identifiers as keys, short texts, files that say their origin."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from core.logs.swf import read_swf
from core.metrics.declared import CELL, metrics_over
from core.simulation.compiling import compiling
from farm.cli import cli
from tests.farm.refusals import GOOD, LOG, write

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")

DATA = {"cautions", "dropped", "orders", "rules", "traces", "metrics", "options"}
"""Keys below which the keys are names of things."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(GOOD, Path("c.toml"))
    Path("a.swf").write_text(LOG)
    return tmp_path


def farm(*words: str) -> Result:
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def keys(plain: Any) -> Iterator[str]:
    """Yield every key that is no name of a thing."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield key
            yield from () if key in DATA else keys(value)
    elif isinstance(plain, list):
        for value in plain:
            yield from keys(value)


def test_every_answer_has_json_with_identifiers_as_keys() -> None:
    """A program need not quote, strip or translate a key."""
    farm("simulate", "a.swf", "--policy", "easy", "--out", "b.swf")
    for words in (
        ("run", "c.toml", "--quiet", "--workers", "1"),
        ("plan", "c.toml"),
        ("status", "tiny.farm"),
        ("verify", "tiny.farm"),
        ("gains", "tiny.farm"),
        ("gains", "tiny.farm", "--kind", "quantile"),
        ("simulate", "a.swf", "--policy", "easy"),
        ("audit", "b.swf", "--policy", "easy"),
        ("policies",),
        ("campaigns",),
        ("traces", "list"),
        ("traces", "info", "a.swf"),
    ):
        facts = json.loads(farm(*words, "--json").stdout)
        found = list(keys(facts))
        assert found
        assert [key for key in found if not IDENTIFIER.fullmatch(key)] == [], words


def test_quiet_says_nothing_of_what_is_as_usual() -> None:
    """What is asked for is still there."""
    done = farm("run", "c.toml", "--quiet", "--json", "--workers", "1")
    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "cells": 8,
        "before": 0,
        "done": 8,
        "failed": 0,
        "interrupted": False,
        "store": "tiny.farm",
        "cautions": {"m": {}},
    }


def test_verify_tells_its_faults_as_json() -> None:
    """With the blocks that are to run again."""
    farm("run", "c.toml", "--quiet", "--json", "--workers", "1")
    Path("tiny.farm/campaign.toml").write_text("")
    found = CliRunner().invoke(cli, ["verify", "tiny.farm", "--json", "--seed", "5"])
    facts = json.loads(found.stdout)
    assert (found.exit_code, facts["sound"], facts["repaired"], facts["seed"]) == (
        1,
        False,
        False,
        5,
    )
    assert [fault["path"] for fault in facts["faults"]] == ["tiny.farm/campaign.toml"]
    assert (facts["simulated_again"], facts["cells"]) == (2, 8)


def test_a_schedule_in_short_and_in_full() -> None:
    """In groups; what is left out is counted, and printed if it is asked for."""
    short = farm("simulate", "a.swf", "--policy", "easy").stdout.splitlines()
    full = farm("simulate", "a.swf", "--policy", "easy", "--all").stdout.splitlines()
    assert [line for line in short if not line.startswith(" ")][1:-1] == [
        "jobs",
        "waits",
        "slowdowns",
        "machine",
    ]
    assert full[: len(short) - 1] == short[:-1]
    further = full[len(short) :]
    assert short[-1] == f"--all prints {len(further)} more"
    assert len(further) + sum(line.startswith(" ") for line in short) == len(metrics_over(CELL))
    assert any(line.endswith("100 810 s (1 d 4 h)") for line in short)


def test_a_schedule_says_what_it_is() -> None:
    """Policy, load, resample with its seed, source and version stand in the header."""
    words = ("--policy", "easy", "--load", "0.9", "--resample", "2", "--seed", "3", "--weeks", "2")
    farm("simulate", "a.swf", *words, "--out", "b.swf")
    header = [line for line in Path("b.swf").read_text().splitlines() if line.startswith(";")]
    assert header[-5:] == [
        "; Policy: fcfs+easy",
        "; Resample: 2 of replace, seed 3, 2 weeks",
        "; Load: 0.9 by runtime",
        f"; Source: a, columns with SHA-256 {read_swf('a.swf').digest()}",
        f"; Program: schedfarm {version('schedfarm')}",
    ]


def test_compiling_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a kernel is compiled, and only then."""
    from numba.core import event

    said: list[str] = []
    with compiling(lambda: said.append("now")):
        assert said == []
        for _ in range(2):
            event.start_event("numba:compile", data={})
            event.end_event("numba:compile", data={})
    event.start_event("numba:compile", data={})
    assert said == ["now"]
