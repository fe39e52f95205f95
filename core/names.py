"""Suggestions for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

ALIKE = 0.6
"""Least similarity of a guess, from 0 to 1."""


def nearest(given: object, known: Iterable[object], alike: float = ALIKE) -> str | None:
    """Return the known name that is most similar to a misspelt name; None if no name is similar.

    Examples
    --------
    >>> nearest("kth-sp", ["CTC-SP2", "KTH-SP2"]), nearest("sfj", ["saf", "sjf"])
    ('KTH-SP2', 'sjf')
    >>> nearest("x", ["easy"]) is None
    True
    """
    by_case = {str(name).lower(): str(name) for name in known}
    word = str(given).lower()
    near = difflib.get_close_matches(word, by_case, n=max(1, len(by_case)), cutoff=alike)
    # In short names, swapped letters are the most likely mistake: sfj means sjf rather than saf.
    near.sort(key=lambda name: sorted(name) != sorted(word))
    return by_case[near[0]] if near else None


def choices(
    given: object, known: Iterable[object], *forms: str, aliases: Iterable[str] = ()
) -> str:
    """Return a hint for an error message: the nearest known name, and all known names.

    Examples
    --------
    >>> choices("esay", ["none", "easy"], "module:name")
    "did you mean 'easy'? known: none, easy, module:name"
    >>> choices("x", ["none", "easy"])
    'known: none, easy'
    """
    names = [str(name) for name in known]
    near = nearest(given, [*names, *aliases])
    guess = f"did you mean {near!r}? " if near else ""
    return f"{guess}known: {', '.join([*names, *forms])}"


def aliased(part: str, aliases: Mapping[str, str]) -> str:
    """Return the canonical name of an order or a rule; ``module:name`` is unchanged."""
    lower = part if ":" in part else part.lower()
    return aliases.get(lower, lower)


def split_outside(text: str, separators: str) -> list[str]:
    """Split a text at characters outside of parentheses; an open parenthesis extends to the end.

    Examples
    --------
    >>> split_outside("(max(procs, 2) + 1)+easy,threshold=3d", "+,")
    ['(max(procs, 2) + 1)', 'easy', 'threshold=3d']
    """
    parts, begun, nested = [], 0, 0
    for at, character in enumerate(text):
        nested = max(0, nested + (character == "(") - (character == ")"))
        if nested == 0 and character in separators:
            parts.append(text[begun:at])
            begun = at + 1
    return [*parts, text[begun:]]


def numbered(noun: str, count: int) -> tuple[str, ...]:
    """Return default names, made of a noun and numbers.

    Examples
    --------
    >>> numbered("node", 3)
    ('node1', 'node2', 'node3')
    """
    return tuple(f"{noun}{number}" for number in range(1, count + 1))
