"""What commands answer: JSON with identifiers as keys, short texts, files that say their origin."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from schedfarm.core.engine.compiling import compiling
from schedfarm.core.logs.read import read_swf
from schedfarm.core.metrics.declared import metrics_over
from schedfarm.core.metrics.metric import CELL
from schedfarm.farm import Campaign, run
from schedfarm.farm.cli import cli
from schedfarm.farm.cli.traces import traces
from tests.support.command_line import Farm
from tests.support.refusals import GOOD, LOG, ROW, write

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")

DATA = {"cautions", "dropped", "orders", "rules", "traces", "metrics", "options", "participants"}
"""Keys below which the keys are names of things."""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished store of the campaign `c.toml`."""
    path = tmp_path_factory.mktemp("done") / "tiny.farm"
    run(Campaign.from_dict(GOOD, path.parent), path)
    return path


@pytest.fixture(autouse=True)
def here(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a campaign, its store and a log."""
    monkeypatch.chdir(tmp_path)
    write(GOOD, Path("c.toml"))
    Path("a.swf").write_text(LOG)
    shutil.copytree(done, "tiny.farm")


def keys(plain: Any) -> Iterator[str]:
    """Yield every key that is no name of a thing."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield key
            yield from () if key in DATA else keys(value)
    elif isinstance(plain, list):
        for value in plain:
            yield from keys(value)


def test_every_answer_has_json_with_identifiers_as_keys(farm: Farm) -> None:
    """A program need not quote, strip or translate a key."""
    farm("simulate", "a.swf", "--policy", "easy", "--out", "b.swf")
    for words in (
        ("run", "c.toml", "--quiet"),
        ("plan", "c.toml"),
        ("status", "tiny.farm"),
        ("verify", "tiny.farm"),
        ("bands", "tiny.farm"),
        ("bands", "tiny.farm", "--weekly"),
        ("compare", "tiny.farm"),
        ("simulate", "a.swf", "--policy", "easy"),
        ("audit", "b.swf", "--policy", "easy"),
        ("offline", "--jobs", "5", "--instances", "2"),
        ("policies",),
        ("campaigns",),
        ("metrics",),
        ("clusters",),
        ("clusters", "slurm"),
        ("traces", "list"),
        ("traces", "info", "a.swf"),
    ):
        facts = json.loads(farm(*words, "--json").stdout)
        found = list(keys(facts))
        assert found
        assert [key for key in found if not IDENTIFIER.fullmatch(key)] == [], words


WITHOUT_JSON = {
    "cancel", "certificates", "completion", "export", "init", "plot", "report", "traces",
    "traces anonymise", "traces write", "warm", "what-if",
}  # fmt: skip
"""Commands without an answer of their own: they write files or pages, or have only commands."""


def test_whatever_answers_does_so_as_json() -> None:
    """Every command has the option, those of the groups too."""
    commands = {**cli.commands, **{f"traces {k}": v for k, v in traces.commands.items()}}
    lacking = {
        name
        for name, command in commands.items()
        if not any("--json" in param.opts for param in command.params)
    }
    assert lacking == WITHOUT_JSON


def test_what_a_run_did_is_told_line_by_line(farm: Farm) -> None:
    """An object for each event, and no word beside."""
    told = farm("watch", "tiny.farm", "--json")
    events = [json.loads(line) for line in told.stdout.splitlines()]
    assert [events[0]["event"], events[-1]["event"]] == ["begin", "end"]
    assert events[0]["cells"] == 8
    assert [key for event in events for key in keys(event) if not IDENTIFIER.fullmatch(key)] == []
    assert told.stderr == ""


def test_numbers_are_written_alike(farm: Farm) -> None:
    """Thousands apart, times in hours and days beside the seconds, plain in JSON."""
    row = ROW.replace(" 20 ", " 200000 ")
    Path("b.swf").write_text("; MaxProcs: 8000\n" + "".join(row.format(k, k) for k in range(9)))
    info = farm("traces", "info", "b.swf").stdout
    assert "processors                 8 000\n" in info
    assert "largest estimate           200 000 s (2 d 8 h)\n" in info
    facts = json.loads(farm("traces", "info", "b.swf", "--json").stdout)
    assert (facts["largest_estimate_s"], facts["processors"]) == (200_000, 8_000)
    plan = farm("plan", "c.toml", "--store", "other").stdout
    assert re.search(r"^bytes +\d{1,3}( \d{3})+$", plan, re.M)
    assert re.search(r"^CPU time +[\d.]+ s$", plan, re.M)
    assert "b on 8 000 processors under" in farm("simulate", "b.swf", "--policy", "easy").stdout


def test_quiet_leaves_out_what_is_as_usual(farm: Farm) -> None:
    """A sound store has only its exit status; what is asked for is still printed."""
    assert farm("verify", "tiny.farm", "--quiet").output == ""
    again = farm("run", "c.toml", "--quiet", "--json")
    assert again.stderr == ""
    assert json.loads(again.stdout) == {
        "cells": 8,
        "before": 8,
        "done": 0,
        "failed": 0,
        "interrupted": False,
        "store": "tiny.farm",
        "cautions": {"m": {}},
    }


def test_verify_tells_its_faults_as_json(farm: Farm) -> None:
    """With the blocks that are to run again."""
    Path("tiny.farm/campaign.toml").write_text("")
    facts = json.loads(farm("verify", "tiny.farm", "--json", "--seed", 5, status=1).stdout)
    assert (facts["sound"], facts["repaired"], facts["seed"]) == (False, False, 5)
    assert [fault["path"] for fault in facts["faults"]] == ["tiny.farm/campaign.toml"]
    assert (facts["simulated_again"], facts["cells"]) == (2, 8)


def test_a_schedule_in_short_and_in_full(farm: Farm) -> None:
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
    # A long name goes on below, two columns further in.
    named = [sum(line[:2] == "  " != line[2:4] for line in lines) for lines in (short, full)]
    assert short[-1] == f"--all prints {named[1] - named[0]} more"
    assert named[1] == len(metrics_over(CELL))
    (wait,) = [line for line in short if line.endswith("100 810 (1 d 4 h)")]
    assert wait.split(",")[1].startswith(" s ")


def test_a_schedule_says_what_it_is(farm: Farm) -> None:
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


def test_compiling_is_announced_once() -> None:
    """When the first kernel is compiled, and not after the context."""
    from numba.core import event

    announced: list[str] = []
    with compiling(lambda: announced.append("now")):
        assert announced == []
        for _ in range(2):
            event.start_event("numba:compile", data={})
            event.end_event("numba:compile", data={})
    event.start_event("numba:compile", data={})
    event.end_event("numba:compile", data={})
    assert announced == ["now"]
