"""The report on shelves on OAR's nodes: its differences, its tables, its figures, what ships."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from schedfarm import farm
from schedfarm.analysis import StoreError
from schedfarm.analysis.papers import make_report
from schedfarm.analysis.papers.eyraud_2006.differences import (
    BINS,
    QUARTILES,
    differences,
    histograms,
    hours_of,
    measured,
    shares_of,
    shares_table,
    table_1,
)
from schedfarm.analysis.papers.eyraud_2006.paper import figure_2, shares_chart
from schedfarm.analysis.papers.eyraud_2006.printed import DEMT, FCFS, TABLE_1
from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.store import open_tree
from schedfarm.core.logs.read import read_log
from schedfarm.core.workload.on_nodes import OnNodes
from schedfarm.core.workload.windows import busiest
from schedfarm.farm.campaign.shipped import find

HOUR = 3600
LOGS = ("KTH-SP2", "CTC-SP2", "SDSC-SP2", "SDSC-BLUE", "HPC2N")
"""Those of the archive's logs that request times, in the order of the campaign."""


def two_logs() -> xr.DataTree:
    """Two windows, the log and four samples each, of up to six jobs.

    The last job of "b" is padding; in "a" FCFS refuses the fifth job and the shelves the sixth.
    A sample's jobs start as many hours earlier under the shelves as its number says.
    """
    submit = {"a": [0, 0, 0, 0, 0, 0], "b": [0, 0, 0, 0, 0, -1]}
    fcfs = {"a": [0, 10, 20, 30, -1, 40], "b": [0, 5, 5, 5, 9, -1]}
    demt = {"a": [0, 5, 30, 15, 7, -1], "b": [0, 5, 5, 5, 9, -1]}
    policies, numbers = [FCFS, DEMT, "saf+demt"], np.arange(5)
    groups = {}
    for name in submit:
        base, other = (np.array(of[name], np.int64) * HOUR for of in (fcfs, demt))
        base, other = np.maximum(base, -1), np.maximum(other, -1)
        start = np.tile(np.stack([base, other, base]), (5, 1, 1))
        for sample in numbers[1:]:
            start[sample, 0] = start[sample, 1] + sample * HOUR * (start[sample, 1] >= 0)
        cell = ("resample", "load", "policy", "job")
        groups[f"/{name}"] = xr.Dataset(
            {
                "start": (cell, start[:, None]),
                "submit": (("resample", "load", "job"), np.tile(submit[name], (5, 1, 1))),
                "reserved": (
                    ("resample", "load", "job"),
                    np.tile([-1, -1, 60, -1, -1, -1], (5, 1, 1)),
                ),
            },
            {"resample": numbers, "load": ["original"], "policy": policies},
        )
    root = xr.Dataset(
        {"given_up": (("trace", "resample", "load", "policy"), np.full((2, 5, 1, 3), 7))},
        {"trace": list(submit), "resample": numbers, "load": ["original"], "policy": policies},
    )
    return xr.DataTree.from_dict({"/": root, **groups})


@pytest.fixture
def tree() -> xr.DataTree:
    return two_logs()


def test_the_printed_table_is_consistent() -> None:
    """A total is the mean times the jobs that are not identical: so identical ones are left out."""
    assert len(TABLE_1) == 6
    for name, row in TABLE_1.items():
        assert row.total == pytest.approx(row.mean * (row.jobs - row.identical), rel=1e-4), name
    assert [min(r.jobs for r in TABLE_1.values()), max(r.jobs for r in TABLE_1.values())] == [
        239,
        1391,
    ]


def test_differences_are_positive_for_who_starts_earlier(tree: xr.DataTree) -> None:
    """Hours; none of who was refused by either, and none of padding."""
    own = differences(Numbers.of(tree), "a").sel(resample=0, load="original", policy=DEMT).values
    np.testing.assert_array_equal(own, [0, 5, -10, 15, np.nan, np.nan])
    assert differences(Numbers.of(tree), "b").isel(job=-1).isnull().all()


def test_table_1_is_of_the_jobs_that_are_not_identical(tree: xr.DataTree) -> None:
    """Counts, sums and quartiles by hand; the printed rows stand below."""
    table = table_1(Numbers.of(tree))
    row = table.loc[("here", "a", "original", DEMT)]
    counts = ["jobs", "refused_by_fcfs", "refused", "identical", "earlier", "later"]
    assert row[counts].tolist() == [6, 1, 1, 1, 2, 1]
    assert (row["in_advance"], row["given_up"]) == (1, 7)
    moved = [5.0, -10.0, 15.0]
    assert row["total"] == pytest.approx(10.0)
    assert row["mean"] == pytest.approx(statistics.fmean(moved))
    assert row["sd"] == pytest.approx(statistics.pstdev(moved))
    assert row[list(QUARTILES)].tolist() == [-2.5, 5.0, 10.0]
    same = table.loc[("here", "b", "original", DEMT)]
    assert same[counts].tolist() == [5, 0, 0, 5, 0, 0]
    assert pd.isna(same["mean"])
    printed = table.loc["printed"]
    assert printed["jobs"].tolist() == [row.jobs for row in TABLE_1.values()]


def test_a_cell_that_is_not_done_has_no_numbers(tree: xr.DataTree) -> None:
    """Nothing but missing starts is no refusal of everybody."""
    tree["a"]["start"][dict(resample=2, policy=1)] = -1
    values = measured(Numbers.of(tree)).sel(trace="a", resample=2, policy=DEMT)
    assert values[["refused", "identical", "mean"]].to_array().isnull().all()


