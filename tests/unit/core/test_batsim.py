"""Batsim's workload files: rules of reading, and what comes back from a written one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedfarm.core import (
    Grid,
    InputError,
    Workload,
    lublin,
    read_log,
    simulate,
    write_batsim,
    write_swf,
)
from schedfarm.core.logs.read import format_of
from tests.support.refusals import unlike

PROFILES: dict[str, Any] = {
    "short": {"type": "delay", "delay": 7.75},
    "long": {"type": "DelayProfile", "delay": 60, "ret": 1},
    "both": {"type": "composed", "repeat": 2, "seq": ["short", "long"]},
    "twice": {"type": "SequentialCompositionProfile", "seq": ["both", "both"]},
    "network": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 5},
    "loop": {"type": "composed", "seq": ["loop"]},
}

CHAIN: dict[str, Any] = {"0": {"type": "delay", "delay": 3}} | {
    str(level): {"type": "composed", "seq": [str(level - 1)]} for level in range(1, 52)
}
"""Sequences within each other, as many as the name says."""


def job(number: object = "1", profile: str = "short", **changed: object) -> dict[str, object]:
    row = {"id": number, "subtime": 0, "res": 1, "walltime": 100, "profile": profile}
    return {key: value for key, value in {**row, **changed}.items() if value is not None}


def written(folder: Path, *jobs: dict[str, object], **changed: object) -> Path:
    path = folder / "own.json"
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": PROFILES, **changed}))
    return path


def test_jobs_and_profiles_become_a_workload(tmp_path: Path) -> None:
    """Decimals are truncated, those of a sequence after its sum; a walltime kills; -1 is none."""
    path = written(
        tmp_path,
        job(0, "both", subtime=5.9, walltime=120.5, extra_data='{"user": "ann"}'),
        job("w0!7", "twice", subtime=4, walltime=-1, user="bob", res=2),
        job("3", "short", subtime=4, walltime=0.5, extra_data={"user": "ann"}, dependencies=["7"]),
        job("4", "long", walltime=None, extra_data="-"),
        job("5", res=9),
        job("6", res=0),
    )
    assert format_of(path) == "batsim"
    w = read_log(path)
    assert (w.name, w.processors) == ("own", 4)
    assert w.job.tolist() == [4, 7, 3, 0]
    assert w.submit.tolist() == [0, 4, 4, 5]
    assert w.run.tolist() == [60, 271, 1, 120]
    assert w.estimate.tolist() == [60, 271, 1, 120]
    assert w.killed.tolist() == [False, False, True, True]
    assert w.procs.tolist() == [1, 2, 1, 1]
    assert [w.names["user"].get(user) for user in w.user.tolist()] == [None, "bob", "ann", "ann"]
    assert dict(w.dropped) == {"no procs": 1, "too wide": 1}
    assert w.unasked == (2, 4)
    assert dict(w.ignored) == {"with a dependency": 1}


def test_swf_to_batsim_gives_the_same_starts(tmp_path: Path) -> None:
    """And the same workload: killed jobs, jobs of 0 s, users, the largest estimate."""
    drawn = lublin(32, jobs=60, seed=3, users=4)
    run, estimate = drawn.run.copy(), drawn.estimate.copy()
    run[3], run[4], estimate[4] = 0, 0, 0
    columns = {"submit": drawn.submit, "procs": drawn.procs, "user": drawn.user, "run": run}
    killed = np.arange(60) == 9
    estimate[9] = run[9]
    columns |= {"estimate": estimate, "killed": killed}
    w = Workload.from_columns(**columns, processors=32, name="a", max_estimate=10**6)
    write_swf(w, tmp_path / "a.swf")
    log = read_log(tmp_path / "a.swf")
    write_batsim(log, tmp_path / "a.json.gz")
    again = read_log(tmp_path / "a.json.gz")
    assert again.digest() == log.digest() == w.digest()
    assert again.killed.tolist() == killed.tolist()
    starts = [simulate(one, "fcfs+easy").start.tolist() for one in (log, again)]
    assert starts[0] == starts[1]
    write_batsim(log, tmp_path / "plain.json")
    text = json.loads((tmp_path / "plain.json").read_text())
    assert all(one["delay"] > 0 for one in text["profiles"].values())


def test_jobs_that_share_a_number_are_numbered_by_their_places(tmp_path: Path) -> None:
    """As in resamples: ids of Batsim are unique."""
    two = {"submit": [0, 9], "run": [1, 1], "estimate": [2, 2], "procs": [1, 1]}
    w = Workload.from_columns(**two, job=[5, 5], platform=Grid([1, 1]))
    write_batsim(w, tmp_path / "two.json")
    assert read_log(tmp_path / "two.json").job.tolist() == [1, 2]


def test_names_hold_any_end_of_line_that_json_allows(tmp_path: Path) -> None:
    path, names = tmp_path / "own.json", ["a\u2028b", "c\x85d"]
    jobs = [job(str(place), "50", user=name) for place, name in enumerate(names)]
    given = {"nb_res": 4, "jobs": jobs, "profiles": CHAIN}
    path.write_text(json.dumps(given, ensure_ascii=False), encoding="utf-8")
    w = read_log(path)
    assert [w.names["user"][user] for user in w.user.tolist()] == ["a?b", "c?d"]
    assert w.run.tolist() == [3, 3]


def test_bad_files_are_refused_by_name(tmp_path: Path) -> None:
    """The job, the profile, and what would be right."""
    deep = "[" * 100_000
    rows: list[tuple[dict[str, Any] | str, list[str]]] = [
        ({"jobs": [job(profile="network")]}, ["'network': type 'parallel_homogeneous'"]),
        ({"jobs": [job(profile="loop")]}, ["profile 'loop'", "50 within each other"]),
        ({"jobs": [job(profile="none")]}, ["job 1", "no profile 'none'"]),
        ({"jobs": [job("x", subtime="soon")]}, ["job x: subtime is 'soon'; give a number"]),
        ({"jobs": [job(res=None)]}, ["job 1: res is missing"]),
        ({"jobs": [job(walltime=0)]}, ["walltime is 0; give seconds above 0, or -1"]),
        ({"jobs": [job(), job()]}, ["job 2 of the list is the second of the id '1'"]),
        ({"jobs": [job(None)]}, ["job 1 of the list is without id"]),
        ({"jobs": [job([])]}, ["job 1 of the list is with an id that is neither text nor a"]),
        ({"jobs": [job({"a": 1})]}, ["job 1 of the list is with an id that is neither text"]),
        ({"jobs": [job([1])]}, ["job 1 of the list is with an id that is neither text nor a"]),
        ({"jobs": [3]}, ["job 1 of the list is not a table"]),
        ({"jobs": []}, ["holds no job"]),
        ({"jobs": [job()], "nb_res": 0}, ["nb_res is 0; give a number of at least 1"]),
        ({"jobs": [job()], "nb_res": None}, ["nb_res is missing"]),
        ({"jobs": [job(subtime=float("nan"))]}, ["holds NaN; give finite numbers"]),
        ({"jobs": 3}, ["a list 'jobs' and a table 'profiles'"]),
        ({"jobs": [job("a", "10"), job("b", "51")], "profiles": CHAIN}, ["50 within each other"]),
        ({"jobs": [job("a", "45"), job("b", "51")], "profiles": CHAIN}, ["50 within each other"]),
        ("[]", ["is a table of JSON"]),
        ("{", ["damaged, or not JSON"]),
        ('{"jobs": ' + deep, ["nested too deeply"]),
        ('{"jobs": [], "jobs": []}', ["key 'jobs' occurs twice"]),
        ('{"jobs": [{"id": "1", "subtime": 1e30}], "profiles": {}}', ["does not fit 64 bits"]),
    ]  # fmt: skip

    def refusal(given: dict[str, Any] | str) -> str:
        path = written(tmp_path, **given) if isinstance(given, dict) else tmp_path / "own.json"
        if isinstance(given, str):
            path.write_text(given)
        with pytest.raises(InputError) as error:
            read_log(path)
        return str(error.value)

    assert unlike(rows, refusal) == []
    sized = written(tmp_path, job(subtime=1))
    plain = json.loads(sized.read_text())
    del plain["nb_res"]
    sized.write_text(json.dumps(plain))
    with pytest.raises(InputError, match="its nb_res is missing"):
        read_log(sized)
    assert read_log(sized, processors=2).processors == 2
