"""Every command once as a process of its own: its exit status, and both of its streams."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from schedfarm.farm import Campaign, run
from schedfarm.farm.cli import cli
from tests.support.command_line import run_farm
from tests.support.guards import processes_allowed
from tests.support.harness import farm as started, snapshot
from tests.support.refusals import GOOD, LOG, sentence, write

Process = Callable[..., subprocess.CompletedProcess[str]]

CALLS = {
    "run": ("run c.toml --store new.farm --workers 1 --quiet --json", '"done": 8,'),
    "submit": ("submit c.toml --on slurm --print-script", "#SBATCH -J farm-tiny"),
    "cancel": ("cancel tiny.farm", "no jobs are left"),
    "plan": ("plan c.toml --no-probe", "cells to simulate  0"),
    "status": ("status tiny.farm", "campaign tiny: 8 cells, 8 done"),
    "watch": ("watch tiny.farm --json", '"event":"end"'),
    "verify": ("verify tiny.farm --sample 0", "tiny.farm is sound"),
    "bands": ("bands tiny.farm", "Mean bounded slowdown: least, median and largest"),
    "compare": ("compare tiny.farm", "saf+easy: mean bounded slowdown"),
    "plot": ("plot arrivals a.swf --out a.svg", "figure: a.svg"),
    "report": ("report tiny.farm --out page.html", "page: page.html"),
    "validate": ("validate tiny.farm", "no simulated wait can be compared with a logged one"),
    "explain": ("explain a.swf --policy easy", "started at once: it never waited"),
    "export": ("export tiny.farm --out x.csv", "exported: summary of 8 cells"),
    "what-if": (
        "what-if a.swf --instead-of easy --use saf+easy --samples 2 --quiet",
        "saf+easy: mean bounded slowdown equal to that of fcfs+easy in the log alone",
    ),
    "search": ("search s.toml --workers 1 --quiet", "held out: "),
    "who": ("who tiny.farm --top 1", "mean wait (s): saf+easy instead of fcfs+easy"),
    "simulate": ("simulate a.swf --policy easy", "a on 8 processors under fcfs+easy"),
    "site": ("site --script", "sacctmgr --parsable2 show qos > qos.txt"),
    "audit": ("audit b.swf --policy easy", "sound: every one of the 29 jobs keeps"),
    "offline": ("offline --jobs 3 --instances 1 --quiet", "1 instance of 3 jobs on 64"),
    "init": ("init a.swf --out -", 'file = "a.swf"'),
    "policies": ("policies", "first come, first served"),
    "metrics": ("metrics", "one value of each cell:"),
    "campaigns": ("campaigns", "quickstart"),
    "clusters": ("clusters", "one process per core of this machine"),
    "certificates": ("certificates keys", "certificates: "),
    "traces": ("traces list", "KTH-SP2"),
    "warm": ("warm fcfs+none", "functions compiled in"),
    "completion": ("completion bash", "_FARM_COMPLETE=bash_complete"),
}
"""A short call of each command, and part of its answer."""

SEARCH = """\
name = "s"
rule = "none"
baseline = "fcfs+none"
against = []
samples = 4
generations = 1
candidates = 4
held_out_samples = 2
[grow]
[[traces]]
model = "lublin"
name = "m8"
processors = 8
weeks = 1
"""

NOTES = {"warm", "what-if"}
"""Commands that also write to standard error: progress, or what limits the answer."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a campaign, its finished store, a log and its schedule."""
    folder = tmp_path_factory.mktemp("processes")
    write(GOOD, folder / "c.toml")
    run(Campaign.from_toml(folder / "c.toml"), folder / "tiny.farm")
    (folder / "a.swf").write_text(LOG)
    (folder / "s.toml").write_text(SEARCH)
    run_farm("simulate", folder / "a.swf", "--policy", "easy", "--out", folder / "b.swf")
    return folder


@pytest.fixture
def farm_process(folder: Path) -> Process:
    """Run the installed `farm` in that folder."""

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        with processes_allowed():
            return started(folder, *words)

    return call


@pytest.mark.parametrize("command", cli.commands)
def test_every_command(farm_process: Process, command: str) -> None:
    """Status 0, its answer on standard output, and nothing on standard error."""
    assert command in CALLS, f"give `farm {command}` a short call in CALLS"
    words, answer = CALLS[command]
    done = farm_process(*words.split())
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done
    assert answer in done.stdout
    assert done.stderr == "" or command in NOTES


def test_help_and_version(farm_process: Process) -> None:
    """The door itself: every command with a line, and the version that is installed."""
    shown = farm_process("--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    listed = {line.split()[0] for line in shown.stdout.splitlines() if line.startswith("  ")}
    assert sorted(set(cli.commands) - listed) == []
    assert farm_process("--version").stdout == f"farm, version {version('schedfarm')}\n"


def test_bad_input(farm_process: Process, folder: Path) -> None:
    """Status 2, one line on standard error, nothing on standard output, and no file changed."""
    write({**GOOD, "frob": 1}, folder / "bad.toml")
    before = snapshot(folder)
    for words, word in (
        (("run", "bad.toml"), "'frob'"),
        (("status", "."), "is not a store"),
    ):
        ended = farm_process(*words)
        assert (ended.returncode, ended.stdout) == (2, ""), ended
        assert word in sentence(ended.stderr)
    assert snapshot(folder) == before
