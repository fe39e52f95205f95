"""Loggers that tell with tracebacks what is said in a sentence elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def quiet(names: Iterable[str]) -> Iterator[None]:
    """Let loggers say nothing as long as this lasts.

    Examples
    --------
    >>> with quiet(["asyncio"]):
    ...     logging.getLogger("asyncio").error("Task was destroyed but it is pending!")
    """
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
