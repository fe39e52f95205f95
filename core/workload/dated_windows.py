"""Windows that begin and end at dates, with instants that depend on the log's beginning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from schedfarm.core.durations import seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.workload.dates import iso_time, unix_time

ENDS = ("from", "until")
"""Keys of a window with possible dates as values."""

_YEAR = re.compile(r"\d{4}-")


def is_dated(window: object) -> bool:
    """Return whether a window begins and ends at dates."""
    return isinstance(window, Mapping) and any(_is_date(window.get(key)) for key in ENDS)


def dates_as_text(what: str, window: Mapping[str, Any]) -> dict[str, Any]:
    """Return a window with dates as canonical text; refuse a window with only one date.

    Dates may be text, or dates of TOML.
    """
    if not is_dated(window):
        return dict(window)
    for key in ENDS:
        if key not in window or not _is_date(window[key]):
            raise InputError(
                f"{what} has {key} = {window.get(key)!r} and a date; give both ends as dates, such "
                "as 2024-03-05T08:00"
            )
        unix_time(f"{what}: {key}", window[key])
    return {key: iso_time(value) if key in ENDS else value for key, value in window.items()}


def as_unix_times(windows: Iterable[Any]) -> list[Any]:
    """Return windows with Unix times in place of dates, for checks before the log is read."""
    return [_shifted("", one, 0) if is_dated(one) else one for one in windows]


def at_epoch(where: str, windows: Sequence[Mapping[str, Any]], epoch: int) -> list[dict[str, Any]]:
    """Return windows with instants of a log in place of dates.

    Parts of windows before the log's beginning are left out.

    Parameters
    ----------
    where : str
        Beginning of error messages.
    windows : sequence of mapping
        Windows with amounts as numbers.
    epoch : int
        Unix time of the log's instant 0, s; -1 if it is unknown.

    Raises
    ------
    InputError
        If a window has dates, and the log's dates are unknown.

    Examples
    --------
    >>> window = {"from": "1970-01-03", "until": "1970-01-04", "every": "1w", "times": 3}
    >>> at_epoch("", [window], 86_400)
    [{'from': 86400, 'until': 172800, 'every': '1w', 'times': 3}]
    >>> at_epoch("", [window], 216_000)[0]
    {'from': 0, 'until': 43200}
    >>> at_epoch("", [window], 216_000)[1]
    {'from': 561600, 'until': 648000, 'every': '1w', 'times': 2}
    """
    found: list[dict[str, Any]] = []
    for k, one in enumerate(windows):
        if not is_dated(one):
            found.append(dict(one))
        elif epoch < 0:
            raise InputError(
                f"{where}windows[{k}] is from {one['from']}, and the log has no dates; give "
                "seconds from the log's beginning, or a duration such as '5d'"
            )
        else:
            found += _from_zero(_shifted(f"{where}windows[{k}]", one, epoch))
    return found


def _is_date(given: object) -> bool:
    """Return whether a value is a date, rather than seconds or a duration."""
    return isinstance(given, date) or (isinstance(given, str) and bool(_YEAR.match(given)))


def _shifted(what: str, window: Mapping[str, Any], epoch: int) -> dict[str, Any]:
    """Return a window with instants, counted from an epoch, in place of its dates."""
    ends = {key: unix_time(f"{what}: {key}", window[key]) - epoch for key in ENDS}
    return {**window, **ends}


def _from_zero(window: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a window from instant 0 on; the first interval may be cut."""
    begin, end, times = window["from"], window["until"], window.get("times", 1)
    if begin >= 0:
        return [window]
    every = window.get("every", 0)
    period = seconds_of(every) if isinstance(every, str) else every
    once = {key: value for key, value in window.items() if key not in ("every", "times")}
    if not period:
        return [once | {"from": 0, "until": end}] if end > 0 else []
    # Index of the first interval that ends after instant 0.
    first = max(0, -end // period + 1)
    begin, end, times = begin + first * period, end + first * period, times - first
    if times <= 0:
        return []
    if begin >= 0:
        return [window | {"from": begin, "until": end, "times": times}]
    rest = window | {"from": begin + period, "until": end + period, "times": times - 1}
    return [once | {"from": 0, "until": end}, *([rest] if times > 1 else [])]
