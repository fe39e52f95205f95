"""Stores of campaigns with axes: cells as without them, and values as dimensions."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from schedfarm.analysis.axes import lines_along, narrowed, unfold
from schedfarm.analysis.bands import bands
from schedfarm.analysis.compare import compare, compare_values, losers
from schedfarm.analysis.comparison_warnings import comparison_warnings
from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.plots.kinds import plot
from schedfarm.analysis.store import open_summary, open_trace, open_tree
from schedfarm.analysis.tables import table_text
from schedfarm.core.errors import InputError
from schedfarm.core.logs.swf import write_swf
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.run import run
from schedfarm.farm.planning.survey import survey
from tests.support.command_line import Farm
from tests.support.made import MadeStores
from tests.support.refusals import Said

WIDE = Campaign(
    name="wide",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=50),),
    policies=("fcfs+depth({depth})", "fcfs+none"),
    axes={"processors": [64, 96], "depth": [1, 8]},
    loads=("original", "1.2"),
    resamples=2,
)


def test_cells_are_those_of_a_campaign_without_axes(made_store: MadeStores) -> None:
    """At the machine's own size all values are those of the trace as written."""
    plain = replace(WIDE, axes={}, variants={}, policies=("fcfs+depth(8)",))
    plain = replace(plain, traces=(Trace(name="m", model="lublin", processors=64, jobs=50),))
    there, here = made_store(plain), made_store(WIDE)
    other = open_trace(here, "m.processors-64").sel(policy=["fcfs+depth(8)"])
    xr.testing.assert_equal(open_trace(there, "m").load(), other.load())
    mine = unfold(here).sel(trace="m", processors=64, policy="fcfs+depth({depth})", depth=8)
    wanted = open_summary(there)["wait"].squeeze(drop=True)
    np.testing.assert_array_equal(mine["wait"].values, wanted.values)


def test_all_sizes_schedule_the_same_jobs(made_store: MadeStores) -> None:
    """Also at a load, which is that of the machine that the samples are drawn for."""
    store = made_store(WIDE)
    small, large = (open_trace(store, f"m.processors-{n}").load() for n in (64, 96))
    for name in ("submit", "run", "estimate", "procs", "job_user", "number"):
        np.testing.assert_array_equal(small[name].values, large[name].values)
    assert (small["wait"] != large["wait"]).any()
    load = unfold(store)["offered_load"].sel(trace="m", load="1.2")
    np.testing.assert_allclose(load.sel(processors=64), 1.2, rtol=0.01)
    np.testing.assert_allclose(load.sel(processors=96), 0.8, rtol=0.01)


def test_dimensions_of_results(made_store: MadeStores) -> None:
    """Bands have a dimension for each axis; a policy without an axis is the same along it."""
    store = made_store(WIDE)
    flat = bands(store, "wait")
    found = unfold(store, flat)["wait"]
    assert dict(found.sizes) == {
        "trace": 1, "processors": 2, "load": 2, "policy": 2, "depth": 2, "band": 3,
    }  # fmt: skip
    one = found.sel(trace="m", processors=96, load="1.2", policy="fcfs+none")
    np.testing.assert_array_equal(one.sel(depth=1), one.sel(depth=8))
    wanted = flat["wait"].sel(trace="m.processors-96", load="1.2", policy="fcfs+none")
    np.testing.assert_array_equal(one.sel(depth=1), wanted)


def test_missing_combinations_are_nan() -> None:
    """A value that a trace of the store does not have is missing, not another one's."""
    origins = {f"{name}.x-{x}": {"of": name, "at": {"x": x}} for name, x in (("m", 1), ("n", 2))}
    labels = json.dumps({"trace": origins})
    data = xr.Dataset(
        {"wait": ("trace", [1.0, 2.0]), "tau": ((), 10)},
        {"trace": ["m.x-1", "n.x-2"]},
        {"labels": labels},
    )
    found = unfold(xr.DataTree(data))
    np.testing.assert_array_equal(found["wait"].values, [[1.0, np.nan], [np.nan, 2.0]])
    assert int(found["tau"]) == 10
    values, lines = lines_along(xr.DataTree(data), "x", data.expand_dims(policy=["fcfs+none"]))
    assert values == [1, 2]
    np.testing.assert_array_equal(lines["n", "fcfs+none"]["wait"].values, [np.nan, 2.0])
    with pytest.raises(StoreError, match="axis 'x' cannot be a dimension here"):
        unfold(xr.DataTree(data), data.assign(x=3))


