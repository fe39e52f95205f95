"""The report on clusters that share jobs: its numbers, its figures, and what ships."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.figure import Figure

from schedfarm import core, farm
from schedfarm.analysis import StoreError
from schedfarm.analysis.papers import make_report
from schedfarm.analysis.papers.jones_2005.paper import (
    COLORS,
    draw_model,
    participants_chart,
    policies_chart,
    sweep_chart,
)
from schedfarm.analysis.papers.jones_2005.printed import (
    ALONE,
    CURVES,
    DIFFERENCES,
    FAIR,
    FIGURES,
    FIXED,
    GRID,
    ICS,
    OTHERS,
)
from schedfarm.analysis.papers.jones_2005.settings import PARAMETERS, caption, settings, sweeps
from schedfarm.analysis.papers.jones_2005.turnaround import (
    against_isolation,
    difference_table,
    differences,
    participants_table,
    turnaround,
)
from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.papers.tables import spread
from schedfarm.farm.campaign.samples import Samples
from schedfarm.farm.campaign.shipped import find

POLICIES = [ALONE, ICS, FAIR]
SIZES = (20, 20, 10)
RATES = (1000, 1200, 1400)


def three_clusters() -> xr.DataTree:
    """One trace of three clusters and four samples: 3, 1 and 2 jobs.

    Mean turnarounds of the clusters are 10, 50 and 20 s alone; ICS adds 12 s to each, ICS+B 6 s,
    and the sample's number to the last cluster.
    """
    jobs = np.broadcast_to([3, 1, 2], (4, 1, 3, 3))
    more = np.array([0, 12, 6])[:, None]
    means = np.broadcast_to(np.array([10.0, 50.0, 20.0]) + more, (4, 1, 3, 3)).copy()
    means[:, :, 2, 2] += np.arange(1, 5)[:, None]
    cells = ("resample", "load", "policy", "origin")
    labels = {"resample": np.arange(1, 5), "load": ["original"], "policy": POLICIES}
    times = {"units": "processor s"}
    group = xr.Dataset(
        {
            "origin_jobs": (cells, jobs, {"units": "1"}),
            "origin_response": (cells, means, {"units": "s"}),
            "origin_given": (cells, np.full(jobs.shape, 9), times),
            "origin_received": (cells, np.broadcast_to([2, 9, 16], jobs.shape), times),
        },
        {**labels, "origin": ["a", "b", "c"]},
    )
    root = xr.Dataset(coords={"trace": ["t"], **labels})
    return xr.DataTree.from_dict({"/": root, "/t": group})


@pytest.fixture
def tree() -> xr.DataTree:
    return three_clusters()


def at(frame: pd.DataFrame, *key: str) -> dict[Any, Any]:
    """Return a row of a table by the labels of its index."""
    return frame.to_dict("index")[key]


def test_turnaround_of_a_group_is_that_of_its_jobs(tree: xr.DataTree) -> None:
    """Each job counts once, whichever cluster it comes from."""
    alone = turnaround(Numbers.of(tree)).sel(trace="t", resample=1, load="original", policy=ALONE)
    assert float(alone.sel(group=FIXED)) == 20
    assert float(alone.sel(group=OTHERS)) == (3 * 10 + 50) / 4
    assert float(alone.sel(group=GRID)) == pytest.approx((3 * 10 + 50 + 2 * 20) / 6)


def test_differences_are_paired_by_sample(tree: xr.DataTree) -> None:
    """Of the fixed cluster 7 to 10 s, of which the band leaves out one on each side."""
    values = turnaround(Numbers.of(tree))
    each = differences(values)["seconds"].sel(trace="t", load="original")
    on_fixed = each.sel(difference="ICS+B less no share, on FC")
    assert on_fixed.values.tolist() == [7, 8, 9, 10]
    table = difference_table(values)
    row = at(table, "t", "original", "ICS+B less no share, on FC")
    assert [row[name] for name in ("low", "median", "high", "later")] == [8, 8.5, 9, 4]
    assert row["part_median"] == pytest.approx(8.5 / 20)
    others = at(table, "t", "original", "ICS+B less ICS, on OC")
    assert [others[name] for name in ("low", "high", "later")] == [-6, -6, 0]


def test_participants_have_what_they_gave_beyond_what_they_received(tree: xr.DataTree) -> None:
    """Every array with a number for each participant, and the net of two."""
    table = participants_table(Numbers.of(tree))
    rows = [at(table, "t", "original", FAIR, name, "net_given") for name in "abc"]
    assert [row["median"] for row in rows] == [7, 0, -7]
    assert {row["units"] for row in rows} == {"processor s"}
    assert set(table.index.get_level_values("measure")) == {
        *("jobs", "response", "given", "received", "net_given")
    }


def test_against_isolation_is_a_ratio_in_each_sample(tree: xr.DataTree) -> None:
    """1 is as alone; the policy that is compared with does not stand beside itself."""
    ratio = against_isolation(Numbers.of(tree), "t").sel(load="original")
    assert ratio["policy"].values.tolist() == [ICS, FAIR]
    found = ratio.sel(policy=FAIR, origin="c").values
    np.testing.assert_allclose(found, [27 / 20, 28 / 20, 29 / 20, 30 / 20])


def rows(**changed: list[Any]) -> pd.DataFrame:
    """Return settings of as many traces as the lists are long."""
    plain: dict[str, Any] = {
        **{"rate": 600, "mean_run": 2700, "bandwidth": 50_000, "links": (10**6,)},
        **{"alltoall": 0.5, "computation": 0.7, "sizes": (100, 100, 100, 100)},
        **{"fixed_rate": 570.0, "ratios": (1.0,) * 3, "jobs": 1000, "weeks": None, "others": ""},
    }
    count = len(next(iter(changed.values())))
    frame = pd.DataFrame([plain] * count, dtype=object)
    for name, values in changed.items():
        frame[name] = values
    frame.index = pd.Index([f"t{i}" for i in range(count)], name="trace")
    return frame


def test_a_curve_is_of_traces_that_differ_in_the_rate_alone() -> None:
    """Another bandwidth is no point of it; the paper's sizes have the paper's name."""
    one, other = sweeps(rows(rate=[720, 570, 600, 570], bandwidth=[50_000, 50_000, 50_000, 9]))
    assert one.traces.index.tolist() == ["t1", "t2", "t0"]
    assert (one.name, one.title) == ("figure-4", "Figure 4. ")
    assert other.traces.index.tolist() == ["t3", "t1"]
    assert not list(sweeps(rows(rate=[570, 600])))


def test_a_curve_is_of_one_workload() -> None:
    """Whatever the model's parameters are, also one that no figure shows."""
    rates = [570, 600, 630]
    assert len(list(sweeps(rows(rate=rates)))) == 1
    changes: dict[str, list[Any]] = {
        "ratios": [(1.0, 0.5, 1.0), (1.0, 0.1, 1.0), (1.0, 0.9, 1.0)],
        "others": ["most: 50", "most: 20", "most: 90"],
        "weeks": [2, 3, 4],
    }
    for name, values in changes.items():
        assert not list(sweeps(rows(rate=rates, **{name: values})))
    (uneven,) = sweeps(rows(rate=rates, ratios=[(1.0, 0.5, 1.0)] * 3))
    assert uneven.name == "rates-100-100-100-100"
    assert "the others at 1, 0.5, 1 times the rate" in caption(uneven.traces.iloc[0], "rate")


