"""Terms of both folders and buckets: etags, staged shards, and errors of reading and writing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from schedfarm.core.errors import InputError

ETag: TypeAlias = tuple[Any, ...] | None
"""Version of a file, which changes with each replacement; None for a missing file."""


class Shard(NamedTuple):
    """Name a file of values or metadata that is staged for publication.

    name : str
        Name of the file in the store.
    staged : object
        In a folder, the file next to its final name; in a bucket, the content. None if the file is
        to be removed because every value is fill.
    """

    name: str
    staged: Any


class StaleRun(OSError):
    """Report that the run of a task has ended, or that another run holds the store."""


class InUse(InputError):
    """Report that another process holds the store, or the requested part of it."""


class Unavailable(OSError, InputError):
    """Report an object store that cannot be used, as an `OSError` and as one sentence.

    Parameters
    ----------
    number : int
        Number of the error in `errno`.
    why : str
        The reason.
    store : str
        Address of the store or of one of its files.
    """

    def __init__(self, number: int, why: str, store: str) -> None:
        super().__init__(number, why, store)

    def __str__(self) -> str:
        return f"store {self.filename}: {self.strerror}"


@contextmanager
def writing(store: object) -> Iterator[None]:
    """Turn an error of the operating system, such as a full disk, into one sentence."""
    try:
        yield
    except OSError as error:
        raise unwritable(store, error) from None


def unwritable(store: object, error: OSError) -> InputError:
    """Return the sentence for a store that cannot be written."""
    return InputError(f"store {store} cannot be written: {error.strerror or error}")
