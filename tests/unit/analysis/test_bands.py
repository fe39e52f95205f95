"""The published rule, plain quantiles, and weekly bands, with literal expectations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr

from schedfarm.analysis import (
    StoreError,
    TooFewSamplesError,
    bands,
    compare,
    open_tree,
    table_text,
    weekly_bands,
)


def at(trace: str = "ALPHA", load: str = "original", policy: str = "saf+easy") -> dict[str, str]:
    return {"trace": trace, "load": load, "policy": policy}


def test_trimmed_leaves_out_best_worst_and_the_log(store: Path) -> None:
    """Ten samples 1..10 give low 2, mean 5.5, high 9; the log's own 999 is no sample."""
    band = bands(store, "wait")
    assert band["wait"].dims == ("trace", "load", "policy", "band")
    assert band["band"].values.tolist() == ["low", "trimmed_mean", "high"]
    assert band["wait"].sel(at()).values.tolist() == [2.0, 5.5, 9.0]
    assert band["wait"].sel(at(load="0.9", policy="fcfs+easy")).values.tolist() == [400, 1100, 1800]


def test_a_failed_cell_is_left_out_and_counted(store: Path) -> None:
    """Nine samples without the 7 give 2..9 without 7: low 2, mean 37 / 7, high 9."""
    band = bands(store, "wait").sel(at("BETA", "0.9"))
    assert band["wait"].values.tolist() == pytest.approx([200, 3700 / 7, 900], rel=1e-15)
    assert (int(band["n"]), int(band["missing"])) == (9, 1)
    other = bands(store, "wait").sel(at("BETA"))
    assert (int(other["n"]), int(other["missing"])) == (10, 0)


def test_quantiles_interpolate(store: Path) -> None:
    """The 10, 50 and 90 % quantiles of 1..10 are 1.9, 5.5 and 9.1."""
    band = bands(store, "wait", kind="quantile")
    assert band["wait"].dims == ("trace", "load", "policy", "quantile")
    assert band["quantile"].values.tolist() == [0.1, 0.5, 0.9]
    assert band["wait"].sel(at()).values.tolist() == pytest.approx([1.9, 5.5, 9.1], rel=1e-15)
    ends = bands(store, "wait", kind="quantile", q=(0, 1))
    assert ends["wait"].sel(at("BETA", "0.9")).values.tolist() == [100, 1000]


def test_the_result_says_what_it_is(store: Path) -> None:
    """Attributes carry metric, rule, samples, and the metric's unit and name."""
    band = bands(store, "wait")
    assert band.attrs == {
        "metric": "wait",
        "over": "resample",
        "n": 10,
        "kind": "trimmed",
        "trim": 0.1,
        "samples": "2 to 9 of 10",
        "coverage": 7 / 11,
        "description": "lowest, mean and highest of samples 2 to 9 of 10, which hold 63.6 % of all "
        "such samples in expectation",
    }
    assert band["wait"].attrs == {"units": "s", "long_name": "mean wait"}
    assert bands(store, "wait", kind="quantile").attrs["q"] == [0.1, 0.5, 0.9]
    interval = bands(store, "wait", kind="interval")
    assert (interval.attrs["kind"], interval.attrs["level"]) == ("interval", 0.9)
    assert "coverage" not in {*interval, *interval.attrs}
    assert interval.attrs["description"] == (
        "mean of 10 samples and its 90 % interval (Student's t, corrected for skewness)"
    )


def test_each_cell_says_which_samples_it_spans(store: Path) -> None:
    """A cell with a failed sample spans 2 to 8 of 9, which hold 60 % and not 63.6 %."""
    band = bands(store, "wait").sel(at("BETA", "0.9"))
    assert [float(band[name]) for name in ("first", "last", "n", "coverage")] == [2, 8, 9, 0.6]
    assert [float(band[name]) for name in ("least", "most")] == [100, 1000]
    other = bands(store, "wait", kind="quantile").sel(at())
    assert [float(other[name]) for name in ("first", "last")] == pytest.approx([1.9, 9.1])
    assert float(other["coverage"]) == pytest.approx(7.2 / 11)


def test_below_ten_samples_all_of_them_count(store: Path) -> None:
    """Nine samples are not trimmed unless that is asked for: least, median, largest."""
    keep_resamples(store, *range(2, 11))
    band = bands(store, "wait")
    assert band["band"].values.tolist() == ["min", "median", "max"]
    assert band["wait"].sel(at()).values.tolist() == [1, 6, 10]
    assert (band.attrs["kind"], band.attrs["samples"]) == ("range", "1 to 9 of 9")
    assert band.attrs["coverage"] == pytest.approx(0.8)
    asked = bands(store, "wait", kind="trimmed")
    assert asked["band"].values.tolist() == ["low", "trimmed_mean", "high"]
    weekly = weekly_bands(store, "ALPHA", "wait", "original")
    assert weekly.attrs["kind"] == "trimmed"


