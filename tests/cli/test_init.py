"""`farm init` writes a campaign for a log that runs as it is, every line with its meaning."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from schedfarm.core import write_swf
from schedfarm.core.models import poisson
from schedfarm.farm import Campaign, run
from tests.support.command_line import run_farm as farm
from tests.support.refusals import LOG, ROW, Said


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def weeks_of_jobs(path: str) -> None:
    write_swf(poisson(64, jobs=400, seed=3, per_week=40, users=8), path)


def test_a_log_beside_its_machine_gets_a_name_of_its_own(here: Path) -> None:
    """site.toml is the machine of site.csv already."""
    Path("site.toml").write_text('[[nodes]]\nnames = "n[1-4]"\ncapacity = 2\n')
    Path("site.csv").write_text("job,submit,nodes,walltime,run\n1,0,2,60,50\n2,5,4,60,50\n")
    assert farm("init", "site.csv").stdout.startswith("campaign: site-campaign.toml; ")
    assert Campaign.from_toml("site-campaign.toml").policies[0] == "fcfs+conservative"


def test_what_it_writes_runs_and_is_commented(here: Path) -> None:
    """Every key has its meaning beside it, and a plan and a run take the file as it is."""
    weeks_of_jobs("half year.swf")
    said = farm("init", "half year.swf")
    assert said.stdout.startswith(
        "campaign: half-year.toml; estimate its cost with farm plan half-"
    )
    text = Path("half-year.toml").read_text()
    bare = [line for line in text.splitlines() if line and "#" not in line]
    assert bare == ["]", "[[traces]]"]
    assert max(map(len, text.splitlines())) <= 100
    campaign = Campaign.from_toml("half-year.toml")
    assert (campaign.resamples, campaign.log, campaign.loads[0]) == (10, True, "original")
    assert len(campaign.loads) == 2
    assert campaign.draw == "weeks"
    assert [t.name for t in campaign.traces] == ["half-year"]
    assert json.loads(farm("plan", "half-year.toml", "--json").stdout)["cells"] == 11 * 2 * 4
    run(campaign, "half-year.farm")
    assert "samples 2 to 9 of 10" in farm("bands", "half-year.farm").stdout


def test_it_takes_policies_and_stands_beside_other_folders(here: Path) -> None:
    """The log is named from where the campaign stands; the first policy is the baseline."""
    Path("campaigns").mkdir()
    weeks_of_jobs("a.swf")
    words = ("--policy", "SJF+easy", "--policy", "fcfs+none", "--out", "campaigns/mine.toml")
    farm("init", "a.swf", *words)
    campaign = Campaign.from_toml("campaigns/mine.toml")
    assert campaign.policies == ("spf+easy", "fcfs+none")
    assert campaign.traces[0].read() is not None
    printed = farm("init", "a.swf", "--out", "-").stdout
    assert tomllib.loads(printed)["traces"][0]["file"] == "a.swf"


def test_no_file_is_replaced(said: Said) -> None:
    """Neither a campaign nor the log."""
    Path("a.swf").write_text(LOG)
    Path("a.toml").write_text("kept = true")
    assert "a.toml exists already; give another file with --out" in said("init", "a.swf")
    assert "it is an input" in said("init", "a.swf", "--out", "a.swf")


def test_a_missing_size_is_asked_for(said: Said) -> None:
    """In one sentence; once it is given it stands in the campaign."""
    Path("b.swf").write_text(LOG.partition("\n")[2])
    assert "--processors" in said("init", "b.swf")
    farm("init", "b.swf", "--processors", "8")
    assert Campaign.from_toml("b.toml").traces[0].processors == 8


def test_what_is_unsafe_is_met(here: Path) -> None:
    """Requests missing: a model of estimates; too short for weeks: the log alone."""
    rows = ROW.replace(" 20 ", " -1 ")
    weeks = 5 * 168 // 30
    Path("c.swf").write_text(
        "; MaxProcs: 8\n" + "".join(rows.format(k, 3600 * k * weeks) for k in range(1, 31))
    )
    Path("d.swf").write_text(LOG)
    farm("init", "c.swf")
    text = Path("c.toml").read_text()
    assert "# 30 of 30 jobs (100 %) request no time" in text
    assert Campaign.from_toml("c.toml").traces[0].clean == {"no_estimate": "f-model"}
    farm("init", "d.swf")
    assert "under three weeks" in Path("d.toml").read_text().replace("\n# ", " ")
    assert Campaign.from_toml("d.toml").resamples == 0
    assert "draw" not in tomllib.loads(Path("d.toml").read_text())


@pytest.mark.parametrize(
    ("days", "resamples", "said"),
    [(20, 0, "under three weeks"), (21, 10, "last 3.0 weeks, under four"), (28, 10, "")],
)
def test_a_short_log_is_not_resampled_or_has_a_caution(
    here: Path, days: int, resamples: int, said: str
) -> None:
    """By the length of its submissions."""
    rows = "".join(ROW.format(k, 86_400 * k) for k in range(days + 1))
    Path("e.swf").write_text(f"; MaxProcs: 8\n{rows}")
    farm("init", "e.swf")
    text = Path("e.toml").read_text()
    assert Campaign.from_toml("e.toml").resamples == resamples
    cautions = [one for one in ("under three weeks", "last 3.0 weeks, under four") if one in text]
    assert cautions == [said] * bool(said)


def test_a_log_that_has_a_name(tiny: str, traces_cache: Path) -> None:
    """It stays named in the campaign."""
    farm("init", "Tiny")
    (trace,) = tomllib.loads(Path("tiny.toml").read_text())["traces"]
    assert (trace["name"], trace["log"]) == ("Tiny", tiny)


def test_an_unknown_policy_is_one_sentence(said: Said) -> None:
    """And nothing is written."""
    Path("a.swf").write_text(LOG)
    assert "did you mean 'easy'?" in said("init", "a.swf", "--policy", "fcfs+esay")


def test_several_logs_make_one_campaign(here: Path) -> None:
    """A trace each, a load that none has of itself, and policies that all machines know."""
    for name in ("a.swf", "b.swf"):
        weeks_of_jobs(name)
    assert farm("init", "a.swf", "b.swf").stdout.startswith("campaign: a-b.toml; ")
    text = Path("a-b.toml").read_text()
    assert "400 jobs of a on 64 processors; 400 jobs of b on 64 processors" in text
    campaign = Campaign.from_toml("a-b.toml")
    assert [(trace.name, trace.file) for trace in campaign.traces] == [
        (name, str(here / f"{name}.swf")) for name in "ab"
    ]
    assert len(campaign.loads) == 2
    assert len(campaign.policies) == 4


def test_logs_on_other_machines_need_policies_that_both_know(here: Path) -> None:
    """Those that are named."""
    weeks_of_jobs("a.swf")
    Path("site.toml").write_text('[[nodes]]\nnames = "n[1-4]"\ncapacity = 2\n')
    Path("site.csv").write_text("job,submit,nodes,walltime,run\n1,0,2,60,50\n2,5,4,60,50\n")
    farm("init", "a.swf", "site.csv", "--policy", "fcfs+conservative")
    assert Campaign.from_toml("a-site.toml").policies == ("fcfs+conservative",)
