"""Contexts of reading in which each part of a store is opened once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import xarray as xr

P = ParamSpec("P")
Opened = TypeVar("Opened")
Store = TypeVar("Store")

_OPENED: ContextVar[dict[tuple[Any, ...], Any] | None] = ContextVar("opened", default=None)


@contextmanager
def reading() -> Iterator[None]:
    """Open each part of a store once in this context, or in a function with this decorator.

    An open part keeps the axes that it had when it was opened, so a context must not contain a run.
    Without the context, a report opened the summary 36 times, which took most of its time.

    Examples
    --------
    >>> with reading():
    ...     first, second = _OPENED.get(), _OPENED.get()
    >>> first is second, _OPENED.get()
    (True, None)
    """
    if _OPENED.get() is not None:
        yield
        return
    token = _OPENED.set({})
    try:
        yield
    finally:
        _OPENED.reset(token)


def opened_once(
    function: Callable[Concatenate[Store, P], Opened],
) -> Callable[Concatenate[Store, P], Opened]:
    """Make a function of a store return the same result again within `reading`.

    A dataset is returned as a shallow copy, to which the caller may add variables and attributes.
    """

    @wraps(function)
    def once(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> Opened:
        opened, name = _OPENED.get(), _name(store)
        if opened is None or name is None:
            return function(store, *args, **kwargs)
        key = (function, name, args, *sorted(kwargs.items()))
        if key not in opened:
            opened[key] = function(store, *args, **kwargs)
        found: Opened = opened[key]
        return found.copy() if isinstance(found, xr.Dataset) else found

    return once


def _name(store: object) -> str | None:
    """Return the folder or address of a store, unless it is an open tree."""
    return os.fspath(store) if isinstance(store, (str, os.PathLike)) else None
