"""What is said of a store that the operating system refuses to write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schedfarm.core.errors import InputError


@contextmanager
def writing(store: object) -> Iterator[None]:
    """Turn what the operating system refuses into one sentence.

    Raises
    ------
    InputError
        If the store cannot be written, say since the disk is full.
    """
    try:
        yield
    except OSError as error:
        raise unwritable(store, error) from None


def unwritable(store: object, error: OSError) -> InputError:
    """Return the sentence for a store that cannot be written."""
    return InputError(f"store {store} cannot be written: {error.strerror or error}")