def kept(per_week: list[float], **keys: Any) -> dict[str, Any]:
    """Return keys of a trace as a store has them."""
    clusters = {"clusters": [100, 100, 50]}
    own = {key: keys.pop(key) for key in list(keys) if key not in ("jobs", "weeks")}
    platform = {"name": "network", "configuration": clusters}
    return {"model": "participants", "platform": platform, **keys} | {
        "parameters": {"per_week": per_week, **own}
    }


def settings_of(monkeypatch: pytest.MonkeyPatch, **traces: dict[str, Any]) -> pd.DataFrame:
    monkeypatch.setattr(
        "schedfarm.analysis.papers.jones_2005.settings.campaign_traces", lambda _: traces
    )
    return settings(Numbers("store", xr.DataTree()))


def test_settings_have_every_rate_and_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    """One number for each cluster is that number, if all are alike; a default is not told."""
    found = settings_of(
        monkeypatch,
        a=kept([600, 300, 285], most=[20, 20, 20], users=9, weeks=2),
        b=kept([700, 350, 285], most=20, users=9, estimates="exact", weeks=2),
        c=kept([800, 400, 285], most=[50, 50, 20], load=0.9, estimates="f-model", jobs=7),
    )
    assert found["rate"].tolist() == [600, 700, 800]
    assert found["fixed_rate"].tolist() == [570] * 3
    assert found["ratios"].tolist() == [(1, 0.5)] * 3
    assert found["others"].tolist() == [
        *("most: 20; users: 9", "most: 20; users: 9"),
        "load: 0.9; most: 50, 50, 20; estimates: f-model",
    ]
    said = " ".join(caption(found.iloc[0]).split())
    for part in ("last at 570 ", "others at 600, 300 ", "most: 20; users: 9", "2 weeks a sample"):
        assert part in said
    assert "jobs a sample" not in said
    assert "7 jobs a sample" in caption(found.iloc[2])


