"""Durations as text: an integer and a unit, such as 3d."""

from __future__ import annotations

import re

UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
"""Seconds in each unit, longest first."""

DAY = UNITS["d"]

# Python does not parse integers of more than 4,300 digits.
_DURATION = re.compile(rf"(\d{{1,100}})([{''.join(UNITS)}])")


def seconds_of(text: str) -> int | None:
    """Return a duration in seconds; None if the text is not a duration.

    Examples
    --------
    >>> seconds_of("3d"), seconds_of("90s"), seconds_of("soon")
    (259200, 90, None)
    """
    found = _DURATION.fullmatch(text)
    return int(found[1]) * UNITS[found[2]] if found else None


def duration(seconds: int) -> str:
    """Return the canonical text of a duration, in the largest unit that divides it.

    Examples
    --------
    >>> duration(72 * 3600), duration(90), duration(0)
    ('3d', '90s', '0s')
    """
    unit = next(u for u, size in UNITS.items() if seconds % size == 0) if seconds else "s"
    return f"{seconds // UNITS[unit]}{unit}"
