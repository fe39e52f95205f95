"""Zarr stores that keep chunks aside, until it is the turn of the run that they are for."""

from __future__ import annotations

import uuid
from pathlib import Path

from zarr.core.buffer import Buffer
from zarr.storage import LocalStore

from schedfarm.core.files import PARTIAL
from schedfarm.core.format.names import METADATA
from schedfarm.farm.store.shards import Shard


class Aside(LocalStore):
    """Write chunks under other names, until `take` says what is to be moved where."""

    keeps_fill = False
    """Whether a chunk of fill alone is written, too."""

    def __init__(self, root: Path | str, *, read_only: bool = False) -> None:
        super().__init__(root, read_only=read_only)
        self._waiting: dict[str, Path | None] = {}

    async def set(self, key: str, value: Buffer) -> None:
        """Write metadata in its place, and a chunk beside it."""
        if key.endswith(METADATA):
            await super().set(key, value)
            return
        name = f"{key}.{uuid.uuid4().hex}{PARTIAL}"
        await super().set(name, value)
        self._waiting[key] = self.root / name

    async def delete(self, key: str) -> None:
        """Remember that a chunk is to go: all of its values are fill."""
        self._waiting[key] = None

    def take(self, key: str) -> Shard | None:
        """Return what became of a chunk, which is no longer waited for; None if nothing did."""
        if key not in self._waiting:
            return None
        return Shard(f"{self.root.name}/{key}", self._waiting.pop(key))
