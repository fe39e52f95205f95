"""Zarr stores of a place: for reading objects, and for staging chunks until their publication."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import LocalStore, ObjectStore, WrapperStore

from schedfarm.core.files import PARTIAL
from schedfarm.core.format.names import METADATA
from schedfarm.farm.store.files import Shard


class StagedFiles(LocalStore):
    """Write each chunk under a temporary name next to its final one, until `take` returns it."""

    keeps_fill = False
    """Whether a chunk of fill values is written, too."""

    def __init__(self, root: Path | str, *, read_only: bool = False) -> None:
        super().__init__(root, read_only=read_only)
        self._staged: dict[str, Path | None] = {}

    async def set(self, key: str, value: Buffer) -> None:
        """Write metadata to its place, and a chunk next to its place."""
        if key.endswith(METADATA):
            await super().set(key, value)
            return
        name = f"{key}.{uuid.uuid4().hex}{PARTIAL}"
        await super().set(name, value)
        self._staged[key] = self.root / name

    async def delete(self, key: str) -> None:
        """Stage the removal of a chunk: all of its values are fill."""
        self._staged[key] = None

    def take(self, key: str) -> Shard | None:
        """Return the staged shard of a key; None if it was not written."""
        if key not in self._staged:
            return None
        return Shard(f"{self.root.name}/{key}", self._staged.pop(key))


class Objects(ObjectStore[Any]):
    """Read objects; a refusal by the server is an OSError, as on a disk.

    Parameters
    ----------
    store : obstore.store.ObjectStore
        Client of a prefix.
    answering : callable
        Returns a context that translates the errors of obstore.
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
        """Return the same store, read-only or writable."""
        return type(self)(self.store, self._answering, read_only=read_only)


class StagedObjects(Objects):
    """Keep chunks in memory, until `take` returns them.

    Parameters
    ----------
    store, answering
        As for `Objects`.
    folder : str
        The prefix, as a name in the store.
    """

    keeps_fill = True
    """Whether a chunk of fill values is written, too: a deletion cannot be conditional."""

    def __init__(
        self, store: Any, answering: Callable[[], AbstractContextManager[None]], folder: str
    ) -> None:
        super().__init__(store, answering)
        self._folder = folder
        self._staged: dict[str, bytes] = {}

    async def set(self, key: str, value: Buffer) -> None:
        """Stage a chunk; metadata is never written this way."""
        assert not key.endswith(METADATA), "metadata is made elsewhere and put whole"
        self._staged[key] = value.to_bytes()

    async def delete(self, key: str) -> None:
        """Refuse: a late worker would delete a chunk of a later run."""
        raise NotImplementedError(f"{key} must not be deleted: chunks of fill are written")

    def take(self, key: str) -> Shard | None:
        """Return the staged shard of a key; None if it was not written."""
        if key not in self._staged:
            return None
        return Shard(f"{self._folder}/{key}", self._staged.pop(key))


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
