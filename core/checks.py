"""Checks of arguments that several functions share."""

from __future__ import annotations

import numpy as np

from core.errors import InputError


def is_whole(value: object) -> bool:
    """Tell whether a value is a whole number, of Python's or numpy's; True is not one."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole(what: str, value: object, least: int | None = None) -> int:
    """Return an argument that must be a whole number, of a least value if one is given.

    Raises
    ------
    InputError
        If it is not, with its name and value.

    Examples
    --------
    >>> whole("jobs", 5, least=1)
    5
    >>> whole("jobs", 0, least=1)
    Traceback (most recent call last):
    core.errors.InputError: jobs=0: give a whole number, at least 1
    """
    if isinstance(value, (int, np.integer)) and is_whole(value):
        number = int(value)
        if least is None or number >= least:
            return number
    bound = "" if least is None else f", at least {least}"
    raise InputError(f"{what}={value!r}: give a whole number{bound}")
