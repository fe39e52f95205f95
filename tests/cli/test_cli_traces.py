"""`farm traces`, and a log's name wherever a file is expected."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from schedfarm.core.logs.read import read_log
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.logs import registry
from schedfarm.farm.logs.registry import ENVIRONMENT, entries
from tests.support.command_line import run_farm as farm
from tests.support.refusals import Said, unlike

LOG = "; MaxProcs: 4\n; Acknowledge: Ann Example\n" + "".join(
    f"{job} {job * 100} -1 {run} 2{13 * ' -1'}\n" for job, run in enumerate([10, -1, 20, 30], 1)
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv(ENVIRONMENT, str(folder))
    return folder


def test_list_says_which_logs_are_here(tmp_path: Path, cache: Path) -> None:
    """Every log of the registry has a line, and one that is in a folder says yes."""
    cache.mkdir()
    (cache / "HPC2N-2002-2.2-cln.swf").touch()
    own = tmp_path / "own"
    own.mkdir()
    (own / "KTH-SP2-1996-2.1-cln.swf.gz").touch()
    title, *lines = farm("traces", "list", "--traces", own).output.splitlines()
    assert title.split() == ["short", "name", "processors", "rows", "weeks", "here", "machine"]
    words = {line.split()[0]: re.split(" {2,}", line) for line in lines}
    assert list(words) == [e.short for e in entries()]
    assert words["KTH-SP2"][1:6] == ["KTH-SP2-1996-2.1-cln", "100", "28 476", "48", "yes"]
    assert [short for short, line in words.items() if line[5] == "yes"] == ["HPC2N", "KTH-SP2"]


def test_list_as_json_tells_the_files(cache: Path) -> None:
    """Logs fetched from elsewhere are listed with their URL."""
    cache.mkdir()
    (cache / "own.swf").write_text(LOG)
    note = {"url": "http://host/own.swf", "sha256": registry.content_hash(cache / "own.swf")}
    (cache / f"own.swf{registry.NOTE}").write_text(json.dumps(note))
    rows = json.loads(farm("traces", "list", "--json").stdout)
    assert [row["file"] for row in rows] == [None] * 7 + [str(cache / "own.swf")]
    assert (rows[-1]["name"], rows[-1]["machine"]) == ("own", "http://host/own.swf")
    assert "own" in farm("traces", "list").output
    assert "Ann Example" in farm("traces", "info", "own").output


def test_info_says_what_was_dropped_and_whom_to_thank(tmp_path: Path) -> None:
    """Reasons come with their count and meaning."""
    path = tmp_path / "own.swf"
    path.write_text(LOG)
    text = farm("traces", "info", path).output
    assert "rows dropped               1\n" in text
    assert "no run                          1  run time below 0" in text
    assert "acknowledge                Ann Example\n" in text
    facts = json.loads(farm("traces", "info", path, "--json").stdout)
    assert (facts["jobs"], facts["dropped"], facts["processors"]) == (3, {"no run": 1}, 4)


def test_rows_are_cleaned_as_asked(tmp_path: Path) -> None:
    """`--clean` is the [traces.clean] of a campaign; what it drops is counted and explained."""
    path = tmp_path / "own.swf"
    path.write_text(LOG + "9 20 -1 0 2 -1 -1 -1 60" + 9 * " -1" + "\n")
    words = ("--clean", "zero_run=drop,run_plus=1,kill=false", "--json")
    facts = json.loads(farm("traces", "info", path, *words).stdout)
    assert (facts["jobs"], facts["dropped"]) == (3, {"no run": 1, "run 0": 1})
    assert (
        "run 0                           1  run time 0"
        in farm("traces", "info", path, "--clean", "zero_run=drop").output
    )
    words = ("--policy", "fcfs+easy", "--clean", "run_plus=7", "--json")
    longer = json.loads(farm("simulate", path, *words).stdout)
    same = json.loads(farm("simulate", path, *words[:2], "--json").stdout)
    assert longer["metrics"]["jobs"] == same["metrics"]["jobs"] == 4
    assert longer["metrics"]["response"] == same["metrics"]["response"] + 7


def test_names_stand_for_files(traces: Path, cache: Path) -> None:
    """A named log is found in the folder given; its machine is known where no header says it."""
    facts = json.loads(farm("traces", "info", "METACENTRUM", "--traces", traces, "--json").stdout)
    assert (facts["name"], facts["processors"]) == ("METACENTRUM-2009-2", 806)
    assert "Czech National Grid Infrastructure MetaCentrum" in facts["acknowledge"]
    fetched = farm("traces", "fetch", "KTH-SP2", "HPC2N", "--traces", traces).output.splitlines()
    assert fetched[0] == str(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    assert fetched[1].startswith("  acknowledge: Lars Malinowsky")
    words = ("--policy", "fcfs+easy", "--jobs", 50, "--json")
    by_name = farm("simulate", "KTH-SP2", "--traces", traces, *words).output
    by_file = farm("simulate", traces / "KTH-SP2-1996-2.1-cln.swf.gz", *words).output
    assert by_name == by_file
    assert not cache.exists()


def test_plan_takes_logs_from_the_folder(tmp_path: Path, traces: Path) -> None:
    """A campaign that names a log is planned from the folder given."""
    path = tmp_path / "named.toml"
    path.write_text(
        'name = "n"\nlog = true\npolicies = ["fcfs+easy"]\n[[traces]]\nlog = "KTH-SP2"\njobs = 9\n'
    )
    out = farm("plan", path, "--traces", traces, "--store", tmp_path / "s", "--json").output
    assert json.loads(out)["jobs"] == 9


REFUSED = [
    (("info", "KHT-SP2"), ["farm: log 'KHT-SP2' is not known; did you mean 'KTH-SP2'"]),
    (("info", "none.swf"), ["farm: none.swf: cannot read the log"]),
    (("fetch", "ftp://host/a.swf"), ["farm: 'ftp://host/a.swf' is not the URL of a"]),
    (("fetch", "http://127.0.0.1:1/a.swf"), ["under the name a.swf, or into a folder"]),
    (("list", "--traces", "none"), ["farm: --traces none: there is no such folder"]),
    (("info", "own.swf", "--clean", "kill"), ["farm: --clean: 'kill' is not KEY=VALUE"]),
    (("info", "own.swf", "--clean", "kill=no"), ["clean: kill is 'no'; it must be true"]),
]
"""Words of `farm traces`, and their refusal."""


def test_bad_input_is_one_sentence(
    said: Said, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a log, an address, a folder or an option."""
    cache.mkdir()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert unlike(REFUSED, lambda words: said("traces", *words)) == []


