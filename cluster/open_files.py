"""The files that a process may have open: of a scheduler's, each worker takes two or three."""

from __future__ import annotations

import resource
from contextlib import suppress


def lift() -> None:
    """Let this process, and those that it starts, open as many files as the system lets it have.

    Many systems have 1,024 unless a program asks for more: a scheduler turns the 500th worker away.

    Examples
    --------
    >>> lift()
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems call a number unlimited that they do not grant.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
