"""`farm offline`: tables, JSON and schedules of moldable jobs, drawn or from a file."""

from __future__ import annotations

import csv
import importlib
import inspect
import json
import re
from pathlib import Path
from statistics import fmean, stdev

import pytest

from schedfarm.farm.cli.offline import offline
from schedfarm.offline.algorithms import ALGORITHMS
from schedfarm.offline.draws import SPEEDUPS, draw_instance
from schedfarm.offline.dual import PRECISION
from schedfarm.offline.plan import Plan
from schedfarm.offline.shelves import SHUFFLES
from tests.support.command_line import Farm, run_farm
from tests.support.refusals import Said, unlike

TIMES = "job,weight,1,2,3\nweather,3,12,7,5\nclimate,1,4,4,4\n"
SMALL = ("--jobs", "12", "--processors", "5", "--instances", "3")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("times.csv").write_text(TIMES)


def told(*words: str) -> str:
    return run_farm("offline", *words).stdout


def test_a_file_of_times() -> None:
    """Every algorithm's figures, beside bounds, by hand."""
    text = told("times.csv", "--algorithm", "shelves", "--algorithm", "sequential").splitlines()
    assert text[0] == "times.csv: 2 jobs on 3 processors"
    assert [line.split() for line in text[3:5]] == [
        ["shelves", "7", "1.000", "-", "1.000", "25", "1.190", "-", "1.190"],
        ["sequential", "12", "1.714", "-", "1.714", "40", "1.905", "-", "1.905"],
    ]


def test_the_table_is_of_the_figures() -> None:
    """Means, standard deviations and largest values of what JSON tells of each instance."""
    facts = json.loads(told(*SMALL, "--json", "--seed", "4"))
    assert facts["source"] == {
        "jobs": 12,
        "processors": 5,
        "model": "amdahl",
        "shortest": 600,
        "longest": 36_000,
        "instances": 3,
        "seed": 4,
    }
    table = [re.split(" {2,}", line) for line in told(*SMALL, "--seed", "4").splitlines()[3:-1]]
    assert [line[0] for line in table] == list(ALGORITHMS)
    for name, *numbers in table:
        rows = [row for row in facts["schedules"] if row["algorithm"] == name]
        assert [row["instance"] for row in rows] == [0, 1, 2]
        for figure, (_, *shown) in (("makespan", numbers[:4]), ("minsum", numbers[4:])):
            ratios = [row[f"{figure}_ratio"] for row in rows]
            found = [row[f"{figure}_s"] / row[f"{figure}_bound_s"] for row in rows]
            assert ratios == found
            assert min(ratios) >= 1
            spread = [fmean(ratios), stdev(ratios), max(ratios)]
            assert shown == [f"{x:.3f}" for x in spread]


@pytest.mark.parametrize("model", SPEEDUPS)
def test_schedules_are_written(model: str) -> None:
    """As CSV, from which each figure can be found again; the same seed gives the same file."""
    words = (*SMALL, "--model", model, "--seed", "2")
    facts = json.loads(told(*words, "--json", "--out", "plans.csv"))
    first = Path("plans.csv").read_bytes()
    assert told(*words, "--out", "-", "--quiet").encode() == first
    with Path("plans.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 3 * 12 * len(ALGORITHMS)
    for one in facts["schedules"]:
        key = str(one["instance"]), one["algorithm"]
        mine = [row for row in rows if (row["instance"], row["algorithm"]) == key]
        jobs = draw_instance(12, 5, model=model, seed=2, index=one["instance"])
        start, procs = (
            jobs.weights * 0 + [int(row[name]) for row in mine] for name in ("start", "processors")
        )
        plan = Plan(jobs, start, procs)
        plan.check()
        assert [row["job"] for row in mine] == list(jobs.names)
        assert [int(row["end"]) for row in mine] == plan.end.tolist()
        assert [int(row["weight"]) for row in mine] == jobs.weights.tolist()
        assert (plan.makespan, plan.minsum) == (one["makespan_s"], one["minsum_s"])


REFUSED = [
    (("none.csv",), ("none.csv: cannot be read", "No such file")),
    (("",), ("cannot be read as CSV",)),
    (("times.csv", "--jobs", "5"), ("--jobs 5 does nothing with file times.csv",)),
    (("times.csv", "--instances", "20"), ("--instances 20 does nothing",)),
    (("times.csv", "--out", "times.csv"), ("times.csv: it is an input",)),
    (("broken.csv",), ("broken.csv, line 2, column 3: 3 processors take 9 s",)),
    (("--algorithm", "shelfs"), ("'shelfs'", "did you mean 'shelves'?", "smith")),
    (("--model", "amdal"), ("'amdal'", "did you mean 'amdahl'?")),
    (("--jobs", "0"), ("'--jobs': 0", "x>=1")),
    (("--jobs", "five"), ("'five'",)),
    (("--processors", "0"), ("'--processors': 0", "x>=1")),
    (("--shortest", "0"), ("shortest=0", "at least 1")),
    (("--shortest", "40000"), ("longest=36000", "at least 40000")),
    (("--instances", "0"), ("--instances", "0")),
    (("--shuffles", "-1"), ("shuffles=-1", "at least 0")),
    (("--precision", "-1"), ("precision=-1.0", "finite number from 0")),
    (("--out", "no/plans.csv"), ("there is no folder no",)),
    (("--json", "--out", "-"), ("--json and --out - both write to standard output",)),
    (("--seed", "1", "--seed", "2"), ("--seed is given 2 times",)),
]
"""Words of `farm offline`, and what their refusal names."""


def test_bad_words(said: Said) -> None:
    """One sentence names the option or the file, and nothing is written."""
    Path("broken.csv").write_text("job,weight,1,2,3\na,1,12,7,9\n")
    assert unlike(REFUSED, lambda words: said("offline", *words)) == []


def test_progress_is_printed_apart_from_the_answer(
    farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In plain lines now and then, unless --quiet is given."""
    monkeypatch.setattr(importlib.import_module("schedfarm.farm.cli.counting"), "LINE_SECONDS", 0.0)
    done = farm("offline", *SMALL)
    assert done.stderr.splitlines() == [f"{k}/3 instances" for k in range(3)]
    quiet = farm("offline", *SMALL, "--quiet")
    assert (quiet.stderr, quiet.stdout) == ("", done.stdout)


def test_defaults_are_those_of_the_functions() -> None:
    """The command line names them without importing numpy."""
    shown = {param.name: param.default for param in offline.params}
    drawn = inspect.signature(draw_instance).parameters
    for name in ("model", "seed", "shortest", "longest"):
        assert shown[name] == drawn[name].default
    assert (shown["shuffles"], shown["precision"]) == (SHUFFLES, PRECISION)
    (model,) = (param for param in offline.params if param.name == "model")
    assert str(model.to_info_dict()["help"]).endswith(f"jobs: {' or '.join(SPEEDUPS)}.")
