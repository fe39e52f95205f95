"""Look-up of labels in users' spellings, such as `0.95` for a load and `sjf+easy` for a policy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.names import nearest
from schedfarm.core.policy.policy import Policy

SHOWN = 20
"""Largest number of labels in a message; an axis may have a hundred thousand."""


NEAR = 0.7
"""Least similarity of a guess, from 0 to 1; ``easy`` and ``spf+easy`` have a similarity of 0.67."""


def find_label(
    what: str, given: object, known: Iterable[Any], names: Mapping[str, str] | None = None
) -> Any:
    """Return the label for a spelling; if there is none, raise an error with the known labels.

    A ``load`` may be given as a number, and a ``policy`` in every spelling of
    `core.policy.policy.Policy.parse`. names: other names of some labels, which are also accepted.

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
    >>> find_label("policy", "site", ["fcfs+easy", "saf+slurm"], {"saf+slurm": "site"})
    'saf+slurm'
    """
    labels, names = list(known), names or {}
    given = next((label for label, name in names.items() if name == given), given)
    if given in labels and not isinstance(given, bool):
        return labels[labels.index(given)]
    spelt = _SPELLINGS.get(what, _nothing)
    wanted = spelt(given)
    if wanted is not None:
        for label in labels:
            if spelt(label) == wanted:
                return label
    # A valid spelling of an absent label, such as another policy, is not a misspelling.
    labels = [names.get(label, label) for label in labels]
    near = None if wanted else nearest(given, labels, NEAR)
    guess = f"did you mean {near!r}? " if near else ""
    more = f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else ""
    listed = ", ".join(map(str, labels[:SHOWN]))
    raise InputError(f"unknown {what} {given!r}; {guess}known: {listed}{more}")


def load_number(load: object) -> float:
    """Return the number of a load's label; NaN for ``original``.

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
"""Functions from a spelling to its canonical form, by kind of label."""
