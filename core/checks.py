"""Checks of arguments, shared by many functions."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.errors import InputError


def is_whole(value: object) -> bool:
    """Return whether a value is an integer of Python or numpy, but not a boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Return whether a value is an integer or a float of Python, but not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def whole(what: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """Return an argument; refuse all values except integers within bounds.

    Examples
    --------
    >>> whole("jobs", 5, least=1)
    5
    >>> whole("jobs", 0, least=1)
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: jobs=0: give a whole number, at least 1
    >>> whole("jobs", 11, least=1, most=10)
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: jobs=11: give a whole number, at least 1 and at most 10
    """
    if isinstance(value, (int, np.integer)) and is_whole(value):
        number = int(value)
        if (least is None or number >= least) and (most is None or number <= most):
            return number
    least_said = "" if least is None else f", at least {least}"
    most_said = "" if most is None else f" and at most {most}"
    raise InputError(f"{what}={shown(value)}: give a whole number{least_said}{most_said}")


def positive(what: str, value: object, *, unit: str = "", most: float = math.inf) -> float:
    """Return an argument; refuse all values except finite numbers above 0, up to `most`.

    Examples
    --------
    >>> positive("load", 0.9)
    0.9
    >>> positive("tau", float("inf"), unit="s")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: tau=inf: give a finite number above 0 s
    """
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if 0 < number <= most and number < math.inf:
            return number
    most_said = "" if most == math.inf else f", at most {most:g}"
    in_unit = f" {unit}" if unit else ""
    raise InputError(f"{what}={shown(value)}: give a finite number above 0{in_unit}{most_said}")


def share(what: str, value: object) -> float:
    """Return an argument; refuse all values except numbers from 0 to 1.

    Examples
    --------
    >>> share("computation", 0.7)
    0.7
    >>> share("computation", 70)
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: computation is 70; give a part, from 0 to 1
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise InputError(f"{what} is {shown(value)}; give a part, from 0 to 1")


def refuse_jobs(bad: Bool, values: Int64, column: str, right: str) -> None:
    """Raise an error if a column has wrong values; name the first job with a wrong value.

    Parameters
    ----------
    bad : bool[n]
        Mask of the jobs with a wrong value.
    values : int64[n]
        The column.
    column : str
        Name of the column.
    right : str
        Valid values.

    Examples
    --------
    >>> procs = np.array([1, 0])
    >>> refuse_jobs(procs < 1, procs, "procs", "at least 1")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: procs of job 1 is 0; it must be at least 1
    """
    if bad.any():
        j = int(np.argmax(bad))
        raise InputError(f"{column} of job {j} is {int(values[j])}; it must be {right}")


def printable(text: str) -> str:
    """Return a text with ``?`` in place of control characters.

    Examples
    --------
    >>> printable("Zürich" + chr(27) + "[2J")
    'Zürich?[2J'
    """
    return "".join(c if c.isprintable() else "?" for c in text)


def shown(value: object) -> str:
    """Return a value as text for an error message, with long numbers abbreviated.

    Examples
    --------
    >>> shown(10**30), shown("a"), shown(("b",))
    ('1000000000000000000000000000000', "'a'", "['b']")
    >>> shown(10**400)
    '10000000000000000000... (401 digits)'
    """
    if type(value) is tuple:  # a list in a campaign's file
        return repr(list(value))
    if not isinstance(value, int) or abs(value) < 10**40:
        return repr(value)
    # Python does not print integers of more than 4,300 digits.
    digits = int(math.log10(abs(value))) + 1
    first = value // 10 ** max(0, digits - 21) if digits < 4000 else 0
    return f"{str(first)[:20]}... ({digits} digits)" if first else f"a number of {digits} digits"