def test_the_log_stands_beside_its_samples(store: Path) -> None:
    """Its own value of each cell, and its own line over the weeks; a store without it has none."""
    band = bands(store, "wait")
    assert float(band["log"].sel(at())) == 999
    assert float(band["log"].sel(at(load="0.9", policy="fcfs+easy"))) == 999 * 200
    assert "log" not in bands(store, "wait", over="policy")
    weekly = weekly_bands(store, "BETA", "wait", "original")["log"].sel(policy="saf+easy")
    assert weekly.values.tolist() == pytest.approx([999 * x for x in (0.5, 0.75, 1)], rel=1e-14)
    assert (
        weekly_bands(store, "BETA", "wait")
        .attrs["description"]
        .endswith("63.6 % of all such samples in expectation, ranked by their mean over all jobs")
    )
    without = open_tree(store).to_dataset().isel(resample=slice(1, None))
    assert "log" not in bands(xr.DataTree(without), "wait")


def test_the_draw_of_a_model_is_no_log(store: Path) -> None:
    """Of a trace that a model draws, resample 0 is one more draw."""
    head = json.loads((store / "store.json").read_text())
    head["sources"] = {"BETA": {"model": "lublin"}}
    (store / "store.json").write_text(json.dumps(head))
    band = bands(store, "wait")
    assert float(band["log"].sel(at())) == 999
    assert band["log"].sel(trace="BETA").isnull().all()
    assert "log" not in weekly_bands(store, "BETA", "wait", "original")


def test_trim_and_other_dimensions(store: Path) -> None:
    """Trim 0 keeps all samples; a band over policies keeps the log as a resample."""
    assert bands(store, "wait", trim=0)["wait"].sel(at()).values.tolist() == [1, 5.5, 10]
    assert bands(store, "wait", trim=0.2)["wait"].sel(at()).values.tolist() == [3, 5.5, 8]
    over = bands(store, "wait", over="policy", kind="trimmed", trim=0)
    cell = over["wait"].sel(trace="ALPHA", load="original", resample=0)
    assert cell.values.tolist() == [999, 1332, 1998]


def test_integer_metrics_count_zero_as_missing(store: Path) -> None:
    """The format writes 0 jobs where a cell is missing."""
    band = bands(store, "jobs").sel(trace="BETA", load="0.9")
    assert band["jobs"].values.tolist() == [50, 50, 50]
    assert (int(band["n"]), int(band["missing"])) == (9, 1)


def array(store: Path, path: str) -> zarr.Array[Any]:
    found = zarr.open_group(store / "results.zarr")[path]
    assert isinstance(found, zarr.Array)
    return found


def keep_resamples(store: Path, *kept: int) -> None:
    """Turn the other resamples of the summary into cells that were not simulated."""
    wait = array(store, "wait")
    values = np.asarray(wait[...])
    values[:, [r for r in range(1, 11) if r not in kept]] = np.nan
    wait[...] = values


def test_too_few_samples_are_said(store: Path) -> None:
    """A trimmed band needs four samples, so that two remain; all others need two."""
    keep_resamples(store, 1, 2, 3, 5)
    trimmed = bands(store, "wait", kind="trimmed")["wait"]
    assert trimmed.sel(at()).values.tolist() == [3, 4, 5]
    keep_resamples(store, 1, 2, 3)
    with pytest.raises(
        TooFewSamplesError,
        match=r"\(trimmed\) of 'wait' needs at least 4 samples over resample; .* has 3",
    ):
        bands(store, "wait", kind="trimmed")
    assert bands(store, "wait")["wait"].sel(at()).values.tolist() == [1, 3, 10]
    quantiles = bands(store, "wait", kind="quantile")["wait"].sel(at()).values.tolist()
    assert quantiles == pytest.approx([1.4, 3, 8.6], rel=1e-15)
    keep_resamples(store, 1)
    for kind in ("auto", "range", "quantile", "interval"):
        with pytest.raises(
            TooFewSamplesError, match=r"needs at least 2 samples over resample; the store has 1"
        ):
            bands(store, "wait", kind=kind)


