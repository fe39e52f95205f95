"""The time that a batch system gives a job, and when what runs in it had better end."""

from __future__ import annotations

import re

MARGIN_SHARE = 1 / 12
"""A worker's time ends so much of its job's walltime before the job's."""

MARGIN_SECONDS = (10, 300)
"""But at least, and at most, so many seconds."""

COORDINATOR_SECONDS = 60
"""A coordinator stops so long before its job's end: ten seconds finish what runs, the others
fold the summary and end the workers' jobs."""

ENDS = "SCHEDFARM_WORKER_ENDS"
"""Environment variable of a worker: when it begins nothing more, s since 1970."""

_CLOCK = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")


ENDLESS = ("unlimited", "infinite")
"""Walltimes that batch systems know beside lengths of time."""


def is_walltime(value: object) -> bool:
    """Tell whether a batch system could take a value as a walltime.

    Examples
    --------
    >>> [is_walltime(value) for value in ("02:00:00", "1-12", 30, "UNLIMITED", "abc", "2h")]
    [True, True, True, True, False, False]
    """
    return _CLOCK.fullmatch(str(value)) is not None or str(value).lower() in ENDLESS


def walltime_seconds(text: object, alone: int = 60, pair: int = 60) -> int | None:
    """Return a walltime in seconds; None of a text that is none, such as ``UNLIMITED``.

    Parameters
    ----------
    text : object
        ``DAYS-HH:MM:SS``, ``HH:MM:SS``, two parts, or a number.
    alone : int
        Seconds in the unit of a number that stands alone.
    pair : int
        Seconds in the unit of the first of two parts: 60 for ``MM:SS``, 3600 for ``HH:MM``.

    Examples
    --------
    >>> walltime_seconds("02:00:00"), walltime_seconds("1-12"), walltime_seconds(30)
    (7200, 129600, 1800)
    >>> walltime_seconds("90:00"), walltime_seconds("01:30", pair=3600)
    (5400, 5400)
    >>> walltime_seconds("UNLIMITED") is None
    True
    """
    found = _CLOCK.fullmatch(str(text))
    if not found:
        return None
    days, *parts = found.groups()
    given = [int(part) for part in parts if part is not None]
    first = 3600 if days is not None or len(given) == 3 else (alone, pair)[len(given) - 1]
    units = (first, first // 60, first // 3600)
    return int(days or 0) * 86_400 + sum(n * u for n, u in zip(given, units, strict=False))


def margin(walltime: int) -> int:
    """Return how long before its job's end a worker's time is over, s.

    Examples
    --------
    >>> margin(60), margin(1800), margin(86_400)
    (10, 150, 300)
    """
    least, most = MARGIN_SECONDS
    return round(min(most, max(least, walltime * MARGIN_SHARE)))


def ending(walltime: int) -> tuple[list[str], list[str]]:
    """Return what has a worker end before its job does: lines of its script, and its options.

    Jobs that begin together do not end together: the script draws up to a margin, so that a
    campaign does not lose all its workers at once. Dask's own lifetime lies behind it, for a
    task that took longer than was expected of it: it goes to another worker.

    Parameters
    ----------
    walltime : int
        Of the job, s.

    Examples
    --------
    >>> ending(3600)
    (['export SCHEDFARM_WORKER_ENDS=$(( $(date +%s) + 3300 - RANDOM % 300 ))'], \
['--lifetime', '3450s', '--lifetime-stagger', '75s'])
    """
    spare = margin(walltime)
    last = walltime - spare
    line = f"export {ENDS}=$(( $(date +%s) + {last} - RANDOM % {spare} ))"
    lifetime = f"{walltime - spare // 2}s"
    return [line], ["--lifetime", lifetime, "--lifetime-stagger", f"{max(1, spare // 4)}s"]
