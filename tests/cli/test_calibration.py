"""What `farm plan` says a campaign costs: measured, by a few seconds of it."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

from schedfarm.core import Workload, simulate
from schedfarm.core.arrays import Int64
from schedfarm.core.policy.cost import Rate
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.run import run
from schedfarm.farm.planning.calibration import (
    SHARE,
    Calibration,
    Kind,
    _Budget,
    _difference,
    _jobs,
    _measured,
    _queue,
    _weight,
    calibrate,
)
from schedfarm.farm.planning.cost import cell_seconds, rate_of
from schedfarm.farm.planning.design import design
from schedfarm.farm.planning.run_cost import STORE_BYTES
from schedfarm.farm.planning.survey import survey
from schedfarm.farm.planning.tasks import block_costs, missing_blocks
from tests.support.command_line import Farm

TOML = """name = "c"
policies = ["fcfs+easy", "spf+easy", "fcfs+conservative"]
loads = [0.7, 1.3]
resamples = 3
[[traces]]
name = "m"
model = "lublin"
processors = 64
jobs = {jobs}
"""
KINDS = 2 * 3
"""Of loads and rates: spf costs as fcfs under easy."""


def campaign(folder: Path, jobs: int = 400) -> Campaign:
    (folder / "c.toml").write_text(TOML.format(jobs=jobs))
    return Campaign.from_toml(folder / "c.toml")


def test_short_cells__are_measured_to_their_end(tmp_path: Path) -> None:
    """Each kind has a factor, and blocks cost what the plan says times that."""
    designed = design(tmp_path / "c.farm", survey(campaign(tmp_path)))
    store, blocks = designed.store, missing_blocks(designed.store, {}, retry_failed=False)
    found = calibrate(designed, blocks)
    assert found.whole == found.kinds == len(found.factors) == 4
    assert "4 to the end" in str(found)
    twice = Calibration(dict.fromkeys(found.factors, 2.0), 4, 4, 1.0)
    planned = block_costs(store, blocks)
    for block, cost in twice.costs(store, blocks).items():
        assert cost == pytest.approx((2 if block.product.policies else 1) * planned[block])


def test_a_long_cell__is_left_and_follows_from_its_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time is that of the jobs which arrived, and as much for the queues that the others find.

    The jobs up to the last start have arrived.
    """
    designed = design(tmp_path / "c.farm", survey(campaign(tmp_path, 6_000)))
    jobs = _jobs(designed, ("m", False, "1.3"))
    assert jobs is not None
    queue = _queue(jobs)
    assert queue.max() > 100
    start = simulate(jobs, "fcfs+conservative").start.copy()
    start[start > jobs.submit[1_000]] = -1
    arrived = int(np.searchsorted(jobs.submit, start.max(), side="right"))
    left = {"seconds": 0.0}

    def run(given: Workload, policy: str, seconds: float) -> tuple[float, Int64, bool]:
        left["seconds"] = seconds
        return 2.0, start, False

    monkeypatch.setattr("schedfarm.farm.planning.calibration._run", run)
    took, ended = _measured(jobs, "fcfs+conservative", queue, 0.5)
    weight = _weight("fcfs+conservative", queue)
    assert (ended, left["seconds"]) == (False, 0.5)
    assert 900 < arrived < 1_002
    assert took == pytest.approx(2.0 * weight.sum() / weight[:arrived].sum())
    # The first jobs find shorter queues than most.
    assert took > 2.0 * len(jobs) / arrived


def test_what_is_not_measured__goes_by_what_is_most_alike(tmp_path: Path) -> None:
    """The nearest load of the same rule; without anything measured, the plan."""
    easy, reserving = rate_of("fcfs+easy"), rate_of("fcfs+conservative")
    factors = {
        ("m", False, "0.7", easy): 2.0,
        ("m", False, "0.7", reserving): 5.0,
        ("m", False, "1.1", reserving): 50.0,
        ("n", False, "0.9", reserving): 7.0,
    }
    found = Calibration(factors, 4, 9, 1.0)
    assert found.factor(("m", False, "1.0", reserving)) == 50.0
    assert found.factor(("m", True, "0.7", reserving)) == 5.0
    assert found.factor(("m", False, "1.1", easy)) == 2.0
    assert found.factor(("o", False, "0.8", reserving)) in (5.0, 7.0)
    assert Calibration({}, 0, 3, 0.0).factor(("m", False, "0.7", easy)) == 1.0


def test_a_kind_that_was_not_measured__has_the_factor_of_the_most_alike() -> None:
    """Of hundreds of loads it is the one that a look at all of them finds."""
    draw, rates = random.Random(0), [Rate(1.0, 1.0), Rate(1.0, 2.0), Rate(1.0, 3.0)]

    def kind() -> Kind:
        load = f"{draw.randrange(20, 130) / 100}"
        return draw.choice("mno"), draw.random() < 0.5, load, draw.choice(rates)

    for measured in (1, 2, 5, 60):
        factors = {kind(): draw.random() for _ in range(measured)}
        calibration = Calibration(factors, measured, 999, 1.0)
        for asked in (kind() for _ in range(200)):
            least = min(_difference(one, asked) for one in factors)
            best = [x for one, x in factors.items() if _difference(one, asked) == least]
            assert calibration.factor(asked) in best


def test_no_time_at_all__is_the_plan(tmp_path: Path) -> None:
    """What was not measured is said to be so."""
    designed = design(tmp_path / "c.farm", survey(campaign(tmp_path)))
    blocks = missing_blocks(designed.store, {}, retry_failed=False)
    found = calibrate(designed, blocks, seconds=0.0)
    assert found.factors == {}
    assert "4 estimated from the others" in str(found)
    assert found.costs(designed.store, blocks) == pytest.approx(block_costs(designed.store, blocks))


