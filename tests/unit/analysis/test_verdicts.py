"""Sentences of verdicts that depend on the log itself."""

from __future__ import annotations

import pytest
import xarray as xr

from schedfarm.analysis.compare import compare
from schedfarm.analysis.verdicts import verdicts


def verdict_of(log: list[float]) -> str:
    """Return the verdict of three samples with shorter waits under the second policy."""
    waits = [[log], [[100.0, 80.0]], [[10.0, 5.0]], [[30.0, 18.0]]]
    root = xr.Dataset(
        {"wait": (("resample", "load", "policy"), waits, {"units": "s"})},
        {"resample": [0, 1, 2, 3], "load": ["0.9"], "policy": ["fcfs+easy", "saf+easy"]},
    )
    (sentence,) = verdicts(compare(xr.DataTree(root.expand_dims(trace=["KTH"]))))
    return sentence


def test_an_opposite_change_in_the_log_is_part_of_the_verdict() -> None:
    assert verdict_of([40.0, 50.0]).endswith("3 pairs); but 25 % longer in the log itself")


@pytest.mark.parametrize("log", [[40.0, 30.0], [40.0, 40.0], [40.0, float("nan")], [0.0, 0.0]])
def test_any_other_log_is_not(log: list[float]) -> None:
    assert verdict_of(log).endswith("3 pairs)")
