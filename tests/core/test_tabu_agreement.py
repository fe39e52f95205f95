"""The compiled searches of plans and the reference, case by case."""

from __future__ import annotations

from functools import partial

import pytest

from tests.core.compare_tabu import draw
from tests.core.reference_cases import compare


@pytest.mark.parametrize("grid", [False, True], ids=["pool", "grid"])
def test_searched_plans(grid: bool) -> None:
    """Starts, flags, clusters and promises of random tiny workloads with all options."""
    assert compare(400, 1, partial(draw, grid=grid)) == []