def test_a_cell_with_too_few_samples_is_nan(store: Path) -> None:
    """Other cells keep their bands; the poor one has none, and its count says why."""
    wait = array(store, "wait")
    wait[0, 4:, 0, 1] = np.nan
    band = bands(store, "wait")
    assert band["wait"].sel(at()).isnull().all()
    assert int(band["n"].sel(at())) == 3
    assert band["wait"].sel(at(policy="spf+easy")).values.tolist() == [2, 5.5, 9]


def test_the_log_alone_has_no_band(store: Path) -> None:
    """A store with resample 0 only is refused with a sentence."""
    array(store, "resample").resize((1,))
    for name in ("wait", "bounded_slowdown"):
        array(store, name).resize((2, 1, 2, 3))
    array(store, "jobs").resize((2, 1, 2))
    with pytest.raises(TooFewSamplesError, match=r"^the store has no samples, only the log itself"):
        bands(store, "wait")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            {"metric": "wiat"},
            "^unknown metric 'wiat'; did you mean 'wait'[?] known: bounded_slowdown, jobs, wait$",
        ),
        (
            {"metric": "wait", "over": "sample"},
            "^unknown dimension 'sample'; did you mean 'resample'[?] known: trace, resample",
        ),
        (
            {"metric": "wait", "kind": "mean"},
            "^unknown kind 'mean'; known: auto, trimmed, range, quantile, interval$",
        ),
        (
            {"metric": "wait", "kind": "interval", "level": 1},
            "^level is 1; it must be above 0 and below 1$",
        ),
        ({"metric": "wait", "trim": 0.5}, "^trim is 0.5; it must be at least 0 and below 0.5$"),
        ({"metric": "wait", "q": (0.9, 0.1)}, r"^q is \[0.9, 0.1\]; quantiles ascend"),
        ({"metric": "wait", "q": (0.5, 1.1)}, r"^q is \[0.5, 1.1\]; quantiles ascend"),
    ],
)
def test_unknown_questions_are_refused(store: Path, question: dict[str, str], said: str) -> None:
    """A sentence names the value and what would be right."""
    with pytest.raises(StoreError, match=said):
        bands(store, **question)  # type: ignore[arg-type]


def test_weekly_trimmed_discards_whole_samples(store: Path) -> None:
    """Samples are ranked by their mean over all jobs, then mean, min and max at each week.

    Of ALPHA's samples 1..10, those of 1 and 10 go. Week 1 has the means 0.5 x 2..9, where
    sample 1 (of 3) has ended no job yet; at the end the cumulative mean is the cell's own.
    """
    band = weekly_bands(store, "ALPHA", "wait", "original").sel(policy="saf+easy")
    assert band["wait"].dims == ("week", "band")
    assert band["wait"][0].values.tolist() == pytest.approx([1, 0.5 * 41 / 7, 4.5], rel=1e-14)
    # Cumulative factor after two weeks: (0.5 + 0.75) / 2; sample 1 (of 3) is level from there on.
    second = [1.25, (41 * 0.625 + 3) / 8, 9 * 0.625]
    assert band["wait"][1].values.tolist() == pytest.approx(second, rel=1e-14)
    assert band["wait"][4].values.tolist() == pytest.approx([2, 5.5, 9], rel=1e-14)
    assert int(band["n"]) == 10


def test_weekly_ranks_by_the_end_not_by_the_week(store: Path) -> None:
    """A sample that is best over all is out in every week, even where it is the highest."""
    weekly = array(store, "BETA/week_wait")
    # Sample 2 has the least mean over all, 1; now its first week is the highest of all.
    weekly[2, 0, 1] = [50.0, 0.0, -47.0, np.nan]
    band = weekly_bands(store, "BETA", "wait", "original").sel(policy="saf+easy")
    assert band["wait"][0].values.tolist() == pytest.approx([1, 0.5 * 41 / 7, 4.5], rel=1e-14)
    quantiles = weekly_bands(store, "BETA", "wait", "original", "quantile", q=(0, 1))
    first = quantiles["wait"].sel(policy="saf+easy")[0]
    assert first.values.tolist() == [1, 50]


def test_weekly_leaves_out_what_ended_later(store: Path) -> None:
    """The last entry of the store decides which sample is worst, and is not in the result."""
    before = weekly_bands(store, "BETA", "wait", "original")["wait"].sel(policy="saf+easy")
    array(store, "BETA/week_jobs")[2, 0, 1, 3] = 90
    array(store, "BETA/week_wait")[2, 0, 1, 3] = 1000.0
    after = weekly_bands(store, "BETA", "wait", "original")["wait"].sel(policy="saf+easy")
    assert after["week"].values.tolist() == [1, 2, 3]
    # Of waits of 1 to 10, sample 2 had the best and now has the worst: 2 to 9 become 3 to 10.
    assert before[-1].values.tolist() == [2, 5.5, 9]
    assert after[-1].values.tolist() == [3, 6.5, 10]