def test_traces_of_other_rates_sizes_or_spans_are_no_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates that rise together are one."""
    found = settings_of(
        monkeypatch,
        a=kept([600, 500, 285], most=50, weeks=2),
        b=kept([700, 100, 285], most=20, weeks=3),
        c=kept([800, 900, 285], most=90, weeks=4),
    )
    assert not list(sweeps(found))
    rising = {f"r{rate}": kept([rate, rate / 3, 285], weeks=2) for rate in (577, 601, 613)}
    (one,) = sweeps(settings_of(monkeypatch, **rising))
    assert one.traces["rate"].tolist() == [577, 601, 613]


def test_links_without_a_limit_come_last() -> None:
    """A number of them is one value."""
    (one,) = sweeps(rows(links=[(), (9_000_000,), (250_000,)]))
    assert one.traces.index.tolist() == ["t2", "t1", "t0"]
    assert one.name == "links-600"


def test_all_parameters_are_said_with_their_units() -> None:
    """But for the one on the axis."""
    said = caption(rows(rate=[600]).iloc[0])
    for part in ("100, 100, 100, 100 nodes", "2,700 s", "50,000 kbit/s", "1,000,000", "0.7", "600"):
        assert part in said
    assert "the others at" not in caption(rows(rate=[600]).iloc[0], "rate")
    assert "kbit/s" in caption(rows(rate=[600]).iloc[0], "links")


def spread_of(traces: pd.DataFrame, policies: list[str]) -> xr.Dataset:
    """Turnarounds of four samples, different at each trace, policy and group."""
    shape = (4, len(traces), len(policies), 3)
    values = xr.DataArray(
        3600.0 * (1 + np.arange(np.prod(shape)).reshape(shape)),
        {
            "resample": np.arange(1, 5),
            "trace": traces.index.tolist(),
            "policy": policies,
            "group": [FIXED, OTHERS, GRID],
        },
    )
    return spread(values)


def test_the_figure_draws_each_line_in_hours() -> None:
    """Five lines with the medians, against the rates."""
    traces = rows(rate=[570, 600, 630])
    found = spread_of(traces, POLICIES)
    (one,) = sweeps(traces)
    (axes,) = sweep_chart(found, [one], "said").axes
    lines = axes.get_lines()
    assert len(lines) == len(CURVES)
    for line, (name, curve) in zip(lines, CURVES.items(), strict=True):
        hours = found["median"].sel(policy=curve.policy, group=curve.group) / 3600
        assert np.asarray(line.get_ydata()).tolist() == hours.values.tolist()
        assert np.asarray(line.get_xdata()).tolist() == [570, 600, 630]
        assert line.get_color() == COLORS[name]


def test_ignored_links_are_one_line_more() -> None:
    """Where a store has the policy."""
    traces = rows(bandwidth=[9, 10])
    found = spread_of(traces, [*POLICIES, ICS + ",links=ignored"])
    (axes,) = sweep_chart(found, list(sweeps(traces)), "said").axes
    assert len(axes.get_lines()) == len(CURVES) + 1
    assert [text.get_text() for text in axes.get_xticklabels()] == ["9", "10"]


def test_policies_stand_side_by_side() -> None:
    """A panel for each title, options of a policy below its name."""
    found = spread_of(rows(rate=[570]), [*POLICIES, FAIR + ",to=least"]).isel(trace=0)
    (axes,) = policies_chart({"at 570": found}, "said").axes
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert labels == [*POLICIES, FAIR + "\nto=least"]


def test_participants_stand_beside_each_other_and_below_as_alone_is_1(tree: xr.DataTree) -> None:
    """A dot for the median of each participant and policy, and a line at 1."""
    found = spread(against_isolation(Numbers.of(tree), "t")).sel(load="original")
    (axes,) = participants_chart({"Load original": found}, "times", "said").axes
    lines = {tuple(np.asarray(line.get_ydata()).tolist()) for line in axes.get_lines()}
    assert {(22 / 10, 62 / 50, 32 / 20), (1, 1)} <= lines
    assert [text.get_text() for text in axes.get_xticklabels()] == ["a", "b", "c"]


def test_every_policy_is_drawn() -> None:
    """Each in a colour of its own, also beyond those that there are."""
    names = [f"p{i}" for i in range(7)]
    values = xr.DataArray(
        np.arange(4.0 * 7 * 2).reshape(4, 7, 2),
        {"resample": np.arange(1, 5), "policy": names, "origin": ["a", "b"]},
    )
    figure = participants_chart({"Load original": spread(values)}, "times", "said")
    (axes,) = figure.axes
    lines = [np.asarray(line.get_ydata()).tolist() for line in axes.get_lines()]
    for median in spread(values)["median"].values.tolist():
        assert lines.count(median) == 1
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == names
    assert len({patch.get_facecolor() for patch in legend.get_patches()}) == len(names)


def turnarounds(traces: pd.DataFrame, policies: list[str], loads: list[str]) -> xr.DataArray:
    """Turnarounds of four samples, of which those at the k-th load are k hours (k from 1)."""
    hours = np.arange(1, len(loads) + 1)[:, None, None]
    shape = (4, len(traces), len(loads), len(policies), 3)
    return xr.DataArray(
        3600.0 * np.broadcast_to(hours, shape),
        {
            "resample": np.arange(1, 5),
            "trace": traces.index.tolist(),
            "load": loads,
            "policy": policies,
            "group": [FIXED, OTHERS, GRID],
        },
    )


def title_of(figure: Figure) -> str:
    return figure.get_suptitle()


def panel_titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_each_curve_has_a_figure() -> None:
    """Two of the same sizes, of K = 0.7 and 0.5, and what they differ in is said by each."""
    traces = rows(rate=[570, 600, 630] * 2, computation=[0.7] * 3 + [0.5] * 3)
    drawn = draw_model(turnarounds(traces, POLICIES, ["original"]), traces)
    assert set(drawn) == {"figure-4", "figure-4-2", "sensitivity"}
    assert "K: 0.7" in title_of(drawn["figure-4"])
    assert "K: 0.5" in title_of(drawn["figure-4-2"])
    assert "Load" not in title_of(drawn["figure-4"])


def test_a_panel_says_what_its_traces_set_otherwise() -> None:
    """Two bandwidths at one rate with the model's users, two with three: no panel is lost."""
    traces = rows(bandwidth=[9, 10] * 2, others=["", "", "users: 3", "users: 3"])
    values = turnarounds(traces, [*POLICIES, FAIR + ",to=least"], ["original"])
    drawn = draw_model(values, traces)
    for name in ("sensitivity", "policies"):
        titles = panel_titles(drawn[name])
        assert ["users: 3" in title for title in titles].count(True) == len(titles) / 2
    assert len(set(panel_titles(drawn["policies"]))) == len(traces)


