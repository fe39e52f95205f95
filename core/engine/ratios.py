"""Lane masks of the jobs whose ratio of elapsed time to span is large or small.

Each ratio is that of now - since[k] to span[k], both s. They are compared by products of 31-bit
integers, which are exact. A place with a larger value, or with a span of 0 (which counts as 1
elsewhere), is always in the mask: the caller compares each place of the mask exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.lanes import WORD, Lanes, in_lanes

BITS = 31
"""Width of a product's factors: the product and its sign fit int64."""

_SINCE, _SPAN, _NOW, _PLACE, _PASSED, _LASTS = range(6)
_OTHER = _PASSED
"""Arguments of the steps; for two of them the fifth is another index instead."""

Ratio = tuple[Any, Any]
"""Elapsed time and span of all places."""


def _ratio_at(lanes: Lanes, place: int) -> Ratio:
    passed = lanes.builder.sub(lanes.spread(_NOW), lanes.read(lanes.place(_SINCE, place)))
    return passed, lanes.read(lanes.place(_SPAN, place))


def _given(lanes: Lanes) -> Ratio:
    return lanes.spread(_PASSED), lanes.spread(_LASTS)


def _at_other(lanes: Lanes) -> Ratio:
    return _ratio_at(lanes, _OTHER)


def _compare(sign: str, other: Callable[[Lanes], Ratio]) -> Callable[[Lanes], Any]:
    def write(lanes: Lanes) -> Any:
        builder = lanes.builder
        (passed, lasts), (passed_of, lasts_of) = ratios = _ratio_at(lanes, _PLACE), other(lanes)
        reached = builder.icmp_signed(
            sign, lanes.product(passed, lasts_of), lanes.product(passed_of, lasts)
        )
        large = lanes.all_of(0)
        for done, span in ratios:
            large = builder.or_(large, builder.or_(done, builder.sub(span, lanes.all_of(1))))
        unsure = builder.icmp_signed("!=", builder.lshr(large, lanes.all_of(BITS)), lanes.all_of(0))
        return lanes.word(builder.or_(reached, unsure))

    return write


@verb
def _difference(since: Int64, span: Int64, now: int, i: int, passed: int, lasts: int) -> int:
    """Return a number with the sign of the difference of two ratios; 0 if it is uncertain."""
    done, other = int(now) - int(since[i]), int(passed)
    asked, lasts = int(span[i]), int(lasts)
    for number in (done, other, asked - 1, lasts - 1):
        if not 0 <= number < 1 << BITS:
            return 0
    return done * lasts - other * asked


@verb
def _between(since: Int64, span: Int64, now: int, i: int, other: int) -> int:
    passed = int(now) - int(since[other])
    return _difference(since, span, now, i, passed, span[other])


@in_lanes(_compare(">=", _given))
def ratios_from(since: Int64, span: Int64, now: int, i: int, passed: int, lasts: int) -> int:
    """Return the lane mask of the places from i on with at least the ratio, or uncertain."""
    word = 0
    for k in range(WORD):
        word |= int(_difference(since, span, now, i + k, passed, lasts) >= 0) << k
    return word


@in_lanes(_compare("<=", _given))
def ratios_up_to(since: Int64, span: Int64, now: int, i: int, passed: int, lasts: int) -> int:
    """Return the lane mask of the places from i on with at most the ratio, or uncertain."""
    word = 0
    for k in range(WORD):
        word |= int(_difference(since, span, now, i + k, passed, lasts) <= 0) << k
    return word


@in_lanes(_compare(">=", _at_other))
def as_large(since: Int64, span: Int64, now: int, i: int, other: int) -> int:
    """Return the lane mask of the places from i on with at least the ratios of those from `other`.

    Uncertain places are included.
    """
    word = 0
    for k in range(WORD):
        word |= int(_between(since, span, now, i + k, other + k) >= 0) << k
    return word


@in_lanes(_compare("<=", _at_other))
def as_small(since: Int64, span: Int64, now: int, i: int, other: int) -> int:
    """Return the lane mask of the places from i on with at most the ratios of those from `other`.

    Uncertain places are included.
    """
    word = 0
    for k in range(WORD):
        word |= int(_between(since, span, now, i + k, other + k) <= 0) << k
    return word
