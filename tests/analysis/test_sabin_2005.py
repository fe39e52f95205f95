"""The report on the unfairness-metrics paper: its numbers, its tables, and what it writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import farm
from analysis import StoreError, open_tree
from analysis.papers import REPORTS, report_text, write_report
from analysis.papers.sabin_2005.figures import bar_chart, bar_table
from analysis.papers.sabin_2005.names import ORDERS, RULES
from analysis.papers.sabin_2005.printed import TABLE_1
from analysis.papers.sabin_2005.samples import comparisons, ratios
from analysis.papers.sabin_2005.subsets import rank_correlations
from analysis.papers.sabin_2005.tables import table_1
from analysis.papers.sabin_2005.unfairness import (
    job_unfairness,
    jobs_by_width,
    mean_unfairness,
    unfairness_by_width,
)
from core import scale_load, simulate
from core.models.lublin import lublin
from core.simulation.fair_start import fair_start_times
from farm.campaign.shipped import find

JOBS = 60
POLICIES = tuple(f"{order}+{rule}" for order in ORDERS for rule in RULES)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store of two model machines: the log, two samples, the paper's two loads."""
    folder = tmp_path_factory.mktemp("sabin") / "store"
    traces = tuple(
        farm.Trace(name=f"m{p}", model="lublin", processors=p, jobs=JOBS) for p in (64, 256)
    )
    campaign = replace(
        find("sabin-2005"), traces=traces, loads=("0.8", "0.95"), resamples=2, name="small"
    )
    assert farm.run(campaign, folder).failed == 0
    return folder


@pytest.fixture
def tree() -> xr.DataTree:
    """Three jobs of 1, 4 and 200 processors, late by 0, 10 and 50 s, x the policy's place."""
    place = np.arange(len(POLICIES))
    start = np.array([100, 200, 300, -1]) * np.ones((1, 1, len(POLICIES), 1), np.int64)
    late = np.multiply.outer(place, [0, 10, 50, 0])[None, None]
    fst = np.where(start >= 0, start - late, -1)
    # The first job is favoured: that it starts early counts for nothing.
    fst[..., 0] = 150
    cells = ("resample", "load", "policy")
    group = xr.Dataset(
        {
            "start": ((*cells, "job"), start),
            "fst_strict": ((*cells, "job"), fst),
            "run": (("resample", "load", "job"), [[[1, 1, 1, -1]]]),
            "procs": (("resample", "load", "job"), [[[1, 4, 200, -1]]]),
        },
        {"resample": [0], "load": ["0.8"], "policy": list(POLICIES)},
    )
    root = xr.Dataset(coords={"trace": ["m"]})
    return xr.DataTree.from_dict({"/": root, "/m": group})


def test_unfairness_by_width(tree: xr.DataTree) -> None:
    """A width's mean is over its own jobs, early ones count 0, absent widths have none."""
    means = unfairness_by_width(tree, "strict").sel(trace="m", load="0.8", rule="conservative")
    there = means.dropna("width")
    assert dict(zip(there["width"].values, there.values.tolist(), strict=True)) == {
        "1": 0.0,
        "3-4": 20.0,
        "> 128": 100.0,
    }
    sjf = unfairness_by_width(tree, "strict", "SJF").sel(trace="m", load="0.8", rule="no guarantee")
    assert sjf.sel(width="> 128").item() == 150.0


def test_width_counts(tree: xr.DataTree) -> None:
    """Padding is no job of one processor."""
    assert jobs_by_width(tree).loc["m"].tolist() == [1, 0, 1, 0, 0, 0, 0, 0, 1]


def test_a_cell_without_all_fair_starts_has_no_mean(tree: xr.DataTree) -> None:
    """A job whose fair start is not there yet is not late since the beginning of time."""
    group = tree["m"].to_dataset()
    group["fst_strict"][dict(policy=0, job=2)] = -1
    part = xr.DataTree.from_dict({"/": tree.to_dataset(), "/m": group})
    means = unfairness_by_width(part, "strict").sel(trace="m", load="0.8", width="> 128")
    assert np.isnan(means.sel(rule="no guarantee"))
    assert means.sel(rule="conservative") == 100.0


@pytest.mark.parametrize(
    ("kind", "said", "units", "hours"),
    [
        ("strict", "s", "s", "hours"),
        ("resource", "s", "processor-s", "processor-hours"),  # before version 4
        ("resource", "processor s", "processor s", "processor-hours"),
    ],
)
def test_units_are_those_of_the_store(
    store: Path, kind: str, said: str, units: str, hours: str
) -> None:
    """A figure's numbers carry the units that the store gives, its axis the same in hours."""
    tree = open_tree(store)
    summary = tree.to_dataset()
    summary[f"unfairness_{kind}"].attrs["units"] = said
    tree.dataset = summary
    values = mean_unfairness(tree, kind)
    assert set(bar_table(values, "rule")["units"]) == {units}
    assert bar_chart(values, "title").get_supylabel().endswith(f", {hours}")


