"""Altered bytes in the other half of a store's files."""

from __future__ import annotations

from pathlib import Path

from tests.stores.test_verify import logged, try_altered_bytes
from tests.support.made import MadeStores


def test_altered_bytes_are_found(made_store: MadeStores, tmp_path: Path) -> None:
    try_altered_bytes(made_store.copy(logged(made_store), tmp_path / "store"), 1)
