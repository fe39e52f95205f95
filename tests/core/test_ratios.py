"""Words of ratios against fractions: nobody who comes first is overlooked; few others are found."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.arrays import Int64
from core.kernels.jit import verb
from core.kernels.machine import Jobs
from core.kernels.ranking import (
    LARGEST_RATIO,
    SMALLEST_RATIO,
    Ranking,
    bar_of,
    climbers,
    rivals,
)
from core.kernels.ratios import as_large, as_small, ratios_from, ratios_up_to
from core.kernels.words import WORD

NOW = 2**62
TIMES = st.one_of(st.integers(0, 9), st.integers(0, NOW), st.sampled_from([0, 1, 2**53 + 1, NOW]))
COLUMNS = st.lists(TIMES, min_size=2 * WORD, max_size=2 * WORD)

NEAR = Fraction(1, 2**48)
"""Twice four margins: whoever is found differs by less than this part from what is asked."""


@verb
def _words(
    since: Int64, span: Int64, now: int, i: int, ratio: float, other: int
) -> tuple[int, int, int, int]:
    return (
        ratios_from(since, span, now, i, ratio),
        ratios_up_to(since, span, now, i, ratio),
        as_large(since, span, now, i, ratio, other),
        as_small(since, span, now, i, ratio, other),
    )


def waiting(waits: list[int], spans: list[int]) -> tuple[Jobs, list[Fraction]]:
    """Return jobs that have waited so long, and their ratios."""
    submit, estimate = NOW - np.array(waits), np.array(spans)
    none = np.zeros(submit.size, np.int64)
    jobs = Jobs(submit, none, estimate, none, none, none.astype(np.bool_), none[:1])
    return jobs, [Fraction(w, max(e, 1)) for w, e in zip(waits, spans, strict=True)]


def ranking_of(code: int, n: int) -> Ranking:
    return Ranking(code, np.zeros(n, np.int64), np.zeros(n))


@pytest.mark.parametrize("code", [LARGEST_RATIO, SMALLEST_RATIO])
@settings(deadline=None)
@given(waits=COLUMNS, spans=COLUMNS, best=st.integers(0, 2 * WORD - 1), i=st.integers(0, WORD))
def test_rivals_are_all_who_come_first_and_few_others(
    code: int, waits: list[int], spans: list[int], best: int, i: int
) -> None:
    """A ratio that is the best one's or better has its bit; one that is clearly worse has none."""
    jobs, ratios = waiting(waits, spans)
    ranking = ranking_of(code, len(waits))
    word = rivals(ranking, jobs.submit, jobs.estimate, i, NOW, bar_of(ranking, jobs, NOW, best))
    sign = 1 if code == LARGEST_RATIO else -1
    for k in range(WORD):
        ahead = sign * (ratios[i + k] - ratios[best])
        if ahead >= 0:
            assert word >> k & 1
        elif -ahead > NEAR * ratios[best]:
            assert not word >> k & 1


@pytest.mark.parametrize("code", [LARGEST_RATIO, SMALLEST_RATIO])
@settings(deadline=None)
@given(waits=COLUMNS, spans=COLUMNS, i=st.integers(1, WORD))
def test_climbers_are_all_who_are_not_behind_their_neighbours(
    code: int, waits: list[int], spans: list[int], i: int
) -> None:
    """As for rivals, each beside the one before it."""
    jobs, ratios = waiting(waits, spans)
    word = climbers(ranking_of(code, len(waits)), jobs.submit, jobs.estimate, i, NOW)
    sign = 1 if code == LARGEST_RATIO else -1
    for k in range(WORD):
        one, other = ratios[i + k], ratios[i + k - 1]
        if sign * (one - other) >= 0:
            assert word >> k & 1
        elif abs(one - other) > NEAR * other:
            assert not word >> k & 1


@settings(deadline=None)
@given(
    waits=COLUMNS,
    spans=COLUMNS,
    i=st.integers(0, WORD),
    other=st.integers(0, WORD),
    ratio=st.floats(0, 1e19),
)
def test_lanes_do_what_is_written(
    waits: list[int], spans: list[int], i: int, other: int, ratio: float
) -> None:
    """The same doubles, with the same roundings, in lanes and one by one."""
    since, span = NOW - np.array(waits), np.array(spans)
    passed = [(NOW - since[x : x + WORD]).astype(np.float64) for x in (i, other)]
    lasts = [np.maximum(span[x : x + WORD].astype(np.float64), 1.0) for x in (i, other)]
    one, two = passed[0] * lasts[1], passed[1] * lasts[0] * ratio
    meant = (passed[0] >= lasts[0] * ratio, passed[0] <= lasts[0] * ratio, one >= two, one <= two)
    found = _words(since, span, NOW, i, ratio, other)
    for bits, word in zip(meant, found, strict=True):
        assert [bool(word >> k & 1) for k in range(WORD)] == bits.tolist()
        assert word >> WORD == 0
