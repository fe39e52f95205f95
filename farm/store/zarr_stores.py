"""Zarr stores for reading: objects of a bucket, and a check for missing objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import ObjectStore, WrapperStore


class Objects(ObjectStore[Any]):
    """Read objects; a refusal by the server is an `OSError`, as for a disk.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        Client of a prefix.
    answering : callable
        Function that returns a context in which errors of obstore are translated.
    read_only : bool
        Whether writing is refused.
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
        """Return whether an object exists."""
        with self._answering():
            return await super().exists(key)

    def with_read_only(self, read_only: bool = False) -> Objects:
        """Return the same store, as a read-only or writable store."""
        return type(self)(self.store, self._answering, read_only=read_only)


class Refusing(WrapperStore[Any]):
    """Call `refuse` with the name of a missing object before Zarr reads it as fill."""

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
