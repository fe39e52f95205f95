"""The selection of jobs for a shelf on more random instances."""

from __future__ import annotations

from tests.support.shelf_choices import hold_best, hold_budgets


def test_selection__is_the_best_of_all_subsets() -> None:
    """Worth and ties, on 6,000 instances."""
    hold_best(range(6000))


def test_budget__is_the_number_of_ways() -> None:
    """A search of as many ways ends, one of one less is given up, on 1,500 instances."""
    hold_budgets(range(1500))
