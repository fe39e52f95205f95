"""Answers from stores with failed cells, metrics without values, and lost or foreign files."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from schedfarm.analysis import StoreError, changes, compare, comparison_text, plain
from schedfarm.analysis.comparison_warnings import comparison_warnings
from schedfarm.core import write_swf
from schedfarm.core.models import poisson
from schedfarm.farm import run
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.cli.campaign_files import _named
from tests.support.command_line import Farm
from tests.support.refusals import Said

OWN = '''
def refusing(submit, estimate, procs, user, now):
    """Refuse every log."""
    raise RuntimeError("not these")


refusing.static = True


def nothing(counted):
    """Nothing."""
    return float("nan")
'''

CAMPAIGN = Campaign(
    name="answers",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=60),),
    policies=("fcfs+easy", "saf+easy"),
    resamples=3,
)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module with an order that fails and a metric without values."""
    name = "own_answers"
    (tmp_path / f"{name}.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_failed_cells_are_named(tmp_path: Path, own: str, said: Said) -> None:
    """By each answer, among the cells that it needs, with the command that lists their errors."""
    policy, other = (f"{own}:refusing+{rule}" for rule in ("easy", "aggressive"))
    run(dataclasses.replace(CAMPAIGN, policies=("fcfs+easy", policy, other)), tmp_path / "s")
    advice = "3 cells have failed; 'farm status --failed"
    with pytest.raises(StoreError, match=advice):
        compare(tmp_path / "s", "fcfs+easy", [policy])
    with pytest.raises(StoreError, match=advice.replace("3", "6")):
        compare(tmp_path / "s")
    with pytest.raises(StoreError, match=advice):
        changes(tmp_path / "s", "m", policy, "fcfs+easy", load="original")
    with pytest.raises(StoreError, match=f"no finished cell: {advice}"):
        plain(tmp_path / "s", policy=policy)
    assert "farm status s" in said("export", "s", "--policy", policy, "--out", "x.csv")


def test_a_metric_without_values__is_named_and_others_compared(tmp_path: Path, own: str) -> None:
    store = tmp_path / "s"
    run(dataclasses.replace(CAMPAIGN, metrics=(f"{own}:nothing",)), store)
    with pytest.raises(StoreError, match="no finished sample has a value of nothing under both"):
        compare(store, metrics=["nothing"])
    with pytest.raises(StoreError, match="nothing has no value in any finished cell"):
        plain(store, ["nothing"])
    found = compare(store, metrics=["nothing", "wait"])
    first, second, *_ = comparison_text(found).split("\n")
    assert first == (
        "saf+easy: Nothing cannot be compared with fcfs+easy: no sample has a value of both"
    )
    assert "3 pairs" in second
    assert not any("missing" in note for note in comparison_warnings(store, found))


def test_a_single_cell_has_one_interval(tmp_path: Path) -> None:
    """The verdict's interval is that of the table where there is one trace and load."""
    run(dataclasses.replace(CAMPAIGN, resamples=6), tmp_path / "s")
    found = compare(tmp_path / "s")
    assert (found["overall"].values == found["ratio"].squeeze(["trace", "load"]).values).all()
    assert found["ratio"].notnull().all()


@pytest.fixture
def logged(tmp_path: Path) -> Path:
    """Return the store of a log next to the log and its campaign file."""
    write_swf(poisson(64, jobs=80, seed=1, per_week=40, users=3), tmp_path / "log.swf")
    keys = {"name": "l", "resamples": 2, "log": True, "policies": ["fcfs+easy", "spf+easy"]}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    text = "\n".join([*lines, "[[traces]]", 'name = "log"', 'file = "log.swf"', ""])
    (tmp_path / "l.toml").write_text(text)
    run(Campaign.from_toml(tmp_path / "l.toml"), tmp_path / "l.farm")
    return tmp_path / "l.farm"


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ("traces", ("compare",)),
        ("results.zarr/wait", ("compare",)),
        ("results.zarr/log/wait", ("who",)),
        ("results.zarr/log/procs", ("validate",)),
        ("results.zarr/policy", ("bands",)),
        ("results.zarr/log/resample", ("who",)),
    ],
)
def test_a_lost_part__is_named(logged: Path, said: Said, lost: str, words: tuple[str, ...]) -> None:
    shutil.rmtree(logged / lost)
    text = said(*words, "l.farm")
    assert "farm verify" in text
    assert "is missing" in text


