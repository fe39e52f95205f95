"""Users, widths and promises in a store: labelled, and equal to what the cell's jobs say by hand.

Also what a stored cell is good for: to be audited, and to be written as a log.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from schedfarm import farm
from schedfarm.core import (
    Schedule,
    Workload,
    promises,
    read_swf,
    resample_users,
    resample_weekly,
    scale_load,
    simulate,
    write_swf,
)
from schedfarm.core.audit import audit
from schedfarm.core.metrics.widths import WIDTHS
from schedfarm.core.metrics.window import window_of
from schedfarm.core.models.lublin import lublin
from schedfarm.core.policy.rules import RULES
from schedfarm.core.workload.resample_users import origin_user
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.store.reading import schedule_of
from tests.support.growing import counts

POLICIES = ("fcfs+easy", "saf+conservative", "fcfs+planned")
LOADS = ("original", "0.9")
UPPER = (1, 2, 4, 8, 16, 32, 64, 128, np.inf)
"""Largest job of each width class."""

USERS = {"log": [3, 4, 17, 40, 41, 300], "model": [1, 2, 3]}
"""Users of each trace."""

OF_POOLS = [name for name, row in RULES.items() if "pool" in row.platforms and not row.of_log]
"""Rules that simulate a pool."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log whose users have numbers with gaps; of some jobs nobody knows the user."""
    path = tmp_path_factory.mktemp("log") / "small.swf"
    drawn = lublin(64, weeks=2, seed=5, users=6)
    user = np.array([-1, 3, 4, 17, 40, 41, 300])[drawn.user]
    user[::9] = -1
    write_swf(dataclasses.replace(drawn, user=user), path)
    return path


