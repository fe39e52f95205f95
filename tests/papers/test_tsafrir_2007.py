"""The report on EASY++: its tables from a small store, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedfarm import farm
from schedfarm.analysis import open_tree
from schedfarm.analysis.papers import make_report
from schedfarm.analysis.papers.report import Made, Numbers
from schedfarm.analysis.papers.tsafrir_2007.comparisons import (
    CLAIMS,
    COMPARISONS,
    MEASURES,
    SCHEDULERS,
    ratio_table,
)
from schedfarm.farm.campaign.shipped import find

SAMPLES = 6


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store of a model's jobs and six samples."""
    folder = tmp_path_factory.mktemp("tsafrir") / "store"
    trace = farm.Trace(name="m64", model="lublin", processors=64, jobs=300)
    campaign = replace(
        find("tsafrir-2007"), traces=(trace,), resamples=SAMPLES, draw="replace", name="small"
    )
    assert set(campaign.policies) == set(SCHEDULERS.values())
    assert farm.run(campaign, folder).failed == 0
    return folder


@pytest.fixture(scope="module")
def report(store: Path) -> Made:
    """The report on that store."""
    return make_report("tsafrir-2007", store)


def test_files(report: Made, store: Path) -> None:
    written = {path.relative_to(store).as_posix() for path in report.write(store)}
    assert written == {
        "figures/samples-ratios.png",
        "tables/schedulers.csv",
        "tables/claims.csv",
        "tables/claims-in-part.csv",
        "tables/samples-ratios.csv",
        "tables/samples-claims.csv",
        "tables/samples-claims-in-part.csv",
    }


def test_ratios_are_those_of_means_over_paired_samples(store: Path) -> None:
    numbers = Numbers.of(open_tree(store))
    table = ratio_table(numbers)
    assert len(table) == len(COMPARISONS) * len(MEASURES)
    of_all = numbers.summary.isel(trace=0, load=0)
    for (_, label, measure, _, _), row in table.iterrows():
        one, other = (of_all[measure].sel(policy=SCHEDULERS[name]) for name in label.split(" / "))
        one, other = one.values, other.values
        # A model's jobs are resample 0, as a log is.
        assert row["ratio"] == pytest.approx(one[1:].mean() / other[1:].mean())
        assert row["better"] == np.count_nonzero(one[1:] < other[1:])
        assert row["log"] == one[0] / other[0]
        assert row["low"] <= row["ratio"] <= row["high"]
        assert row["samples"] == SAMPLES


def test_perfect_predictions_are_accurate_and_estimates_are_never_short(report: Made) -> None:
    table = report.tables["schedulers"].droplevel(["trace", "load"])
    assert (table.loc[["perfect EASY", "perfect EASY-SJBF"], "prediction_accuracy"] == 1).all()
    assert (table.loc[["EASY", "EASY-SJBF"], "underpredicted"] == 0).all()


def test_claims_count_samples(report: Made) -> None:
    table = report.tables["samples-claims"]
    assert len(table) == len(CLAIMS)
    assert (table["cells"] == SAMPLES).all()
