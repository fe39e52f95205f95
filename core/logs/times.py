"""Instants and durations as text in logs."""

from __future__ import annotations

import re

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.rows import SHOWN
from schedfarm.core.workload.columns import UNKNOWN

_SPAN = re.compile(
    r"(?:(?:(\d{1,9})(?:-| days? ))?(\d{1,9}):)?(\d{1,9}):(\d\d)(?:\.\d+)?", re.ASCII
)
_DAYS = re.compile(r"(\d{1,9}) days?", re.ASCII)


def clock_word(word: str, where: str) -> int:
    """Return a duration in s, from [[D-]H:]M:S or the form of databases with `days`.

    Examples
    --------
    >>> clock_word("1-02:03:04", "log, line 1"), clock_word("2 days", "log, line 1")
    (93784, 172800)
    """
    if whole_days := _DAYS.fullmatch(word):
        return int(whole_days[1]) * 86_400
    found = _SPAN.fullmatch(word)
    if not found:
        raise InputError(f"{where}: {word[:SHOWN]!a} is not a time such as 1-02:03:04")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def count_from_earliest(columns: dict[str, Int64]) -> int:
    """Count instants from the earliest submission, add waits; return the Unix time of instant 0."""
    submit, start = columns["submit"], columns["start"]
    known = submit[submit >= 0]
    first = int(known.min()) if known.size else -1
    columns["wait"] = np.where((submit >= 0) & (start >= submit), start - submit, UNKNOWN)
    for name in ("submit", "eligible"):
        columns[name] = np.where(columns[name] >= 0, columns[name] - first, UNKNOWN)
    return first
