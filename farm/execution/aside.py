"""Call a function in a thread beside, so that this one hears signals and may look on meanwhile.

Python acts on a signal between two instructions of its main thread, which would be at the end of
a kernel: after minutes, for a long simulation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Call(Generic[T]):
    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self.answer: list[T] = []
        self.error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self.answer.append(self._function())
        except BaseException as error:  # raised again where the answer is waited for
            self.error = error


def aside(function: Callable[[], T], look: Callable[[], Any], seconds: float) -> T:
    """Return what a function returns, and call another one now and then until it does.

    Parameters
    ----------
    function : callable
        Runs in a thread of its own, in this one's context; it goes on if this one is interrupted.
    look : callable
        Called in this thread.
    seconds : float
        Time between two calls of it, s.

    Returns
    -------
    object
        What the function returned.

    Raises
    ------
    BaseException
        Whatever the function raised.

    Examples
    --------
    >>> aside(lambda: 6 * 7, lambda: None, 1.0)
    42
    """
    call, context = _Call(function), copy_context()
    thread = threading.Thread(target=context.run, args=(call,), daemon=True)
    thread.start()
    while True:
        thread.join(seconds)
        if not thread.is_alive():
            break
        look()
    if call.error is not None:
        raise call.error
    return call.answer[0]
