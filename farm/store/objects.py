"""Zarr stores over objects: one reads, the other keeps what is to be put until its turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import ObjectStore, WrapperStore

from schedfarm.core.format.names import METADATA
from schedfarm.farm.store.shards import Shard


class Objects(ObjectStore[Any]):
    """Read objects; what the server refuses is an OSError, as on a disk.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        Of a prefix.
    answering : callable
        Returns a context that turns obstore's errors into others.
    read_only : bool
        Whether nothing can be written.
    """

    def __init__(
        self,
        store: Any,
        answering: Callable[[], AbstractContextManager[None]],
        *,
        read_only: bool = False,
    ) -> None:
        super().__init__(store, read_only=read_only)
        self._answering = answering

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return an object or a part of it."""
        with self._answering():
            return await super().get(key, prototype, byte_range)

    async def get_partial_values(
        self,
        prototype: BufferPrototype,
        key_ranges: Iterable[tuple[str, ByteRequest | None]],
    ) -> list[Buffer | None]:
        """Return parts of objects."""
        with self._answering():
            return await super().get_partial_values(prototype, key_ranges)

    async def exists(self, key: str) -> bool:
        """Tell whether there is an object."""
        with self._answering():
            return await super().exists(key)

    def with_read_only(self, read_only: bool = False) -> Objects:
        """Return the same, to read only or not."""
        return type(self)(self.store, self._answering, read_only=read_only)


class Held(Objects):
    """Keep chunks in memory, until `take` says what is to be put where.

    Parameters
    ----------
    store, answering
        As for `Objects`.
    folder : str
        The prefix, as a name in the store.
    """

    keeps_fill = True
    """Whether a chunk of fill alone is written, too: deletions know no condition."""

    def __init__(
        self, store: Any, answering: Callable[[], AbstractContextManager[None]], folder: str
    ) -> None:
        super().__init__(store, answering)
        self._folder = folder
        self._waiting: dict[str, bytes] = {}

    async def set(self, key: str, value: Buffer) -> None:
        """Keep a chunk; nobody writes metadata by this."""
        assert not key.endswith(METADATA), "metadata is made elsewhere and put whole"
        self._waiting[key] = value.to_bytes()

    async def delete(self, key: str) -> None:
        """Refuse: a worker that comes late would delete what others have put since."""
        raise NotImplementedError(f"{key} is not to be deleted: chunks of fill are written")

    def take(self, key: str) -> Shard | None:
        """Return what became of a chunk, which is no longer waited for; None if nothing did."""
        if key not in self._waiting:
            return None
        return Shard(f"{self._folder}/{key}", self._waiting.pop(key))


class Refusing(WrapperStore[Any]):
    """Call `refuse` with the name of an object that is missing, before it is read as fill."""

    def __init__(self, store: Any, refuse: Callable[[str], None]) -> None:
        super().__init__(store)
        self._refuse = refuse

    def _with_store(self, store: Any) -> Refusing:
        return type(self)(store, self._refuse)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return an object or a part of it."""
        found = await super().get(key, prototype, byte_range)
        if found is None:
            self._refuse(key)
        return found
