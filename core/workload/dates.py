"""Dates as Unix times."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from schedfarm.core.errors import InputError


def interval(first: str | date, last: str | date) -> tuple[int, int]:
    """Return the Unix times of the begin and the end of a span of dates, s.

    Both days of UTC in ISO 8601 are included. If the ends are instants, possibly with an offset
    from UTC, the last instant is excluded.

    Examples
    --------
    >>> interval("1970-01-01", "1970-01-02"), interval("1970-01-01T01:00+01:00", "1970-01-01T02:00")
    ((0, 172800), (0, 7200))
    """
    begin, end = _moment(first, whole_day=False), _moment(last, whole_day=True)
    if begin >= end:
        raise InputError(f"dates={[str(first), str(last)]}: the last is before the first")
    return begin, end


def unix_time(what: str, given: str | date) -> int:
    """Return the Unix time of a date, at midnight, or of a time, in UTC unless it has an offset.

    Examples
    --------
    >>> unix_time("from", "1970-01-02"), unix_time("from", "1970-01-01T03:00+01:00")
    (86400, 7200)
    """
    try:
        when = datetime.fromisoformat(str(given))
        found = int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        found = -1
    if found < 0:
        raise InputError(
            f"{what} is {str(given)!r}, which is not a date since 1970; give one such as "
            "2024-03-05T08:00"
        )
    return found


def iso_time(given: str | date) -> str:
    """Return the canonical text of a date or time that `unix_time` accepts.

    Examples
    --------
    >>> iso_time("2024-03-05"), iso_time("2024-03-05 08:00+02:00")
    ('2024-03-05T00:00:00', '2024-03-05T08:00:00+02:00')
    """
    return datetime.fromisoformat(str(given)).isoformat(timespec="seconds")


def _moment(given: str | date, *, whole_day: bool) -> int:
    """Return the instant of a date or time, s; with `whole_day`, the end of a date."""
    text = str(given)
    try:
        when = datetime.fromisoformat(text)
        if whole_day and len(text) <= len("1996-09-25"):
            when += timedelta(days=1)
        return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        raise InputError(f"dates: {text!r} is not a date; give one such as 1996-09-25") from None
