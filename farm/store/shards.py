"""Files of a store's arrays that have been made, and wait for the turn of their run."""

from __future__ import annotations

from typing import Any, NamedTuple


class Shard(NamedTuple):
    """Name a file of values, or of metadata.

    name : str
        Its name in the store.
    waits : object
        What waits for it: in a folder, the file beside it; None where there is to be no file,
        since every value is fill.
    """

    name: str
    waits: Any
