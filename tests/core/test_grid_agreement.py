"""The compiled simulator of grids and the reference, case by case."""

from __future__ import annotations

from tests.core.compare_grid import draw
from tests.core.reference_cases import compare


def test_grids() -> None:
    """Starts, flags, clusters and promises of random tiny workloads."""
    assert compare(600, 1, draw) == []