def test_busiest_windows_are_told_by_their_dates(tmp_path: Path, said: Said) -> None:
    """Of each log the one of the largest load, then the next; as JSON with the same words."""
    path = tmp_path / "own.swf"
    rows = [(0, 5), (40_000, 10), (86_400, 86_400), (100_000, 7), (200_000, 9), (300_000, 1)]
    path.write_text(
        "; MaxProcs: 4\n; UnixStartTime: 864000000\n"
        + "".join(f"{n} {at} -1 {run} 2{13 * ' -1'}\n" for n, (at, run) in enumerate(rows, 1))
    )
    words = ("traces", "busiest", path, "--days", 1, "--jobs", 1, 2, "--count", 2)
    found = json.loads(farm(*words, "--json").stdout)
    assert [(w["first"], w["last"], w["jobs"], w["load"]) for w in found] == [
        ("1997-05-20", "1997-05-20", 2, 2 * 86_407 / (4 * 86_400)),
        ("1997-05-19", "1997-05-19", 2, 30 / (4 * 86_400)),
    ]
    title, first, _ = farm(*words).output.splitlines()
    assert title.split() == ["log", "first", "last", "jobs", "load"]
    assert first.split() == ["own", "1997-05-20", "1997-05-20", "2", "0.50"]
    assert "no window" in farm("traces", "busiest", path, "--days", 9).output
    refused = said("traces", "busiest", str(path), "--jobs", "9", "2")
    assert "--jobs 9 2: give the least from 0, then the most" in refused


