"""Host lists: texts for the names of many nodes, such as ``ita[001-104]``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from schedfarm.core.errors import InputError

MOST = 1_000_000
"""Largest number of names in a range; a larger range is probably a mistake."""

_FOLDED = re.compile(r"([^\[\]]*)\[([^\[\]]*)\]([^\[\]]*)")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_NUMBERED = re.compile(r"(.*?)(\d{1,9})", re.ASCII)
_COMMA = re.compile(r",(?![^\[]*\])")
_PLAIN = re.compile(r"[^\s,;*\[\]]+")


def unfolded(text: object, where: str) -> list[str]:
    """Return the names of a host list; all numbers of a range have the length of the first.

    Examples
    --------
    >>> unfolded("ita[08-10,12]", "names"), unfolded("big", "names")
    (['ita08', 'ita09', 'ita10', 'ita12'], ['big'])
    >>> unfolded("ita[9-8]", "names")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: names is 'ita[9-8]': '9-8' is not a range of numbers, such
    as 001-104
    """
    if not isinstance(text, str) or not (found := _FOLDED.fullmatch(text)):
        return [plain(text, where)]
    before, ranges, after = found.groups()
    numbers = [number for part in ranges.split(",") for number in _numbers(part, text, where)]
    return [plain(f"{before}{number}{after}", where) for number in numbers]


def listed(text: object, where: str) -> list[str]:
    """Return the names of several host lists, separated by commas.

    Examples
    --------
    >>> listed("a[1-2],b, c[08,10]", "nodes")
    ['a1', 'a2', 'b', 'c08', 'c10']
    """
    if not isinstance(text, str):
        return [plain(text, where)]
    return [name for part in _COMMA.split(text) for name in unfolded(part.strip(), where)]


def plain(name: object, where: str) -> str:
    """Return a name that needs no quotes; refuse other names."""
    if not isinstance(name, str) or not _PLAIN.fullmatch(name) or not name.isprintable():
        raise InputError(
            f"{where} is {name!r}; give a name without blanks and none of , ; * [ ], or many in "
            "one, such as 'ita[001-104]'"
        )
    return name


def folded(names: Sequence[str]) -> list[str]:
    """Return host lists for some names, in the same order.

    Examples
    --------
    >>> folded(["a1", "a2", "a3", "b", "a09", "a10"])
    ['a[1-3]', 'b', 'a[09-10]']
    >>> folded(["b", "aa", "aa3"])
    ['b', 'aa', 'aa3']
    """
    texts = []
    for _, run in groupby(enumerate(names), lambda one: _key(*one)):
        together = [name for _, name in run]
        found = _NUMBERED.fullmatch(together[0])
        text = f"{found[1]}[{found[2]}-{together[-1][len(found[1]) :]}]" if found else ""
        # This excludes names such as a1 and a02.
        ranged = len(together) > 1 and unfolded(text, "names") == together
        texts += [text] if ranged else together
    return texts


def _key(place: int, name: str) -> tuple[str, int, bool]:
    """Return a key that is equal for consecutive names of one range."""
    found = _NUMBERED.fullmatch(name)
    # The flag prevents a common range of aa and a following aa3.
    return (found[1], int(found[2]) - place, True) if found else (name, place, False)


def _numbers(part: str, text: str, where: str) -> list[str]:
    found = _RANGE.fullmatch(part.strip())
    first, last = (found[1], found[2] or found[1]) if found else ("1", "0")
    if not int(first) <= int(last) < int(first) + MOST:
        raise InputError(
            f"{where} is {text!r}: {part.strip()!r} is not a range of numbers, such as 001-104"
        )
    return [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
