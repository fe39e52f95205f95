"""The selection of jobs for a shelf, against all subsets on all nodes."""

from __future__ import annotations

import os

import numpy as np

from schedfarm.core.machines.nodes.selection import Wish, select
from tests.support.shelf_choices import hold_best, hold_budgets

CASES = 50 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 1000
"""Random shelves."""


def test_selection__is_the_best_of_all_subsets() -> None:
    """Worth and ties, on hundreds of instances."""
    hold_best(range(CASES))


def test_budget__is_the_number_of_ways() -> None:
    """A search of as many ways ends, one of one less is given up."""
    hold_budgets(range(CASES))


def test_selection__grows_with_what_it_finds() -> None:
    """Thousands of states in many classes: more than there is room for at first."""
    draw = np.random.default_rng(5)
    members = np.concatenate((np.ones((1, 24), np.bool_), draw.random((4, 24)) < 0.7))
    count = 9
    wish = Wish(
        draw.integers(0, 5, count),
        draw.integers(1, 9, count),
        draw.integers(1, 3, count),
        draw.integers(1, 9, count),
        np.arange(count),
    )
    room = draw.integers(0, 3, 24)
    chosen, given_up = select(members, room, wish, 3 * 10**6)
    greedy, _ = select(members, room, wish, 0)
    assert not given_up
    assert wish.worth[chosen].sum() >= wish.worth[greedy].sum()
