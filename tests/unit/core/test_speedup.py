"""Speed-up models: exact, monotone in every rounding, and Downey's published shape."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core import InputError
from schedfarm.core.arrays import HORIZON
from schedfarm.core.models.speedup import (
    MILLION,
    MOST_PROCESSORS,
    amdahl,
    breaks,
    downey,
    downey_speedup,
)

SECONDS = st.integers(1, 60) | st.integers(1, 10**6) | st.integers(1, HORIZON // 64)
"""Times on one processor: where rounding matters most, and up to the longest."""

MANY = settings(max_examples=300)


def monotone(times: np.ndarray) -> bool:
    return not any(broken.any() for broken in breaks(times))


def exact_amdahl(one: int, serial: int, k: int) -> int:
    """Amdahl's law as it is written."""
    share = Fraction(serial, MILLION)
    return ceil(one * (share + (1 - share) / k))


@MANY
@given(one=SECONDS, serial=st.integers(0, MILLION), processors=st.integers(1, 64))
def test_amdahl_is_monotone_and_rounded_up(one: int, serial: int, processors: int) -> None:
    """Never below the law, and above its next second only where work would be less."""
    times = amdahl([one], [serial], processors)
    assert monotone(times)
    before = one
    for k, time in enumerate(times[0].tolist(), 1):
        rounded = exact_amdahl(one, serial, k)
        least = ceil(Fraction(before * (k - 1), k))
        assert time == max(rounded, least)
        before = time


@MANY
@given(
    one=SECONDS,
    parallelism=st.floats(1, 300),
    variance=st.floats(0, 4),
    processors=st.integers(1, 64),
)
def test_downey_is_monotone(one: int, parallelism: float, variance: float, processors: int) -> None:
    """On one processor the time itself; never faster than as many processors allow."""
    times = downey([one], [parallelism], [variance], processors)
    assert monotone(times)
    assert times[0, 0] == one
    assert (times[0] * np.arange(1, processors + 1) >= one).all()


def test_whole_quotients_are_not_rounded_up() -> None:
    """A job that is perfectly parallel up to 7 takes a whole share of 840 s on each."""
    assert downey([840], [7], [0], 7).tolist() == [[840, 420, 280, 210, 168, 140, 120]]
    assert amdahl([840], [0], 7).tolist() == [[840, 420, 280, 210, 168, 140, 120]]


def test_amdahl_on_the_widest_machine_with_the_longest_job() -> None:
    """Products that would leave int64 are as exact as others."""
    one, serial, m = HORIZON // MOST_PROCESSORS, 999_999, MOST_PROCESSORS
    times = amdahl([one, one - 1], [serial, 0], m)
    for k in (2, 3, 99_991, m):
        assert times[0, k - 1] == exact_amdahl(one, serial, k)
    assert monotone(times)


def test_a_divisor_of_a_branch_that_is_not_taken() -> None:
    """Is 0 at n = 15, A = 3, sigma = 3; warnings are errors here."""
    assert downey_speedup(15, 3, 3) == 3


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        (amdahl, ([0], [0], 4), "sequential=[0]: give whole seconds, at least 1"),
        (amdahl, ([1.5], [0], 4), "sequential=[1.5]: give whole seconds"),
        (amdahl, ([HORIZON], [0], 4), "at most 1152921504606846976 on 4 processors"),
        (amdahl, ([5], [MILLION + 1], 4), "serial=[1000001]: give millionths"),
        (amdahl, ([5], [0.5], 4), "serial=[0.5]: give millionths"),
        (amdahl, ([5], [0], 0), "processors=0: give a whole number, at least 1"),
        (downey, ([5], [0.5], [1.0], 4), "parallelism=[0.5]"),
        (downey, ([5], [2.0], [-1.0], 4), "variance=[-1.0]"),
        (downey, ([5], [float("nan")], [1.0], 4), "parallelism=[nan]"),
    ],
)
def test_bad_parameters_are_refused(function: object, arguments: tuple[object], said: str) -> None:
    """Each with its value and what would be right."""
    with pytest.raises(InputError) as error:
        function(*arguments)  # type: ignore[operator]
    assert said in str(error.value)


@given(
    a=st.floats(1, 500),
    v=st.floats(0, 3),
    n=st.integers(1, 1_000),
)
def test_speedup_is_one_at_one_and_grows_to_the_parallelism(a: float, v: float, n: int) -> None:
    """On one processor 1; never beyond min(n, A); not less on more processors."""
    now, more = downey_speedup([n, n + 1], a, v).tolist()
    assert downey_speedup(1, a, v) == pytest.approx(1)
    assert now <= min(n, a) * (1 + 1e-12)
    assert more >= now * (1 - 1e-12)
    assert downey_speedup(10**7, a, v) == a


def test_speedup_has_no_jumps() -> None:
    """Its branches meet: at n = A, at n = 2A - 1, at n = A + Av - v, and at v = 1."""
    for n, a, v in ((8, 8, 0.5), (15, 8, 0.5), (22, 8, 2), (8, 8, 1), (5, 8, 1)):
        around = [
            float(downey_speedup(n + d, a, v + e)) for d in (-1e-9, 1e-9) for e in (-1e-9, 1e-9)
        ]
        assert max(around) - min(around) < 1e-6
