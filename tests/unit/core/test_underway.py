"""A simulation that is asked to be left is left between two instants, and shows how far it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from schedfarm.core import Workload, fair_start_times, promises, simulate
from schedfarm.core.engine.cancel import Underway
from schedfarm.core.errors import Left
from schedfarm.core.models.lublin import lublin
from schedfarm.core.own import load, sources
from schedfarm.core.workload.load import scale_load

PATIENCE = 60.0
"""Longest time to wait for a simulation to begin, or to be left, s."""


@pytest.fixture(scope="module")
def overloaded() -> Workload:
    """Jobs whose queue grows to thousands: minutes of simulation under reservations."""
    return scale_load(lublin(128, jobs=60_000, seed=3, index=1), 1.6)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile first: that is nothing to leave."""
    jobs = lublin(128, jobs=20, seed=3, index=1)
    for policy in ("fcfs+conservative", "fcfs+planned", "lxf+conservative"):
        simulate(jobs, policy)
    promises(jobs, "fcfs+conservative")
    fair_start_times(jobs, "lxf+conservative")
    fair_start_times(jobs, "spf+easy")


LONG: dict[str, Callable[[Workload], object]] = {
    "conservative": lambda jobs: simulate(jobs, "fcfs+conservative"),
    "planned": lambda jobs: simulate(jobs, "fcfs+planned"),
    "moving": lambda jobs: simulate(jobs, "lxf+conservative"),
    "promises": lambda jobs: promises(jobs, "fcfs+conservative"),
    "fair starts": lambda jobs: fair_start_times(jobs, "lxf+conservative"),
    "fair starts, fixed": lambda jobs: fair_start_times(jobs, "spf+easy"),
}


@pytest.mark.parametrize("name", LONG)
def test_asked_from_another_thread__is_left(overloaded: Workload, name: str) -> None:
    """While the kernel runs another thread reads how many jobs have started, and ends it."""
    under, ended = Underway(), threading.Event()

    def call() -> None:
        with under, pytest.raises(Left):
            LONG[name](overloaded)
        ended.set()

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    end = time.monotonic() + PATIENCE
    while under.share == 0 and time.monotonic() < end:
        time.sleep(0.01)
    share = under.share
    under.leave()
    assert ended.wait(PATIENCE)
    assert 0 < share < 1


@pytest.mark.parametrize("policy", ["spf+easy", "lxf+easy", "fcfs+conservative", "fcfs+planned"])
def test_asked_before__nothing_starts(policy: str) -> None:
    """The wish stays for all simulations that come."""
    under = Underway()
    under.leave()
    with under, pytest.raises(Left):
        simulate(lublin(64, jobs=30), policy)
    assert under.share == 0


LEAVING = """
from schedfarm.core.engine.cancel import underway

calls = []

def age(now, submit):
    calls.append(now)
    if len(calls) == 3:
        underway().leave()
    return submit - now
"""


@pytest.mark.parametrize("rule", ["easy", "conservative", "planned,walk=queue"])
def test_left_between_two_passes_of_a_users_order(rule: str) -> None:
    """An order in plain Python is called no more once its simulation is to be left."""
    jobs = scale_load(lublin(64, jobs=300), 1.5)
    with sources({"mine": LEAVING}):
        calls: Any = load("mine:calls")
        calls.clear()
        with Underway(), pytest.raises(Left):
            simulate(jobs, f"mine:age+{rule}")
        # Of one instant the walk and the pass may ask.
        assert 3 <= len(calls) <= 4


def test_followed_or_not__same_bits() -> None:
    """Who looks on changes nothing."""
    jobs = scale_load(lublin(64, jobs=500), 1.1)
    for policy in ("fcfs+none", "spf+easy", "lxf+easy", "fcfs+conservative", "fcfs+planned"):
        with Underway() as under:
            followed = simulate(jobs, policy)
        assert under.share == 1
        assert followed.digest() == simulate(jobs, policy).digest()
