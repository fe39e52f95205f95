"""Names out of a list: what is said where one is given that is not on it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

ALIKE = 0.6
"""How alike a guess has to be, from 0 to 1."""


def nearest(given: object, known: Iterable[object], alike: float = ALIKE) -> str | None:
    """Return the known name that a misspelt one is likest to, whatever its case; None if none is.

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
    # Letters that changed places are the likeliest slip of short names: sfj is sjf, not saf.
    near.sort(key=lambda name: sorted(name) != sorted(word))
    return by_case[near[0]] if near else None


def choices(
    given: object, known: Iterable[object], *forms: str, aliases: Iterable[str] = ()
) -> str:
    """Say what could have been given instead: the nearest name, if one is near, and all.

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


def numbered(noun: str, count: int) -> tuple[str, ...]:
    """Return names for things that nobody has named.

    Examples
    --------
    >>> numbered("node", 3)
    ('node1', 'node2', 'node3')
    """
    return tuple(f"{noun}{number}" for number in range(1, count + 1))
