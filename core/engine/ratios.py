"""Lane masks of the jobs with a large or small ratio of elapsed time to span.

The ratio of place k is (now - since[k]) / span[k], both s. Ratios are compared exactly, by products
of 31-bit integers. A place is uncertain if one of its values is larger, or if its span is 0 (which
elsewhere counts as 1). Uncertain places are always in the mask, because the caller compares each
place of the mask exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.lanes import WORD, Lanes, in_lanes

BITS = 31
"""Bits of a factor of a product: the product and its sign fit int64."""

_SINCE, _SPAN, _NOW, _PLACE, _PASSED, _LASTS = range(6)
_OTHER = _PASSED
"""Positions of the steps' arguments; the fifth argument of `as_large` and `as_small` is another
index."""

Ratio = tuple[Any, Any]
"""Elapsed times and spans of a word of places."""


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
    """Return a number with the sign of the difference of two ratios; 0 if a place is uncertain."""
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
    """Return the lane mask of the places from i on that are uncertain or have at least a ratio."""
    word = 0
    for k in range(WORD):
        word |= int(_difference(since, span, now, i + k, passed, lasts) >= 0) << k
    return word


@in_lanes(_compare("<=", _given))
def ratios_up_to(since: Int64, span: Int64, now: int, i: int, passed: int, lasts: int) -> int:
    """Return the lane mask of the places from i on that are uncertain or have at most a ratio."""
    word = 0
    for k in range(WORD):
        word |= int(_difference(since, span, now, i + k, passed, lasts) <= 0) << k
    return word


@in_lanes(_compare(">=", _at_other))
def as_large(since: Int64, span: Int64, now: int, i: int, other: int) -> int:
    """Return the lane mask of the places from i on with ratios >= those of the places from `other`.

    Uncertain places are included.
    """
    word = 0
    for k in range(WORD):
        word |= int(_between(since, span, now, i + k, other + k) >= 0) << k
    return word


@in_lanes(_compare("<=", _at_other))
def as_small(since: Int64, span: Int64, now: int, i: int, other: int) -> int:
    """Return the lane mask of the places from i on with ratios <= those of the places from `other`.

    Uncertain places are included.
    """
    word = 0
    for k in range(WORD):
        word |= int(_between(since, span, now, i + k, other + k) <= 0) << k
    return word