def test_figure_2_draws_what_its_table_says(tree: xr.DataTree) -> None:
    """Bars, quartiles dotted, the mean below; a panel without a job says so."""
    bars = histograms(Numbers.of(tree))
    assert bars.loc[("a", "original"), "jobs"].sum() == 3
    assert len(bars) == BINS
    full, empty = figure_2(hours_of(Numbers.of(tree))).axes
    heights = [patch.get_height() for patch in full.patches]
    assert heights == bars["jobs"].tolist()
    dotted = [line.get_xdata()[0] for line in full.get_lines() if line.get_linestyle() == ":"]
    assert dotted == [-2.5, 5.0, 10.0]
    assert full.collections[0].get_paths()[0].vertices[0, 0] == pytest.approx(10 / 3)
    assert "same time" in empty.texts[0].get_text()


def test_shares_have_the_band_of_each_trace(tree: xr.DataTree) -> None:
    """Paired in each sample; the line is of the traces with the least of the other share."""
    shares = pd.DataFrame(
        {"source": ["x", "x"], "properties": [0.4, 0.0], "reservations": [0.0, 0.0]},
        index=pd.Index(["a", "b"], name="trace"),
    )
    table = shares_table(measured(Numbers.of(tree))["mean_of_all"], shares)
    assert table.index.get_level_values("trace").tolist()[:2] == ["b", "b"]
    row = table.loc[("a", "original", DEMT)]
    assert row[["low", "median", "high", "better", "log"]].tolist() == [2, 2.5, 3, 4, 10 / 4]
    left, right = shares_chart(table, "said").axes
    line = left.get_lines()[0]
    assert np.asarray(line.get_xdata()).tolist() == [0, 40]
    drawn = [np.asarray(one.get_xdata()).tolist() for one in right.get_lines()]
    assert [0] in drawn


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store of a model under two shares of reservations, the log and four samples."""
    folder = tmp_path_factory.mktemp("eyraud") / "store"
    traces = tuple(
        farm.Trace(
            name=f"m-r{round(100 * part)}",
            model="lublin",
            processors=32,
            jobs=120,
            nodes={"nodes": 16, "sets": [8, 4], "properties": 0.3, "reservations": part},
        )
        for part in (0.0, 0.2)
    )
    campaign = replace(
        find("eyraud-2006"),
        traces=traces,
        policies=(FCFS, DEMT),
        resamples=4,
        log=True,
        loads=("original", "0.6"),
    )
    assert farm.run(campaign, folder).failed == 0
    return folder


def test_the_papers_schedulers_reach_the_report(store: Path) -> None:
    """Every figure and table of windows, samples and shares, of a campaign that is like theirs."""
    report = make_report("eyraud-2006", store)
    written = {path.name for path in report.write(store)}
    assert written == {
        *("table-1.csv", "figure-2.csv", "figure-2.png", "figure-2-load-0.6.png"),
        *("samples-table-1.csv", "samples-shares.csv", "samples-shares.png"),
    }
    table = pd.read_csv(store / "tables" / "table-1.csv", index_col=[0, 1, 2, 3])
    rows = table.loc["here"]
    assert rows.index.get_level_values("load").tolist() == ["original", "0.6"] * 2
    assert rows["jobs"].tolist() == [120] * 4
    assert (rows["selections"] >= rows["given_up"]).all()
    assert rows["in_advance"].tolist()[0] == 0 < rows["in_advance"].tolist()[2]
    shares = shares_of(Numbers.of(store))
    assert shares["reservations"].to_dict() == {"m-r0": 0.0, "m-r20": 0.2}
    assert "Icluster2 2(a)" in report.text
    assert "samples" in report.text


def test_a_store_without_fcfs_is_refused(tree: xr.DataTree) -> None:
    """It is said what there is."""
    one = tree.map_over_datasets(lambda data: data.isel(policy=[1]) if "policy" in data else data)
    with pytest.raises(StoreError, match=r"unknown policy 'fcfs\+conservative'"):
        measured(Numbers.of(one))


def test_windows_that_ship_are_what_the_rule_gives(traces: Path) -> None:
    """Dates of `farm traces busiest` over the logs that request times."""
    campaign = find("eyraud-2006").located(traces)
    files = {trace.log: trace.file for trace in campaign.traces}
    names = [farm.Trace(log=name).log for name in LOGS]
    found = busiest([read_log(str(files[name])) for name in names])
    shipped = [(trace.log, trace.select["dates"]) for trace in campaign.traces]
    assert shipped == [(window.log, [window.first, window.last]) for window in found]


def test_what_ships_is_like_the_paper() -> None:
    """104 nodes of 2 processors everywhere, both schedulers, and samples without whole logs."""
    campaigns = [find(f"eyraud-2006{part}") for part in ("", "-resamples", "-shares")]
    for campaign in campaigns:
        assert {FCFS, DEMT} <= set(campaign.policies)
        for trace in campaign.traces:
            how = OnNodes.from_dict(trace.nodes or {})
            assert (how.nodes, how.capacity, how.seed) == (104, 2, 0)
    windows, *sampled = campaigns
    assert windows.resample_axis == (0,)
    assert len(windows.traces) == 6
    assert windows.loads == ("original", "0.5", "0.6", "0.8")
    assert {campaign.resample_axis for campaign in sampled} == {tuple(range(1, 11))}
    assert {campaign.draw for campaign in sampled} == {"weeks"}
    shares = [
        (trace.log, trace.nodes["properties"], trace.nodes["reservations"])
        for trace in sampled[1].traces
        if trace.nodes
    ]
    assert len(set(shares)) == len(shares) == 14
    assert all(not p or not r for _, p, r in shares)


def test_an_open_store_is_one_that_can_be_read(store: Path) -> None:
    """Numbers from the open tree are those of the store."""
    tree = Numbers.of(open_tree(store))
    xr.testing.assert_identical(measured(tree), measured(Numbers.of(store)))
