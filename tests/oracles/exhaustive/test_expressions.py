"""Fair starts under orders that are formulas."""

from __future__ import annotations

import numba
import numpy as np

from schedfarm.core import fair_start_times
from tests.support.strategies import crowd


def test_a_formula_of_a_built_in_order_gives_its_fair_starts() -> None:
    """The clones have columns and keys of their own."""
    work = crowd(6, 30 if numba.config.DISABLE_JIT else 120)
    formula = "((submit - now) / max(estimate, 1))"
    for kind in ("strict", "relaxed"):
        found, expected = (
            fair_start_times(work, f"{order}+easy", kind=kind) for order in (formula, "lxf")
        )
        np.testing.assert_array_equal(found, expected)