def test_comparison_of_the_values_of_an_axis(made_store: MadeStores) -> None:
    """Ratios are those of the two traces, pair by pair; users who lose are counted."""
    store = made_store(WIDE)
    found = compare_values(store, "processors", policy="fcfs+none", load="1.2")
    assert found["policy"].values.tolist() == ["processors=96"]
    cells = unfold(store)["wait"].sel(trace="m", policy="fcfs+none", depth=1, load="1.2")
    ratios = cells.sel(processors=96) / cells.sel(processors=64)
    mine = found["sample_ratio"].sel(metric="wait").squeeze(drop=True)
    np.testing.assert_allclose(mine.values, ratios.values)
    (frame,) = losers(store, found)
    assert frame.attrs["policy"] == "processors=96"
    assert frame.attrs["trace"] == "m"
    jobs = frame["jobs"] * frame["change"]
    assert float(jobs.sum()) < 0
    assert comparison_warnings(store, found) == []
    by_depth = compare_values(store, "depth", 1, [8], at={"processors": 96}, load="1.2")
    plain = compare(store, "fcfs+depth(1)", ["fcfs+depth(8)"], trace="m.processors-96", load="1.2")
    np.testing.assert_array_equal(by_depth["mean"].values, plain["mean"].values)


@pytest.mark.parametrize("name", ["number", "submit", "run", "procs", "job_user"])
def test_users_are_not_counted_over_other_jobs(made_store: MadeStores, name: str) -> None:
    """As many jobs at both values, such as other rows of a log, may still differ."""
    store = made_store(WIDE)
    tree = open_tree(store).load()
    group = tree["m.processors-64"].to_dataset(inherit=False)
    group[name] = group[name] + 1
    other = xr.DataTree.from_dict(
        {"/": tree.to_dataset(), "/m.processors-64": group}
        | {"/m.processors-96": tree["m.processors-96"].to_dataset(inherit=False)}
    )
    found = compare_values(store, "processors", policy="fcfs+none", load="1.2")
    assert len(losers(tree, found)) == 1
    with pytest.raises(StoreError, match="resample 1 has other jobs there"):
        losers(other, found)


def test_a_policy_that_is_not_at_a_value_is_refused(made_store: MadeStores, farm: Farm) -> None:
    store, eight = made_store(WIDE), ("--at", "depth=8", "--by", "none", "--load", "1.2")
    refused = farm("compare", store, "fcfs+none", "fcfs+depth(1)", *eight, status=2)
    assert "policy 'fcfs+depth(1)' is not at depth = 8; leave one of them out" in refused.stderr
    done = farm("compare", store, "fcfs+none", "fcfs+depth(8)", *eight)
    assert "fcfs+depth(8): mean wait" in done.stdout


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"axis": "procs"}, "unknown axis 'procs'; known: processors, depth"),
        ({}, "the store has the axes processors, depth; name one"),
        ({"axis": "processors"}, "axis 'depth' has several values; give one"),
        ({"axis": "processors", "at": {"depth": 1}}, "under one policy; give one of fcfs\\+depth"),
        ({"axis": "processors", "at": {"dept": 1}}, "no axis 'dept'; did you mean 'depth'"),
        ({"axis": "processors", "at": {"depth": 2}}, "axis 'depth' has no value 2; known: 1, 8"),
        ({"axis": "processors", "policy": "fcfs+none", "baseline": 65}, "no value 65; known: 64"),
        ({"axis": "depth", "at": {"processors": 64}, "policy": "fcfs+none"}, "that the axis conc"),
        ({"axis": "depth", "policy": "fcfs+depth(8)", "at": {"depth": 1}}, "is not at depth = 1"),
    ],
)
def test_wrong_questions_about_axes_are_refused(
    made_store: MadeStores, given: dict[str, Any], message: str
) -> None:
    """With the known axes, values or policies."""
    with pytest.raises(StoreError, match=message):
        compare_values(made_store(WIDE), **given)


def test_labels_at_values(made_store: MadeStores) -> None:
    """Numbers in any spelling; a name as written is all of its labels."""
    store = made_store(WIDE)
    assert narrowed(store, {"processors": "96.0"}) == {
        "trace": ["m.processors-96"],
        "policy": None,
    }
    found = narrowed(store, {"depth": 8}, "m", "fcfs+depth({depth})")
    assert found == {"trace": ["m.processors-64", "m.processors-96"], "policy": ["fcfs+depth(8)"]}
    assert narrowed(store, {"depth": 8})["policy"] == ["fcfs+depth(8)", "fcfs+none"]