@pytest.fixture(scope="module", params=["replace", "users"])
def draw(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=[0, 0.2], ids=["whole", "warm-up"])
def stored(
    request: pytest.FixtureRequest, draw: str, log: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    campaign = Campaign(
        name="users",
        traces=(
            Trace(name="log", file=str(log), jobs=150),
            Trace(name="model", model="lublin", processors=32, jobs=70, parameters={"users": 3}),
        ),
        policies=POLICIES,
        loads=LOADS,
        resamples=2,
        seed=11,
        draw=draw,
        warmup=request.param,
        cooldown=bool(request.param),
        fairness=("promise",),
    )
    path = tmp_path_factory.mktemp("store") / "users.farm"
    assert counts(farm.run(campaign, path)) == (48, 0, 48, 0)
    return path


def jobs_of(trace: str, log: Path, draw: str, load: str) -> tuple[Workload, Any]:
    """Return the jobs of resample 2, and the user of the trace that each is of."""
    if trace == "model":
        jobs = lublin(32, jobs=70, seed=11, index=2, users=3)
        user = jobs.user
    else:
        whole = read_swf(log, jobs=150)
        draws = {"replace": resample_weekly, "users": resample_users}
        jobs = draws[draw](whole, seed=11, index=2)
        user = origin_user(jobs.user, whole) if draw == "users" else jobs.user
    return (jobs if load == "original" else scale_load(jobs, float(load))), user


def test_users_and_widths_are_those_of_the_cell(stored: Path, log: Path, draw: str) -> None:
    """Every number of every user and width, added up one job after the other."""
    settings = farm.Store.open(stored).settings
    with farm.open(stored) as tree:
        for trace in ("log", "model"):
            group = tree[trace].to_dataset().load()
            assert group["user"].values.tolist() == USERS[trace]
            for load, policy in product(LOADS, POLICIES):
                jobs, user = jobs_of(trace, log, draw, load)
                cell = group.sel(resample=2, load=load, policy=policy)
                assert_adds_up(cell, simulate(jobs, policy), user, settings)


def assert_adds_up(
    cell: xr.Dataset, schedule: Schedule, user: Any, settings: Mapping[str, Any]
) -> None:
    """Hold what a store has of users and widths against sums over a schedule's jobs."""
    jobs = schedule.workload
    counts = window_of(schedule, settings.get("warmup", 0), settings.get("cooldown", False)).counts
    kept = np.ones(len(jobs), bool) if counts is None else counts
    assert kept.all() == ("warmup" not in settings)
    for label in cell["user"].values.tolist():
        mine, one = kept & (user == label), cell.sel(user=label)
        wait = int(schedule.wait[mine].sum())
        work = int((jobs.run[mine] * jobs.procs[mine]).sum())
        assert (int(one["user_jobs"]), int(one["user_work"])) == (mine.sum(), work)
        np.testing.assert_equal(float(one["user_nuwt"]), wait / work if work else np.nan)
    assert cell["width"].values.tolist() == list(WIDTHS)
    lower = (0, *UPPER[:-1])
    for label, least, most in zip(WIDTHS, lower, UPPER, strict=True):
        mine, one = kept & (jobs.procs > least) & (jobs.procs <= most), cell.sel(width=label)
        assert int(one["width_jobs"]) == mine.sum()
        mean = schedule.wait[mine].sum() / mine.sum() if mine.any() else np.nan
        np.testing.assert_equal(float(one["width_wait"]), mean)
    n = len(jobs)
    np.testing.assert_array_equal(cell["job_user"][:n], jobs.user)
    np.testing.assert_array_equal(cell["killed"][:n], schedule.killed)
    assert int(cell["max_estimate"]) == jobs.max_estimate


def test_promises_are_those_of_core(stored: Path, log: Path, draw: str) -> None:
    """Each job's promised start and the lateness against it; none without a rule's promise."""
    with farm.open(stored) as tree:
        figures = tree.to_dataset().load()
        for trace in ("log", "model"):
            jobs, _ = jobs_of(trace, log, draw, "0.9")
            group = tree[trace].to_dataset().load()
            for policy in POLICIES:
                promised, start = promises(jobs, policy), simulate(jobs, policy).start
                late = np.where(promised < 0, 0, np.maximum(start - promised, 0))
                at: dict[str, Any] = {"resample": 2, "load": "0.9", "policy": policy}
                cell, figure = group.sel(at), figures.sel(trace=trace, **at)
                np.testing.assert_array_equal(cell["promised"][: len(jobs)], promised)
                assert (cell["promised"][len(jobs) :] == -1).all()
                assert float(figure["unfairness_promise"]) == late.sum() / len(jobs)
                assert float(figure["unfair_share_promise"]) == (late > 0).sum() / len(jobs)
                assert (promised < 0).all() == (RULES[policy.partition("+")[2]].promise is None)


def test_a_log_of_unknown_users__has_no_users(tmp_path: Path) -> None:
    """Its group has no dimension of that name, and is whole otherwise."""
    drawn = lublin(16, jobs=40, seed=5)
    unknown = dataclasses.replace(drawn, user=np.full(len(drawn), -1))
    write_swf(unknown, tmp_path / "a.swf")
    campaign = Campaign(
        name="nobody",
        traces=(Trace(file=str(tmp_path / "a.swf")),),
        policies=("fcfs+easy",),
        log=True,
    )
    assert counts(farm.run(campaign, tmp_path / "s")) == (1, 0, 1, 0)
    with farm.open(tmp_path / "s") as tree:
        assert "user" not in tree["a"].dims
        assert not [name for name in tree["a"].data_vars if "user" in str(name)[:5]]
        assert int(tree["users"].squeeze()) == 0
        assert int(tree["a"]["width_jobs"].sum()) == 40


@pytest.fixture(scope="module")
def every_rule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of every rule that simulates, under several orders, on a model and on a log."""
    folder = tmp_path_factory.mktemp("rules")
    write_swf(lublin(32, jobs=60, seed=2, users=3), folder / "a.swf")
    rules = [name.replace("(K)", "(2)") for name in OF_POOLS]
    by_arrival = ("planned", "tabu")
    orders = {rule: ("fcfs",) if rule in by_arrival else ("fcfs", "saf", "wfp3") for rule in rules}
    campaign = Campaign(
        name="rules",
        traces=(
            Trace(name="model", model="lublin", processors=32, jobs=60),
            Trace(name="log", file=str(folder / "a.swf")),
        ),
        policies=tuple(f"{order}+{rule}" for rule in rules for order in orders[rule]),
        loads=("original", "1.1"),
        resamples=1,
    )
    assert farm.run(campaign, folder / "s").failed == 0
    return folder / "s"


@pytest.mark.parametrize("trace", ["model", "log"])
@pytest.mark.parametrize("load", ["original", "1.1"])
def test_every_stored_schedule_stands_an_audit(every_rule: Path, trace: str, load: str) -> None:
    """A stored cell is a schedule of its own policy; with one start moved it is not."""
    policies = farm.Store.open(every_rule).axes["policy"]
    assert {p.partition("+")[2].partition("(")[0] for p in policies} == {
        rule.partition("(")[0] for rule in OF_POOLS
    }
    for policy in policies:
        cell = schedule_of(every_rule, trace=trace, policy=policy, resample=1, load=load)
        verdict = audit(cell, policy)
        assert verdict.ok, verdict.why
        if policy not in verdict.checked:
            # What a search drew is in no schedule.
            assert policy == "fcfs+tabu"
            continue
        later = cell.start.copy()
        later[-1] += 1_000_000
        assert not audit(dataclasses.replace(cell, start=later), policy).ok


def test_a_stored_schedule_is_whole(every_rule: Path, tmp_path: Path) -> None:
    """It is core's, column for column; written as a log it is the same jobs with their waits."""
    at: dict[str, Any] = {"trace": "model", "policy": "saf+easy", "resample": 1, "load": "1.1"}
    cell = schedule_of(every_rule, **at)
    expected = simulate(scale_load(lublin(32, jobs=60, seed=0, index=1), 1.1), "saf+easy")
    assert isinstance(cell, Schedule)
    assert cell.policy == "saf+easy"
    assert cell.workload.digest() == expected.workload.digest()
    assert cell.workload.platform == expected.workload.platform
    assert cell.workload.max_estimate == expected.workload.max_estimate
    for column in ("start", "backfilled", "wait", "end", "killed"):
        np.testing.assert_array_equal(getattr(cell, column), getattr(expected, column), strict=True)
    for schedule, name in ((cell, "stored.swf"), (expected, "core.swf")):
        renamed = dataclasses.replace(schedule.workload, name="cell")
        write_swf(renamed, tmp_path / name, dataclasses.replace(schedule, workload=renamed))
    assert (tmp_path / "stored.swf").read_bytes() == (tmp_path / "core.swf").read_bytes()
    back = read_swf(tmp_path / "stored.swf")
    for column in ("submit", "run", "estimate", "procs", "user"):
        np.testing.assert_array_equal(getattr(back, column), getattr(cell.workload, column))
