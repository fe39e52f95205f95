"""Sentences of verdicts that depend on the log itself."""

from __future__ import annotations

import pytest
import xarray as xr

from schedfarm.analysis.compare import compare
from schedfarm.analysis.comparison_warnings import comparison_warnings
from schedfarm.analysis.verdicts import comparison_facts, comparison_latex, verdicts


def verdict_of(log: list[float]) -> str:
    """Return the verdict of three samples with shorter waits under the second policy."""
    waits = [[log], [[100.0, 72.0]], [[40.0, 30.0]], [[60.0, 42.0]]]
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


def test_pairs_mostly_of_one_ratio__the_change_without_interval() -> None:
    """Two of three samples are equal: the verdict says why there is no interval, as does a note."""
    waits = [[[10.0, 10.0]], [[30.0, 30.0]], [[100.0, 86.0]]]
    root = xr.Dataset(
        {"wait": (("resample", "load", "policy"), waits, {"units": "s"})},
        {"resample": [1, 2, 3], "load": ["0.9"], "policy": ["fcfs+easy", "saf+easy"]},
        {"draw": "weeks"},
    )
    tree = xr.DataTree(root.expand_dims(trace=["KTH"]))
    found = compare(tree)
    assert verdicts(found) == [
        "saf+easy: wait 10 % shorter than fcfs+easy (no interval: most pairs have one ratio, "
        "3 pairs)"
    ]
    (said,) = [one for one in comparison_warnings(tree, found) if "one ratio" in one]
    assert said.startswith("wait: most pairs have one ratio, so that the rarer others decide")
    assert found["p"].isnull().all()
    facts = comparison_facts(found)
    reasons = [one["no_interval"] for one in (*facts["cells"], *facts["overall"])]
    assert reasons == ["most pairs have one ratio"] * 2
    assert facts["cells"][0]["ratio_low"] is None
    assert comparison_latex(found).count(" & -- & -- & 3 ") == 1


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([[5.0, 4.0]], "a single pair"),
        ([[0.0, 4.0], [0.0, 3.0]], "a mean is 0 or missing"),
        ([[5.0, 4.0], [9.0, 7.0]], None),
    ],
)
def test_facts__why_there_is_no_interval(pairs: list[list[float]], reason: str | None) -> None:
    root = xr.Dataset(
        {"wait": (("resample", "load", "policy"), [[one] for one in pairs], {"units": "s"})},
        {"resample": range(1, 1 + len(pairs)), "load": ["0.9"], "policy": ["P", "Q"]},
    )
    facts = comparison_facts(compare(xr.DataTree(root.expand_dims(trace=["KTH"]))))
    assert [one["no_interval"] for one in (*facts["cells"], *facts["overall"])] == [reason] * 2
