"""Splits of jobs over two and over four clusters against all possible ones."""

from __future__ import annotations

import pytest

from tests.unit.core.test_network_split import try_splits


@pytest.mark.parametrize(("clusters", "most"), [(2, 10), (4, 4)])
def test_split__is_the_best_of_all(clusters: int, most: int) -> None:
    try_splits(clusters, most)
