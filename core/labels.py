"""From what a user writes to the label that is meant: `0.95` of a load, `sjf+easy` of a policy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.names import nearest
from schedfarm.core.policy.policy import Policy

SHOWN = 20
"""Labels that a sentence lists at most: an axis may have a hundred thousand."""


NEAR = 0.7
"""How alike a guess has to be, from 0 to 1: that of ``easy`` and ``spf+easy`` is 0.67."""


def find_label(what: str, given: object, known: Iterable[Any]) -> Any:
    """Return the one of some labels that is meant.

    Parameters
    ----------
    what : str
        What they are labels of. Of a ``load`` also its number is taken, and of a ``policy`` every
        spelling that `core.policy.policy.Policy.parse` reads.
    given : object
        What the user wrote.
    known : iterable
        The labels that are there.

    Returns
    -------
    object
        One of them.

    Raises
    ------
    InputError
        If none is meant, with those that are known.

    Examples
    --------
    >>> find_label("load", 0.95, ["original", "0.95"])
    '0.95'
    >>> find_label("policy", "SJF+easy,threshold=72h", ["fcfs+easy", "spf+easy,threshold=3d"])
    'spf+easy,threshold=3d'
    >>> find_label("metric", "wiat", ["wait", "response"])
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: unknown metric 'wiat'; did you mean 'wait'? known: wait,
    response
    """
    labels = list(known)
    if given in labels and not isinstance(given, bool):
        return labels[labels.index(given)]
    spelt = _SPELLINGS.get(what, _nothing)
    wanted = spelt(given)
    if wanted is not None:
        for label in labels:
            if spelt(label) == wanted:
                return label
    # What has a meaning, such as another policy, is no slip.
    near = None if wanted else nearest(given, labels, NEAR)
    guess = f"did you mean {near!r}? " if near else ""
    more = f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else ""
    listed = ", ".join(map(str, labels[:SHOWN]))
    raise InputError(f"unknown {what} {given!r}; {guess}known: {listed}{more}")


def load_number(load: object) -> float:
    """Return the number of a load's label; NaN of the one that has none.

    Examples
    --------
    >>> load_number("0.90"), load_number("original")
    (0.9, nan)
    """
    try:
        return float(load)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _load(given: object) -> float | None:
    number = math.nan if isinstance(given, bool) else load_number(given)
    return None if math.isnan(number) else number


def _policy(given: object) -> str | None:
    try:
        return Policy.parse(str(given)).name
    except InputError:
        return None


def _nothing(_given: object) -> None:
    return None


_SPELLINGS: dict[str, Callable[[object], object]] = {"load": _load, "policy": _policy}
"""What all spellings of one label have in common."""
