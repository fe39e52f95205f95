"""The compiled `planned` and the reference that was written by its text alone, case by case."""

from __future__ import annotations

from tests.core.compare_planned import compare


def test_they_agree() -> None:
    """Starts, flags and promises of random tiny workloads, and fair starts of one in ten."""
    assert compare(400, seed=1, fair=0.1) == {}
