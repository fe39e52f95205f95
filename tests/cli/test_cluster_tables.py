"""The commands on a table of jobs on clusters: the example of the page, and what they refuse."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from schedfarm.core import InputError, read_log, simulate
from schedfarm.core.audit import read_schedule
from schedfarm.core.machines.network.platform import Network
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from tests.support.command_line import Farm
from tests.support.paths import DOCS
from tests.support.refusals import Said

PAGE = DOCS / "logs.md"

POLICY = "fcfs+ics"


@pytest.fixture
def campus(tmp_path: Path) -> Path:
    """The example of the page."""
    text = PAGE.read_text(encoding="utf-8").partition("### Jobs on clusters")[2]
    blocks = re.findall(r"```(toml|csv)\n(.*?)```", text, re.DOTALL)[:2]
    for end, block in blocks:
        (tmp_path / f"campus.{end}").write_text(block)
    return tmp_path / "campus.csv"


def test_the_example_is_told(farm: Farm, campus: Path) -> None:
    """What the table holds, by its own words."""
    facts = json.loads(farm("traces", "info", campus, "--json").stdout)
    known = {"processors": 150, "clusters": 2, "communicating": 2, "jobs": 3, "dropped": {}}
    assert {key: facts[key] for key in known} == known
    assert "jobs that communicate      2" in farm("traces", "info", campus).output


def test_the_example_is_simulated_and_written(farm: Farm, campus: Path) -> None:
    """The schedule comes back from the files, and so do its jobs."""
    out = campus.with_name("shared.csv")
    farm("simulate", campus, "--policy", POLICY, "--out", out, "--quiet")
    found, jobs = read_schedule(out), read_log(campus)
    assert found.workload.digest() == jobs.digest()
    schedule = simulate(jobs, POLICY)
    assert found.start.tolist() == schedule.start.tolist()
    assert found.end.tolist() == schedule.end.tolist()
    # The third job is wider than what is left of its own cluster, and of any.
    assert out.read_text().count("north*") == 2
    assert out.with_suffix(".toml").read_text().startswith(f"# Policy: {POLICY}\n")


def test_jobs_of_a_campaign_are_written(farm: Farm, campus: Path) -> None:
    """As a table that is read again, of joined logs too; not of a pool, nor of a model."""
    text = """
name = "c"
policies = ["fcfs+ics"]

[[traces]]
name = "joined"
join = ["a.swf", "b.swf"]
"""
    row = "{} {} -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"
    for k, name in enumerate("ab", 1):
        rows = "".join(row.format(j, 5 * k * j) for j in range(1, 4))
        campus.with_name(f"{name}.swf").write_text("; MaxProcs: 8\n" + rows)
    path = campus.with_name("c.toml")
    path.write_text(text)
    out = campus.with_name("written.csv")
    farm("traces", "write", path, "joined", "--out", out)
    jobs = Campaign.from_toml(path).traces[0].read()
    assert jobs is not None
    assert read_log(out).digest() == jobs.digest()


def test_a_first_campaign_is_drafted(
    farm: Farm, campus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With policies that know networks, beside the machine's file and not over it."""
    monkeypatch.chdir(campus.parent)
    farm("init", campus.name)
    campaign = Campaign.from_toml(campus.with_name("campus-campaign.toml"))
    assert campaign.policies == ("fcfs+isolated(10)", "fcfs+ics", "fcfs+icsb(10)")
    assert campaign.traces[0].file == str(campus)


def test_a_table_says_itself_what_its_jobs_ask(campus: Path) -> None:
    """A platform stands for its clusters; one number for all its jobs is refused."""
    jobs = read_log(campus)
    wider = Network([200, 50], jobs.platform.places, [5, 5])
    trace = Trace(name="a", file=str(campus), platform=wider.to_dict())
    w = trace.read()
    assert w is not None
    assert w.platform == wider
    for name in wider.asks:
        assert getattr(w, name).tolist() == getattr(jobs, name).tolist()
    with pytest.raises(InputError, match=r"^trace 'a': .*campus.csv gives the origin .*; leave"):
        replace(trace, network={}).read()
    # The columns are at their defaults here, and yet it is the table that says so.
    campus.write_text("submit,run,procs,origin\n0,9,2,north\n5,9,1,north\n")
    with pytest.raises(InputError, match="leave 'network' out"):
        replace(trace, network={"bandwidth": 5}).read()


def test_bad_tables_are_refused(campus: Path, said: Said) -> None:
    """An unknown origin by its line, and places where a table would destroy something."""
    text = campus.read_text()
    other = campus.with_name("other.csv")
    other.write_text(text.replace("30,south", "30,suoth"))
    other.with_suffix(".toml").write_text(campus.with_suffix(".toml").read_text())
    refused = said("simulate", str(other), "--policy", POLICY)
    assert f"{other}, line 3: origin is 'suoth', and there is no such cluster; did you" in refused
    assert "known: north, south" in refused
    refused = said("simulate", str(campus), "--policy", POLICY, "--out", "shared.swf")
    assert "--out shared.swf: jobs on clusters are written as CSV" in refused
    campus.with_name("mine.toml").write_text("name = 'c'\n")
    refused = said("simulate", str(campus), "--policy", POLICY, "--out", "mine.csv")
    assert "the machine would replace mine.toml, another file" in refused
    refused = said("simulate", str(campus), "--policy", "fcfs+easy", "--processors", "64")
    assert "processors=64 is the size of a pool" in refused
