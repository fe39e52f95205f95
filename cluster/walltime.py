"""Walltimes of jobs, and the margins within which workers and coordinators end."""

from __future__ import annotations

import re

MARGIN_SHARE = 1 / 12
"""Margin between a worker's end and its job's end, as a share of the walltime."""

MARGIN_SECONDS = (10, 300)
"""Least and largest margin, s."""

COORDINATOR_SECONDS = 60
"""Margin of a coordinator, s: ten seconds to finish running blocks, and the rest to fold the
summary and cancel the workers' jobs."""

ENDS = "SCHEDFARM_WORKER_ENDS"
"""Environment variable of a worker: time from which the worker begins no block, s since 1970."""

_CLOCK = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")


ENDLESS = ("unlimited", "infinite")
"""Texts of batch systems for an unlimited walltime."""


def is_walltime(value: object) -> bool:
    """Return whether a value has the form of a walltime.

    Examples
    --------
    >>> [is_walltime(value) for value in ("02:00:00", "1-12", 30, "UNLIMITED", "abc", "2h")]
    [True, True, True, True, False, False]
    """
    return _CLOCK.fullmatch(str(value)) is not None or str(value).lower() in ENDLESS


def walltime_seconds(text: object, alone: int = 60, pair: int = 60) -> int | None:
    """Return a walltime in seconds; None for other texts, such as ``UNLIMITED``.

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
    """Return the margin between a worker's end and its job's end, s.

    Examples
    --------
    >>> margin(60), margin(1800), margin(86_400)
    (10, 150, 300)
    """
    least, most = MARGIN_SECONDS
    return round(min(most, max(least, walltime * MARGIN_SHARE)))


def ending(walltime: int) -> tuple[list[str], list[str]]:
    """Return the script lines and options that end a worker before its job.

    The script subtracts a random part of the margin, so that jobs that began together do not end
    together. Dask's lifetime is a second limit, for tasks that take longer than expected: these
    tasks move to another worker.

    Parameters
    ----------
    walltime : int
        Walltime of the job, s.

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
