"""Shells complete what there is to choose from: policies step by step, metrics, names, labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from schedfarm.farm import Campaign, run
from schedfarm.farm.cli import cli
from tests.support.command_line import Farm
from tests.support.refusals import GOOD


def offered(*words: str, begun: str = "") -> list[str]:
    """Return what a shell is told, `TYPE:` in front of what is left to it."""
    completer = BashComplete(cli, {}, "farm", "_FARM_COMPLETE")
    found = completer.get_completions(list(words), begun)
    return [item.value if item.type == "plain" else f"{item.type}:" for item in found]


def test_a_policy_is_completed_step_by_step() -> None:
    """First the order, then the rule, then an option with a value."""
    asks = ("simulate", "KTH-SP2", "--policy")
    assert {"fcfs+", "saf+", "sqf+"} <= set(offered(*asks))
    assert offered(*asks, begun="s") == ["spf+", "sqf+", "saf+", "sxf+"]
    assert offered(*asks, begun="saf+e") == ["saf+easy"]
    assert offered("audit", "a.swf", "--policy", begun="saf+p") == ["saf+planned"]
    assert offered(*asks, begun="saf+easy,e") == [
        "saf+easy,events=instant",
        "saf+easy,events=per-event",
    ]


def test_names_are_completed_beside_files() -> None:
    """A campaign or a log is a name or a file, which the shell knows by itself."""
    assert offered("run", begun="sabin-2005-") == [
        "file:",
        "sabin-2005-more",
        "sabin-2005-resamples",
    ]
    assert offered("traces", "info", begun="kth") == ["file:", "KTH-SP2"]
    assert offered("plan", begun="qui") == ["file:", "quickstart"]
    assert offered("simulate", "a.swf", "--draw", begun="w") == ["weeks"]


def test_labels_are_those_of_the_store(
    farm: Farm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its policies, loads, traces and metrics; without a store, the metrics of every one."""
    monkeypatch.chdir(tmp_path)
    assert "wait_max" in offered("bands", "none.farm", "--metric", begun="wait")
    assert offered("compare", "none.farm") == []
    run(Campaign.from_dict(GOOD, tmp_path), "tiny.farm")
    assert offered("compare", "tiny.farm") == ["fcfs+easy", "saf+easy"]
    assert offered("bands", "tiny.farm", "--load", begun="0") == ["0.9"]
    assert offered("bands", "--trace", begun="") == []
    assert offered("bands", "tiny.farm", "--trace") == ["m"]
    known = json.loads(farm("metrics", "--json").stdout)["metrics"]
    assert offered("bands", "tiny.farm", "--metric", begun="wait_") == [
        name for name, row in known.items() if name.startswith("wait_") and row["over"] == "cell"
    ]


def test_values_of_axes_are_those_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, though many labels have it."""
    monkeypatch.chdir(tmp_path)
    origins = {
        f"{name}.procs-{n}": {"of": name, "at": {"procs": n}} for name in "ab" for n in (8, 9)
    }
    Path("s.farm").mkdir()
    Path("s.farm/store.json").write_text(json.dumps({"labels": {"trace": origins}}))
    assert offered("bands", "s.farm", "--at") == ["procs=8", "procs=9"]
    assert offered("compare", "s.farm", "--axis") == ["procs"]


def test_the_script_of_each_shell_is_printed(farm: Farm) -> None:
    """It asks `farm` by the variable that the command answers to.

    For bash click starts bash to learn its version: see test_processes.py.
    """
    for shell in ("zsh", "fish"):
        assert f"_FARM_COMPLETE={shell}_complete" in farm("completion", shell).stdout
