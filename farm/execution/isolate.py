"""Call a function in a process of its own, so that what kills the process is an error here."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

CHILD = "from farm.execution.isolate import child; child()"


class Killed(RuntimeError):
    """Say what killed the process."""


def isolated(function: Callable[..., T], *arguments: Any) -> T:
    """Call a module's function in a fresh interpreter.

    A worker of Dask may not have children through multiprocessing, hence the bare subprocess;
    the pickles pass through a pipe between the two and are never stored.

    Parameters
    ----------
    function : callable
        Importable by name.
    *arguments
        For it.

    Returns
    -------
    object
        What the function returned.

    Raises
    ------
    Killed
        If the process ended without an answer.
    Exception
        Whatever the function raised.
    """
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=pickle.dumps((function, arguments)),
        capture_output=True,
        check=False,
    )
    if done.returncode != 0 or not done.stdout:
        raise Killed(f"the simulation killed its process ({_cause(done.returncode)})")
    result, error = pickle.loads(done.stdout)
    if error is not None:
        raise error
    answer: T = result
    return answer


def child() -> None:
    """Answer one call from standard input on standard output."""
    function, arguments = pickle.load(sys.stdin.buffer)
    answer: tuple[Any, Exception | None]
    try:
        answer = function(*arguments), None
    except Exception as error:
        answer = None, error
    sys.stdout.buffer.write(pickle.dumps(answer))


def _cause(code: int) -> str:
    if code < 0:
        return signal.Signals(-code).name
    return f"exit status {code}"