def test_own_orders_and_rules__do_not_stop_a_probe(tmp_path: Path) -> None:
    """An order of plain Python is measured; a rule of one's own could not be left."""
    (tmp_path / "mine.py").write_text("def age(now, submit):\n    return submit - now\n")
    (tmp_path / "c.toml").write_text(TOML.format(jobs=100).replace('"spf+easy"', '"mine:age+easy"'))
    designed = design(tmp_path / "c.farm", survey(Campaign.from_toml(tmp_path / "c.toml")))
    found = calibrate(designed, missing_blocks(designed.store, {}, retry_failed=False))
    assert found.kinds == KINDS
    assert all(math.isfinite(f) and f > 0 for f in found.factors.values())


def test_plan__says_what_it_measured(farm: Farm, tmp_path: Path) -> None:
    """In text and JSON; without a probe, that nothing was measured."""
    campaign(tmp_path)
    given = ("plan", tmp_path / "c.toml", "--store", tmp_path / "c.farm")
    assert "CPU time as measured here in" in farm(*given).output
    facts = json.loads(farm(*given, "--no-probe", "--json").stdout)
    assert facts["notes"] == ["CPU time by the planner's rates, on one slow core; not measured"]
    cells = [
        cell_seconds(400, policy, load)
        for policy in ("fcfs+easy", "spf+easy", "fcfs+conservative")
        for load in ("0.7", "1.3")
    ]
    assert facts["cpu_time_s"] == pytest.approx(3 * sum(cells), abs=0.06)
    assert not (tmp_path / "c.farm").exists()


def test_a_log_longer_than_its_samples__is_noted(farm: Farm, tmp_path: Path) -> None:
    """`weeks` shortens the samples alone; the note names the key that shortens the log."""
    log = tmp_path / "k.swf"
    rows = [
        f"{i + 1} {i * 40_000} 0 600 2 -1 -1 2 900 -1 1 {i % 5 + 1} 1 1 1 1 -1 -1"
        for i in range(200)
    ]
    log.write_text("; MaxProcs: 8\n" + "\n".join(rows) + "\n")
    trace = Trace(name="k", file=str(log), weeks=4)
    wanted = Campaign(name="c", traces=(trace,), policies=("fcfs+easy",), resamples=2, log=True)
    (tmp_path / "c.toml").write_text(wanted.to_toml())
    note = "k: resample 0 is all 14 weeks of the log, its samples have 4; select.weeks = [0, 4]"
    assert note in farm("plan", tmp_path / "c.toml", "--no-probe").output
    run(wanted, tmp_path / "s")
    assert note in farm("run", tmp_path / "c.toml", "--store", tmp_path / "s").stderr


def test_plan__says_what_the_run_takes(farm: Farm, tmp_path: Path) -> None:
    """Wall time for so many workers, memory and disk, in units that people read."""
    campaign(tmp_path)
    given = ("plan", tmp_path / "c.toml", "--store", tmp_path / "c.farm", "--no-probe")
    facts = {n: json.loads(farm(*given, "--workers", n, "--json").stdout) for n in (1, 2)}
    assert [facts[n]["workers"] for n in (1, 2)] == [1, 2]
    assert facts[1]["run_cpu_time_s"] < facts[2]["run_cpu_time_s"]
    assert facts[1]["memory_bytes"] < facts[2]["memory_bytes"]
    assert facts[2]["cpu_time_s"] < facts[2]["wall_time_s"] < facts[2]["run_cpu_time_s"]
    assert facts[2]["disk_bytes"] < facts[2]["bytes"] + STORE_BYTES
    lines = farm(*given, "--workers", 2).stdout.splitlines()
    (wall,) = [line for line in lines if line.startswith("wall time ")]
    assert wall.endswith(" s with 2 workers")
    sizes = [line for line in lines if line.startswith(("memory ", "disk "))]
    assert [line.split()[-1] for line in sizes] == ["MB", "MB"]


def test_a_probe_takes_a_share_of_what_the_run_takes() -> None:
    """By what is known at the time: of the plan, of what was measured, and of the time to start."""
    easy, reserving = rate_of("fcfs+easy"), rate_of("fcfs+conservative")
    met = ("m", False, "0.7")
    budget = _Budget({(met, easy): 10.0, (met, reserving): 30.0}, fixed=5.0, most=8.0)
    assert budget.seconds == pytest.approx(SHARE * 45)
    budget.learn(met, reserving, 0.1)
    assert budget.seconds == pytest.approx(SHARE * (5 + 3 + 1))
    budget.learn(met, easy, 30.0)
    assert budget.seconds == 8.0


def test_a_tiny_campaign__is_probed_for_a_share_of_the_start(tmp_path: Path) -> None:
    """Nothing is left to measure once a tenth of it is spent."""
    designed = design(tmp_path / "c.farm", survey(campaign(tmp_path, 6_000)))
    blocks = missing_blocks(designed.store, {}, retry_failed=False)
    assert calibrate(designed, blocks, fixed=0.0).kinds > len(
        calibrate(designed, blocks, fixed=0.0).factors
    )
    assert len(calibrate(designed, blocks).factors) == calibrate(designed, blocks).kinds


def test_what_an_order_in_python_costs__hardly_grows_with_the_queue() -> None:
    """It is the call that costs: 200 waiting jobs make it dearer by a fifth, and a rule by 100."""
    queue = np.array([0.0, 200.0])
    assert _weight("schedfarm.core.policy.functions:wfp3+easy", queue).tolist() == [1.0, 1.2]
    assert _weight("fcfs+easy,backfill=core.policy.functions:wfp3", queue).tolist() == [1.0, 1.2]
    assert _weight("wfp3+easy", queue)[1] > 90
