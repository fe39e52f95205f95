"""How jobs are split over clusters: against all splits, and meshes against their pairs."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil

import numpy as np

from schedfarm.core.engine.jit import NEVER
from schedfarm.core.machines.network.kernels.split import demand, empty_split, find_split, row_of

Ask = tuple[int, int, int]
"""Processors, bandwidth and the part that goes to all, in thousandths."""


@cache
def asked_of(ask: Ask, a: int, k: int) -> int:
    """Return what processors a to a + k - 1 ask of their link, pair by pair."""
    n, bandwidth, alltoall = ask
    w = next(w for w in range(1, n + 1) if w * w >= n)
    pairs = [(i, i + 1) for i in range(n - 1) if (i + 1) % w] + [(i, i + w) for i in range(n - w)]
    cut = sum((a <= i < a + k) != (a <= j < a + k) for i, j in pairs)
    each = Fraction(alltoall * k * (n - k), n - 1) + Fraction((1000 - alltoall) * cut, 4)
    return ceil(bandwidth * each / 1000)


def best_split(ask: Ask, room: list[int], spare: list[int]) -> tuple[int, ...] | None:
    """Return the split that the text names, of all that there are."""
    ways = []
    for parts in product(*(range(most + 1) for most in room)):
        begins = np.cumsum([0, *parts])
        if sum(parts) == ask[0] and all(
            k == 0 or asked_of(ask, int(a), k) <= left
            for a, k, left in zip(begins[:-1], parts, spare, strict=True)
        ):
            ways.append(parts)
    return min(ways, key=lambda p: (sum(k > 0 for k in p), [-k for k in p]), default=None)


def test_demand__is_that_of_the_pairs_that_are_cut() -> None:
    """Every part of every job up to 25 processors, of three patterns."""
    for n in range(2, 26):
        for a in range(n):
            for k in range(1, min(n - a, n - 1) + 1):
                for alltoall in (0, 370, 1000):
                    found = demand(n, row_of(n), a, k, 7, alltoall)
                    assert found == asked_of((n, 7, alltoall), a, k), (n, a, k, alltoall)


def test_demand__of_the_widest_that_a_network_admits() -> None:
    """Nothing overflows just below the bound of bandwidth x procs^2."""
    for n in (2, 1000, 2**20):
        bandwidth = (2**51 - 1) // n**2
        for alltoall in (0, 1000):
            found = demand(n, row_of(n), n // 3, n // 2, bandwidth, alltoall)
            k, w = n // 2, row_of(n)
            if alltoall:
                assert found == ceil(Fraction(bandwidth * k * (n - k), n - 1))
            else:
                assert 0 < found <= bandwidth * (2 * w + 2) / 4 + 1


def test_split__is_the_best_of_all() -> None:
    try_splits(3, 6)


def try_splits(clusters: int, most: int) -> None:
    """Links that refuse some splits, or all, and rooms that leave much choice, or none."""
    draw = np.random.default_rng(clusters)
    split, refused, moved = empty_split(clusters, clusters * most), 0, 0
    for _ in range(1500):
        room = draw.integers(0, most + 1, clusters).tolist()
        if sum(room) <= max(room):
            continue
        n = int(draw.integers(max(room) + 1, sum(room) + 1))
        ask = (n, int(draw.integers(0, 9)), int(draw.choice([0, 0, 250, 1000])))
        spare = draw.choice([1, 4, 8, 12, 20, NEVER], clusters).tolist()
        split.room[:], split.spare[:] = room, spare
        found = tuple(split.take.tolist()) if find_split(split, *ask) else None
        assert found == best_split(ask, room, spare), (ask, room, spare)
        refused += found is None
        moved += found is not None and found != best_split(ask, room, [NEVER] * clusters)
    assert refused > 100
    assert moved > 20


def test_split__prefers_few_clusters_then_the_first() -> None:
    """Three clusters would do from the first on; two do without it."""
    split = empty_split(4, 20)
    split.room[:], split.spare[:] = [3, 3, 5, 5], [NEVER] * 4
    assert find_split(split, 9, 1000, 0)
    assert split.take.tolist() == [0, 0, 5, 4]
    assert find_split(split, 8, 1000, 0)
    assert split.take.tolist() == [3, 0, 5, 0]
