"""What `farm run` and `farm bands` print of results."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from click.testing import Result

from schedfarm.core import write_swf
from schedfarm.core.models import poisson
from schedfarm.farm import Campaign, run
from tests.support.command_line import Farm
from tests.support.refusals import Said, sentence, unlike

CAMPAIGN = """
name = "{name}"
policies = ["fcfs+easy", "spf+easy"]
{keys}

[[traces]]
name = "LOG"
file = "log.swf"
"""

KEYS = {
    "few": "resamples = 0",
    "one": "resamples = 1\nlog = true",
    "two": "resamples = 2\nlog = true",
    "mine": "resamples = 4\nlog = true",
    "bare": "resamples = 4",
    "users": 'resamples = 4\ndraw = "users"\nload_by = "users"\nloads = [0.5]',
}
"""Campaigns by their name, each with a store NAME.farm."""


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of campaigns and their finished stores, on a log of ten weeks."""
    folder = tmp_path_factory.mktemp("stores")
    write_swf(poisson(64, jobs=400, seed=3, per_week=40, users=8), folder / "log.swf")
    for name, keys in KEYS.items():
        file = folder / f"{name}.toml"
        file.write_text(CAMPAIGN.format(name=name, keys=keys), encoding="utf-8")
        run(Campaign.from_toml(file), folder / f"{name}.farm")
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)


def ran(farm: Farm, stores: Path, name: str) -> Result:
    """Run a campaign that is done already, which prints its results."""
    return farm("run", stores / f"{name}.toml", "--store", stores / f"{name}.farm")


def test_a_log_without_resamples_gets_an_answer(farm: Farm, stores: Path) -> None:
    """One log, no resamples: a table of policies x metrics, a figure, and why there is no band."""
    result = ran(farm, stores, "few")
    lines = result.stdout.splitlines()
    at = lines.index("LOG, load original, the log itself")
    assert lines[at + 1].split("  ")[0] == "policy"
    assert "bounded_slowdown" in lines[at + 1]
    assert [line.split()[0] for line in lines[at + 2 : at + 4]] == ["fcfs+easy", "spf+easy"]
    assert "note: no bands: the store has no samples, only the log itself" in result.stderr
    assert (stores / "few.farm" / "figures" / "bands.png").stat().st_size > 10_000
    again = farm("bands", stores / "few.farm", "--metric", "wait_max", "--csv", "t.csv")
    assert again.stdout.startswith("Single cells, each one schedule")
    head, first, *_ = Path("t.csv").read_text().splitlines()
    assert head.startswith("trace,load,resample,policy,wait_max,wait,")
    assert first.startswith("LOG,original,0,fcfs+easy,")


def test_one_sample_is_shown_as_it_is(farm: Farm, stores: Path) -> None:
    """A single sample is no band; beside it stands the log."""
    result = farm("bands", stores / "one.farm")
    assert "LOG, load original, the log itself\n" in result.stdout
    assert "LOG, load original, sample 1\n" in result.stdout
    assert "needs at least 2 samples" in result.stderr


def test_few_samples_are_all_shown(farm: Farm, stores: Path) -> None:
    """Of four samples min, median and max, how many they are, and the log's own value."""
    lines = ran(farm, stores, "mine").stdout.splitlines()
    (head,) = [line for line in lines if line.startswith("Mean bounded slowdown: ")]
    assert "least, median and largest of samples 1 to 4 of 4, which hold 60.0 % of all" in head
    at = next(i for i, line in enumerate(lines) if line.startswith("LOG, load original; offered"))
    assert lines[at + 1].split() == ["policy", "min", "median", "max", "log", "samples", "holds"]
    assert lines[at + 2].endswith("  1 to 4 of 4  60.0 %")
    interval = farm("bands", stores / "mine.farm", "--kind", "interval").stdout
    assert (
        "mean of 4 samples and its 90 % interval (Student's t, corrected for skewness)"
        in interval.splitlines()[0]
    )
    assert "figure" not in interval


def test_without_the_log_that_is_said(farm: Farm, stores: Path) -> None:
    """Where its resamples are, the log is missed, in one sentence."""
    result = farm("bands", stores / "bare.farm")
    assert result.stderr.count("the log itself is not among the resamples of LOG; log = true") == 1


def test_users_say_the_spread_of_their_loads(farm: Farm, stores: Path) -> None:
    """`draw = "users"` reaches a load on average: each block says from where to where."""
    lines = farm("bands", stores / "users.farm").stdout.splitlines()
    (block,) = [line for line in lines if line.startswith("LOG, load 0.5; ")]
    assert block.startswith("LOG, load 0.5; offered load of the samples 0.")
    assert " to 0." in block


def test_no_resamples_mean_the_log(stores: Path) -> None:
    """Without samples the log is what is left to simulate, and the campaign says so."""
    campaign = Campaign.from_toml(stores / "few.toml")
    assert (campaign.log, campaign.resample_axis) == (True, (0,))
    assert "log = true" in campaign.to_toml()


