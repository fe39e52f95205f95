"""`farm validate`: simulated waits next to logged ones, and their distance."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from schedfarm.analysis import compare, comparison_text, comparison_warnings, distances, validation
from schedfarm.analysis.validation import logged_means
from schedfarm.core import read_log, simulate
from schedfarm.core.metrics.logged import group_waits
from schedfarm.core.models import poisson
from schedfarm.core.workload.workload import Workload
from schedfarm.farm import Campaign, run
from tests.support.command_line import Farm

WEEK = 604_800

CAMPAIGN = """
name = "{name}"
policies = ["fcfs+easy", "spf+easy"]
resamples = 4
log = true
draw = "weeks"
keep = "{keep}"
loads = ["original", 0.6]

[[traces]]
name = "site"
file = "{file}.swf"
"""


def lines_of(jobs: Workload, wait: np.ndarray) -> str:
    """Write a log with these waits, and jobs in three queues."""
    rows = [
        f"{i + 1} {jobs.submit[i]} {wait[i]} {jobs.run[i]} {jobs.procs[i]} -1 -1 {jobs.procs[i]} "
        f"{jobs.estimate[i]} -1 1 {jobs.user[i]} 1 1 {i % 3 + 1} 1 -1 -1"
        for i in range(len(jobs))
    ]
    return "\n".join(["; MaxProcs: 64", *rows, ""])


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make stores of logs as `fcfs+none` schedules them, and of logs that waited 10 times that."""
    folder = tmp_path_factory.mktemp("validated")
    jobs = poisson(64, jobs=300, seed=5, per_week=100, users=6)
    wait = simulate(jobs, "fcfs+none").wait
    (folder / "near.swf").write_text(lines_of(jobs, wait))
    (folder / "far.swf").write_text(lines_of(jobs, 10 * wait))
    for name, file, keep in (
        ("near", "near", "jobs"),
        ("far", "far", "jobs"),
        ("light", "near", "summary"),
    ):
        path = folder / f"{name}.toml"
        path.write_text(CAMPAIGN.format(name=name, file=file, keep=keep))
        run(Campaign.from_toml(path), folder / f"{name}.farm")
    return folder


def test_groups_are_those_of_farm_simulate(stores: Path) -> None:
    """By width and queue the numbers of `core`, which schedules the log again."""
    found = validation(stores / "near.farm", policy="spf+easy")
    schedule = simulate(read_log(stores / "near.swf"), "spf+easy")
    for by in ("width", "queue"):
        rows = found.xs(("site", "original", "spf+easy", by), level=[0, 1, 2, 3])
        expected = group_waits(schedule, by)
        assert sorted(rows.index) == sorted(group.name for group in expected)
        for group in expected:
            row = rows.loc[group.name]
            assert row["jobs"] == group.jobs
            assert row["simulated"] == pytest.approx(group.simulated)
            assert row["logged"] == pytest.approx(group.logged)
            assert row["mean_absolute_error"] == pytest.approx(group.mean_absolute_error)


def test_weeks_and_distances(stores: Path) -> None:
    """Worked out from the log: the weighted mean of the groups' differences over the mean wait."""
    found = validation(stores / "near.farm")
    jobs = read_log(stores / "near.swf")
    schedule = simulate(jobs, "fcfs+easy")
    week = (jobs.submit - jobs.submit[0]) // WEEK + 1
    off = 0.0
    for number in np.unique(week):
        mine = week == number
        row = found.loc[("site", "original", "fcfs+easy", "week", str(number))]
        assert row["simulated"] == pytest.approx(schedule.wait[mine].mean())
        assert row["logged"] == pytest.approx(jobs.logged_wait[mine].mean())
        off += abs(schedule.wait[mine].sum() - jobs.logged_wait[mine].sum())
    far = distances(found).loc[("site", "original", "fcfs+easy")]
    assert far["week"] == pytest.approx(off / jobs.logged_wait.sum())
    assert far["all"] <= far["week"]


def test_samples_bring_their_logged_waits(stores: Path) -> None:
    """The mean as logged over the jobs of each resample, at every load."""
    store = stores / "near.farm"
    found = logged_means(store, "site", "wait")
    assert found is not None
    jobs = read_log(stores / "near.swf")
    wait = dict(zip(jobs.job.tolist(), jobs.logged_wait.tolist(), strict=True))
    group = xr.open_zarr(store / "results.zarr", group="site", consolidated=False)
    for resample in (0, 1, 4):
        number = group["number"].sel(resample=resample, load="0.6").values
        waits = [wait[int(n)] for n in number if n >= 0]
        assert found.sel(resample=resample) == pytest.approx(np.mean(waits))
    compared = compare(store, metrics=["wait"])
    samples = found.sel(resample=slice(1, None))
    assert compared["logged"].values.ravel() == pytest.approx([float(samples.mean())] * 2)
    assert comparison_text(compared).count("as logged") == 2


