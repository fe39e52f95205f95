"""Formulas of built-in orders: those of the how-to page, and their fair starts."""

from __future__ import annotations

import re

import numba
import numpy as np

from schedfarm.core import fair_start_times, simulate
from tests.support.paths import DOCS
from tests.support.strategies import crowd

ROW = re.compile(r"^\| `(\w+)` \| `(\(.+\))` \|", re.M)
"""An order and its formula in the table of the page."""


def test_the_formulas_of_the_page_give_the_starts_of_their_orders() -> None:
    """Otherwise their times would not be comparable."""
    page = (DOCS / "howto" / "own-order.md").read_text(encoding="utf-8")
    work = crowd(5, 60 if numba.config.DISABLE_JIT else 400)
    rows = ROW.findall(page)
    assert len(rows) == 6
    for order, formula in rows:
        found, expected = (simulate(work, f"{name}+easy").start for name in (formula, order))
        np.testing.assert_array_equal(found, expected, err_msg=order)


def test_a_formula_of_a_built_in_order_gives_its_fair_starts() -> None:
    """The clones have columns and keys of their own."""
    work = crowd(6, 30 if numba.config.DISABLE_JIT else 120)
    formula = "((submit - now) / max(estimate, 1))"
    for kind in ("strict", "relaxed"):
        found, expected = (
            fair_start_times(work, f"{order}+easy", kind=kind) for order in (formula, "lxf")
        )
        np.testing.assert_array_equal(found, expected)