def test_missing_policy_is_named(tree: xr.DataTree) -> None:
    """The report says which of the nine policies a store lacks."""
    group = tree["m"].to_dataset().isel(policy=slice(8))
    less = xr.DataTree.from_dict({"/": tree.to_dataset(), "/m": group})
    with pytest.raises(StoreError, match=r"unknown policy 'lxf\+conservative'"):
        job_unfairness(less, "m", "strict")


def test_overall_is_the_mean_lateness(store: Path) -> None:
    """The bars are what core gives, policy by policy, under the paper's names."""
    jobs = scale_load(lublin(256, jobs=JOBS, seed=2005, index=0), 0.95)
    for kind in ("strict", "relaxed"):
        values = mean_unfairness(store, kind).sel(trace="m256", load="0.95")
        for policy in POLICIES:
            order, rule = policy.split("+")
            late = np.maximum(
                simulate(jobs, policy).start - fair_start_times(jobs, policy, kind), 0
            )
            assert values.sel(order=ORDERS[order], rule=RULES[rule]).item() == late.sum() / JOBS


def test_widths_add_up_to_the_whole(store: Path) -> None:
    """The means by width, weighted by their jobs, are the mean over all jobs."""
    counts = jobs_by_width(store)
    for kind in ("strict", "relaxed", "resource"):
        whole = mean_unfairness(store, kind).sel(order="FCFS")
        parts = unfairness_by_width(store, kind).fillna(0.0)
        weights = xr.DataArray(counts, dims=("trace", "width"))
        np.testing.assert_allclose((parts * weights).sum("width") / JOBS, whole, rtol=1e-12)


def test_rank_correlations_repeat(store: Path) -> None:
    """Ten subsets for each division, within -1 to 1, and the same at every call."""
    first, second = (rank_correlations(store, ["resource"]) for _ in range(2))
    assert first.shape == (30, 2)
    assert first.notna().to_numpy().any()
    assert first.abs().max().max() <= 1.0
    pd.testing.assert_frame_equal(first, second)


def test_ratios_of_samples(store: Path) -> None:
    """Quantiles stand in order, and the log itself is no sample."""
    found = ratios(store)
    assert len(found) == 3 * 2 * 2 * len(comparisons())
    assert found["samples"].max() == 2
    some = found.dropna()
    assert not some.empty
    assert (some["q0.1"] <= some["q0.5"]).all()
    assert (some["q0.5"] <= some["q0.9"]).all()


def test_report_writes_every_figure_and_table(store: Path) -> None:
    """Six pairs of figures, two tables, and the samples' four figures, each with its numbers."""
    written = write_report("sabin-2005", store)
    assert all(path.stat().st_size > 0 for path in written)
    names = {path.name for path in written}
    assert len(names) == len(written) == 2 * (6 + 4) + 2
    assert {"figures-07-08-strict.png", "table-2-rank-correlation.csv"} <= names
    csv = pd.read_csv(store / "tables" / "figures-07-08-strict.csv").set_index(
        ["trace", "load", "order"]
    )
    expected = mean_unfairness(store, "strict").sel(trace="m64", load="0.8", order="LXF")
    assert csv.loc[("m64", 0.8, "LXF"), list(RULES.values())].tolist() == expected.values.tolist()


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_refuses_what_is_no_store(name: str, tmp_path: Path) -> None:
    """Each row of the table has a module with a report, which says what is wrong."""
    with pytest.raises(StoreError, match=r"nowhere' is not a folder"):
        write_report(name, tmp_path / "nowhere")


def test_the_report_has_no_text(store: Path) -> None:
    """The paper prints no numbers of its figures to stand beside ours."""
    assert report_text("sabin-2005", store) == ""


def test_table_1_of_ctc(traces: Path, tmp_path: Path) -> None:
    """The rows that the campaign takes of CTC have the widths of the paper's Table 1."""
    whole = find("sabin-2005").located(traces)
    campaign = replace(
        whole, traces=whole.traces[:1], policies=("fcfs+none",), loads=("0.8",), fairness=()
    )
    farm.run(campaign, tmp_path / "store")
    ours = table_1(tmp_path / "store").loc[("CTC-SP2", "ours")].tolist()
    assert ours == [2209, 435, 722, 487, 609, 309, 157, 45, 30] == list(TABLE_1["CTC-SP2"])
