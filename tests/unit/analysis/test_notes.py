"""What is said beside a band: where it does not stand for its log."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from schedfarm import farm
from schedfarm.analysis import bands, notes, open_tree
from schedfarm.analysis.notes import weekly_spreads
from schedfarm.core import Workload, write_swf
from schedfarm.core.workload.resample_weeks import WEEK

POLICIES = ("fcfs+easy", "spf+easy")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 20 weeks and a day in which two users take turns, so that weeks are alike."""
    submit = [week * WEEK + 40_000 * k for week in range(20) for k in range(15)]
    submit += [20 * WEEK, 20 * WEEK + 80_000]
    user = [1 + (j // 15) % 2 for j in range(len(submit))]
    w = Workload.from_columns(
        submit=submit,
        run=[30_000 + 100 * (j % 7) for j in range(len(submit))],
        estimate=[40_000] * len(submit),
        procs=[1 + j % 3 for j in range(len(submit))],
        user=user,
        processors=4,
    )
    path = tmp_path_factory.mktemp("log") / "turns.swf"
    write_swf(w, path)
    return path


def ran(source: Path, folder: Path, **keys: object) -> Path:
    trace = farm.Trace(name="turns", file=str(source))
    fixed: dict[str, object] = {"name": "c", "policies": POLICIES, "resamples": 6, "seed": 5}
    farm.run(farm.Campaign(**{**fixed, **keys}, traces=(trace,)), folder)  # type: ignore[arg-type]
    return folder


@pytest.fixture(scope="module")
def apart(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of that log and six samples, whose users are drawn apart."""
    return ran(log, tmp_path_factory.mktemp("apart") / "store", log=True)


def test_a_draw_that_inflates_weekly_load_is_told(log: Path, apart: Path, tmp_path: Path) -> None:
    """Users drawn apart meet in some weeks and leave others empty; weeks drawn jointly do not."""
    own, samples = weekly_spreads(apart, "turns") or (0.0, np.zeros(0))
    assert own < 0.05 < 0.4 < samples.min()
    assert samples.size == 6
    (said,) = [note for note in notes(apart, bands(apart, "wait")) if "swing more" in note]
    assert said.startswith('draw = "replace" makes the load of a week swing more than in the log')
    assert f"turns {own:.2f} in the log, {samples.min():.2f} to {samples.max():.2f} in 6" in said
    assert 'draw = "weeks" keeps it' in said
    jointly = ran(log, tmp_path / "jointly", log=True, draw="weeks", loads=("original", 0.9))
    assert not [note for note in notes(jointly, bands(jointly, "wait")) if "swing more" in note]
    own, samples = weekly_spreads(jointly, "turns") or (0.0, np.zeros(0))
    assert samples.max() < 0.05


def test_a_log_outside_its_samples_is_told_once(apart: Path) -> None:
    """Draw, the log's value, the range of the samples, and how likely that is by chance."""
    band = bands(apart, "wait")
    out = (band["log"] < band["least"]) | (band["log"] > band["most"])
    assert out.all()
    (said,) = [note for note in notes(apart, band) if "lies outside" in note]
    assert "in 2 of 2 cells, furthest in turns, load original, policy " in said
    assert '(6 by draw = "replace")' in said
    assert said.endswith("a log like its samples would lie outside with a chance of 29 %")


def test_a_log_amid_its_samples_is_not_told(store: Path) -> None:
    """A value that some sample exceeds is no news."""
    tree = open_tree(store)
    summary = tree.to_dataset()
    summary["wait"][{"resample": 0}] = summary["wait"].isel(resample=1)
    tree = xr.DataTree(summary)
    assert notes(tree, bands(tree, "wait")) == []


def test_samples_of_another_length_are_told(log: Path, tmp_path: Path) -> None:
    """A mean may grow with the length, and `weeks` shortens samples alone."""
    trace = farm.Trace(name="turns", file=str(log), weeks=6)
    campaign = farm.Campaign(
        name="c", policies=POLICIES, resamples=3, log=True, seed=1, traces=(trace,)
    )
    farm.run(campaign, tmp_path / "s")
    (said,) = [n for n in notes(tmp_path / "s", bands(tmp_path / "s", "wait")) if "outside" in n]
    assert '(3 by draw = "replace"; 6 weeks each, the log 21)' in said


def test_a_log_that_is_not_there_is_told(log: Path, tmp_path: Path) -> None:
    """The log cannot be shown; its weekly load is known all the same."""
    store = ran(log, tmp_path / "s")
    said = notes(store, bands(store, "wait"))
    assert len(said) == 2
    assert said[0].startswith('draw = "replace" makes the load of a week swing more')
    assert said[1] == (
        "the log itself is not among the resamples of turns; log = true in the campaign adds it, "
        "to stand next to them"
    )


def test_models_have_no_log_to_be_told_of(tmp_path: Path) -> None:
    """Nothing is said of what a model draws."""
    trace = farm.Trace(name="m", model="lublin", processors=64, jobs=60)
    farm.run(
        farm.Campaign(name="c", policies=POLICIES, resamples=3, log=True, traces=(trace,)),
        tmp_path / "s",
    )
    assert notes(tmp_path / "s", bands(tmp_path / "s", "wait")) == []


def test_samples_mostly_of_one_value__no_interval_of_their_mean() -> None:
    """The note counts the cells; a band of the samples themselves has none."""
    values = [[1.0, 5.0], [1.0, 6.0], [1.0, 8.0], [4.0, 7.0], [1.0, 9.0]]
    summary = xr.Dataset(
        {"wait": (("resample", "policy"), values)},
        {"resample": [1, 2, 3, 4, 5], "policy": [*POLICIES]},
        {"draw": "weeks"},
    )
    tree = xr.DataTree(summary.expand_dims(trace=["m"], load=["0.9"]))
    found = bands(tree, "wait", kind="interval")
    assert np.isnan(found["wait"].sel(interval="low").values.ravel()).tolist() == [True, False]
    (said,) = notes(tree, found)
    assert said.startswith("in 1 of 2 cells most samples have one value of wait, so that the rarer")
    assert notes(tree, bands(tree, "wait")) == []
