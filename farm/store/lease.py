"""A lease on a bucket that admits one run at a time, or one process per part.

A holder must renew its lease. One object names the holder; every put of the object is conditional
on the etag that was read. Another run takes over an expired lease; expiry is judged by the length
in the lease and the server's clock. The other run takes over at once if the holder was a process of
its own machine and has ended. A part puts its lease and then checks for the lease of a run. A run
puts its lease and then checks for leases of parts. At least one of them therefore detects the
other.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import random
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from schedfarm.core.errors import InputError
from schedfarm.core.files import PARTIAL
from schedfarm.core.format.names import LOCK, PARTS, lock_of
from schedfarm.core.numerals import lasting
from schedfarm.farm.clock import uptime
from schedfarm.farm.store.files import ETag, InUse, StaleRun, writing

VARIABLE = "SCHEDFARM_LEASE_SECONDS"

SECONDS, LEAST, MOST = 60.0, 2.0, 3_600.0
"""Time until a lease expires without renewal, s, and the limits of `VARIABLE`."""

BRIEF_SECONDS = 600.0
"""Longest wait for a process that builds the store or completes its summary, s."""

BRIEF_POLL = 1.0
"""Mean time between two checks of a brief holder's lease, s: each takes several requests, by up to
200 parts."""

RENEWALS = 4
"""Number of renewals within the length of a lease."""


class Objects(Protocol):
    """Conditional reads and writes of a bucket that a lease needs."""

    def read_with_etag(self, name: str) -> tuple[bytes | None, ETag]:
        """Return an object and its etag."""

    def put_if_match(self, name: str, data: Any, etag: ETag) -> ETag:
        """Put an object that has this etag; return the new etag, or None after a change."""

    def age(self, name: str, other: str) -> float | None:
        """Return the age of an object relative to another, s, by the server's clock."""

    def remove(self, name: str) -> None:
        """Delete an object."""

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects below a folder."""


FREE = json.dumps({"run": None}).encode()
"""Content of a lease without a holder."""

_held = defaultdict[str, "list[Lease]"](list)
"""Leases that this process holds, by store."""


class Lease:
    """Hold a bucket for a run or a part for some seconds, and renew the lease in a thread."""

    def __init__(
        self, bucket: Objects, seconds: float, part: str = "", *, brief: bool = False
    ) -> None:
        self.run = f"{part}.{uuid.uuid4().hex}" if part else uuid.uuid4().hex
        self.name, self.brief = lock_of(self.run), brief
        self.lost = False
        self._bucket, self._seconds = bucket, seconds
        self._holder = {
            "host": platform.node(),
            "pid": os.getpid(),
            "since": time.strftime("%FT%T%z"),
            "run": self.run,
            "machine": _machine(),
            "seconds": seconds,
            **({"brief": True} if brief else {}),
        }
        self._beat = 0
        self._over = threading.Event()
        self._renewed = uptime()
        self._etag: ETag = None

    def take(self, etag: ETag) -> bool:
        """Become the holder if the object still has this etag; return whether that succeeded."""
        begun, self._beat = uptime(), self._beat + 1
        self._etag = self._bucket.put_if_match(self.name, self._text(), etag)
        if self._etag is None:
            # A retry of our own put fails because of the condition, too.
            holder, found = _read(self._bucket, self.name)
            if holder.get("run") != self.run:
                return False
            self._etag = found
        self._renewed = begun
        return True

    def check(self) -> None:
        """Raise StaleRun when another run may have taken over."""
        if self.lost or uptime() > self._renewed + self._seconds:
            raise StaleRun(
                errno.ECANCELED,
                f"its lease was not renewed for {lasting(self._seconds)}, and another run may have "
                "begun",
            )

    @contextmanager
    def renewed(self) -> Iterator[None]:
        """Renew the lease during the context, and release it at the end."""
        thread = threading.Thread(target=self._renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()
            # If the server does not answer, the lease expires.
            with suppress(OSError):
                self._release()

    def _renew(self) -> None:
        while not self._over.wait(self._seconds / RENEWALS) and not self.lost:
            # The next renewal tries again.
            with suppress(OSError):
                self.lost = not self.take(self._etag)

    def _release(self) -> None:
        if not self.lost:
            self._bucket.put_if_match(self.name, FREE, self._etag)

    def _text(self) -> bytes:
        # Each text is different, because an etag may be a digest of the content.
        return json.dumps({**self._holder, "beat": self._beat}).encode()


@contextmanager
def leased(bucket: Objects, *, brief: bool = False) -> Iterator[str]:
    """Hold the lease of a bucket, and yield the run's fencing token; `InUse` names another holder.

    A brief holder waits for another brief holder.
    """
    lease = Lease(bucket, lease_seconds(), brief=brief)
    with writing(bucket):
        _acquire(bucket, lease)
    with lease.renewed(), _holding(bucket, lease):
        with writing(bucket):
            _end_parts(bucket)
        yield lease.run


@contextmanager
def shared(bucket: Objects, part: str) -> Iterator[str]:
    """Hold the lease of a part, and yield its fencing token; InUse names another holder."""
    while True:
        lease = Lease(bucket, lease_seconds(), part)
        with writing(bucket):
            _acquire(bucket, lease)
        with lease.renewed():
            with writing(bucket):
                holder, _, rest = _await_brief(bucket, time.monotonic() + BRIEF_SECONDS)
                if rest > 0:
                    raise _in_use(bucket, LOCK, holder, rest)
                stands = _read(bucket, lease.name)[0].get("run") == lease.run
            if stands:
                with _holding(bucket, lease):
                    yield lease.run
                return
        # The awaited process had checked for parts before, and its fold removed all leases of
        # parts.


@contextmanager
def _holding(bucket: Objects, lease: Lease) -> Iterator[None]:
    """Allow this process to write while its lease lasts."""
    _held[str(bucket)].append(lease)
    try:
        yield
    finally:
        _held[str(bucket)].remove(lease)


def _await_brief(bucket: Objects, until: float) -> tuple[dict[str, Any], ETag, float]:
    """Wait while a process builds the store or completes its summary; then return as `_look`.

    The returned holder is brief only if the wait reached `until`, a time of the monotonic clock.
    """
    while True:
        holder, etag, rest = _look(bucket, LOCK)
        if rest <= 0 or not holder.get("brief") or time.monotonic() > until:
            return holder, etag, rest
        # Parts that started together should not check at the same time.
        time.sleep(BRIEF_POLL * random.uniform(0.5, 1.5))


def _end_parts(bucket: Objects) -> None:
    """Refuse a run while parts hold leases; take over expired leases."""
    for name in bucket.names(PARTS):
        holder, etag, rest = _look(bucket, name)
        if not holder.get("run"):
            continue
        if rest > 0 or bucket.put_if_match(name, FREE, etag) is None:
            raise _in_use(bucket, name, holder, rest)


def lease_check(store: str) -> Callable[[], None]:
    """Return a function that raises `StaleRun` once this process has lost its lease of a store.

    If this process has no lease, the function does nothing, since no other process can be writing.
    """
    held = _held[store]
    return held[-1].check if held else lambda: None


def check_fence(bucket: Objects, run: str) -> None:
    """Raise StaleRun unless this run holds the store or its part."""
    if _read(bucket, lock_of(run))[0].get("run") != run:
        raise StaleRun(errno.ECANCELED, "the run of this block has ended")


def lease_seconds() -> float:
    """Return the time until a lease expires without renewal, s: `VARIABLE`, or else `SECONDS`."""
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


def _acquire(bucket: Objects, lease: Lease) -> None:
    """Take a lease that is free or has expired; `InUse` names another holder.

    A brief holder waits for other brief holders, including those that take the free lease first.
    """
    until = time.monotonic() + (BRIEF_SECONDS if lease.brief else BRIEF_POLL)
    etag: ETag = None
    while not lease.take(etag):
        holder, etag, rest = (
            _await_brief(bucket, until) if lease.brief else _look(bucket, lease.name)
        )
        # The lease may be free again, because its holder has ended or a fold has removed it.
        if rest > 0 or time.monotonic() > until:
            raise _in_use(bucket, lease.name, holder, rest)


def _look(bucket: Objects, name: str) -> tuple[dict[str, Any], ETag, float]:
    """Return the holder of a lease, its etag, and its remaining time, s; 0 if it is free."""
    holder, etag = _read(bucket, name)
    return holder, etag, _remaining(bucket, name, holder) if holder.get("run") else 0.0


def _in_use(bucket: Objects, name: str, holder: dict[str, Any], rest: float = 0.0) -> InUse:
    part = name.removeprefix(f"{PARTS}/").removesuffix(".json").replace("-of-", "/")
    where = f"store {bucket}" if name == LOCK else f"store {bucket}: part {part}"
    text = f"{where} is in use by {_named(holder)}; wait for it"
    if rest > 0:
        text += f", or, if it has died, for the remaining {lasting(rest)} of its lease"
    return InUse(text)


def _read(bucket: Objects, name: str) -> tuple[dict[str, Any], ETag]:
    data, etag = bucket.read_with_etag(name)
    try:
        holder = json.loads(data or b"{}")
    except ValueError:
        holder = {}
    return holder if isinstance(holder, dict) else {}, etag


def _remaining(bucket: Objects, name: str, holder: dict[str, Any]) -> float:
    """Return the remaining time of a lease, s, by the clock of the server that dated its object."""
    if _is_dead(holder):
        return 0.0
    probe = f"{LOCK}.{uuid.uuid4().hex}{PARTIAL}"
    bucket.put_if_match(probe, b"", None)
    try:
        age = bucket.age(name, probe)
    finally:
        bucket.remove(probe)
    known = holder.get("seconds")
    lasts = known if isinstance(known, int | float) and LEAST <= known <= MOST else SECONDS
    # Servers may round times to whole seconds.
    return lasts + 1.0 - (age or 0.0)


def _is_dead(holder: dict[str, Any]) -> bool:
    """Return whether the holder was a process of this machine that has ended."""
    pid, here = holder.get("pid"), _machine()
    if not isinstance(pid, int) or pid <= 0 or not here or holder.get("machine") != here:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _machine() -> str:
    """Identify this boot of this machine and its process namespace; empty if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _named(holder: dict[str, Any]) -> str:
    if not holder.get("run") or "pid" not in holder:
        return "another process"
    return f"process {holder['pid']} on {holder.get('host')} since {holder.get('since')}"
