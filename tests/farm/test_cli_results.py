"""What `farm run` and `farm bands` print of results."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from core import write_swf
from core.models import poisson
from farm import Campaign
from farm.cli import cli

CAMPAIGN = """
name = "mine"
resamples = {resamples}
log = {log}
policies = ["fcfs+easy", "spf+easy"]

[[traces]]
name = "LOG"
file = "log.swf"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a log of ten weeks."""
    write_swf(poisson(64, jobs=400, seed=3, per_week=40, users=8), tmp_path / "log.swf")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(folder: Path, resamples: int, log: str = "true") -> Result:
    text = CAMPAIGN.format(resamples=resamples, log=log)
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return said("run", "mine.toml", "--workers", "1")


def said(*command: str) -> Result:
    result = CliRunner().invoke(cli, list(command))
    assert result.exit_code == 0, result.output
    return result


def test_a_log_without_resamples_gets_an_answer(folder: Path) -> None:
    """One log, no resamples: a table of policies x metrics, a figure, and why there is no band."""
    result = ran(folder, 0, "false")
    lines = result.stdout.splitlines()
    at = lines.index("LOG, load original, the log itself")
    assert lines[at + 1].split("  ")[0] == "policy"
    assert "bounded_slowdown" in lines[at + 1]
    assert [line.split()[0] for line in lines[at + 2 : at + 4]] == ["fcfs+easy", "spf+easy"]
    assert "note: no bands: the store has no samples, only the log itself" in result.stderr
    assert (folder / "mine.farm" / "figures" / "bands.png").stat().st_size > 10_000
    again = said("bands", "mine.farm", "--metric", "wait_max", "--csv", "t.csv")
    assert again.stdout.startswith("Single cells, each one schedule")
    head, first, *_ = (folder / "t.csv").read_text().splitlines()
    assert head.startswith("trace,load,resample,policy,wait_max,wait,")
    assert first.startswith("LOG,original,0,fcfs+easy,")


def test_one_sample_is_shown_as_it_is(folder: Path) -> None:
    """A single sample is no band; beside it stands the log."""
    result = ran(folder, 1)
    assert "LOG, load original, the log itself\n" in result.stdout
    assert "LOG, load original, sample 1\n" in result.stdout
    assert "needs at least 2 samples" in result.stderr


def test_few_samples_are_all_shown(folder: Path) -> None:
    """Of four samples min, median and max, how many they are, and the log's own value."""
    result = ran(folder, 4)
    lines = result.stdout.splitlines()
    (head,) = [line for line in lines if line.startswith("Mean bounded slowdown: ")]
    assert "least, median and largest of samples 1 to 4 of 4, which hold 60.0 % of all" in head
    at = next(i for i, line in enumerate(lines) if line.startswith("LOG, load original; offered"))
    assert lines[at + 1].split() == ["policy", "min", "median", "max", "log", "samples", "holds"]
    assert lines[at + 2].endswith("  1 to 4 of 4  60.0 %")
    interval = said("bands", "mine.farm", "--kind", "interval").stdout
    assert "mean of 4 samples and its 90 % interval (Student's t)" in interval.splitlines()[0]
    assert "figure" not in interval


def test_without_the_log_that_is_said(folder: Path) -> None:
    """Where its resamples are, the log is missed, in one sentence."""
    result = ran(folder, 4, "false")
    assert result.stderr.count("the log itself is not among the resamples of LOG; log = true") == 1


def test_users_say_the_spread_of_their_loads(folder: Path) -> None:
    """`draw = "users"` reaches a load on average: each block says from where to where."""
    text = CAMPAIGN.format(resamples=4, log="false")
    (folder / "mine.toml").write_text(
        'draw = "users"\nload_by = "users"\nloads = [0.5]\n' + text, encoding="utf-8"
    )
    result = said("run", "mine.toml", "--workers", "1")
    (block,) = [line for line in result.stdout.splitlines() if line.startswith("LOG, load 0.5; ")]
    assert block.startswith("LOG, load 0.5; offered load of the samples 0.")
    assert " to 0." in block


def test_no_resamples_mean_the_log(folder: Path) -> None:
    """Without samples the log is what is left to simulate, and the campaign says so."""
    ran(folder, 0, "false")
    campaign = Campaign.from_toml(folder / "mine.toml")
    assert (campaign.log, campaign.resample_axis) == (True, (0,))
    assert "log = true" in campaign.to_toml()
