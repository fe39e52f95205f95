"""Checkpoints of long simulations, from which another process continues after a kill.

A checkpoint is a file in NumPy's format npz without pickles, followed by a CRC-32. It contains the
arrays of a simulation between two instants, and a key: the digest of all inputs that determine the
arrays.
"""

from __future__ import annotations

import hashlib
import io
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile
from zlib import crc32

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

EVERY_SECONDS = 30.0
"""Time before the first checkpoint of a simulation, and least time between two, s."""

SHARE = 0.02
"""Largest share of the run time for checkpoints, on slow disks and networks."""

POLL_SECONDS = 1.0
"""Period of the check for due checkpoints, s."""

FAIR = "fair_start"
"""Name of the array of fair starts."""

_KEY = "key"

CHECKSUM = 4
"""Bytes of the checksum behind the archive."""

State = Mapping[str, npt.NDArray[Any]]
"""Arrays of a simulation by name; a checkpoint stores and restores their values."""


class Checkpoints:
    """Keep the latest state of a simulation in a ``with`` block, if the simulation takes long.

    Parameters
    ----------
    program : callable
        Function that returns a digest of the program; checkpoints of other programs are not used.
    write : callable
        Function that stores the bytes of a checkpoint in place of the previous checkpoint.
    found : bytes, optional
        The checkpoint of an earlier process.

    Attributes
    ----------
    due : int64[1]
        Nonzero if the kernel should return between two instants, for the next checkpoint.
    """

    def __init__(
        self,
        program: Callable[[], str],
        write: Callable[[bytes], None],
        found: bytes | None = None,
    ) -> None:
        self.due = np.zeros(1, np.int64)
        self.state: State = {}
        self._program, self._write, self._found = program, write, found
        self._key: Callable[[], str] = str
        self._live, self._next = False, 0.0
        self._lock = threading.Lock()
        self._tokens: list[Token[Checkpoints | None]] = []

    def __enter__(self) -> Checkpoints:
        """Make the thread's simulations use this object."""
        self._tokens.append(_here.set(self))
        return self

    def __exit__(self, *error: object) -> None:
        """Restore the object that the thread's simulations used before."""
        _here.reset(self._tokens.pop())

    @contextmanager
    def of(
        self, workload: Workload, policy: Policy, kind: str, state: State, live: bool
    ) -> Iterator[None]:
        """Restore the state of a simulation, and make its checkpoints inside this context."""
        self._key = lambda: _digest(self._program(), workload.digest(), policy.name, kind)
        self._live, self._next = live, time.monotonic() + EVERY_SECONDS
        if self._found is not None:
            self._restore(self._found, state)
        self.state = state
        _open.add(self)
        _start_polling()
        try:
            yield
        finally:
            _open.discard(self)
            with self._lock:
                self.state = {}

    def save(self) -> None:
        """Write a checkpoint; if this fails, the simulation continues without it."""
        with self._lock:
            if not self.state:
                return
            self.due[0] = 0
            begun = time.monotonic()
            try:
                self._write(_packed(self._key(), self.state))
            except OSError as error:
                warnings.warn(
                    f"no checkpoint of a long simulation could be written "
                    f"({error.strerror or error}); it goes on without",
                    RuntimeWarning,
                    stacklevel=2,
                )
            now = time.monotonic()
            self._next = now + max(EVERY_SECONDS, (now - begun) / SHARE)

    def look(self) -> None:
        """Request the next checkpoint if it is due."""
        if time.monotonic() < self._next:
            return
        if self._live:
            self.save()
        else:
            self.due[0] = 1

    def _restore(self, found: bytes, state: State) -> None:
        try:
            saved = _unpacked(found)
        except Exception:  # the readers raise many types of errors on altered bytes
            self._ignore("is torn")
            return
        # A checkpoint with the same key has the same arrays.
        if str(saved.pop(_KEY, "")) != self._key():
            self._ignore("is of another program, workload or policy")
            return
        for name, values in saved.items():
            state[name][...] = values

    def _ignore(self, why: str) -> None:
        text = f"a checkpoint {why}; its simulation starts over"
        warnings.warn(text, RuntimeWarning, stacklevel=2)


_here: ContextVar[Checkpoints | None] = ContextVar("checkpoints", default=None)

_open: set[Checkpoints] = set()
"""The checkpoints of simulations that run in this process."""

_polling = threading.Lock()
"""Lock of the polling thread, which never releases it."""


@contextmanager
def checkpointed(
    workload: Workload, policy: Policy, kind: str, state: State, *, live: bool = False
) -> Iterator[Checkpoints]:
    """Restore the state of a simulation, and make checkpoints if this thread has requested them.

    Parameters
    ----------
    workload, policy
        The inputs of the simulation.
    kind : str
        Name of the result, such as the schedule.
    state : mapping of str to array
        All arrays that the simulation changes, in their initial state.
    live : bool
        Whether the arrays are a valid state at any time; otherwise only after a kernel returns.
    """
    here = _here.get()
    # The separate simulation of one fair start among many makes no checkpoints.
    if here is None or here.state:
        yield Checkpoints(str, lambda _: None)
        return
    with here.of(workload, policy, kind, state, live):
        yield here


def fair_starts(jobs: int) -> Int64:
    """Return the array of fair starts for a kernel, int64[jobs], with -1 for unknown starts.

    A kernel writes only final values into the array, so the array is a valid state at any time.
    """
    here = _here.get()
    known = None if here is None else here.state.get(FAIR)
    return np.full(jobs, -1, np.int64) if known is None else known


def state_of(parts: object, name: str = "") -> dict[str, npt.NDArray[Any]]:
    """Return the writable arrays of nested named tuples, by their paths.

    Examples
    --------
    >>> from schedfarm.core.engine.running import idle_machine
    >>> sorted(state_of({"all": 1})), "free" in state_of(idle_machine(4, 2))
    ([], True)
    """
    if isinstance(parts, np.ndarray):
        return {name: parts} if parts.flags.writeable else {}
    found: dict[str, npt.NDArray[Any]] = {}
    for field in getattr(parts, "_fields", ()):
        found |= state_of(getattr(parts, field), f"{name}.{field}" if name else field)
    return found


def _start_polling() -> None:
    if _polling.acquire(blocking=False):
        threading.Thread(target=_poll, name="checkpoints", daemon=True).start()


def _poll() -> None:
    while True:
        time.sleep(POLL_SECONDS)
        for one in list(_open):
            one.look()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _packed(key: str, state: State) -> bytes:
    """Return an archive of the arrays and a checksum, which also protects the headers."""
    data = io.BytesIO()
    # `np.savez_compressed` has no argument for the level; level 1 is enough for the unused parts.
    with ZipFile(data, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for name, values in {_KEY: np.array(key), **state}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, values, allow_pickle=False)
    return data.getvalue() + crc32(data.getvalue()).to_bytes(CHECKSUM)


def _unpacked(data: bytes) -> dict[str, Any]:
    if crc32(data[:-CHECKSUM]).to_bytes(CHECKSUM) != data[-CHECKSUM:]:
        raise ValueError("the checksum differs")
    with np.load(io.BytesIO(data[:-CHECKSUM]), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}
