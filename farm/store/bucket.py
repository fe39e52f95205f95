"""A store under a prefix of a bucket, through obstore: objects are put whole or not at all.

Nobody can hold others off here while he writes, so every object is put on a condition: that it is
not there, or is still the one that was looked at *before* it was found that the run holds the
store. What a run that has ended puts late thus never replaces what a later one has put.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
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
from schedfarm.farm.store.journal import START, ObjectJournal, Position, read_objects
from schedfarm.farm.store.lease import check_run, held, leased
from schedfarm.farm.store.shards import Shard

HEAD_BYTES = 16_384
"""So much of an object is asked for first, where its first line is wanted: that of a record of
some hundred cells. One request, which mostly is enough."""

REQUESTS = 16
"""Requests that are under way at the same time."""

TRIES = 8
"""So often an object is put that changes each time between a look at it and the next request."""

CHANGED = ("AlreadyExistsError", "PreconditionError", "ConditionalRequestConflict", "409 Conflict")
"""Errors of a put whose condition does not hold."""

T = TypeVar("T")

Mark = tuple[Any, ...] | None


class Unavailable(OSError, InputError):
    """Say why an object store cannot be used: to whoever writes files, and in one sentence.

    Parameters
    ----------
    number : int
        Kind of error, of `errno`.
    why : str
        What is the matter.
    store : str
        Address of the store, or of a file of it.
    """

    def __init__(self, number: int, why: str, store: str) -> None:
        super().__init__(number, why, store)

    def __str__(self) -> str:
        return f"store {self.filename}: {self.strerror}"


class Bucket:
    """Keep a store's files as objects; see `farm.store.place.Place`.

    Parameters
    ----------
    text : str
        Such as ``s3://BUCKET/NAME``; who asks, where, is in environment variables alone.

    Raises
    ------
    InputError
        If the address is not one, says who asks, or obstore is missing.

    Examples
    --------
    >>> str(Bucket("s3://waits/2024/kth.farm/"))
    's3://waits/2024/kth.farm'
    """

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
    def beside(self) -> Path:
        """A folder here that is called as the store: NAME.output."""
        return Path(f"{self._text.rpartition('/')[2].removesuffix('.farm')}.output")

    def resolved(self) -> Bucket:
        """Return the same: an address is good anywhere."""
        return self

    def at(self, name: str) -> str:
        """Return the address of an object."""
        return f"{self._text}/{name}"

    def read(self, name: str) -> bytes:
        """Return a whole object."""
        data, _ = self.look(name)
        if data is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such object", self.at(name))
        return data

    def read_each(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """Yield whole objects, some asked for at the same time."""
        return (data for data, _ in _at_once(self.look, names))

    def first_lines(self, names: Iterable[str]) -> Iterator[bytes]:
        """Yield first lines, some asked for at the same time."""
        return _at_once(self._first_line, names)

    def look(self, name: str) -> tuple[bytes | None, Mark]:
        """Return a whole object and its mark."""
        import obstore

        with self._answering():
            try:
                found = obstore.get(self._client, name)
                return bytes(found.bytes()), _mark(found.meta)
            except FileNotFoundError as error:
                self._check_bucket(error)
                return None, None

    def mark(self, name: str) -> Mark:
        """Return the mark of an object."""
        import obstore

        with self._answering():
            try:
                return _mark(obstore.head(self._client, name))
            except FileNotFoundError:
                return None

    def age(self, name: str, other: str) -> float | None:
        """Return by how much an object is older than another, s, by the server's clock."""
        import obstore

        with self._answering():
            try:
                first, last = (obstore.head(self._client, one) for one in (name, other))
            except FileNotFoundError:
                return None
        return (last["last_modified"] - first["last_modified"]).total_seconds()

    def has(self, name: str) -> bool:
        """Tell whether there is an object of this name."""
        return self.mark(name) is not None

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects below a folder: a request for a thousand."""
        import obstore

        with self._answering():
            pages = obstore.list(self._client, folder)
            return sorted(str(one["path"]) for page in pages for one in page)

    def entries(self, folder: str = "") -> set[str]:
        """Return what stands in a folder, by the last part of its name."""
        import obstore

        with self._answering():
            found = obstore.list_with_delimiter(self._client, folder or None)
        paths = [*found["common_prefixes"], *(one["path"] for one in found["objects"])]
        return {str(path).rstrip("/").rpartition("/")[2] for path in paths}

    def write(self, name: str, data: bytes, *, private: bool = False) -> None:
        """Put a whole object; objects have no permissions of their own, the bucket has them."""
        self._put(name, data, held(str(self)))

    def write_each(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Put whole objects below a folder."""
        self.put(Shard(f"{folder}/{name}", data) for name, data in files.items())

    def replace(self, name: str, data: bytes, mark: Mark) -> bool:
        """Put a whole object if it is as it was when it had this mark."""
        return self.exchange(name, data, mark) is not None

    def exchange(self, name: str, data: Any, mark: Mark) -> Mark:
        """Do as `replace`, and return the new mark; None where it was not as it was."""
        import obstore

        mode: Any = "create" if mark is None else _condition(mark)
        with self._answering():
            try:
                done = obstore.put(self._client, name, data, mode=mode, use_multipart=False)
            except Exception as error:  # obstore's own classes are known once it is imported
                if not _is_changed(error):
                    raise
                return None
        return _mark(done)

    def rewrite(self, name: str, data: Any, mark: Mark) -> Mark:
        """Put a whole object that had this mark, or has changed since, and return the new one."""
        return self._put(name, data, held(str(self)), mark)

    def remove(self, name: str) -> None:
        """Delete an object, if it is there."""
        self._delete([name])

    def remove_below(self, folder: str) -> None:
        """Delete all objects below a folder."""
        self._delete(self.names(folder))

    def links_out(self) -> Iterator[tuple[str, str]]:
        """Yield nothing: a bucket has no links."""
        yield from ()

    def tidy(self) -> None:
        """Leave all as it is: an object is there whole or not at all."""

    def arrays(self, folder: str) -> Any:
        """Return what reads arrays, and writes nothing."""
        from schedfarm.farm.store.objects import Objects

        return Objects(self._below(folder), self._answering, read_only=True)

    def aside(self, folder: str) -> Any:
        """Return what keeps chunks in memory."""
        from schedfarm.farm.store.objects import Held

        return Held(self._below(folder), self._answering, folder)

    def settle(self, shards: Iterable[Shard]) -> None:
        """Leave all where it waits, in memory."""

    def put(self, shards: Iterable[Shard], run: str = "") -> None:
        """Put objects, some at the same time."""
        check = partial(self.check_turn, run) if run else held(str(self))
        for _ in _at_once(lambda shard: self._put(shard.name, shard.waits, check), shards):
            pass

    def drop(self, shards: Iterable[Shard]) -> None:
        """Forget them with the list that they are in."""

    @contextmanager
    def locked(self) -> Iterator[str]:
        """Hold the lease."""
        with leased(self) as run:
            yield run

    @contextmanager
    def turn(self, run: str) -> Iterator[None]:
        """Look whether it is the turn of a run: what it puts is held off by its conditions."""
        self.check_turn(run)
        yield

    def check_turn(self, run: str) -> None:
        """Refuse to go on for another run than the one that holds the store."""
        if run:
            check_run(self, run)

    def journal(self) -> ObjectJournal:
        """Open the log of events."""
        return ObjectJournal(self)

    def read_journal(self, since: Position = START) -> tuple[bytes, Position]:
        """Return the lines of the log of events from a position on."""
        return read_objects(self, since)

    def read_from(self, name: str, start: int) -> bytes:
        """Return an object from a byte on; nothing where it has no more."""
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
        self, name: str, data: Any, check: Callable[[], None], mark: Mark = None
    ) -> tuple[Any, ...]:
        for _ in range(TRIES):
            # After the look at it, before it is put: see above.
            check()
            done = self.exchange(name, data, mark)
            if done is not None:
                return done
            mark = self.mark(name)
        raise Unavailable(
            errno.EBUSY, "it changes again and again, by somebody else", self.at(name)
        )

    def _delete(self, names: list[str]) -> None:
        import obstore

        with self._answering():
            if names:
                held(str(self))()
                try:
                    obstore.delete(self._client, names)
                except FileNotFoundError:
                    return

    def _check_bucket(self, error: FileNotFoundError) -> None:
        if "NoSuchBucket" in str(error):
            raise Unavailable(errno.ENOENT, reason(self._text, error), self._text)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Turn what obstore raises into an OSError that says why, without an address or a key."""
        try:
            yield
        except (OSError, InputError):
            raise
        except Exception as error:  # obstore's own classes, and what its settings are refused by
            if not is_answer(error):
                raise
            number = errno.EACCES if is_refusal(error) else errno.EIO
            raise Unavailable(number, reason(self._text, error), self._text) from None


@cache
def _connected(text: str, environment: tuple[tuple[str, str], ...]) -> Any:
    """Return obstore's client, which keeps its connections, of an environment as it is."""
    from obstore.store import from_url

    return from_url(text, **connection(dict(environment)))


def _at_once(ask: Callable[[Any], T], what: Iterable[Any]) -> Iterator[T]:
    """Yield answers in order, with some questions under way at the same time."""
    from collections import deque

    with ThreadPoolExecutor(REQUESTS) as pool:
        waiting: deque[Any] = deque()
        try:
            for one in what:
                waiting.append(pool.submit(ask, one))
                if len(waiting) > 2 * REQUESTS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _mark(meta: Any) -> tuple[Any, ...]:
    return meta["e_tag"], meta.get("version")


def _condition(mark: tuple[Any, ...]) -> dict[str, str]:
    # Some servers know but one of the two.
    known = zip(("e_tag", "version"), mark, strict=True)
    return {key: value for key, value in known if value is not None}


def _is_changed(error: Exception) -> bool:
    said = f"{type(error).__name__} {str(error)[:500]}"
    return any(word in said for word in CHANGED)
