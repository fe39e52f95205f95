"""`farm compare`: verdicts, tables, files, and what it refuses."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from schedfarm.analysis import (
    compare,
    comparison_figure,
    comparison_text,
    comparison_warnings,
    losers,
    open_trace,
    open_tree,
    verdicts,
)
from schedfarm.analysis.comparison_warnings import _alike
from schedfarm.core import write_swf
from schedfarm.core.models import poisson
from schedfarm.farm import Campaign, run
from tests.support.command_line import Farm
from tests.support.refusals import Said, unlike

CAMPAIGN = """
name = "{name}"
policies = ["fcfs+easy", "spf+easy", "saf+easy"]
{keys}

[[traces]]
name = "A"
file = "log.swf"

[[traces]]
name = "M"
model = "lublin"
processors = 64
jobs = 200
"""

KEYS = {
    "both": "resamples = 9\nlog = true\nloads = [0.8, 0.9]",
    "few": "resamples = 1\nlog = true",
    "alone": "resamples = 0",
    "light": 'resamples = 3\nkeep = "summary"',
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    write_swf(poisson(64, jobs=300, seed=3, per_week=40, users=8), folder / "log.swf")
    for name, keys in KEYS.items():
        file = folder / f"{name}.toml"
        file.write_text(CAMPAIGN.format(name=name, keys=keys), encoding="utf-8")
        run(Campaign.from_toml(file), folder / f"{name}.farm")
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_first_lines_are_the_verdicts(farm: Farm, stores: Path) -> None:
    """One for each policy and metric, with the change, its interval, the pairs, the users."""
    lines = farm("compare", stores / "both.farm").stdout.splitlines()
    pattern = (
        r"(spf|saf)\+easy: mean (wait|bounded slowdown) .*fcfs\+easy, over 2 traces and 2 loads "
        r"\(.* to .* %.*, 90 %, 9 pairs\)(; \d+ of \d+ users gain)?"
    )
    assert [bool(re.fullmatch(pattern, line)) for line in lines[:5]] == [*[True] * 4, False]
    assert sum("users gain" in line for line in lines) == 2


def test_the_numbers_are_those_of_the_pairs(stores: Path) -> None:
    """Means, differences and ratios, worked out from the summary that plain xarray reads."""
    found = compare(stores / "both.farm", "spf+easy", ["fcfs+easy"], metrics=["wait"])
    root = xr.open_zarr(stores / "both.farm" / "results.zarr").sel(resample=slice(1, None))
    waits = root["wait"].sel(trace="A", load="0.9").load()
    base, other = (waits.sel(policy=p).values for p in ("spf+easy", "fcfs+easy"))
    cell = found.sel(metric="wait", trace="A", load="0.9", policy="fcfs+easy")
    low, estimate, high = cell["ratio"].values
    assert estimate == pytest.approx(other.mean() / base.mean())
    assert low < estimate < high
    assert cell["difference"].sel(bound="estimate") == pytest.approx((other - base).mean())
    assert cell["better"].sel(bound="estimate") == pytest.approx((other < base).mean())
    assert (cell["mean"], cell["baseline_mean"]) == (other.mean(), base.mean())
    cells = found["ratio"].sel(bound="estimate")
    overall = found["overall"].sel(bound="estimate").item()
    assert overall == pytest.approx(float(np.exp(np.log(cells).mean())))


def test_where_larger_is_better__better_means_larger(stores: Path) -> None:
    found = compare(stores / "both.farm", metrics=["utilisation"])
    root = xr.open_zarr(stores / "both.farm" / "results.zarr").sel(resample=slice(1, None))
    used = root["utilisation"].sel(trace="M", load="0.9").load()
    share = (used.sel(policy="saf+easy") > used.sel(policy="fcfs+easy")).mean()
    cell = found.sel(metric="utilisation", trace="M", load="0.9", policy="saf+easy")
    assert cell["better"].sel(bound="estimate") == pytest.approx(float(share))
    assert found["better_is"].item() == "larger"
    ranks = found["rank"].sel(metric="utilisation")
    assert ranks.sum() == 6


def test_users_who_gain_are_counted_from_their_jobs(stores: Path) -> None:
    """A user gains whose mean wait over samples and loads falls."""
    store = stores / "both.farm"
    found = compare(store, None, ["spf+easy"], metrics=["wait"], trace="A", load="0.9")
    group = open_trace(store, "A").sel(load="0.9", resample=slice(1, None))
    changes: dict[int, list[float]] = {}
    for number in group["resample"].values:
        jobs = group.sel(resample=number)
        users = jobs["job_user"].values
        waits = {p: jobs["wait"].sel(policy=p).values for p in ("fcfs+easy", "spf+easy")}
        there = waits["fcfs+easy"] >= 0
        for user in np.unique(users[there]):
            own = there & (users == user)
            change = waits["spf+easy"][own].mean() - waits["fcfs+easy"][own].mean()
            changes.setdefault(int(user), []).append(float(change))
    gain = sum(np.mean(one) < 0 for one in changes.values())
    [sentence] = verdicts(found, losers(store, found))
    assert sentence.endswith(f"; {gain} of {len(changes)} users gain")


def test_files(farm: Farm, stores: Path) -> None:
    """CSV has a row a cell, LaTeX the rules of booktabs, JSON all of it."""
    farm("compare", stores / "both.farm", "--by", "none", "--csv", "c.csv", "--latex", "c.tex")
    table = pd.read_csv("c.csv")
    assert len(table) == 2 * 2 * 2 * 2
    assert (table["ratio_low"] <= table["ratio"]).all()
    tex = Path("c.tex").read_text()
    # A heading for each metric, and a line for the baseline of each trace and load.
    assert tex.count(r"\\") == 1 + 2 + len(table) + 2 * 2 * 2
    notes = [line.partition(":")[0] for line in tex.splitlines() if line.startswith("%")]
    assert notes == ["% change", "% interval", "% p"]
    assert all(rule in tex for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
    assert "Mean bounded slowdown against fcfs+easy" in tex
    facts = json.loads(farm("compare", stores / "both.farm", "--by", "none", "--json").stdout)
    assert len(facts["cells"]) == len(table)
    assert facts["cells"][0]["ratio"] == pytest.approx(table["ratio"][0])
    assert len(facts["verdicts"]) == 4
    printed = farm("compare", stores / "both.farm", "--by", "none", "--csv", "-").stdout
    assert len(pd.read_csv(StringIO(printed))) == len(table)


def test_the_figure_has_a_dot_for_each_ratio(stores: Path, tmp_path: Path) -> None:
    found = compare(stores / "both.farm", metrics=["wait"])
    figure = comparison_figure(found, tmp_path / "c.svg")
    [axes] = figure.axes
    dots = [bar.lines[0].get_xdata() for bar in axes.containers]
    for policy, drawn in zip(found["policy"].values, dots, strict=True):
        cells = found["ratio"].sel(metric="wait", policy=policy, bound="estimate").values.ravel()
        overall = found["overall"].sel(metric="wait", policy=policy, bound="estimate").item()
        assert drawn == pytest.approx(100 * (np.array([*cells, overall]) - 1))
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert labels == ["A, 0.8", "A, 0.9", "M, 0.8", "M, 0.9", "all"]
    assert (tmp_path / "c.svg").stat().st_size > 0


@pytest.mark.parametrize(("noise", "is_alike"), [(0.3, True), (20.0, False)])
def test_pairs_that_are_alike__a_caution(noise: float, is_alike: bool) -> None:
    """The verdict has it, and the notes its number; below five pairs nothing is known."""
    random = np.random.default_rng(1)
    base = random.lognormal(3, 0.5, 8)
    waits = np.stack([base, 0.8 * base + random.normal(0, noise, 8)], axis=1)[:, None]
    tree = alike_or_not(waits)
    found = compare(tree)
    (verdict,) = verdicts(found)
    assert ("8 pairs; may be too short, pairs are alike)" in verdict) == is_alike
    said = [one for one in _alike(found) if "the pairs have a correlation above 0.95" in one]
    assert len(said) == is_alike
    few = compare(alike_or_not(waits[:4]))
    assert np.isnan(few["correlation"]).all()
    assert list(_alike(few)) == []


def alike_or_not(waits: np.ndarray) -> xr.DataTree:
    labels = {"resample": range(1, len(waits) + 1), "load": ["0.9"], "policy": ["P", "Q"]}
    root = xr.Dataset({"wait": (("resample", "load", "policy"), waits, {"units": "s"})}, labels)
    return xr.DataTree(root.expand_dims(trace=["A"]))


def test_without_samples__the_log_alone(farm: Farm, stores: Path) -> None:
    done = farm("compare", stores / "alone.farm")
    first = done.stdout.splitlines()[0]
    assert "fcfs+easy in the log alone, over 2 traces (no interval)" in first
    assert "note: no samples: each ratio is of one schedule" in done.stderr


def test_one_pair__no_interval(farm: Farm, stores: Path) -> None:
    first = farm("compare", stores / "few.farm", "--metric", "wait").stdout.splitlines()[0]
    assert "fcfs+easy" in first
    assert "%, 1 pairs" not in first
    assert "no interval" in first


def test_without_single_jobs__a_note(farm: Farm, stores: Path) -> None:
    done = farm("compare", stores / "light.farm")
    assert "users gain" not in done.stdout
    assert "note: gains by user are not counted: the store has no " in done.stderr


def test_refusals(said: Said, stores: Path) -> None:
    store = str(stores / "both.farm")
    rows = [
        (("fcfs+easy", "saff+easy"), ("saff+easy", "did you mean 'saf+easy'")),
        (("fcfs+easy", "fcfs+easy"), ("'fcfs+easy' is the baseline", "spf+easy, saf+easy")),
        (("--metric", "wiat"), ("wiat", "did you mean 'wait'")),
        (("--level", "1.5"), ("'--level': 1.5", "0<x<1")),
        (("--by", "usr"), ("usr", "did you mean 'user'")),
        (("--trace", "B"), ("trace", "'B'", "A, M")),
        (("--plot", "x.gif"), ("x.gif", ".png, .pdf or .svg")),
        (("--json", "--csv", "-"), ("--json", "give one")),
    ]
    assert unlike(rows, lambda words: said("compare", store, *words)) == []


def test_missing_cells__pairs_that_are_there_are_compared(stores: Path) -> None:
    """As in a store that is still running: the numbers of pairs are given, and a note."""
    tree = open_tree(stores / "both.farm").load()
    root = tree.to_dataset()
    root["wait"].loc[{"resample": 2, "trace": "A", "policy": "spf+easy"}] = np.nan
    tree.dataset = root
    found = compare(tree, metrics=["wait"])
    pairs = found["pairs"].sel(policy="spf+easy", trace="A").values.ravel().tolist()
    assert pairs == [8, 8]
    assert "some cells are missing: 8 to 9 pairs are compared" in comparison_warnings(tree, found)
    assert "8 to 9 pairs" in comparison_text(found)