def test_jobs_put_on_nodes_are_written_as_a_log(tmp_path: Path, said: Said) -> None:
    """The same jobs on the same machine; a trace that is none, or a model, is refused."""
    (tmp_path / "own.swf").write_text(LOG)
    (tmp_path / "c.toml").write_text(
        'name = "c"\npolicies = ["fcfs+conservative"]\nresamples = 1\n'
        '[[traces]]\nfile = "own.swf"\n'
        "nodes = { nodes = 6, sets = [3, 2], properties = 1.0, reservations = 0.5 }\n"
        '[[traces]]\nname = "m"\nmodel = "lublin"\nprocessors = 8\njobs = 9\nnodes = {}\n'
    )
    words = ("traces", "write", str(tmp_path / "c.toml"))
    farm(*words, "own", "--out", tmp_path / "site.csv")
    jobs = Campaign.from_toml(tmp_path / "c.toml").traces[0].read()
    assert jobs is not None
    again = read_log(tmp_path / "site.csv")
    assert again.platform == jobs.platform
    for name in ("submit", "run", "estimate", "procs", "weight", "properties", "reserved"):
        assert getattr(again, name).tolist() == getattr(jobs, name).tolist(), name
    rows = [
        (("owm", "--out", "no.csv"), ["did you mean 'own'"]),
        (("m", "--out", "no.csv"), ["is a model"]),
        (("own", "--out", "no.swf"), ["give NAME.csv"]),
    ]
    assert unlike(rows, lambda given: said(*words, *given)) == []


def test_jobs_of_a_pool_are_written_for_other_programs(tmp_path: Path, said: Said) -> None:
    """As SWF and as Batsim's workload, by the suffix."""
    (tmp_path / "own.swf").write_text(LOG)
    (tmp_path / "c.toml").write_text(
        'name = "c"\npolicies = ["fcfs+easy"]\n[[traces]]\nfile = "own.swf"\njobs = 9\n'
    )
    words = ("traces", "write", str(tmp_path / "c.toml"), "own", "--out")
    for name in ("nine.swf.gz", "nine.json"):
        farm(*words, tmp_path / name)
        again = read_log(tmp_path / name)
        assert again.digest() == read_log(tmp_path / "own.swf", jobs=9).digest()
    rows = [("nine.csv", [".swf or .json, also with .gz"]), ("own.swf", ["would be lost"])]
    assert unlike(rows, lambda name: said(*words, tmp_path / name)) == []


def test_a_machine_replaces_nothing_else(tmp_path: Path, said: Said) -> None:
    """Neither the campaign it is written from, nor the machine that is read, nor any other file."""
    (tmp_path / "own.swf").write_text(LOG)
    campaign = tmp_path / "c.toml"
    campaign.write_text(
        'name = "c"\npolicies = ["fcfs+conservative"]\n'
        '[[traces]]\nfile = "own.swf"\nnodes = { nodes = 6 }\n'
        '[[traces]]\nfile = "site.csv"\n'
    )
    words = ("traces", "write", str(campaign))
    farm(*words, "own", "--out", tmp_path / "site.csv")
    (tmp_path / "other.toml").write_text("name = 'other'\n")
    rows = [
        ((*words, "own", "--out", "c.csv"), ["it is an input, and would be lost"]),
        ((*words, "site", "--out", "site.csv.gz"), ["it is an input, and would be lost"]),
        (
            (*words, "own", "--out", "other.csv"),
            ["would replace ", "other.toml, another file"],
        ),
        (
            ("simulate", "site.csv", "--policy", "fcfs+demt", "--quiet", "--out", "other.csv"),
            ["another file; give"],
        ),
    ]
    assert unlike(rows, lambda given: said(*given)) == []