def test_each_load_has_a_figure() -> None:
    """It says the load, and has its numbers."""
    traces = rows(rate=[570, 600, 630])
    drawn = draw_model(turnarounds(traces, POLICIES, ["original", "0.9"]), traces)
    assert set(drawn) == {"figure-4", "figure-4-load-0.9"}
    for hours, (name, figure) in enumerate(sorted(drawn.items()), 1):
        (axes,) = figure.axes
        assert {y for line in axes.get_lines() for y in np.asarray(line.get_ydata())} == {hours}
        assert ("Load 0.9" in title_of(figure)) == ("load" in name)


def small_trace(rate: int, **changed: Any) -> farm.Trace:
    """Three small clusters; the last has the least of the rates at every one."""
    per_week = [rate * size / 100 for size in SIZES[:-1]] + [RATES[0] * SIZES[-1] / 100]
    own = {"per_week": per_week, "least": 2, "most": 10, "mean_run": 6_000, "bandwidth": 50_000}
    configuration = {"clusters": SIZES, "names": ["a", "b", "c"], "links": [10**6] * 3}
    name = f"r{rate}" + "".join(f"-{key}" for key in changed)
    return farm.Trace(
        name=name,
        model="participants",
        jobs=300,
        platform={"name": "network", "configuration": configuration},
        parameters={**own, **changed},
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store of small clusters at three rates, and with another bandwidth, four samples each."""
    folder = tmp_path_factory.mktemp("jones") / "store"
    traces = (*map(small_trace, RATES), small_trace(RATES[0], bandwidth=1000))
    campaign = replace(find("jones-2005"), traces=traces, resamples=4)
    assert farm.run(campaign, folder).failed == 0
    return folder


def table(store: Path, name: str, keys: list[str]) -> pd.DataFrame:
    return pd.read_csv(store / "tables" / f"{name}.csv").set_index(keys).sort_index()


def responses(trace: str, policy: str, number: int) -> dict[str, float]:
    """Mean turnaround of each group, from a simulation of one cell."""
    one = next(t for t in map(small_trace, RATES) if t.name == trace)
    jobs = Samples(one, None, find("jones-2005").settings).drawn(number)
    done = core.simulate(jobs, policy)
    of = {
        FIXED: jobs.origin == len(SIZES) - 1,
        OTHERS: jobs.origin < len(SIZES) - 1,
        GRID: jobs.origin >= 0,
    }
    response = (done.end - jobs.submit).tolist()
    return {
        name: statistics.fmean(r for r, here in zip(response, mask.tolist(), strict=True) if here)
        for name, mask in of.items()
    }


def test_the_report_has_what_simulations_say(store: Path) -> None:
    """Every point and difference of a curve, each from cells that are simulated one by one."""
    written = {path.name for path in make_report("jones-2005", store).write(store)}
    assert written == {
        *("turnaround.csv", "differences.csv", "participants.csv", "cells.csv"),
        *("rates-20-20-10.png", "sensitivity.png"),
    }
    points = table(store, "turnaround", ["trace", "policy", "group"])
    numbers = range(1, 5)
    each = {policy: [responses("r1400", policy, n) for n in numbers] for policy in POLICIES}
    for curve in CURVES.values():
        ours = sorted(of[curve.group] for of in each[curve.policy])
        row = at(points, "r1400", curve.policy, curve.group)
        want = [ours[1], statistics.median(ours), ours[2]]
        assert [row[name] for name in ("low", "median", "high")] == pytest.approx(want)
    paired = table(store, "differences", ["trace", "difference"])
    for name, (policy, base, group) in DIFFERENCES.items():
        pairs = zip(each[policy], each[base], strict=True)
        apart = [one[group] - other[group] for one, other in pairs]
        row = at(paired, "r1400", name)
        assert row["median"] == pytest.approx(statistics.median(apart))
        assert row["later"] == sum(x > 0 for x in apart)


def test_the_report_says_what_a_trace_sets(store: Path) -> None:
    """Rates for 100 nodes, and what is not said at its default."""
    traces = settings(Numbers.of(store))
    assert traces["rate"].tolist() == [*RATES, RATES[0]]
    assert set(traces["fixed_rate"]) == {RATES[0]}
    assert traces["bandwidth"].tolist() == [50_000, 50_000, 50_000, 1000]
    assert set(traces["links"]) == {(1_000_000,)}
    assert set(traces["computation"]) == {0.7}
    assert set(PARAMETERS) <= set(traces)
    assert "ICS+B less no share, on FC" in make_report("jones-2005", store).text


def test_what_is_given_is_received(store: Path) -> None:
    """Over all participants, and nothing of it by those who are alone."""
    make_report("jones-2005", store).write(store)
    keys = ["trace", "policy", "measure", "origin"]
    found = table(store, "participants", keys)
    for trace in ("r1000", "r1200", "r1400"):
        alone = [at(found, trace, ALONE, "given", name)["high"] for name in "abc"]
        assert alone == [0, 0, 0]
        assert max(at(found, trace, FAIR, "received", name)["median"] for name in "abc") > 0
    shares = table(store, "cells", ["trace", "policy", "measure"])
    assert at(shares, "r1400", ICS, "coallocated_share")["median"] > 0


def test_a_store_without_no_share_is_refused(tree: xr.DataTree, tmp_path: Path) -> None:
    """It is said what there is."""
    with pytest.raises(KeyError):
        differences(turnaround(Numbers.of(tree)).sel(policy=[ICS, FAIR]))
    with pytest.raises(StoreError):
        make_report("jones-2005", tmp_path)


def test_what_ships_is_like_the_paper() -> None:
    """Three sets of sizes, nine rates of three clusters, the fourth at 570 jobs a week."""
    campaign = find("jones-2005")
    assert campaign.resample_axis == tuple(range(1, 11))
    assert set(POLICIES) <= set(campaign.policies)
    curves: dict[tuple[int, ...], list[float]] = {}
    for trace in campaign.traces:
        assert trace.jobs == 200_000
        assert trace.platform is not None
        sizes = tuple(trace.platform["configuration"]["clusters"])
        rates = [
            100 * rate / size
            for rate, size in zip(trace.parameters["per_week"], sizes, strict=True)
        ]
        assert len(set(rates[:3])) == 1
        assert rates[3] == 570
        assert trace.parameters["computation"] == 0.7
        curves.setdefault(sizes, []).append(rates[0])
    assert set(curves) == set(FIGURES)
    for rates in curves.values():
        assert len(set(rates)) == len(rates) == 9
        assert min(rates) == 570


def test_depths_that_ship_are_of_the_same_jobs() -> None:
    """Three rates of the first figure, so that each seed draws the same jobs, and one queue."""
    paper, campaign = find("jones-2005"), find("jones-2005-depth")
    assert (campaign.seed, campaign.resample_axis) == (paper.seed, paper.resample_axis)
    assert all(trace in paper.traces for trace in campaign.traces)
    assert [trace.name for trace in campaign.traces] == [f"figure-4-{x}" for x in (740, 760, 780)]
    depths = [f"fcfs+icsb({depth})" for depth in (1, 2, 5, 10, 100)]
    assert {*POLICIES, *depths, ICS + ",queue=global"} == set(campaign.policies)


def test_logs_that_ship_are_four_participants() -> None:
    """The log itself, ten samples, and the isolation that they are compared with."""
    campaign = find("jones-2005-logs")
    assert campaign.resample_axis == tuple(range(11))
    assert list(campaign.fairness) == ["isolation"]
    (trace,) = campaign.traces
    named = ("KTH-SP2", "SDSC-SP2", "CTC-SP2", "HPC2N")
    assert list(trace.join or ()) == [farm.Trace(log=name).log for name in named]
