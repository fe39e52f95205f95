"""A store under a prefix of a bucket, through obstore: each object is put as a whole.

A bucket has no locks, so every put is conditional: create-only, or if-match on an etag that was
read *before* the check of the run's lease. A late put of an ended run therefore never replaces an
object of a later run.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from schedfarm.core.addresses import (
    MISSING,
    checked_address,
    connection,
    is_answer,
    is_refusal,
    reason,
    settings,
)
from schedfarm.core.errors import InputError
from schedfarm.farm.store.files import ETag, Shard, Unavailable
from schedfarm.farm.store.journal import START, ObjectJournal, Position, read_objects
from schedfarm.farm.store.lease import check_fence, lease_check, leased, shared

HEAD_BYTES = 16_384
"""Bytes of the first request for a first line, enough for a record of some hundred cells."""

REQUESTS = 16
"""Number of concurrent requests."""

TRIES = 8
"""Number of attempts to put an object that changes between the read of its etag and the put."""

CHANGED = ("AlreadyExistsError", "PreconditionError", "ConditionalRequestConflict", "409 Conflict")
"""Errors of puts whose condition fails."""

T = TypeVar("T")


class Bucket:
    """Keep a store's files as objects; see `farm.store.place.Place`.

    Parameters
    ----------
    text : str
        Address such as ``s3://BUCKET/NAME``; credentials and endpoint come from environment
        variables only.

    Examples
    --------
    >>> str(Bucket("s3://waits/2024/kth.farm/"))
    's3://waits/2024/kth.farm'
    """

    keeps_checkpoints = False
    keeps_fill = True
    poll_seconds = 5.0

    def __init__(self, text: str) -> None:
        self._text = checked_address(text)
        if find_spec("obstore") is None:
            raise InputError(f"store {self._text}: {MISSING}")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Bucket({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bucket) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    @property
    def local_folder(self) -> Path:
        """Folder NAME.output in the current folder."""
        return Path(f"{self._text.rpartition('/')[2].removesuffix('.farm')}.output")

    def resolved(self) -> Bucket:
        """Return the same bucket, since an address does not depend on the current folder."""
        return self

    def at(self, name: str) -> str:
        """Return the address of an object."""
        return f"{self._text}/{name}"

    def read(self, name: str) -> bytes:
        """Return a whole object."""
        data, _ = self.read_with_etag(name)
        if data is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such object", self.at(name))
        return data

    def read_each(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """Yield whole objects, read by concurrent requests."""
        return (data for data, _ in _at_once(self.read_with_etag, names))

    def first_lines(self, names: Iterable[str]) -> Iterator[bytes]:
        """Yield first lines, read by concurrent requests."""
        return _at_once(self._first_line, names)

    def read_with_etag(self, name: str) -> tuple[bytes | None, ETag]:
        """Return a whole object and its etag."""
        import obstore

        with self._answering():
            try:
                found = obstore.get(self._client, name)
                return bytes(found.bytes()), _etag(found.meta)
            except FileNotFoundError as error:
                self._check_bucket(error)
                return None, None

    def etag(self, name: str) -> ETag:
        """Return the etag of an object."""
        import obstore

        with self._answering():
            try:
                return _etag(obstore.head(self._client, name))
            except FileNotFoundError:
                return None

    def age(self, name: str, other: str) -> float | None:
        """Return the age of an object relative to another, s, by the server's clock."""
        import obstore

        with self._answering():
            try:
                first, last = (obstore.head(self._client, one) for one in (name, other))
            except FileNotFoundError:
                return None
        return (last["last_modified"] - first["last_modified"]).total_seconds()

    def has(self, name: str) -> bool:
        """Return whether an object exists."""
        return self.etag(name) is not None

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects below a folder, with one request per thousand."""
        import obstore

        with self._answering():
            pages = obstore.list(self._client, folder)
            return sorted(str(one["path"]) for page in pages for one in page)

    def entries(self, folder: str = "") -> set[str]:
        """Return the last parts of the names below a folder."""
        import obstore

        with self._answering():
            found = obstore.list_with_delimiter(self._client, folder or None)
        paths = [*found["common_prefixes"], *(one["path"] for one in found["objects"])]
        return {str(path).rstrip("/").rpartition("/")[2] for path in paths}

    def write(self, name: str, data: bytes, *, private: bool = False) -> None:
        """Put a whole object; permissions belong to the bucket, not to objects."""
        self._put(name, data, lease_check(str(self)))

    def write_each(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Put whole objects below a folder."""
        self.publish(Shard(f"{folder}/{name}", data) for name, data in files.items())

    def write_if_match(self, name: str, data: bytes, etag: ETag) -> bool:
        """Put a whole object if it still has this etag; return whether it was put."""
        return self.put_if_match(name, data, etag) is not None

    def put_if_match(self, name: str, data: Any, etag: ETag) -> ETag:
        """Put a whole object that has this etag; return the new etag, or None after a change."""
        import obstore

        mode: Any = "create" if etag is None else _condition(etag)
        with self._answering():
            try:
                done = obstore.put(self._client, name, data, mode=mode, use_multipart=False)
            except Exception as error:  # obstore's own classes are known once it is imported
                if not _is_changed(error):
                    raise
                return None
        return _etag(done)

    def rewrite(self, name: str, data: Any, etag: ETag) -> ETag:
        """Put a whole object, whether it has this etag or has changed; return the new etag."""
        return self._put(name, data, lease_check(str(self)), etag)

    def remove(self, name: str) -> None:
        """Delete an object, if it exists."""
        self._delete([name])

    def remove_below(self, folder: str) -> None:
        """Delete all objects below a folder."""
        self._delete(self.names(folder))

    def links_out(self) -> Iterator[tuple[str, str]]:
        """Yield nothing, since a bucket has no links."""
        yield from ()

    def tidy(self) -> None:
        """Do nothing, since an object is whole or missing."""

    def readable(self, folder: str) -> Any:
        """Return a read-only Zarr store."""
        from schedfarm.farm.store.zarr_stores import Objects

        return Objects(self._below(folder), self._answering, read_only=True)

    def stage(self, name: str, data: bytes | None) -> Shard:
        """Keep the content in memory."""
        assert data is not None, f"{name} must not be deleted: chunks of fill are written"
        return Shard(name, data)

    def sync(self, shards: Iterable[Shard]) -> None:
        """Do nothing, since shards are staged in memory."""

    def publish(self, shards: Iterable[Shard], run: str = "") -> None:
        """Put shards by concurrent requests."""
        check = partial(self.check_fence, run) if run else lease_check(str(self))
        for _ in _at_once(lambda shard: self._put(shard.name, shard.staged, check), shards):
            pass

    def discard(self, shards: Iterable[Shard]) -> None:
        """Do nothing, since shards are freed with their list."""

    def locked(self, *, brief: bool = False) -> AbstractContextManager[str]:
        """Hold the lease."""
        return leased(self, brief=brief)

    def shared(self, part: str) -> AbstractContextManager[str]:
        """Hold the lease of the part."""
        return shared(self, part)

    @contextmanager
    def fenced(self, run: str) -> Iterator[None]:
        """Check the run's token once; the conditions of the puts act as the fence."""
        self.check_fence(run)
        yield

    def check_fence(self, run: str) -> None:
        """Raise StaleRun unless the run holds the lease; an empty token passes."""
        if run:
            check_fence(self, run)

    def journal(self) -> ObjectJournal:
        """Open the log of events for appending."""
        return ObjectJournal(self)

    def read_journal(self, since: Position = START) -> tuple[bytes, Position]:
        """Return the lines of the log of events from a position on, and the next position."""
        return read_objects(self, since)

    def read_from(self, name: str, start: int) -> bytes:
        """Return an object from a byte on; empty at the end of the object."""
        import obstore

        with self._answering():
            if obstore.head(self._client, name)["size"] <= start:
                return b""
            got = obstore.get(self._client, name, options={"range": {"offset": start}})
            return bytes(got.bytes())

    @property
    def _client(self) -> Any:
        return _connected(self._text, settings(os.environ))

    def _below(self, folder: str) -> Any:
        with self._answering():
            return _connected(self.at(folder), settings(os.environ))

    def _first_line(self, name: str) -> bytes:
        import obstore

        with self._answering():
            head = bytes(obstore.get_range(self._client, name, start=0, end=HEAD_BYTES))
        line, newline, _ = (head if b"\n" in head else self.read(name)).partition(b"\n")
        return line + newline

    def _put(
        self, name: str, data: Any, check: Callable[[], None], etag: ETag = None
    ) -> tuple[Any, ...]:
        for _ in range(TRIES):
            # The check comes after the etag was read and before the put; see the module's
            # docstring.
            check()
            done = self.put_if_match(name, data, etag)
            if done is not None:
                return done
            etag = self.etag(name)
        raise Unavailable(errno.EBUSY, "another process keeps changing it", self.at(name))

    def _delete(self, names: list[str]) -> None:
        import obstore

        with self._answering():
            if names:
                lease_check(str(self))()
                try:
                    obstore.delete(self._client, names)
                except FileNotFoundError:
                    return

    def _check_bucket(self, error: FileNotFoundError) -> None:
        if "NoSuchBucket" in str(error):
            raise Unavailable(errno.ENOENT, reason(self._text, error), self._text)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Turn an error of obstore into an OSError with the reason, without an address or a key."""
        try:
            yield
        except (OSError, InputError):
            raise
        except Exception as error:  # classes of obstore, and errors in its settings
            if not is_answer(error):
                raise
            number = errno.EACCES if is_refusal(error) else errno.EIO
            raise Unavailable(number, reason(self._text, error), self._text) from None


@cache
def _connected(text: str, environment: tuple[tuple[str, str], ...]) -> Any:
    """Return obstore's client for an environment; the client keeps its connections."""
    from obstore.store import from_url

    return from_url(text, **connection(dict(environment)))


def _at_once(request: Callable[[Any], T], arguments: Iterable[Any]) -> Iterator[T]:
    """Yield the answers to concurrent requests in the order of their arguments."""
    from collections import deque

    with ThreadPoolExecutor(REQUESTS) as pool:
        waiting: deque[Any] = deque()
        try:
            for one in arguments:
                waiting.append(pool.submit(request, one))
                if len(waiting) > 2 * REQUESTS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _etag(meta: Any) -> tuple[Any, ...]:
    return meta["e_tag"], meta.get("version")


def _condition(etag: tuple[Any, ...]) -> dict[str, str]:
    # Some servers give only the etag or only the version.
    known = zip(("e_tag", "version"), etag, strict=True)
    return {key: value for key, value in known if value is not None}


def _is_changed(error: Exception) -> bool:
    text = f"{type(error).__name__} {str(error)[:500]}"
    return any(word in text for word in CHANGED)
