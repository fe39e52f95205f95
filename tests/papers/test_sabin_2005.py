"""The report on the unfairness-metrics paper: its numbers, its tables, and what it writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from schedfarm import farm
from schedfarm.analysis import StoreError, open_tree
from schedfarm.analysis.papers import REPORTS, make_report
from schedfarm.analysis.papers.report import Made, Numbers
from schedfarm.analysis.papers.sabin_2005.claims import (
    CLAIMS,
    READINGS,
    claims,
    claims_in_part,
    depends_on_conservative,
)
from schedfarm.analysis.papers.sabin_2005.paper import (
    bar_chart,
    bar_table,
    comparisons,
    ratio_chart,
    ratios,
)
from schedfarm.analysis.papers.sabin_2005.printed import ORDERS, RULES, TABLE_1
from schedfarm.analysis.papers.sabin_2005.subsets import rank_correlations, table_1
from schedfarm.analysis.papers.sabin_2005.unfairness import (
    BY_SIZE,
    KINDS,
    NO_BACKFILLING,
    OWN_RULES,
    job_unfairness,
    jobs_by_width,
    mean_unfairness,
    unfairness_by_width,
)
from schedfarm.core import scale_load, simulate
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.campaign.shipped import find

JOBS = 60
RULES_THERE = RULES | OWN_RULES
POLICIES = tuple(f"{order}+{rule}" for order in ORDERS for rule in RULES_THERE)
SAMPLES = 4  # the fewest that have a band


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store of two model machines: the log, four samples, the paper's two loads."""
    folder = tmp_path_factory.mktemp("sabin") / "store"
    traces = tuple(
        farm.Trace(name=f"m{p}", model="lublin", processors=p, jobs=JOBS) for p in (64, 256)
    )
    campaign = replace(
        find("sabin-2005"), traces=traces, loads=("0.8", "0.95"), resamples=SAMPLES, name="small"
    )
    assert set(campaign.policies) == set(POLICIES)
    assert farm.run(campaign, folder).failed == 0
    return folder


@pytest.fixture(scope="module")
def numbers(store: Path) -> Numbers:
    """Numbers of that store."""
    return Numbers.of(store)


@pytest.fixture(scope="module")
def report(store: Path) -> Made:
    """The report on that store."""
    return make_report("sabin-2005", store)


@pytest.fixture(scope="module")
def written(report: Made, store: Path) -> list[Path]:
    """Files of the report."""
    return report.write(store)


@pytest.fixture
def tree() -> xr.DataTree:
    """Three jobs of 1, 4 and 200 processors, late by 0, 10 and 50 s, x the policy's place.

    The paper's nine policies: FCFS 0, 1, 2, SJF 3, 4, 5, LXF 6, 7, 8, in its order of rules.
    """
    nine = [f"{order}+{rule}" for order in ORDERS for rule in RULES]
    place = np.arange(len(nine))
    start = np.array([100, 200, 300, -1]) * np.ones((1, 1, len(nine), 1), np.int64)
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
        {"resample": [0], "load": ["0.8"], "policy": nine},
    )
    root = xr.Dataset(coords={"trace": ["m"]})
    return xr.DataTree.from_dict({"/": root, "/m": group})


def test_unfairness_by_width(tree: xr.DataTree) -> None:
    """A width's mean is over its own jobs, early ones count 0, absent widths have none."""
    means = unfairness_by_width(Numbers.of(tree), "strict").sel(trace="m", load="0.8")
    there = means.sel(order="FCFS", rule="conservative").dropna("width")
    assert dict(zip(there["width"].values, there.values.tolist(), strict=True)) == {
        "1": 0.0,
        "3-4": 20.0,
        "> 128": 100.0,
    }
    assert means.sel(order="SJF", rule="no guarantee", width="> 128").item() == 150.0


def test_width_counts(tree: xr.DataTree) -> None:
    """Padding is no job of one processor."""
    assert jobs_by_width(Numbers.of(tree)).loc["m"].tolist() == [1, 0, 1, 0, 0, 0, 0, 0, 1]


