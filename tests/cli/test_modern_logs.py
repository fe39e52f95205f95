"""`farm traces` with maps of columns, further fields, and copies without names."""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from pathlib import Path

from schedfarm.farm.campaign.campaign import Campaign
from tests.support.command_line import run_farm as farm

MAP = """
[columns]
submit = { column = "t", unit = "s" }
run = { column = "r", unit = "min" }
procs = "p"
[drop]
state = ["FAILED"]
"""


def test_info_reads_a_map_and_counts_what_it_drops(tmp_path: Path) -> None:
    log, table = tmp_path / "site.csv", tmp_path / "columns.toml"
    log.write_text("t,r,p,state\n0,2,1,DONE\n5,2,1,FAILED\n9,1,2,DONE\n")
    table.write_text(MAP)
    words = ("traces", "info", log, "--map", table, "--processors", 4)
    facts = json.loads(farm(*words, "--json").stdout)
    assert (facts["jobs"], facts["dropped"]) == (2, {"state FAILED": 1})
    assert re.search("state FAILED +1", farm(*words).output)
    refused = farm("traces", "info", log, "--map", "none", status=2)
    assert "there is no ready map 'none'" in refused.stderr


def test_every_command_of_logs_takes_a_map(tmp_path: Path) -> None:
    """A campaign keeps the columns of the map, so that it no longer needs the file."""
    log, table, campaign = (tmp_path / name for name in ("site.csv", "columns.toml", "c.toml"))
    log.write_text("t,r,p,state\n0,2,4,DONE\n5,2,1,FAILED\n9,1,2,DONE\n")
    table.write_text(MAP)
    words = ("--map", table, "--processors", 4)
    shown = farm("simulate", log, "--policy", "fcfs+easy", "--json", *words)
    assert json.loads(shown.output)["metrics"]["wait"] == (0 + 111) / 2
    job = json.loads(farm("explain", log, "--policy", "fcfs+easy", "--json", *words).stdout)
    assert (job["job"]["number"], job["job"]["wait"]) == (3, 111)
    farm("init", log, "--policy", "fcfs+easy", "--out", campaign, *words)
    table.unlink()
    (trace,) = Campaign.from_toml(campaign).traces
    assert trace.map == tomllib.loads(MAP)
    assert trace.read().submit.tolist() == [0, 9]
    refused = farm("explain", log, "--policy", "fcfs+easy", "--recorded", *words, status=2)
    assert "--map does nothing with --recorded" in refused.stderr


def test_maps_are_listed_with_their_documentation() -> None:
    assert "10.5281/zenodo.11467483" in farm("traces", "maps").output
    assert json.loads(farm("traces", "maps", "--json").stdout)["f-data"]["licence"] == "CC BY 4.0"


def test_anonymise_writes_a_packed_copy_and_says_what_it_left_out(tmp_path: Path) -> None:
    log, out = tmp_path / "site.sacct", tmp_path / "public.sacct.gz"
    log.write_text("JobID|User|WorkDir|Submit\n9|ann|/home/ann|2024-06-08T00:00:00\n")
    said = farm("traces", "anonymise", log, "--out", out, "--weeks", -1).output
    assert said.splitlines() == ["1 rows", "replaced User: 1 names", "left out WorkDir"]
    text = gzip.decompress(out.read_bytes()).decode()
    assert text == "JobID|User|Submit\n9|user1|2024-06-01T00:00:00\n"
    assert "--out" in farm("traces", "anonymise", log, "--out", log, status=2).stderr
