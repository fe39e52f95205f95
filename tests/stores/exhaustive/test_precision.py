"""Campaigns that ask for precision: rounds of samples until intervals are short."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedfarm import analysis, farm
from schedfarm.core.errors import InputError
from schedfarm.core.format.names import ARRAYS, CHUNKS
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.precision import Precision
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution import cell
from schedfarm.farm.execution.run import begin
from schedfarm.farm.planning import rounds
from schedfarm.farm.planning.cost import CELL_SECONDS
from schedfarm.farm.planning.design import design
from schedfarm.farm.planning.pilot import PILOT, predict
from schedfarm.farm.planning.survey import survey
from schedfarm.farm.verify import verify
from schedfarm.farm.watching.status import status
from tests.support.growing import assert_same_by_label, counts, tree

WAIT = Precision(metric="wait", policy="spf+easy", relative=0.45)

LOOSE = Campaign(
    name="rounds",
    seed=3,
    traces=(Trace(name="m", model="lublin", processors=64, jobs=60),),
    policies=("fcfs+easy", "spf+easy"),
    loads=("0.9",),
    resamples=40,
    precision=(WAIT,),
)


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "FIRST", 4)


def stop_of(store: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(tree(store).attrs["precision"])
    return found


def samples(store: Path) -> int:
    return tree(store).sizes["resample"]


def wanted(relative: float) -> Campaign:
    return dataclasses.replace(
        LOOSE, precision=(dataclasses.replace(LOOSE.precision[0], relative=relative),)
    )


def test_rounds__end_when_the_interval_is_short(tmp_path: Path) -> None:
    outcome = farm.run(LOOSE, tmp_path / "s")
    stop = stop_of(tmp_path / "s")
    last = samples(tmp_path / "s")
    assert counts(outcome) == (2 * last, 0, 2 * last, 0)
    assert (stop["rounds"][0], stop["rounds"][-1]) == (4, last)
    assert len(stop["rounds"]) > 1
    assert (stop["met"], stop["stopped"]) == (True, True)
    (found,) = stop["intervals"]
    assert found["half"] == pytest.approx((found["high"] - found["low"]) / 2 / found["ratio"])
    assert found["half"] <= 0.45
    assert list(verify(tmp_path / "s")) == []
    assert status(tmp_path / "s").missing == 0
    assert status(tmp_path / "s").precision == stop


def test_a_comparison_shows_the_interval_that_ended_the_sampling(tmp_path: Path) -> None:
    farm.run(LOOSE, tmp_path / "s")
    (found,) = stop_of(tmp_path / "s")["intervals"]
    metrics = ["wait", "bounded_slowdown"]
    shown = analysis.compare(tmp_path / "s", metrics=metrics)
    ends = shown["ratio"].sel(metric="wait").squeeze().values
    assert ends == pytest.approx([found["low"], found["ratio"], found["high"]])
    plain = tree(tmp_path / "s")
    del plain.attrs["precision"]
    without = analysis.compare(plain, metrics=metrics)
    logs = [np.log(one["overall"].squeeze().values) for one in (shown, without)]
    lengths = [one[:, 2] - one[:, 0] for one in logs]
    assert lengths[0] == pytest.approx(lengths[1] * [1.08, 1.0])
    said = analysis.comparison_warnings(tmp_path / "s", shown)
    assert any("sampling ended after round" in one and "8 % longer" in one for one in said)


def test_the_most_samples__end_it_without_the_precision(tmp_path: Path) -> None:
    few = dataclasses.replace(wanted(0.01), resamples=7)
    farm.run(few, tmp_path / "s")
    stop = stop_of(tmp_path / "s")
    assert (samples(tmp_path / "s"), stop["met"], stop["stopped"]) == (7, False, True)
    assert stop["rounds"] == [4, 7]


def test_a_second_run__does_nothing(tmp_path: Path) -> None:
    farm.run(LOOSE, tmp_path / "s")
    before = {p: p.read_bytes() for p in (tmp_path / "s" / ARRAYS).rglob("*") if p.is_file()}
    assert farm.run(LOOSE, tmp_path / "s").done == 0
    after = {p: p.read_bytes() for p in (tmp_path / "s" / ARRAYS).rglob("*") if p.is_file()}
    assert after == before


def test_more_precision_later__equals_a_store_made_at_once(tmp_path: Path) -> None:
    """Rounds are derived from the store: it does not matter in how many runs they are made."""
    farm.run(wanted(0.9), tmp_path / "grown")
    before = samples(tmp_path / "grown")
    farm.run(LOOSE, tmp_path / "grown")
    farm.run(LOOSE, tmp_path / "once")
    assert samples(tmp_path / "grown") > before
    assert stop_of(tmp_path / "grown") == stop_of(tmp_path / "once")
    assert_same_by_label(tmp_path / "grown", tmp_path / "once")


def test_an_early_stop__has_the_first_files_of_a_longer_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks hold the samples of the first round at most, whatever the last one is."""
    monkeypatch.setattr(rounds, "FIRST", 12)
    for name, campaign in (("short", wanted(0.9)), ("long", wanted(0.3))):
        farm.run(dataclasses.replace(campaign, block_seconds=5 * CELL_SECONDS), tmp_path / name)
    files = [
        one.relative_to(tmp_path / "short")
        for one in (tmp_path / "short" / ARRAYS / "m").rglob("*")
        if one.is_file() and CHUNKS in one.parts
    ]
    values = [one for one in files if one.parts[2] in ("wait", "submit", "week_wait")]
    assert len(values) > 6
    assert samples(tmp_path / "long") > samples(tmp_path / "short") == 12
    for one in values:
        assert (tmp_path / "long" / one).read_bytes() == (tmp_path / "short" / one).read_bytes()