def test_a_cell_without_all_fair_starts_has_no_mean(tree: xr.DataTree) -> None:
    """A job whose fair start is not there yet is not late since the beginning of time."""
    group = tree["m"].to_dataset()
    group["fst_strict"][dict(policy=0, job=2)] = -1
    part = xr.DataTree.from_dict({"/": tree.to_dataset(), "/m": group})
    means = unfairness_by_width(Numbers.of(part), "strict")
    means = means.sel(trace="m", load="0.8", width="> 128")
    means = means.sel(order="FCFS")
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
    store: Path, kind: str, said: str, units: str, hours: str, numbers: Numbers
) -> None:
    """A figure's numbers carry the units that the store gives, its axis the same in hours."""
    tree = open_tree(store)
    summary = tree.to_dataset()
    summary[f"unfairness_{kind}"].attrs["units"] = said
    tree.dataset = summary
    values = mean_unfairness(Numbers("", tree), kind)
    assert set(bar_table(values)["units"]) == {units}
    found = values.to_dataset(name="median")
    assert bar_chart(found, kind, "title").get_supylabel().endswith(f", {hours}")


def test_missing_policy_is_named(tree: xr.DataTree) -> None:
    """The report says which of the nine policies a store lacks."""
    group = tree["m"].to_dataset().isel(policy=slice(8))
    less = xr.DataTree.from_dict({"/": tree.to_dataset(), "/m": group})
    with pytest.raises(StoreError, match=r"unknown policy 'lxf\+planned,walk=queue'"):
        job_unfairness(Numbers.of(less), "m", "strict")


def test_overall_is_the_mean_lateness(numbers: Numbers) -> None:
    """The bars are what core gives, policy by policy, under the paper's names."""
    jobs = scale_load(lublin(256, jobs=JOBS, seed=2005, index=0), 0.95)
    for kind in ("strict", "relaxed"):
        values = mean_unfairness(numbers, kind).sel(trace="m256", load="0.95")
        for policy in POLICIES:
            order, rule = policy.split("+")
            paper = {"order": ORDERS[order], "rule": RULES_THERE[rule]}
            late = np.maximum(
                simulate(jobs, policy).start - fair_start_times(jobs, policy, kind), 0
            )
            assert values.sel(paper).item() == late.sum() / JOBS


def test_widths_add_up_to_the_whole(numbers: Numbers) -> None:
    """The means by width, weighted by their jobs, are the mean over all jobs."""
    counts = jobs_by_width(numbers)
    for kind in ("strict", "relaxed", "resource"):
        whole = mean_unfairness(numbers, kind).sel(order="FCFS")
        parts = unfairness_by_width(numbers, kind).sel(order="FCFS").fillna(0.0)
        weights = xr.DataArray(counts, dims=("trace", "width"))
        np.testing.assert_allclose((parts * weights).sum("width") / JOBS, whole, rtol=1e-12)


def test_rank_correlations_repeat(numbers: Numbers) -> None:
    """Ten subsets for each division, within -1 to 1, and the same at every call."""
    first, second = (rank_correlations(numbers, ["resource", BY_SIZE]) for _ in range(2))
    assert first.shape == (30, 4)
    assert first.notna().to_numpy().any()
    assert first.abs().max().max() <= 1.0
    pd.testing.assert_frame_equal(first, second)


def test_ratios_of_samples(numbers: Numbers) -> None:
    """Quantiles stand in order, and the log itself is no sample."""
    found = ratios(numbers)
    pairs = comparisons(RULES_THERE.values())
    assert [pair.name for pair in pairs][-3:] == [
        f"aggressive / re-planning, {order}" for order in ORDERS.values()
    ]
    assert len(found) == 3 * 2 * 2 * len(pairs)
    assert found["samples"].max() == SAMPLES
    some = found.dropna()
    assert not some.empty
    assert (some["low"] <= some["median"]).all()
    assert (some["median"] <= some["high"]).all()
    assert set(some["coverage"]) == {1 / 5}
    assert set(zip(some["first"], some["last"], strict=True)) == {(2, 3)}
    of_log = mean_unfairness(numbers, "relaxed").sel(trace="m256", load="0.95", rule="conservative")
    row = found.loc[("relaxed", "m256", "0.95", "LXF / FCFS, conservative")]
    assert row["log"] == of_log.sel(order="LXF").item() / of_log.sel(order="FCFS").item()