def test_bands_are_told_as_json(farm: Farm, stores: Path) -> None:
    """What the band is and each cell; single cells where there are too few samples."""
    facts = json.loads(farm("bands", stores / "mine.farm", "--metric", "wait", "--json").stdout)
    assert (facts["metric"], facts["kind"], facts["units"]) == ("wait", "range", "s")
    assert [cell["policy"] for cell in facts["cells"]] == ["fcfs+easy", "spf+easy"]
    assert facts["cells"][0]["min"] <= facts["cells"][0]["median"] <= facts["cells"][0]["max"]
    weeks = json.loads(farm("bands", stores / "mine.farm", "--weekly", "--json").stdout)["traces"]
    assert [cell["week"] for cell in weeks[0]["cells"]][:3] == [1, 2, 3]
    single = json.loads(farm("bands", stores / "few.farm", "--json").stdout)
    assert (single["kind"], single["units"]["wait"]) == ("cells", "s")
    assert [cell["resample"] for cell in single["cells"]] == [0, 0]


def test_every_option_of_a_band_is_at_hand(farm: Farm, stores: Path) -> None:
    """What analysis takes: where, the rule with its options, the weeks, the figure's axis."""
    words = ("bands", stores / "mine.farm", "--metric", "wait")
    one = farm(*words, "--trace", "LOG", "--load", "original", "--policy", "sjf+easy").stdout
    assert "fcfs+easy" not in one
    assert "spf+easy" in one
    head = farm(*words, "--kind", "quantile", "--quantiles", "0.25,0.5,0.75").stdout
    assert head.startswith("Mean wait (s): 25, 50, 75 % quantiles")
    assert "its 95 % interval" in farm(*words, "--kind", "interval", "--level", "0.95").stdout
    wider = farm(*words, "--kind", "trimmed", "--trim", "0").stdout
    assert "samples 1 to 4 of 4" in wider.splitlines()[0]
    weekly = farm(*words, "--weekly").stdout.splitlines()
    assert weekly[0].startswith("Cumulative mean wait (s): ")
    assert weekly[2] == "LOG, load original, policy fcfs+easy"
    assert weekly[3].split()[:4] == ["week", "min", "median", "max"]
    farm(*words, "--weekly", "--csv", "w.csv", "--plot", "w.png", "--log-axis")
    head, first, *_ = Path("w.csv").read_text().splitlines()
    assert head.startswith("trace,load,policy,week,metric,units,kind,min,median,max,")
    assert first.startswith("LOG,original,fcfs+easy,1,wait,s,range,")
    assert Path("w.png").stat().st_size > 10_000
    farm(*words, "--plot", "small.png", "--size", "4x3")
    header = Path("small.png").read_bytes()[16:24]
    assert struct.unpack(">II", header) == (4 * 150, 3 * 150)


def test_bands_that_cannot_be_are_refused(said: Said, stores: Path) -> None:
    """In one sentence; an option that would do nothing, too."""
    rows = [
        (("--log-axis",), ["--log-axis does nothing without --plot; give both"]),
        (("--size", "7x3.5"), ["--size does nothing without --plot; give both"]),
        (("--plot", "x.png", "--size", "7"), ["'7' is not a size", "such as 7x3.5"]),
        (("--plot", "x.png", "--size", "7x-1"), ["'7x-1' is not a size"]),
        (("--plot", "x.png", "--size", "7x1000"), ["'7x1000' is not a size"]),
        (
            ("--quantiles", "0.5"),
            ["--quantiles does nothing with --kind auto; it is for quantile"],
        ),
        (("--kind", "range", "--trim", "0.2"), ["it is for auto and trimmed"]),
        (
            ("--kind", "quantile", "--quantiles", "half"),
            ["'half' is not ascending shares such as 0.1,0.5,0.9"],
        ),
        (("--kind", "quantile", "--quantiles", "0.9,0.1"), ["'0.9,0.1' is not ascending shares"]),
        (("--kind", "quantile", "--quantiles", "0.1,1.5"), ["'0.1,1.5' is not ascending shares"]),
        (("--trim", "0.5"), ["'--trim': 0.5 is not in the range 0<=x<0.5"]),
        (("--kind", "interval", "--level", "nan"), ["level is nan; it must be above 0"]),
        (("--trace", "KTH"), ["unknown trace 'KTH'"]),
        (("--metric", "wiat"), ["did you mean 'wait'?"]),
        (("--json", "--csv", "-"), ["--json and --csv - both write to standard output: give one"]),
        (
            ("--json", "--plot", "-"),
            ["--json and --plot - both write to standard output: give one"],
        ),
    ]
    assert unlike(rows, lambda words: said("bands", str(stores / "mine.farm"), *words)) == []


def test_a_figure_needs_three_quantiles(farm: Farm, stores: Path) -> None:
    """A table takes any; the figure is refused before the table, and no file is left."""
    words = ("--kind", "quantile", "--quantiles", "0.1,0.9", "--plot", "x.png")
    refused = farm("bands", stores / "mine.farm", *words, status=2)
    assert refused.stdout == ""
    assert "give three quantiles, not [0.1, 0.9]" in sentence(refused.stderr)
    assert list(Path().iterdir()) == []