def test_an_interrupted_round__is_finished_before_it_is_judged(tmp_path: Path) -> None:
    farm.run(LOOSE, tmp_path / "once")
    with begin(LOOSE, tmp_path / "s") as prepared:
        assert len(prepared.store.axes["resample"]) == 4
        assert "precision" not in tree(tmp_path / "s").attrs
    farm.run(LOOSE, tmp_path / "s")
    assert_same_by_label(tmp_path / "s", tmp_path / "once")
    assert stop_of(tmp_path / "s") == stop_of(tmp_path / "once")


def test_finished_samples_of_a_store__count(tmp_path: Path) -> None:
    """A store of more samples than the stop keeps them, and records the stop."""
    farm.run(dataclasses.replace(LOOSE, precision=(), resamples=30), tmp_path / "s")
    outcome = farm.run(LOOSE, tmp_path / "s")
    assert (outcome.done, samples(tmp_path / "s")) == (0, 30)
    farm.run(LOOSE, tmp_path / "once")
    assert stop_of(tmp_path / "s") == stop_of(tmp_path / "once")
    assert list(verify(tmp_path / "s")) == []


def test_a_metric_without_a_ratio__is_refused(tmp_path: Path) -> None:
    """Two jobs that never wait have a mean of 0."""
    trace = Trace(name="m", model="lublin", processors=64, jobs=2)
    none = dataclasses.replace(LOOSE, traces=(trace,), loads=("0.01",))
    with pytest.raises(InputError, match=r"wait of spf\+easy over fcfs\+easy at trace 'm'.*number"):
        farm.run(none, tmp_path / "s")


def test_failed_cells_of_a_round_can_be_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without them there is no interval, and the sentence names the option."""
    campaign, whole = wanted(0.45), farm.run(wanted(0.45), tmp_path / "whole")
    right = cell.simulate

    def broken(jobs: Any, policy: Any) -> Any:
        if str(policy).startswith("spf"):
            raise ValueError("broken")
        return right(jobs, policy)

    monkeypatch.setattr(cell, "simulate", broken)
    with pytest.raises(InputError, match="of 0 finished pairs .* with --retry-failed"):
        farm.run(campaign, tmp_path / "s")
    monkeypatch.undo()
    monkeypatch.setattr(rounds, "FIRST", 4)
    with pytest.raises(InputError, match="with --retry-failed"):
        farm.run(campaign, tmp_path / "s")
    assert farm.run(campaign, tmp_path / "s", retry_failed=True).cells == whole.cells
    assert stop_of(tmp_path / "s") == stop_of(tmp_path / "whole")
    assert_same_by_label(tmp_path / "s", tmp_path / "whole")


@pytest.mark.parametrize(
    ("precision", "resamples", "why"),
    [
        ({"metric": "wait", "policy": "spf+easy", "relative": 0.1}, 0, "with resamples = 0"),
        ({"metric": "wait", "policy": "spf+easy", "relative": 0.1}, 1, "with resamples = 1"),
        ({"metric": "wat", "policy": "spf+easy", "relative": 0.1}, 9, "metric 'wat' is unknown"),
        ({"metric": "jobs", "policy": "spf+easy", "relative": 0.1}, 9, "metric 'jobs' is unknown"),
        ({"metric": "wait", "policy": "ljf+easy", "relative": 0.1}, 9, "'ljf\\+easy' is unknown|"),
        ({"metric": "wait", "policy": "fcfs+easy", "relative": 0.1}, 9, "compared with itself"),
        ({"metric": "wait", "policy": "spf+easy", "relative": 0.0}, 9, "relative is 0.0"),
        ({"metric": "wait", "policy": "spf+easy", "relative": float("nan")}, 9, "relative is nan"),
        ({"metric": "wait", "policy": "spf+easy"}, 9, "key 'relative' is missing"),
        ({"metric": "wait", "policy": "spf+easy", "rel": 1}, 9, "unknown key 'rel'"),
        ("wait", 9, "must be a table"),
    ],
)
def test_bad_requests(precision: Any, resamples: int, why: str) -> None:
    with pytest.raises(InputError, match=why):
        dataclasses.replace(LOOSE, precision=precision, resamples=resamples)


def test_a_campaign_reads_what_it_writes(tmp_path: Path) -> None:
    """One table, or several; names are canonical, and the first policy is the default."""
    text = LOOSE.to_toml()
    (tmp_path / "c.toml").write_text(text)
    again = Campaign.from_toml(tmp_path / "c.toml")
    assert again == LOOSE
    assert again.precision[0].over == "fcfs+easy"
    assert "precision" not in dataclasses.replace(LOOSE, precision=()).to_toml()


def test_a_plan__predicts_the_samples_from_a_pilot_or_the_store(tmp_path: Path) -> None:
    surveyed = survey(LOOSE)
    empty = design(tmp_path / "s", surveyed)
    piloted = predict(empty, simulated=True)
    assert piloted.pilot == PILOT
    assert 4 <= piloted.samples <= LOOSE.resamples
    unknown = predict(empty, simulated=False)
    assert (unknown.pilot, unknown.samples) == (0, LOOSE.resamples)
    assert "the most that the campaign runs" in str(unknown)
    farm.run(LOOSE, tmp_path / "s")
    known = predict(design(tmp_path / "s", surveyed), simulated=False)
    assert known.pilot == known.samples == samples(tmp_path / "s")
    assert f"about {known.samples} samples" in str(known)
