"""Call a function in a process of its own, so that what kills the process is an error here."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from schedfarm.core.engine.cancel import underway

T = TypeVar("T")

CHILD = "from schedfarm.farm.execution.isolate import child; child()"


LOOK_SECONDS = 0.5
"""Time between two looks at whether the simulations of this thread are to be left."""


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
    Left
        If this thread's simulations are to be left: the process is killed.
    Exception
        Whatever the function raised.
    """
    command = [sys.executable, "-c", CHILD]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            output = _answer(process, pickle.dumps((function, arguments)))
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0 or not output:
        raise Killed(f"the simulation killed its process ({_cause(process.returncode)})")
    result, error = pickle.loads(output)
    if error is not None:
        raise error
    answer: T = result
    return answer


def _answer(process: subprocess.Popen[bytes], question: bytes) -> bytes:
    under, unsent = underway(), question or None
    while True:
        try:
            return process.communicate(unsent, timeout=LOOK_SECONDS)[0]
        except subprocess.TimeoutExpired:
            # What is unsent yet goes on with the next call, which refuses to be told again.
            unsent = None
            under.check()


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