def test_a_log_keeps_its_jobs_at_all_sizes(tmp_path: Path) -> None:
    """A size below the widest job is refused, since the jobs would differ."""
    path = tmp_path / "log.swf"
    write_swf(lublin(64, jobs=80, seed=1), path)
    trace = Trace(name="log", file=str(path), processors=64)
    campaign = replace(WIDE, traces=(trace,), axes={"processors": [64, 128], "depth": [1]})
    found = survey(campaign).traces
    assert found["log.processors-64"].log is found["log.processors-128"].log
    sizes = [one.source["platform"]["configuration"]["processors"] for one in found.values()]
    assert sizes == [64, 128]
    widest = int(found["log.processors-64"].log.procs.max())  # type: ignore[union-attr]
    small = replace(campaign, axes={"processors": [widest - 1], "depth": [1]})
    with pytest.raises(InputError, match=f"a job requests {widest} processors, and the machine"):
        survey(small)


def test_curves_over_an_axis(tmp_path: Path, made_store: MadeStores) -> None:
    """A panel for each load, with the values of the axis as ticks."""
    figure = plot("axis", made_store(WIDE), tmp_path / "a.png", axis="processors", metric="wait")
    panels = [axes for axes in figure.axes if axes.get_title(loc="left")]
    assert [tick.get_text() for tick in panels[0].get_xticklabels()] == ["64", "96"]
    assert [len(axes.lines) for axes in panels] == [9, 9]
    with pytest.raises(StoreError, match="the store has the axes processors, depth; name one"):
        plot("axis", made_store(WIDE))


def test_commands_take_values_of_axes(made_store: MadeStores, farm: Farm) -> None:
    """`--at` restricts bands and comparisons, `--axis` compares values."""
    store = made_store(WIDE)
    text = farm("bands", store, "--at", "processors=96", "--at", "depth=8", "--load", 1.2).output
    assert "m.processors-96" in text
    assert "m.processors-64" not in text
    assert "fcfs+depth(1)" not in text
    values = farm("compare", store, "--axis", "processors", 64, 96, "--policy", "fcfs+none")
    assert "processors=96: mean wait" in values.output
    policies = farm("compare", store, "--at", "processors=96", "--load", "1.2").output
    assert "fcfs+depth(8): mean wait" in policies
    assert "is not AXIS=VALUE" in farm("bands", store, "--at", "processors", status=2).output
    refused = farm("compare", store, "--policy", "fcfs+none", status=2)
    assert "--policy is for --axis" in refused.output


def test_values_of_an_axis_are_one_block() -> None:
    """They have the same samples: two copies of a trace are no more evidence than one."""
    waits = np.random.default_rng(3).uniform(10, 90, (1, 8, 1, 2))
    dims = ("trace", "resample", "load", "policy")
    coords = {"resample": range(1, 9), "load": ["0.9"], "policy": ["fcfs+easy", "spf+easy"]}
    one = xr.Dataset({"wait": (dims, waits)}, {"trace": ["m.x-1"], **coords})
    both = xr.concat([one, one.assign_coords(trace=["m.x-2"])], "trace")
    origins = {f"m.x-{n}": {"of": "m", "at": {"x": n}} for n in (1, 2)}
    marked = both.assign_attrs(labels=json.dumps({"trace": origins}))
    alone, together, apart = (
        compare(xr.DataTree(data))["overall"].squeeze().values for data in (one, marked, both)
    )
    np.testing.assert_allclose(np.ptp(together), np.ptp(alone), rtol=0.05)
    assert np.ptp(apart) < 0.8 * np.ptp(alone)


def test_exported_tables_have_columns_of_axes(
    tmp_path: Path, made_store: MadeStores, farm: Farm
) -> None:
    """Whole numbers if each label has one; empty where a policy is not on the axis."""
    farm("export", made_store(WIDE), "--out", tmp_path / "a.csv")
    table = pd.read_csv(tmp_path / "a.csv")
    assert table.columns[:6].tolist() == [
        "trace", "resample", "load", "policy", "processors", "depth",
    ]  # fmt: skip
    assert set(table["processors"]) == {64, 96}
    assert table.loc[table["policy"] == "fcfs+depth(8)", "depth"].eq(8).all()
    assert table.loc[table["policy"] == "fcfs+none", "depth"].isna().all()


