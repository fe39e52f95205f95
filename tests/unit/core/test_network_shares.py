"""Shares of links, and how fast jobs are with them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from schedfarm.core.engine.jit import NEVER
from schedfarm.core.machines.network.kernels.spread import (
    WHOLE,
    Spread,
    nobody_spread,
    put,
    rate_of,
    reshare,
    share_links,
)

TINY = 1e-12


def running(links: list[int], *demands: list[int]) -> Spread:
    """Let jobs run that ask this of the links."""
    spread = nobody_spread(len(demands), len(demands), np.array(links, np.int64))
    for j, asked in enumerate(demands):
        s = put(spread, j, 0, 100, 200)
        spread.demand[s] = asked
        spread.parts[j] = np.array(asked) > 0
    return spread


def shares(links: list[int], *demands: list[int]) -> list[float]:
    """Return the share that each job gets."""
    spread = running(links, *demands)
    share_links(spread)
    return spread.share[spread.line[: spread.count[0]]].tolist()


def exact_shares(links: list[int], demands: list[list[int]]) -> list[Fraction]:
    """Let all shares rise together, in fractions, each until one of its links is full."""
    share: dict[int, Fraction] = {}
    while True:
        open_jobs = [j for j in range(len(demands)) if j not in share]
        levels = {}
        for i, capacity in enumerate(links):
            asked = sum(demands[j][i] for j in open_jobs)
            used = sum(share[j] * demands[j][i] for j in share)
            if asked > 0 and capacity < NEVER:
                levels[i] = (capacity - used) / Fraction(asked)
        least = min(levels.values(), default=Fraction(1))
        if least >= 1:
            return [share.get(j, Fraction(1)) for j in range(len(demands))]
        full = [i for i, level in levels.items() if level == least]
        share |= {j: least for j in open_jobs if any(demands[j][i] > 0 for i in full)}


def test_one_full_link__is_shared_alike() -> None:
    """Two ask for 20 of 10: half each."""
    assert shares([10, 100], [10, 10], [10, 10]) == [0.5, 0.5]


def test_all_on_the_same_two_clusters__get_what_the_narrower_link_has() -> None:
    """Five jobs ask 5 x 70 of 100 and of 140: each has 100 / 350."""
    found = shares([140, 100], *[[70, 70]] * 5)
    assert found == pytest.approx([100 / 350] * 5, abs=TINY)


def test_who_is_held_up_elsewhere__leaves_room() -> None:
    """The first link is full at 1/2; what its users leave of the second is for the third job."""
    found = shares([10, 40], [10, 10], [10, 0], [0, 60])
    assert found == pytest.approx([0.5, 0.5, 35 / 60], abs=TINY)


def test_three_levels__rise_one_after_the_other() -> None:
    """1/5, then 3/7, then all: a chain of three links."""
    found = shares([10, 20, 60], [50, 20, 0], [0, 35, 10], [0, 0, 40])
    assert found == pytest.approx([1 / 5, 16 / 35, 1.0], abs=TINY)


def test_nothing_full__and_no_limit() -> None:
    """Whoever fits gets all, also what it asks of a link without limit."""
    assert shares([20, 10], [10, 5], [10, 5]) == [1.0, 1.0]
    assert shares([NEVER, NEVER], [2**50, 2**50]) == [1.0]


def test_shares__are_max_min() -> None:
    """Against exact water that rises, on jobs that ask anything of four links."""
    draw = np.random.default_rng(18)
    for _ in range(300):
        links = draw.choice([5, 30, 100, 1000, NEVER], 4).tolist()
        many = int(draw.integers(1, 7))
        demands = (draw.integers(0, 90, (many, 4)) * (draw.random((many, 4)) < 0.6)).tolist()
        found = shares(links, *demands)
        assert found == pytest.approx([float(x) for x in exact_shares(links, demands)], abs=TINY)


def test_rate__stretches_communication_alone() -> None:
    """At half its share a job of 30 % communication takes 1.3 times as long."""
    assert rate_of(300, 0.5) == -(-WHOLE * 1000 // 1300)
    assert rate_of(0, 0.01) == rate_of(1000, 1.0) == WHOLE
    assert rate_of(1000, 2.0**-30) == 1
    assert rate_of(1000, 2.0**-31) == 1


def test_ends__slide_and_come_back() -> None:
    """A job that is alone again after a second has lost half of that second's work."""
    spread = running([10], [10], [10])
    communication, slid = np.full(2, 1000, np.int64), np.zeros(1, np.int64)
    reshare(spread, communication, 0, slid)
    first = spread.line[0]
    assert slid.tolist() == [1]
    assert (spread.state[first].end, spread.state[first].predicted) == (200, 400)
    spread.count[0] = 1
    slid[0] = 0
    reshare(spread, communication, 1, slid)
    # 99.5 s of work are left: the end is the first whole second by which all is done.
    assert (spread.state[first].end, spread.state[first].predicted) == (101, 201)
    slid[0] = 0
    reshare(spread, communication, 50, slid)
    assert slid.tolist() == [0]
    assert (spread.state[first].end, spread.state[first].predicted) == (101, 201)
