"""A value with its source."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from schedfarm.core.errors import InputError

T = TypeVar("T")

UNLIMITED = frozenset({"", "n/a", "none", "(null)", "unlimited", "infinite", "-1"})
"""Lower-case words with which Slurm denotes the absence of a limit or value."""

_TRES = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)([KMGTP]?)")

_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
"""Power of 1024 for each unit with which Slurm prints amounts."""


@dataclass(frozen=True)
class Fact(Generic[T]):
    """Hold a value and its source, such as ``slurm.conf:12`` or ``qos.txt:3, Priority``."""

    value: T
    source: str


def text_of(path: Path) -> str:
    """Return a file's text; refuse an unreadable file."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"{path}: {why}") from error


def is_whole(text: str) -> bool:
    """Return whether a text is a whole number from 0 on, written with the digits 0 to 9."""
    return text.isascii() and text.isdigit() and len(text) <= 15


def whole(where: str, text: str) -> int:
    """Return a whole number from 0 on; refuse other texts."""
    if not is_whole(text):
        raise InputError(f"{where}: {text!r} is not a whole number from 0 on")
    return int(text)


def limit(where: str, text: str) -> int | None:
    """Return the whole number of a limit; None without a limit."""
    return None if text.lower() in UNLIMITED else whole(where, text)


def tres(where: str, text: str) -> dict[str, int]:
    """Return amounts of resources, such as cpu=64,mem=2T; memory is in MiB, rounded up.

    Examples
    --------
    >>> tres("qos.txt:2", "cpu=64,mem=2G,gres/gpu=4"), tres("qos.txt:2", "")
    ({'cpu': 64, 'mem': 2048, 'gres/gpu': 4}, {})
    >>> tres("qos.txt:2", "mem=200")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: qos.txt:2: mem=200 has no unit; write mem=200M or mem=200G
    """
    found: dict[str, int] = {}
    if text.lower() in UNLIMITED:
        return found
    for part in text.split(","):
        name, _, amount = part.partition("=")
        known = _TRES.fullmatch(amount)
        if amount.startswith("-"):
            raise InputError(f"{where}: {part} is negative; give an amount from 0 on")
        if not name or not known:
            raise InputError(f"{where}: {part!r} is not RESOURCE=AMOUNT, such as cpu=64 or mem=2T")
        if name == "mem" and not known[2]:
            raise InputError(f"{where}: {part} has no unit; write {part}M or {part}G")
        power = _POWERS[known[2]] - (2 if name == "mem" else 0)
        found[name] = math.ceil(float(known[1]) * 1024.0**power)
    return found
