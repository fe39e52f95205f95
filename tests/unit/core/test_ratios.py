"""Words of ratios against fractions: nobody who comes first is overlooked; few others are found."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.lanes import WORD
from schedfarm.core.engine.leaving import STAYING
from schedfarm.core.engine.ranking import (
    LARGEST_RATIO,
    NO_CELLS,
    SMALLEST_RATIO,
    Ranking,
    bar_of,
    climbers,
    rivals,
)
from schedfarm.core.engine.ratios import BITS, as_large, as_small, ratios_from, ratios_up_to
from schedfarm.core.engine.running import Jobs

NOW = 2**62
LIMIT = 2**BITS
TIMES = st.one_of(
    st.integers(0, 9),
    st.integers(0, LIMIT - 1),
    st.integers(0, NOW),
    st.sampled_from([0, 1, LIMIT - 1, LIMIT, LIMIT + 1, 2**32, 2**32 + 1, 2**53 + 1, NOW]),
)
COLUMNS = st.lists(TIMES, min_size=2 * WORD, max_size=2 * WORD)


@verb
def _words(
    since: Int64, span: Int64, now: int, i: int, other: int, passed: int, lasts: int
) -> tuple[int, int, int, int]:
    return (
        ratios_from(since, span, now, i, passed, lasts),
        ratios_up_to(since, span, now, i, passed, lasts),
        as_large(since, span, now, i, other),
        as_small(since, span, now, i, other),
    )


def waiting(waits: list[int], spans: list[int]) -> tuple[Jobs, list[Fraction]]:
    """Return jobs that have waited so long, and their ratios."""
    submit, estimate = NOW - np.array(waits), np.array(spans)
    none = np.zeros(submit.size, np.int64)
    jobs = Jobs(submit, none, estimate, none, none, none.astype(np.bool_), none[:1], STAYING)
    return jobs, [Fraction(w, max(e, 1)) for w, e in zip(waits, spans, strict=True)]


def sure(wait: int, span: int) -> bool:
    """Say whether products of a job's numbers are exact."""
    return wait < LIMIT and 0 < span <= LIMIT


def ranking_of(code: int, n: int) -> Ranking:
    return Ranking(code, np.zeros(n, np.int64), np.zeros(n), NO_CELLS)


@pytest.mark.parametrize("code", [LARGEST_RATIO, SMALLEST_RATIO])
@settings(deadline=None)
@given(waits=COLUMNS, spans=COLUMNS, best=st.integers(0, 2 * WORD - 1), i=st.integers(0, WORD))
def test_rivals_are_all_who_come_first_and_few_others(
    code: int, waits: list[int], spans: list[int], best: int, i: int
) -> None:
    """A ratio that is the best one's or better has its bit; one that is worse has none.

    But for numbers of which products do not fit.
    """
    jobs, ratios = waiting(waits, spans)
    ranking = ranking_of(code, len(waits))
    word = rivals(
        ranking,
        jobs.submit,
        jobs.estimate,
        i,
        NOW,
        bar_of(ranking, jobs.submit, jobs.estimate, best, NOW),
    )
    sign = 1 if code == LARGEST_RATIO else -1
    for k in range(WORD):
        ahead = sign * (ratios[i + k] - ratios[best])
        if ahead >= 0:
            assert word >> k & 1
        elif sure(waits[i + k], spans[i + k]) and sure(waits[best], max(spans[best], 1)):
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
        one, other = i + k, i + k - 1
        if sign * (ratios[one] - ratios[other]) >= 0:
            assert word >> k & 1
        elif all(sure(waits[x], spans[x]) for x in (one, other)):
            assert not word >> k & 1


@settings(deadline=None)
@given(
    waits=COLUMNS,
    spans=COLUMNS,
    i=st.integers(0, WORD),
    other=st.integers(0, WORD),
    bar=st.tuples(TIMES, TIMES),
)
def test_lanes_do_what_is_written(
    waits: list[int], spans: list[int], i: int, other: int, bar: tuple[int, int]
) -> None:
    """Each comparison, and everybody of whom it is not sure, in lanes and one by one."""
    since, span = NOW - np.array(waits), np.array(spans)
    passed, lasts = waits[i : i + WORD], spans[i : i + WORD]
    others = list(zip(waits[other : other + WORD], spans[other : other + WORD], strict=True))
    meant = [
        [
            not (sure(p, e) and sure(*than)) or sign * (p * than[1] - than[0] * e) >= 0
            for p, e, than in zip(passed, lasts, beside, strict=True)
        ]
        for beside in ([bar] * WORD, others)
        for sign in (1, -1)
    ]
    found = _words(since, span, NOW, i, other, *bar)
    for bits, word in zip(meant, found, strict=True):
        assert [bool(word >> k & 1) for k in range(WORD)] == bits
        assert word >> WORD == 0
