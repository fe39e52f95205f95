"""Stores that grow along each axis while they learn metrics that the program has gained."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.learning import LONGER, assert_grows_and_learns, learn, learner
from tests.support.made import MadeStores


@pytest.mark.parametrize("axis", [*LONGER, "traces"])
def test_a_metric_of_the_program__reaches_a_store_that_grows(
    made_store: MadeStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, axis: str
) -> None:
    """New cells and what the old ones lack come with one run."""
    campaign = learner(made_store)
    made_store.copy(campaign, tmp_path / "s")
    learn(monkeypatch)
    assert_grows_and_learns(campaign, tmp_path, axis)