def test_bands_have_the_mean_as_logged(farm: Farm, stores: Path, tmp_path: Path) -> None:
    """The mean over the samples, at every load, in the text, as CSV and as JSON."""
    store, csv = stores / "near.farm", tmp_path / "bands.csv"
    found = logged_means(store, "site", "wait")
    assert found is not None
    expected = float(found.sel(resample=slice(1, None)).mean())
    text = farm("bands", store, "--metric", "wait", "--csv", csv).stdout
    assert "as logged: the same samples with the waits of the log" in text.splitlines()[0]
    heads = [line for line in text.splitlines() if line.startswith("policy ")]
    assert [head.split()[-5:-2] for head in heads] == [["log", "as", "logged"]] * 2
    frame = pd.read_csv(csv)
    assert frame["logged"].tolist() == pytest.approx([expected] * 4)
    facts = json.loads(farm("bands", store, "--metric", "wait", "--json").stdout)
    assert [cell["logged"] for cell in facts["cells"]] == pytest.approx([expected] * 4)
    assert "as logged" not in farm("bands", store, "--metric", "utilisation").stdout


def test_means_of_other_jobs_are_not_compared(stores: Path) -> None:
    """A warm-up leaves jobs out of the simulated means, and the logged ones are of all jobs."""
    path = stores / "warm.toml"
    path.write_text('warmup = "1d"\n' + CAMPAIGN.format(name="warm", file="near", keep="summary"))
    run(Campaign.from_toml(path), stores / "warm.farm")
    assert logged_means(stores / "warm.farm", "site", "wait") is None
    assert logged_means(stores / "light.farm", "site", "wait") is not None


def test_a_far_simulation_is_a_warning(stores: Path) -> None:
    """Of a comparison, by the distance of its baseline; a near one is not."""
    said = {}
    for name in ("near", "far"):
        store = stores / f"{name}.farm"
        warnings = comparison_warnings(store, compare(store))
        said[name] = [one for one in warnings if "far from the site's scheduler" in one]
    assert [len(said[name]) for name in ("near", "far")] == [0, 1]
    assert "s under fcfs+easy" in said["far"][0]


def test_without_single_jobs__all_of_them(stores: Path) -> None:
    """A store of summaries has the means over all jobs of the log."""
    light, full = (validation(stores / f"{name}.farm") for name in ("light", "near"))
    assert set(light.index.get_level_values("by")) == {"all"}
    for key, row in light.iterrows():
        assert row["simulated"] == pytest.approx(full.loc[key, "simulated"])
        assert row["logged"] == pytest.approx(full.loc[key, "logged"])


def test_command(farm: Farm, stores: Path, tmp_path: Path) -> None:
    """Sentences and tables, the same in JSON and CSV."""
    store, csv = stores / "near.farm", tmp_path / "v.csv"
    lines = farm("validate", store, "--policy", "fcfs+easy", "--csv", csv).stdout.splitlines()
    assert lines[0].startswith("site, load original: mean wait ")
    table = pd.read_csv(csv)
    facts = json.loads(farm("validate", store, "--policy", "fcfs+easy", "--json").stdout)
    assert len(facts["groups"]) == len(table)
    assert f"distance {100 * facts['distances'][0]['all']:.0f} %" in lines[0]
    weeks = [line for line in lines if line.startswith("week ")]
    assert len(weeks) == sum(one["by"] == "week" for one in facts["groups"])


def test_a_model_has_no_waits_to_compare(farm: Farm, tmp_path: Path) -> None:
    text = CAMPAIGN.format(name="m", file="-", keep="jobs").replace(
        'file = "-.swf"', 'model = "lublin"\nprocessors = 64\njobs = 50'
    )
    (tmp_path / "m.toml").write_text(text.replace('draw = "weeks"\n', ""))
    run(Campaign.from_toml(tmp_path / "m.toml"), tmp_path / "m.farm")
    assert "no simulated wait can be compared" in farm("validate", tmp_path / "m.farm").stdout
