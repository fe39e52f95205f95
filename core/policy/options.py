"""Options of a policy, which follow order and rule in its name; one row each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from schedfarm.core.durations import DAY, duration, seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.names import choices
from schedfarm.core.policy.limits import canonical_limits
from schedfarm.core.policy.orders import ORDERS, find_order, spelt
from schedfarm.core.policy.predictions import CORRECTIONS, canonical_predictor

TIMES = re.compile(r"(\d{1,100})x")
"""Pattern of multiples of the quantity in the option's meaning, such as 3x."""

_COUNT = re.compile(r"\d{1,9}")
_WEIGHT = re.compile(r"\d{1,9}(\.\d{1,9})?")

OFF = "off"
"""Value of an interval that switches one of Slurm's schedulers off."""

WEIGHTS = 4
"""Number of criteria with a weight in a search."""


@dataclass(frozen=True)
class Option:
    """Declare an option.

    Parameters
    ----------
    name : str
        Field of `core.policy.policy.Policy` with the option's value.
    example : str
        An example of a value, for listings.
    meaning : str
        Effect of the option.
    canonical : callable
        Function from the option's name and given value to its canonical spelling.
    default : str, optional
        Default value.
    values : tuple of str
        All values, if there are only a few; the default is first.
    """

    name: str
    example: str
    meaning: str
    canonical: Callable[[str, str], str]
    default: str | None = None
    values: tuple[str, ...] = ()


def _chosen(values: tuple[str, ...]) -> Callable[[str, str], str]:
    def canonical(name: str, text: str) -> str:
        if text not in values:
            raise InputError(f"{name}={text!r} is unknown; {choices(text, values)}")
        return text

    return canonical


def _choice(name: str, example: str, meaning: str, *values: str) -> Option:
    return Option(name, example, meaning, _chosen(values), values[0], values)


def _threshold(name: str, text: str) -> str:
    if times := TIMES.fullmatch(text):
        return f"{int(times[1])}x"
    seconds = seconds_of(text)
    if seconds is None:
        raise InputError(
            f"threshold {text!r} is not a duration; give a whole number and a unit, such as 3d, "
            "12h, 90s, or 3x for three times the largest estimate"
        )
    return duration(seconds)


def _order(name: str, text: str) -> str:
    try:
        text = spelt(text)
        find_order(text)
    except InputError as error:
        raise InputError(str(error).replace("order", f"{name} order", 1)) from error
    return text


def _interval(name: str, text: str) -> str:
    seconds = seconds_of(text)
    if not seconds or seconds >= 2**40:
        raise InputError(
            f"{name}={text!r} is not an interval; give a whole number from 1 and a unit (w d h m "
            "s), such as 5m"
        )
    return duration(seconds)


def _bounded(most: int, *, off: bool = False) -> Callable[[str, str], str]:
    """Return the reader of an interval from 1 s up to `most` s, or `off` if allowed."""

    def canonical(name: str, text: str) -> str:
        if off and text == OFF:
            return text
        seconds = seconds_of(text)
        if not seconds or seconds > most:
            raise InputError(
                f"{name}={text!r}; give a time from 1s to {duration(most)}, such as 30s"
                f"{f', or {OFF}' * off}"
            )
        return duration(seconds)

    return canonical


def _from_to(least: int, most: int) -> Callable[[str, str], str]:
    def canonical(name: str, text: str) -> str:
        if not _COUNT.fullmatch(text) or not least <= int(text) <= most:
            raise InputError(f"{name}={text!r}; give a whole number from {least} to {most}")
        return str(int(text))

    return canonical


def _count(name: str, text: str) -> str:
    if not _COUNT.fullmatch(text):
        raise InputError(f"{name}={text!r} is not a whole number from 0 and below 10^9")
    return str(int(text))


def _iterations(name: str, text: str) -> str:
    times = TIMES.fullmatch(text)
    number = times[1] if times else text
    if not _COUNT.fullmatch(number):
        raise InputError(
            f"{name}={text!r}; give a whole number from 0, such as 500, or 2x for twice as many as "
            "jobs wait"
        )
    return f"{int(number)}x" if times else str(int(number))


def _weights(name: str, text: str) -> str:
    parts = text.split(":")
    if len(parts) != WEIGHTS or not all(_WEIGHT.fullmatch(part) for part in parts):
        raise InputError(
            f"{name}={text!r}; give {WEIGHTS} numbers from 0, of slowdown, wait, response and "
            "fairness, such as 1:1:1:1"
        )
    return ":".join(f"{float(part):g}" for part in parts)


def _resets(name: str, text: str) -> str:
    times = sorted(
        {seconds for part in text.split(":") if (seconds := seconds_of(part)) is not None}
    )
    if len(times) != text.count(":") + 1 or times[-1] >= DAY:
        raise InputError(
            f"{name}={text!r}; give different times of day after midnight, such as 8h:13h or 450m"
        )
    return ":".join(map(duration, times))


def _time_of_day(name: str, text: str) -> str:
    seconds = seconds_of(text)
    if seconds is None or seconds >= DAY:
        raise InputError(
            f"{name}={text!r}; give the offset of local time from UTC, such as 1h, or 16h for -8 h"
        )
    return duration(seconds)


