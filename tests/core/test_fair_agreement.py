"""The compiled orders by what users had and the reference, case by case."""

from __future__ import annotations

from functools import partial

import pytest

from tests.core.compare_fair import draw
from tests.core.reference_cases import compare


@pytest.mark.parametrize("grid", [False, True], ids=["pool", "grid"])
def test_fair_orders(grid: bool) -> None:
    """Starts, flags, clusters and promises of random tiny workloads with every rule."""
    assert compare(400, 1, partial(draw, grid=grid)) == []