def test_figures_of_samples_say_which_and_have_the_log_beside_them(numbers: Numbers) -> None:
    """Which of how many samples a line spans, what these hold, and a mark for the log."""
    spans = "Line: samples 2 to 3 of 4, which hold 20.0 % of all such samples in expectation"
    found = ratios(numbers)
    figure = ratio_chart(found)
    assert figure.get_suptitle().splitlines()[1:] == ["Mark: median of the samples", spans]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sum(label == "the same, the log itself" for label in labels) == len(KINDS)
    shown = np.asarray(figure.axes[0].get_lines()[1].get_xdata(), np.float64)
    colors = [[x.get_color() for x in axes.get_lines()[:6:2]] for axes in figure.axes]
    assert len(set(colors[0])) == 3
    assert colors == [colors[0]] * len(colors)
    panel = found["log"].xs(("strict", "m64", "0.8"), level=("kind", "trace", "load"))
    np.testing.assert_array_equal(shown, panel)
    without = ratio_chart(found.assign(log=np.nan))
    assert [text.get_text() for text in without.legends[0].get_texts()] == labels[::2]


@pytest.mark.usefixtures("written")
def test_numbers_of_samples_stand_beside_the_log(store: Path, numbers: Numbers) -> None:
    """The CSV behind each figure of samples has the log, ranks, count and coverage."""
    csv = pd.read_csv(store / "tables" / "samples-strict.csv")
    cell = ["trace", "load", "order", "rule"]
    standing = ["log", "first", "last", "samples", "coverage", "units"]
    assert csv.columns.tolist() == [*cell, "low", "median", "high", *standing]
    row = csv.set_index(cell).loc[("m64", 0.8, "LXF", "aggressive")]
    own = mean_unfairness(numbers, "strict").sel(trace="m64", load="0.8", order="LXF")
    assert row["log"] == own.sel(rule="aggressive").item()
    assert row[["first", "last", "samples", "coverage"]].tolist() == [2, 3, 4, 0.2]


def test_claims_count_cells(tree: xr.DataTree) -> None:
    """Each ratio is what the policies' places say; 0 / 0 is no cell, and x / 0 is above 1."""
    root, group = tree.to_dataset(), tree["m"].to_dataset()
    mean = 20.0 * np.arange(9).reshape(1, 1, 1, 9)  # s
    group["fst_relaxed"], group["resource_share"] = group["fst_strict"], group["fst_strict"] * 1.0
    labels = {"trace": ["m"], "resample": [0], "load": ["0.8"], "policy": group["policy"].values}
    figures = {
        f"unfairness_{kind}": (tuple(labels), mean) for kind in ("strict", "relaxed", "resource")
    }
    whole = root.assign_coords(labels).assign(figures)
    found = claims_in_part(Numbers.of(xr.DataTree.from_dict({"/": whole, "/m": group})))
    expected = {
        "no guarantee / aggressive": [3, 0, 0.75, 0.0, 6 / 7],
        "SJF / LXF": [3, 0, 4 / 7, 0.5, 5 / 8],
        "LXF / FCFS": [3, 3, 7.0, 4.0, np.inf],
        "no guarantee / aggressive, SJF": [1, 0, 0.75, 0.75, 0.75],
    }
    for claim, cells in expected.items():
        row = found.xs(("strict", claim, "conservative", "all", "all"), level=(0, 1, 3, 4, 5))
        assert row.to_numpy().tolist() == [cells]
    clearer = found.xs(("LXF / FCFS, relaxed / strict", "m"), level=(1, 4)).droplevel([0, 1, 2])
    assert clearer.loc["aggressive"].tolist() == [1, 0, 1.0, 1.0, 1.0]
    assert clearer.loc["no guarantee", "cells"] == 0


def test_claims_of_either_conservative_backfilling(numbers: Numbers) -> None:
    """A row a conclusion and reading, of as many cells as have a ratio; only one is the paper's."""
    parts, found = numbers.once(claims_in_part), claims(numbers)
    readings = found.index.get_level_values("conservative")
    both = sum(depends_on_conservative(claim) for claim in CLAIMS)
    assert readings.value_counts().to_dict() == dict(
        zip(READINGS, (len(CLAIMS), both), strict=True)
    )
    assert 0 < both < len(CLAIMS)
    assert found.index.is_unique
    assert (found["above_1"] <= found["cells"]).all()
    assert found["cells"].max() <= 2 * 2 * 3
    known = found[found["cells"] > 0]
    assert (known["least"] <= known["median"]).all()
    assert (known["median"] <= known["most"]).all()
    traces = parts.drop("all", level="trace").xs("all", level="under")
    assert traces["cells"].groupby(level=[0, 1, 2, 3]).sum().to_dict() == found["cells"].to_dict()


