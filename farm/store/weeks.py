"""How many weeks a cell's series has, by its resample and load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Weeks = Mapping[str, tuple[int, int]]
"""By load, the weeks of submissions of the log itself and of its samples."""


def entries(weeks: Weeks) -> int:
    """Return the length of `week`: one entry more, for what ends after the last submission's week.

    Examples
    --------
    >>> entries({"original": (9, 9), "0.5": (11, 12)})
    13
    """
    return 1 + max(map(max, weeks.values()))


def weeks_of_lists(plain: Mapping[str, Sequence[int]]) -> Weeks:
    """Return what JSON has made lists of."""
    return {load: (of_log, of_samples) for load, (of_log, of_samples) in plain.items()}


def weeks_at(weeks: Weeks, resample: int, load: str) -> int:
    """Return the weeks that hold the submissions of one resample at one load."""
    of_log, of_samples = weeks[load]
    return of_samples if resample else of_log
