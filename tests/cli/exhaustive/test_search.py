"""`farm search`: the answer and its files, after interruptions too, and what it refuses."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from schedfarm.core.engine.permutations import run_trials
from schedfarm.farm.search import cells
from tests.support.command_line import run_farm

SPEC = """\
name = "tiny"
rule = "none"
baseline = "fcfs+none"
against = ["f1+none"]
samples = 4
generations = 2
candidates = 4
held_out_samples = 4
{method}
[[traces]]
name = "m64"
model = "lublin"
processors = 64
weeks = 1
"""

METHODS = {
    "tuned": 'order = "estimate**a * procs"\n[parameters]\na = [0, 2]\n',
    "grown": "[grow]\nsize = 7\n",
    "regression": "[regression]\ntuples = 3\ntrials = 200\nrunning = 4\nqueued = 8\nkeep = 2\n",
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("method", METHODS)
def test_answer_and_its_files(method: str) -> None:
    Path("spec.toml").write_text(SPEC.format(method=METHODS[method]))
    done = run_farm("search", "spec.toml", "--workers", 1)
    facts = json.loads(Path("tiny.search/result.json").read_text())
    assert f"found: {facts['policy']}" in done.stdout
    assert Path("tiny.search/policy.txt").read_text().splitlines() == facts["policies"]
    against_baseline, against_f1 = facts["comparisons"]
    assert (against_baseline["baseline"], against_f1["baseline"]) == ("fcfs+none", "f1+none")
    assert {row["policy"] for row in against_f1["overall"]} == {*facts["policies"]} - {"f1+none"}
    (row,) = [r for r in against_baseline["overall"] if r["policy"] == facts["policy"]]
    assert row["ratio_low"] < row["ratio_estimate"] < row["ratio_high"]
    again = run_farm("search", "spec.toml", "--workers", 1, "--json")
    assert json.loads(again.stdout) == facts


def test_interrupted_search_comes_to_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("spec.toml").write_text(SPEC.format(method=METHODS["tuned"]))
    run_farm("search", "spec.toml", "--workers", 1, "--out", "whole", "--quiet")
    own, calls = cells.values_of, iter(range(6))

    def interrupted(*given: Any) -> list[float]:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return own(*given)

    with monkeypatch.context() as patched:
        patched.setattr(import_module("schedfarm.farm.search.run"), "values_of", interrupted)
        words = ["search", "spec.toml", "--workers", "1", "--out", "part"]
        with pytest.raises(click.Abort) as stopped:
            import_module("schedfarm.farm.cli").cli(words, standalone_mode=False)
    assert str(stopped.value.__cause__) == "the same command resumes"
    assert not Path("part/result.json").exists()
    run_farm("search", "spec.toml", "--workers", 1, "--out", "part", "--quiet")
    for name in ("state.json", "result.json", "policy.txt"):
        assert Path("part", name).read_bytes() == Path("whole", name).read_bytes()


def test_bad_input_is_one_sentence() -> None:
    Path("spec.toml").write_text(SPEC.format(method=""))
    for words, sentence in (
        (("none.toml",), "farm: search none.toml: No such file or directory"),
        (("nothing",), "farm: search 'nothing' is neither a file nor built in"),
        (("spec.toml",), "farm: search spec.toml: give one of 'order'"),
    ):
        done = run_farm("search", *words, status=2)
        assert done.stderr.startswith(sentence), done.stderr
        assert done.stderr.count("\n") == 1


def test_error_of_the_baseline_is_not_that_of_the_candidates() -> None:
    text = SPEC.format(method=METHODS["tuned"]).replace(
        '"fcfs+none"', '"(0 / (procs - procs))+none"'
    )
    Path("spec.toml").write_text(text)
    done = run_farm("search", "spec.toml", "--workers", 1, "--quiet", status=2)
    assert done.stderr.startswith(
        "farm: trace 'm64', sample 1, baseline (0 / (procs - procs))+none: "
    ), done.stderr
    assert done.stderr.count("\n") == 1


def test_trials_are_those_of_a_plain_simulation() -> None:
    """Second implementation: processors second by second."""
    random = np.random.default_rng(5)
    for _ in range(50):
        jobs, running, trials = 7, 2, 4
        submit = np.sort(random.integers(0, 30, jobs))
        run, procs = random.integers(1, 25, jobs), random.integers(1, 9, jobs)
        order = random.permuted(np.tile(np.arange(running, jobs), (trials, 1)), axis=1)
        found, scratch = np.empty(trials), np.empty((2, jobs), np.int64)
        run_trials(submit, run, procs, 8, order, 10, scratch[0], scratch[1], found)
        for trial in range(trials):
            used, now, slowdowns = np.zeros(1000, np.int64), 0, []
            for j in [*range(running), *order[trial].tolist()]:
                now = max(now, int(submit[j]))
                while (used[now : now + run[j]] + procs[j] > 8).any():
                    now += 1
                used[now : now + run[j]] += procs[j]
                slowdowns.append(max((now + run[j] - submit[j]) / max(run[j], 10), 1.0))
            assert found[trial] == pytest.approx(np.mean(slowdowns[running:]), rel=1e-15)