def test_without_backfilling_first_come_first_served_is_fair(numbers: Numbers) -> None:
    """A queue that nobody leaves but at its head is socially just, as section 3.1.2 says."""
    for kind in ("strict", "relaxed"):
        fcfs = mean_unfairness(numbers, kind).sel(order="FCFS", rule=NO_BACKFILLING)
        assert not fcfs.any()


def test_the_size_of_discrimination_is_twice_what_is_above_0(numbers: Numbers) -> None:
    """Over all jobs, since D sums to nothing; not over a part of them."""
    above, size = (job_unfairness(numbers, "m64", kind) for kind in ("resource", BY_SIZE))
    np.testing.assert_allclose(size.mean("job"), 2 * above.mean("job"), rtol=1e-9)
    few = dict(job=slice(10))
    assert not np.allclose(size[few].mean("job"), 2 * above[few].mean("job"))


def test_report_writes_every_figure_and_table(
    store: Path, written: list[Path], numbers: Numbers
) -> None:
    """Six pairs of figures, four tables, and the samples' four figures, each with its numbers."""
    assert all(path.stat().st_size > 0 for path in written)
    names = {path.name for path in written}
    assert len(names) == len(written) == 2 * (6 + 4) + 4
    assert {"figures-07-08-strict.png", "table-2-rank-correlation.csv"} <= names
    csv = pd.read_csv(store / "tables" / "figures-07-08-strict.csv").set_index(
        ["trace", "load", "order"]
    )
    expected = mean_unfairness(numbers, "strict").sel(trace="m64", load="0.8", order="LXF")
    assert (
        csv.loc[("m64", 0.8, "LXF"), list(RULES_THERE.values())].tolist()
        == expected.values.tolist()
    )
    told = pd.read_csv(store / "tables" / "claims.csv")
    assert told.columns.tolist() == [
        *("kind", "claim", "expects", "conservative"),
        *("cells", "above_1", "median", "least", "most"),
    ]
    assert len(told) == len(claims(numbers))


def test_beside_samples_the_log_needs_no_load_of_the_paper(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands beside them then, and the paper's own figures are not drawn."""
    monkeypatch.setattr("schedfarm.analysis.papers.sabin_2005.paper.LOADS", ["0.8", "0.7"])
    names = {path.stem for path in make_report("sabin-2005", store).write(store)}
    assert names == {f"samples-{name}" for name in ("ratios", *KINDS)}


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_refuses_what_is_no_store(name: str, tmp_path: Path) -> None:
    """Each row of the table has a module with a report, which says what is wrong."""
    with pytest.raises(StoreError, match=r"nowhere' is not a folder"):
        make_report(name, tmp_path / "nowhere")


def test_the_report_tells_a_terminal_what_became_of_each_conclusion(
    numbers: Numbers, report: Made
) -> None:
    """Of the log the conclusions, of samples the ratios: a line each, and their headings."""
    text = report.text.splitlines()
    lines = len(claims(numbers)) + len(ratios(numbers))
    assert lines < len(text) <= lines + 8
    assert any("no guarantee / aggressive, SJF" in line for line in text)
    assert any("aggressive / re-planning, LXF" in line for line in text)


def test_table_1_of_ctc(traces: Path, tmp_path: Path) -> None:
    """The rows that the campaign takes of CTC have the widths of the paper's Table 1."""
    whole = find("sabin-2005").located(traces)
    campaign = replace(
        whole, traces=whole.traces[:1], policies=("fcfs+none",), loads=("0.8",), fairness=()
    )
    farm.run(campaign, tmp_path / "store")
    ours = table_1(Numbers.of(tmp_path / "store")).loc[("CTC-SP2", "ours")].tolist()
    assert ours == [2209, 435, 722, 487, 609, 309, 157, 45, 30] == list(TABLE_1["CTC-SP2"])
