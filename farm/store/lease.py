"""One coordinator at a time on a store in a bucket: a lease, which has to be renewed.

An object says who holds the store, and is only ever put on the condition that it is as it was read.
Others take it over when it has not been renewed for as long as its own text says, by the server's
clock; at once if its holder was a process of this machine that is no more.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedfarm.core.errors import InputError
from schedfarm.core.files import PARTIAL
from schedfarm.core.format.names import LOCK
from schedfarm.core.numerals import lasting
from schedfarm.farm.clock import uptime
from schedfarm.farm.store.files import writing
from schedfarm.farm.store.lock import Superseded

if TYPE_CHECKING:
    from schedfarm.farm.store.bucket import Bucket

VARIABLE = "SCHEDFARM_LEASE_SECONDS"

SECONDS, LEAST, MOST = 60.0, 2.0, 3_600.0
"""After so long, s, without a renewal a holder is taken for dead; and what may be asked for."""

RENEWALS = 4
"""So often a lease is renewed within its length."""

_held: dict[str, Lease] = {}
"""Leases that this process holds, by store."""


class Lease:
    """Hold a store for one run, and renew that in a thread.

    Parameters
    ----------
    bucket : Bucket
        The store.
    seconds : float
        How long it lasts without being renewed, s.
    """

    def __init__(self, bucket: Bucket, seconds: float) -> None:
        self.run = uuid.uuid4().hex
        self.lost = False
        self._bucket, self._seconds = bucket, seconds
        self._said = {
            "host": platform.node(),
            "pid": os.getpid(),
            "since": time.strftime("%FT%T%z"),
            "run": self.run,
            "machine": _machine(),
            "seconds": seconds,
        }
        self._beat = 0
        self._over = threading.Event()
        self._renewed = uptime()
        self._mark: Any = None

    def take(self, mark: Any) -> bool:
        """Put one's own name where it is as it was read; tell whether it was."""
        begun, self._beat = uptime(), self._beat + 1
        self._mark = self._bucket.exchange(LOCK, self._text(), mark)
        if self._mark is None:
            # What is said to have failed may have been one's own, asked twice.
            said, found = _read(self._bucket)
            if said.get("run") != self.run:
                return False
            self._mark = found
        self._renewed = begun
        return True

    def check(self) -> None:
        """Refuse to go on when another run may have taken over.

        Raises
        ------
        Superseded
            Then.
        """
        if self.lost or uptime() > self._renewed + self._seconds:
            raise Superseded(
                errno.ECANCELED,
                f"its lease was not renewed for {lasting(self._seconds)}, and another run may have "
                "begun",
            )

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Renew it while this lasts, and leave the store free at the end."""
        thread = threading.Thread(target=self._keep, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()
            # A store that does not answer frees itself, in time.
            with suppress(OSError):
                self._free()

    def _keep(self) -> None:
        while not self._over.wait(self._seconds / RENEWALS) and not self.lost:
            # Asked again next time.
            with suppress(OSError):
                self.lost = not self.take(self._mark)

    def _free(self) -> None:
        if not self.lost:
            self._bucket.replace(LOCK, json.dumps({"run": None}).encode(), self._mark)

    def _text(self) -> bytes:
        # Never the same twice: an etag may be a digest of the content.
        return json.dumps({**self._said, "beat": self._beat}).encode()


@contextmanager
def leased(bucket: Bucket) -> Iterator[str]:
    """Hold a store in a bucket, or refuse, naming the holder.

    Parameters
    ----------
    bucket : Bucket
        The store.

    Yields
    ------
    str
        Name of this run, new each time, for `check_run`.

    Raises
    ------
    InputError
        If somebody holds it, or it cannot be written.
    """
    lease = Lease(bucket, lease_seconds())
    with writing(bucket):
        _acquire(bucket, lease)
    _held[str(bucket)] = lease
    try:
        with lease.kept():
            yield lease.run
    finally:
        del _held[str(bucket)]


def held(store: str) -> Callable[[], None]:
    """Return what raises Superseded once this process has lost the lease that it holds.

    It does nothing where the process holds none: nobody else can be at the store then.
    """
    lease = _held.get(store)
    return lease.check if lease else lambda: None


def check_run(bucket: Bucket, run: str) -> None:
    """Refuse to go on if a run is not the one that holds the store.

    Raises
    ------
    Superseded
        If another run holds it, or none does.
    """
    if _read(bucket)[0].get("run") != run:
        raise Superseded(errno.ECANCELED, "the run that asked for this block has ended")


def lease_seconds() -> float:
    """Return how long a lease lasts that is not renewed, s: 60, or what the environment says.

    Raises
    ------
    InputError
        If that is no such time.

    Examples
    --------
    >>> lease_seconds()
    60.0
    """
    text = os.environ.get(VARIABLE, "")
    if not text:
        return SECONDS
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not LEAST <= found <= MOST:
        raise InputError(f"{VARIABLE}={text!r}: give seconds from {LEAST:.0f} to {MOST:.0f}")
    return found


def _acquire(bucket: Bucket, lease: Lease) -> None:
    if lease.take(None):
        return
    said, mark = _read(bucket)
    if said.get("run") and not _is_dead(said):
        rest = _rest(bucket, said)
        if rest > 0:
            raise InputError(
                f"store {bucket} is in use by {_holder(said)}; wait for it, or, if it has died, "
                f"for the {lasting(rest)} that its lease still lasts"
            )
    if not lease.take(mark):
        said, _ = _read(bucket)
        raise InputError(f"store {bucket} is in use by {_holder(said)}; wait for it")


def _read(bucket: Bucket) -> tuple[dict[str, Any], Any]:
    data, mark = bucket.look(LOCK)
    try:
        said = json.loads(data or b"{}")
    except ValueError:
        said = {}
    return said if isinstance(said, dict) else {}, mark


def _rest(bucket: Bucket, said: dict[str, Any]) -> float:
    """Return how long a lease still lasts, s, by the clock that has dated its object."""
    name = f"{LOCK}.{uuid.uuid4().hex}{PARTIAL}"
    bucket.replace(name, b"", None)
    try:
        age = bucket.age(LOCK, name)
    finally:
        bucket.remove(name)
    known = said.get("seconds")
    lasts = known if isinstance(known, int | float) and LEAST <= known <= MOST else SECONDS
    # Whole seconds are all that a server may tell.
    return lasts + 1.0 - (age or 0.0)


def _is_dead(said: dict[str, Any]) -> bool:
    """Tell whether the holder was a process of this very machine, and is no more."""
    pid = said.get("pid")
    if not isinstance(pid, int) or pid <= 0 or not _machine() or said.get("machine") != _machine():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _machine() -> str:
    """Return what stands for this boot of this machine, and its process numbers; empty unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _holder(said: dict[str, Any]) -> str:
    if not said.get("run") or "pid" not in said:
        return "another process"
    return f"process {said['pid']} on {said.get('host')} since {said.get('since')}"