def test_weekly_weights_by_jobs(store: Path) -> None:
    """The cumulative mean is over jobs, not over weeks."""
    array(store, "BETA/week_jobs")[:, 0, 0] = np.tile([1, 9, 0, 0], (11, 1))
    array(store, "BETA/week_wait")[:, 0, 0] = np.tile([10.0, 20.0, np.nan, np.nan], (11, 1))
    band = weekly_bands(store, "BETA", "wait", "original").sel(policy="fcfs+easy")
    assert band["wait"].sel(band="trimmed_mean").values.tolist() == [10, 19, 19]


def test_weekly_ends_with_the_weeks_of_each_load(store: Path) -> None:
    """A load whose jobs are submitted within two weeks has no line in the third, nor a leap."""
    group = zarr.open_group(store / "results.zarr" / "BETA", use_consolidated=False)
    weeks = np.tile([2, 3], (11, 1))
    group.create_array("weeks", data=weeks, dimension_names=["resample", "load"])
    band = weekly_bands(store, "BETA", "wait")["wait"].sel(band="low", policy="fcfs+easy")
    assert band.sizes["week"] == 3
    assert band.notnull().sum("week").values.tolist() == [2, 3]
    assert weekly_bands(store, "BETA", "wait", "original").sizes["week"] == 2


def test_weekly_counts_failed_cells(store: Path) -> None:
    """The failed cell of BETA is missing from its band alone."""
    band = weekly_bands(store, "BETA", "bounded_slowdown")
    assert band["bounded_slowdown"].dims == ("load", "policy", "week", "band")
    assert band["n"].values.tolist() == [[10, 10, 10], [10, 9, 10]]
    assert band["missing"].values.tolist() == [[0, 0, 0], [0, 1, 0]]
    assert band["bounded_slowdown"].attrs == {
        "units": "1",
        "long_name": "cumulative mean bounded slowdown",
    }
    assert band.attrs["trace"] == "BETA"


def test_weekly_refuses_unknown_names(store: Path) -> None:
    """Trace, weekly metric and load are each refused with the known ones."""
    with pytest.raises(StoreError, match=r"^unknown trace 'KTH'; known: ALPHA, BETA$"):
        weekly_bands(store, "KTH", "wait")
    with pytest.raises(
        StoreError, match=r"^unknown weekly metric 'jobs'; known: bounded_slowdown, wait$"
    ):
        weekly_bands(store, "BETA", "jobs")
    with pytest.raises(StoreError, match=r"^unknown load '0.8'; known: original, 0.9$"):
        weekly_bands(store, "BETA", "wait", "0.8")


def test_a_further_dimension_stays(store: Path) -> None:
    """A metric by width has a band and a gain in each class, and a table with a row a class."""
    tree = open_tree(store)
    summary = tree.to_dataset()
    factor = xr.DataArray([1.0, 3.0], {"width": ["1", "2"]})
    attrs = {"units": "s", "long_name": "mean wait by width", "better": "smaller"}
    tree.dataset = summary.assign(width_wait=(summary["wait"] * factor).assign_attrs(attrs))
    band = bands(tree, "width_wait")
    assert band["width_wait"].dims == ("trace", "load", "policy", "width", "band")
    assert band["width_wait"].sel(at() | {"width": "2"}).values.tolist() == [6, 16.5, 27]
    assert table_text(band).splitlines()[2:6] == [
        "ALPHA, load original, policy fcfs+easy",
        "width  low  trimmed mean  high    log       samples   holds  missing",
        "1        4            11    18  1 998  2 to 9 of 10  63.6 %        0",
        "2       12            33    54  5 994  2 to 9 of 10  63.6 %        0",
    ]
    found = compare(tree, metrics=["width_wait"])["ratio"].sel(at() | {"metric": "width_wait, 2"})
    # Every pair has this ratio, which gives no interval.
    assert found.values.tolist() == pytest.approx([np.nan, 0.5, np.nan], nan_ok=True)


def test_a_metric_of_words_is_refused(store: Path) -> None:
    """A band is of numbers."""
    tree = open_tree(store)
    tree.dataset = tree.to_dataset().assign(state=("resample", ["done"] * 11))
    with pytest.raises(StoreError, match=r"^metric 'state' is of .*; a band needs numbers$"):
        bands(tree, "state")