def test_a_load_at_another_size_is_reported(made_store: MadeStores) -> None:
    """The label is the load of the machine that the samples are drawn for."""
    text = table_text(bands(made_store(WIDE), "wait", load="1.2"))
    assert "m.processors-64, load 1.2\n" in text
    assert "m.processors-96, load 1.2; offered load there 0.80" in text


NAMED = replace(
    WIDE,
    policies=("mine", "fcfs+none"),
    named={"mine": "fcfs+depth({depth})"},
    variants={},
    axes={"depth": [1, 8]},
    traces=(Trace(name="m", model="lublin", processors=64, jobs=50),),
)


def test_tables_call_a_policy_by_its_name(made_store: MadeStores, farm: Farm) -> None:
    """Its cells are those of the text, which is listed once; queries take the name."""
    store = made_store(NAMED)
    plain = made_store(replace(NAMED, policies=("fcfs+depth({depth})", "fcfs+none"), named={}))
    text = {"mine,depth=1": "fcfs+depth(1)", "mine,depth=8": "fcfs+depth(8)"}
    for opened in (lambda s: open_trace(s, "m"), lambda s: open_tree(s)["m"].to_dataset()):
        mine, wanted = opened(store)["wait"].load(), opened(plain)["wait"].load()
        assert mine["policy"].values.tolist() == [*text, "fcfs+none"]
        np.testing.assert_array_equal(mine.values, wanted.values)
    raw = xr.open_zarr(Path(store) / "results.zarr")["policy"].values.tolist()
    assert raw == [*text.values(), "fcfs+none"]
    assert (
        unfold(store)["wait"]
        .sel(policy="mine", depth=8)
        .equals(unfold(open_tree(store))["wait"].sel(policy="mine", depth=8))
    )
    status = farm("status", store).stdout
    assert re.findall(r"^  policy (.*): (.*)$", status, re.M) == [*text.items()]
    told = farm("bands", store, "--policy", "mine", "--metric", "wait")
    assert re.findall(r"^mine,depth=\d", told.stdout, re.M) == 2 * [*text]
    assert "fcfs+depth" not in told.stdout
    assert [line for line in told.stderr.splitlines() if line.startswith("note: policy")] == [
        f"note: policy {name} is {policy}" for name, policy in text.items()
    ]
    told = farm("compare", store, "fcfs+none", "mine,depth=8", "--metric", "wait")
    assert told.stdout.startswith("mine,depth=8: mean wait ")
    assert "note: policy mine,depth=8 is fcfs+depth(8)\n" in told.stderr
    along = farm("compare", store, "--axis", "depth", 1, 8, "--policy", "mine", "--metric", "wait")
    assert along.stdout.startswith("depth=8: mean wait ")
    explained = farm("explain", store, "--policy", "mine,depth=8", "--load", 1.2, "--json").stdout
    assert json.loads(explained)["policy"] == "fcfs+depth(8)"
    with pytest.raises(StoreError, match="unknown policy 'mien'; .*known: mine,depth=1, mine,"):
        bands(store, "wait", policy="mien")


def test_exports_take_the_name_of_a_policy(
    made_store: MadeStores, farm: Farm, tmp_path: Path, said: Said
) -> None:
    """The file has the text of the policy, which needs no campaign to be understood."""
    store, out = made_store(NAMED), tmp_path / "cells.csv"
    farm("export", store, "--what", "summary", "--policy", "mine,depth=8", "--out", out)
    assert {*pd.read_csv(out)["policy"]} == {"fcfs+depth(8)"}
    words = ("export", store, "--what", "summary", "--policy", "mine", "--out", tmp_path / "b.csv")
    assert "known: mine,depth=1, mine,depth=8, fcfs+none" in said(*words)


def test_a_name_may_change(made_store: MadeStores, tmp_path: Path) -> None:
    """No cell is simulated again."""
    short = replace(NAMED, axes={"depth": [8]})
    run(short, tmp_path / "s.farm")
    again = run(
        replace(
            short,
            policies=("other", "fcfs+none"),
            named={"other": "fcfs+depth({depth})"},
            variants={},
        ),
        tmp_path / "s.farm",
    )
    assert (again.done, again.before) == (0, 8)
    assert open_summary(tmp_path / "s.farm")["policy"].values.tolist() == ["other", "fcfs+none"]
