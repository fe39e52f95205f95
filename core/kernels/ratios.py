"""Words of places whose ratios, of what has passed to how long it is to last, are large or small.

Each ratio is that of now - since[k] to span[k], which counts as 1 at least, both s. They are
compared by products of doubles: what is passed, the spans and the products are rounded, each by a
part of 2**-53 at most, so that whoever asks leaves a margin and looks exactly at what is found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from core.arrays import Int64
from core.kernels.words import WORD, Lanes, in_lanes

_DOUBLES = ir.VectorType(ir.DoubleType(), WORD)
_SINCE, _SPAN, _NOW, _PLACE, _FACTOR, _OTHER = range(6)


def _passed(lanes: Lanes, place: int) -> Any:
    left = lanes.builder.sub(lanes.spread(_NOW), lanes.read(lanes.place(_SINCE, place)))
    return lanes.builder.uitofp(left, _DOUBLES)


def _lasts(lanes: Lanes, place: int) -> Any:
    builder, one = lanes.builder, ir.Constant(_DOUBLES, [1.0] * WORD)
    span = builder.uitofp(lanes.read(lanes.place(_SPAN, place)), _DOUBLES)
    return builder.select(builder.fcmp_ordered(">", span, one), span, one)


def _compare(sign: str) -> Callable[[Lanes], Any]:
    def write(lanes: Lanes) -> Any:
        asked = lanes.builder.fmul(_lasts(lanes, _PLACE), lanes.spread(_FACTOR))
        return lanes.word(lanes.builder.fcmp_ordered(sign, _passed(lanes, _PLACE), asked))

    return write


@in_lanes(_compare(">="))
def ratios_from(since: Int64, span: Int64, now: int, i: int, ratio: float) -> int:
    """Return the word of the places from i on that have so large a ratio, or a larger one."""
    passed, lasts = _columns(since, span, now, i)
    return sum((passed[k] >= lasts[k] * ratio) << k for k in range(WORD))


@in_lanes(_compare("<="))
def ratios_up_to(since: Int64, span: Int64, now: int, i: int, ratio: float) -> int:
    """Return the word of the places from i on that have so small a ratio, or a smaller one."""
    passed, lasts = _columns(since, span, now, i)
    return sum((passed[k] <= lasts[k] * ratio) << k for k in range(WORD))


def _compare_pairs(sign: str) -> Callable[[Lanes], Any]:
    def write(lanes: Lanes) -> Any:
        builder = lanes.builder
        one = builder.fmul(_passed(lanes, _PLACE), _lasts(lanes, _OTHER))
        other = builder.fmul(_passed(lanes, _OTHER), _lasts(lanes, _PLACE))
        asked = builder.fmul(other, lanes.spread(_FACTOR))
        return lanes.word(builder.fcmp_ordered(sign, one, asked))

    return write


@in_lanes(_compare_pairs(">="))
def as_large(since: Int64, span: Int64, now: int, i: int, factor: float, other: int) -> int:
    """Return the word of the places from i on with so many times the ratio of those from `other`.

    Or more.
    """
    one, two = _columns(since, span, now, i), _columns(since, span, now, other)
    return sum((one[0][k] * two[1][k] >= two[0][k] * one[1][k] * factor) << k for k in range(WORD))


@in_lanes(_compare_pairs("<="))
def as_small(since: Int64, span: Int64, now: int, i: int, factor: float, other: int) -> int:
    """Return the word of the places from i on with so many times the ratio of those from `other`.

    Or less.
    """
    one, two = _columns(since, span, now, i), _columns(since, span, now, other)
    return sum((one[0][k] * two[1][k] <= two[0][k] * one[1][k] * factor) << k for k in range(WORD))


def _columns(since: Int64, span: Int64, now: int, i: int) -> tuple[list[float], list[float]]:
    places = range(i, i + WORD)
    return (
        [float(int(now) - int(since[k])) for k in places],
        [max(float(span[k]), 1.0) for k in places],
    )
