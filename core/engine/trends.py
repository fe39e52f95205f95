"""Proof that an expression's values only rise or only fall with time, and are never NaN.

Each operation of IEEE 754 rounds monotonically. So if no operation of an expression reverses its
direction, the rounded value never moves against this direction. The least key at one instant then
bounds the keys of later instants (rising keys) or of earlier ones (falling keys). The proof follows
the range of each register: if no divisor's range includes zero, and no range includes infinity, no
value is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from schedfarm.core.arrays import HORIZON, Float64, Int64
from schedfarm.core.engine.instructions import (
    ABSOLUTE,
    ADD,
    DIVIDE,
    FLOOR,
    GREATEST,
    LEAST,
    MULTIPLY,
    ROOT,
    SUBTRACT,
)

FALLS, UNKNOWN, RISES = -1, 0, 1
"""Directions of an order's keys with time; UNKNOWN if neither direction is proven."""


class Course(NamedTuple):
    """Hold the range of a register over all waiting jobs and instants, and its direction.

    way: 1 if no value falls, -1 if none rises, 0 if all are constant.
    """

    low: float
    high: float
    way: int

    @property
    def sign(self) -> int:
        """Sign of all values: 1 if none is negative, -1 if none is positive, else 0."""
        return 1 if self.low >= 0 else -(self.high <= 0)


def _over(function: Callable[[float, float], float], a: Course, b: Course, way: int) -> Course:
    """Return the course of a function that is monotone in each argument, from its corners."""
    corners = [function(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return Course(min(corners), max(corners), way)


def _joined(*ways: int | None) -> int | None:
    """Return the direction of a sum of values with some directions; None if they conflict."""
    if None in ways:
        return None
    found = {way for way in ways if way}
    return None if len(found) > 1 else found.pop() if found else 0


def _scaled(way: int, sign: int) -> int | None:
    """Return the direction of a product with factors of one sign; None if it is unknown."""
    return None if way and not sign else way * sign


def _sum(a: Course, b: Course) -> Course | None:
    way = _joined(a.way, b.way)
    return None if way is None else Course(a.low + b.low, a.high + b.high, way)


def _product(a: Course, b: Course) -> Course | None:
    way = _joined(_scaled(a.way, b.sign), _scaled(b.way, a.sign))
    return None if way is None else _over(lambda x, y: x * y, a, b, way)


def _quotient(a: Course, b: Course) -> Course | None:
    if b.low <= 0 <= b.high:
        return None
    way = _joined(_scaled(a.way, b.sign), _scaled(-b.way, a.sign))
    return None if way is None else _over(lambda x, y: x / y, a, b, way)


def _least(a: Course, b: Course) -> Course | None:
    way = _joined(a.way, b.way)
    return None if way is None else Course(min(a.low, b.low), min(a.high, b.high), way)


def _negative(a: Course) -> Course:
    return Course(-a.high, -a.low, -a.way)


def _greatest(a: Course, b: Course) -> Course | None:
    found = _least(_negative(a), _negative(b))
    return None if found is None else _negative(found)


def _absolute(a: Course, b: Course) -> Course | None:
    way = _scaled(a.way, a.sign)
    ends = sorted((abs(a.low), abs(a.high)))
    return None if way is None else Course(0.0 if not a.sign else ends[0], ends[1], way)


def _root(a: Course, b: Course) -> Course | None:
    return None if a.low < 0 else Course(math.sqrt(a.low), math.sqrt(a.high), a.way)


def _floor(a: Course, b: Course) -> Course | None:
    return Course(float(math.floor(a.low)), float(math.floor(a.high)), a.way)


_RULES: dict[int, Callable[[Course, Course], Course | None]] = {
    ADD: _sum,
    SUBTRACT: lambda a, b: _sum(a, _negative(b)),
    MULTIPLY: _product,
    DIVIDE: _quotient,
    LEAST: _least,
    GREATEST: _greatest,
    ABSOLUTE: _absolute,
    ROOT: _root,
    FLOOR: _floor,
}
"""Operations with a known course; logarithms and powers may not round monotonically."""


class Courses:
    """The courses of the registers of an expression.

    Parameters
    ----------
    columns : sequence of float64[n]
        The columns, in registers 1 and following.
    constants : dict
        The value of each register with a constant.
    submit : int64[n]
        The submission of each job, s, ascending.
    """

    def __init__(
        self, columns: Sequence[Float64], constants: dict[int, float], submit: Int64
    ) -> None:
        self._columns, self._submit = columns, submit
        self._found = {place: Course(value, value, 0) for place, value in constants.items()}
        self._found[0] = Course(float(submit[0]), float(HORIZON), 1)
        for place, values in enumerate(columns, 1):
            self._found[place] = Course(float(values.min()), float(values.max()), 0)

    def follow(self, code: int, place: int, a: int, b: int) -> Course | None:
        """Return the course of an instruction's result; None if the course is unknown."""
        rule, one, other = _RULES.get(code), self._found[a], self._found[b]
        if rule is None or not (_is_finite(one) and _is_finite(other)):
            return None
        try:
            found = rule(one, other)
        except OverflowError:
            return None
        if found is None or not _is_finite(found):
            return None
        # A job waits only after its submission.
        if code == SUBTRACT and a == 0 and self._is_past(b):
            found = found._replace(low=max(found.low, 0.0))
        elif code == SUBTRACT and b == 0 and self._is_past(a):
            found = found._replace(high=min(found.high, 0.0))
        self._found[place] = found
        return found

    def _is_past(self, place: int) -> bool:
        """Return whether no value of a register is later than the submission of the value's job."""
        if not 0 < place <= len(self._columns):
            return False
        return bool((self._columns[place - 1] <= self._submit).all())


def _is_finite(course: Course) -> bool:
    return math.isfinite(course.low) and math.isfinite(course.high)


def trend_of(
    steps: Sequence[tuple[int, ...]],
    columns: Sequence[Float64],
    constants: dict[int, float],
    submit: Int64,
) -> int:
    """Return the direction of the keys of an expression with time.

    Parameters
    ----------
    steps : sequence of tuples
        The instructions: code, register of the result, and registers of three values.
    columns, constants, submit
        As for `Courses`.

    Returns
    -------
    int
        `FALLS` or `RISES` if the keys of all jobs provably move in only this direction and are
        never NaN; constant keys count as rising. `UNKNOWN` otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> steps = [(SUBTRACT, 3, 1, 0, 0), (DIVIDE, 4, 3, 2, 0)]  # (submit - now) / estimate
    >>> columns = [np.array([1.0, 3.0]), np.array([5.0, 5.0])]
    >>> trend_of(steps, columns, {}, np.array([1, 3])) == FALLS
    True
    """
    if not submit.size or not steps:
        return UNKNOWN
    courses, way = Courses(columns, constants, submit), 0
    for code, place, a, b, _ in steps:
        found = courses.follow(code, place, a, b)
        if found is None:
            return UNKNOWN
        way = found.way
    return way or RISES