def test_outputs_do_not_replace_inputs(logged: Path, said: Said) -> None:
    """The campaign's file, and the log that it names, whose store is next to them."""
    assert logged.is_dir()
    for words in (
        ("compare", "l.farm", "--csv", "l.toml"),
        ("who", "l.farm", "--csv", "log.swf"),
        ("bands", "l.farm", "--csv", "log.swf"),
        ("validate", "l.farm", "--csv", "l.toml"),
        ("report", "l.farm", "--out", "log.swf"),
        ("export", "l.farm", "--format", "csv", "--out", "log.swf"),
    ):
        assert "it is an input, and would be lost" in said(*words)


def test_cells_without_a_record_do_not_count(logged: Path, said: Said) -> None:
    """Whatever the summary and the arrays have: no answer differs from farm status."""
    shutil.rmtree(logged / "records")
    assert "no two cells of one sample are finished" in said("compare", "l.farm")
    assert "no resample of trace 'log'" in said("who", "l.farm")
    assert "no finished cell" in said("bands", "l.farm")


def test_a_trace_without_cells__is_named(tmp_path: Path, farm: Farm) -> None:
    """The verdict and the ranks are those of the other one; users of that one are counted."""
    second = Trace(name="n", model="lublin", processors=64, jobs=70)
    policies = (*CAMPAIGN.policies, "spf+easy")
    both = dataclasses.replace(CAMPAIGN, traces=(*CAMPAIGN.traces, second), policies=policies)
    run(both, tmp_path / "s")
    alone = compare(tmp_path / "s", trace="m")
    shutil.rmtree(tmp_path / "s" / "records" / "n")
    found = compare(tmp_path / "s")
    text = comparison_text(found)
    assert ", over 1 of 2 traces (" in text
    assert "90 %, 3 pairs" in text
    assert "a critical difference of ranks needs at least two traces" in text
    assert found["rank"].values.tolist() == alone["rank"].values.tolist()
    assert "no pair of n has a value" in " ".join(comparison_warnings(tmp_path / "s", found))
    done = farm("who", tmp_path / "s")
    assert done.stdout.startswith("m, load original")
    assert "note: no resample of trace 'n'" in done.stderr


def test_options_that_are_left_out__are_named(
    logged: Path, farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By farm what-if, which continues the campaign of before."""
    monkeypatch.chdir(logged.parent)
    words = ("what-if", "log.swf", "--instead-of", "fcfs+easy", "--use", "spf+easy")
    farm(*words, "--samples", "2", "--quiet", "--processors", "80")
    again = farm(*words, "--samples", "2", "--quiet").stderr
    assert (
        "note: log.toml has processors = 80, which is kept; for another value give another --store"
        in again
    )


def test_a_page_replaces_pages_only(logged: Path, said: Said) -> None:
    (logged.parent / "other.toml").write_text("notes")
    assert "other.toml exists and is not a page" in said("report", "l.farm", "--out", "other.toml")


def test_a_page_of_another_kind_is_kept(
    logged: Path, farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By farm what-if, before anything is simulated; its own page is replaced."""
    monkeypatch.chdir(logged.parent)
    words = ("what-if", "log.swf", "--instead-of", "fcfs+easy", "--use", "spf+easy")
    (logged.parent / "log.html").write_text("notes")
    text = farm(*words, "--samples", "2", "--quiet", status=2).stderr
    assert "log.html exists and is not a page of farm report" in text
    assert not (logged.parent / "log.farm").exists()
    (logged.parent / "log.html").unlink()
    for _ in range(2):
        assert "page: log.html" in farm(*words, "--samples", "2", "--quiet").stdout


def test_joined_logs_are_inputs() -> None:
    """Descriptions of early versions name none."""
    text = '[[traces]]\nname = "j"\njoin = ["a.swf", "b.swf"]\n'
    assert {"c.toml", "a.swf", "b.swf"} <= {*_named({"campaign": "c", "text": text})}
    assert [*_named({"campaign": "c"})] == ["c.toml"]
