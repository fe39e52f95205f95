"""Rules of scaling a workload's load by its inter-arrival times."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core import InputError, Workload, offered_load
from schedfarm.core.arrays import HORIZON
from schedfarm.core.workload.load import scale_arrivals, work


def trace(submit: list[int], run: list[int] | None = None) -> Workload:
    run = run or [10] * len(submit)
    return Workload.from_columns(
        submit=submit, run=run, estimate=run, procs=[1] * len(submit), processors=2
    )


def test_halves_round_up() -> None:
    """Since the first submission: 1, 3 and 10 s times 1/2 are 1, 2 and 5 s."""
    w = trace([100, 101, 103, 110], [5, 5, 5, 5])
    assert offered_load(w) == 1.0
    assert scale_arrivals(w, 2.0).submit.tolist() == [100, 101, 102, 105]


def test_nothing_else_changes() -> None:
    """Run times, estimates, order, machine and first submission stay."""
    w = trace([7, 9, 9, 40], [1, 2, 3, 4])
    s = scale_arrivals(w, 0.01)
    for column in ("run", "estimate", "procs", "user", "job", "killed"):
        assert np.array_equal(getattr(s, column), getattr(w, column))
    assert (s.submit[0], s.processors, s.max_estimate) == (7, 2, w.max_estimate)


@settings(max_examples=100, deadline=None)
@given(
    gaps=st.lists(st.integers(0, 10**9), min_size=2, max_size=30),
    load=st.sampled_from([0.1, 0.3, 0.7, 0.9, 1.1]),
)
def test_exact_rational_rounding(gaps: list[int], load: float) -> None:
    """Each submission is the exact product rounded half up, as by fractions of integers."""
    submit = np.cumsum([5, *gaps]).tolist()
    w = trace(submit)
    span = submit[-1] - submit[0]
    if not span:
        return
    factor = Fraction(work(w), w.processors * span) / Fraction(str(load))
    wished = [5 + (2 * (t - 5) * factor.numerator + factor.denominator)
              // (2 * factor.denominator) for t in submit]  # fmt: skip
    if wished[-1] == 5:
        with pytest.raises(InputError, match="at one instant; give a smaller load"):
            scale_arrivals(w, load)
        return
    scaled = scale_arrivals(w, load)
    assert scaled.submit.tolist() == wished
    assert abs(offered_load(scaled) / load - 1) <= 0.5 / (wished[-1] - 5)


@pytest.mark.parametrize(
    ("w", "load", "said"),
    [
        (trace([0, 9]), 0.0, "load=0.0: give a finite number above 0"),
        (trace([0, 9]), float("nan"), "load=nan"),
        (trace([3, 3]), 0.5, "fewer than two submission instants"),
        (trace([]), 0.5, "fewer than two submission instants"),
        (trace([0, 9], [0, 0]), 0.5, "no job has any work"),
        (trace([0, HORIZON // 4]), 1e-30, "the last submission of workload"),
    ],
)
def test_bad_input_is_refused(w: Workload, load: float, said: str) -> None:
    """Each is named."""
    with pytest.raises(InputError, match=said):
        scale_arrivals(w, load)
