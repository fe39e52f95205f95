"""Numbers and times as readable text; JSON contains plain numbers.

Thousands are separated by a blank. A column has one unit, which is in its title. Waits are always
in seconds, so that they can be compared. A single time is also printed in hours and days.
"""

from __future__ import annotations

import math

NOTHING = "-"
"""Text for a missing number."""

DIGITS = 4
"""Significant digits of a single number."""

READABLE = 120
"""Bound of times that are printed in seconds only, s."""

UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
"""Seconds in each unit, and its symbol, longest first."""

YEAR = 31_557_600
"""Seconds in a year of 365.25 days."""


def grouped(x: float, decimals: int = 0) -> str:
    """Format a number with separated thousands.

    Examples
    --------
    >>> grouped(1234.5), grouped(1234.56, 1), grouped(10**6), grouped(float("nan"), 2)
    ('1 234', '1 234.6', '1 000 000', '-')
    """
    return f"{x:,.{decimals}f}".replace(",", " ") if math.isfinite(x) else NOTHING


def significant(x: float) -> str:
    """Format a number with at most `DIGITS` digits, or all digits of an integer.

    Examples
    --------
    >>> [significant(x) for x in (28476, 70312.9, 12.3456, 0.70129, 0.00012345, 2.5)]
    ['28 476', '70 313', '12.35', '0.7013', '0.0001234', '2.5']
    """
    if not math.isfinite(x) or x == int(x):
        return grouped(x)
    before = math.floor(math.log10(abs(x))) + 1
    said = grouped(x, max(DIGITS - before, 0))
    return said.rstrip("0").rstrip(".") if "." in said else said


def lasting(seconds: float) -> str:
    """Format a duration in its two largest units; in years from two years on.

    A negative time, which may come from two clocks, is formatted as 0.

    Examples
    --------
    >>> [lasting(x) for x in (0.25, 58, 119.7, 150, 5820, 58_426, 172_800, 2**31 - 1)]
    ['0.25 s', '58 s', '120 s', '2 min 30 s', '1 h 37 min', '16 h 14 min', '2 d', '68.0 years']
    """
    if not math.isfinite(seconds):
        return NOTHING
    seconds = max(seconds, 0)
    if seconds >= 2 * YEAR:
        return f"{grouped(seconds / YEAR, 1)} years"
    if seconds < READABLE:
        return f"{significant(seconds if seconds < 1 else round(seconds))} s"
    first = next(i for i, (size, _) in enumerate(UNITS) if seconds >= size)
    (size, unit), (smaller, other) = UNITS[first : first + 2]
    whole, rest = divmod(round(seconds / smaller), size // smaller)
    return f"{whole} {unit} {rest} {other}" if rest else f"{whole} {unit}"


def timed(seconds: float) -> str:
    """Format a single time: in seconds, and as `lasting` if it is long.

    Examples
    --------
    >>> timed(58_426), timed(2.5)
    ('58 426 s (16 h 14 min)', '2.5 s')
    """
    said = f"{significant(seconds)} s"
    return f"{said} ({lasting(seconds)})" if seconds >= READABLE else said


def sized(count: float) -> str:
    """Format a number of bytes in MB or GB.

    Examples
    --------
    >>> sized(1_200), sized(427_611_140), sized(3.2e9)
    ('0.0012 MB', '427.6 MB', '3.2 GB')
    """
    return f"{significant(count / 1e6)} MB" if count < 1e9 else f"{significant(count / 1e9)} GB"


def counted(count: int, noun: str) -> str:
    """Format a count with its noun, in the singular for 1.

    Examples
    --------
    >>> counted(1, "job"), counted(28476, "job")
    ('1 job', '28 476 jobs')
    """
    return f"{grouped(count)} {noun}{'' if count == 1 else 's'}"