_ROWS = (
    Option(
        "threshold",
        "3d",
        "a job that waited longer goes first; w d h m s, or 3x the largest estimate",
        _threshold,
    ),
    Option(
        "backfill",
        "ORDER",
        "order in which jobs behind the reservations are considered",
        _order,
        values=tuple(ORDERS),
    ),
    _choice(
        "events",
        "per-event",
        "submissions before completions, and a pass after each (as pyss)",
        "instant",
        "per-event",
    ),
    Option(
        "predict",
        "last2",
        "plan with predicted run times: last2, mean(K), soft, perfect or module:name",
        canonical_predictor,
    ),
    _choice(
        "correct",
        "double",
        "how predictions that prove too short are raised: by steps, twofold, or to the estimate",
        *CORRECTIONS,
    ),
    _choice(
        "walk",
        "queue",
        "planned: compress reservations in queue order; or in order of arrival",
        "start",
        "arrival",
        "queue",
    ),
    Option(
        "refresh",
        "5m",
        "fair share: interval at which usage is read, instead of each pass",
        _interval,
    ),
    Option(
        "halflife",
        "3d",
        "fair share: time after which usage counts half",
        _interval,
    ),
    Option(
        "limits",
        "(root.MaxJobs=8)",
        "Slurm's limits of associations and QOS, as in (qos.high.GrpTRES=cpu=512)",
        canonical_limits,
    ),
    Option(
        "sched_interval",
        "60s",
        "slurm: interval of the main scheduler, which runs at events too; off for neither",
        _bounded(365 * DAY, off=True),
        "1m",
    ),
    Option(
        "default_queue_depth",
        "100",
        "slurm: jobs that the main scheduler considers at an event",
        _from_to(1, 10**6),
        "100",
    ),
    Option(
        "bf_interval",
        "30s",
        "slurm: interval of backfill cycles; off for none",
        _bounded(10_800, off=True),
        "30s",
    ),
    Option("bf_max_job_test", "500", "slurm: jobs that a cycle tests", _from_to(1, 10**6), "500"),
    Option(
        "bf_max_job_user",
        "20",
        "slurm: jobs of a user that a cycle tests; 0 for all",
        _from_to(0, 10**6),
        "0",
    ),
    Option(
        "bf_window",
        "1d",
        "slurm: time ahead within which a cycle makes reservations",
        _bounded(30 * DAY),
        "1d",
    ),
    Option("bf_resolution", "60s", "slurm: unit of time of its map", _bounded(3600), "1m"),
    Option(
        "bf_rate",
        "500",
        "slurm: jobs that are tested in a second; by default a cycle takes no time",
        _from_to(1, 10**6),
    ),
    Option(
        "bf_max_time",
        "30s",
        "slurm: longest time of a cycle, with bf_rate; by default bf_interval",
        _bounded(3600),
    ),
    Option("every", "5m", "tabu: interval of searches for a better plan", _interval, "5m"),
    Option(
        "iterations",
        "2x",
        "tabu: moves tried in a search, a number or a multiple of the waiting jobs",
        _iterations,
        "2x",
    ),
    Option(
        "tenure", "10", "tabu: number of moves for which a moved job stays in place", _count, "10"
    ),
    Option("seed", "1", "tabu: seed of its draws", _count, "0"),
    Option(
        "weights",
        "1:1:1:1",
        "tabu: weights of slowdown, wait, response and fairness of users",
        _weights,
        "1:1:1:1",
    ),
    _choice(
        "jobs",
        "all",
        "tabu: the first three weights also count running and completed jobs",
        "plan",
        "all",
    ),
    _choice(
        "users",
        "plan",
        "tabu: fairness counts waiting jobs only",
        "all",
        "plan",
    ),
    _choice(
        "fairness",
        "raised",
        "tabu: fairness as the sum of (1 + mean - NUWT)^2, not of (mean - NUWT)^2",
        "plain",
        "raised",
    ),
    _choice(
        "search",
        "random",
        "tabu: random: draw the job's new position, too; gap: no draws, from the last job on",
        "tabu",
        "random",
        "gap",
    ),
    Option("shelf", "15m", "demt: length of the smallest shelf", _interval, "15m"),
    Option("resets", "8h:13h", "demt: local times at which shelves are rebuilt", _resets, "8h:13h"),
    Option("utc", "1h", "demt: offset of local time from UTC; -8 h is 16h", _time_of_day, "0s"),
    _choice(
        "worth",
        "area",
        "demt: fill shelves by number of jobs, by processors, or by processors x estimate",
        "jobs",
        "procs",
        "area",
    ),
    Option(
        "budget",
        "20000",
        "demt: ways tried to fill a shelf; the rest is filled greedily",
        _count,
        "20000",
    ),
    _choice(
        "to",
        "first",
        "ics, icsb: migrate to the cluster with most or least free processors, or to the first",
        "most",
        "least",
        "first",
    ),
    _choice(
        "links",
        "ignored",
        "ics, icsb: jobs use links with enough free capacity, any link, or none",
        "kept",
        "ignored",
        "unused",
    ),
    _choice(
        "queue",
        "global",
        "ics: one queue per cluster, whose own jobs go first (local), or one for all (global)",
        "local",
        "global",
    ),
)

OPTIONS: dict[str, Option] = {row.name: row for row in _ROWS}
"""Every option by its name, in the order of a policy's name."""

COMMON = ("threshold", "events")
"""Options that every rule supports."""
