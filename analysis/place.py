"""Location of a store for reading: a folder, or a prefix such as ``s3://BUCKET/NAME``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from schedfarm.analysis.errors import StoreError
from schedfarm.core.addresses import (
    MISSING,
    checked_address,
    connection,
    is_answer,
    reason,
    scheme_of,
    settings,
)
from schedfarm.core.errors import InputError

REQUESTS = 16
"""Number of concurrent requests to a bucket."""

StoreName = str | os.PathLike[str]
"""A store's folder, or its address."""


def is_there(store: StoreName, folder: str = "") -> bool:
    """Return whether a store, or a folder in it, exists; an address counts as existing.

    Examples
    --------
    >>> is_there("no/such/folder")
    False
    """
    return bool(scheme_of(os.fspath(store))) or Path(store, folder).is_dir()


def read_file(store: StoreName, name: str) -> bytes:
    """Return a whole file of a store.

    Raises
    ------
    OSError
        If the file cannot be read; `FileNotFoundError` if it does not exist.
    StoreError
        If the address of the store is invalid or its server does not answer.

    Examples
    --------
    >>> read_file("no/such/folder", "store.json")
    Traceback (most recent call last):
    ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no/such/folder/store.json'
    """
    text = os.fspath(store)
    if not scheme_of(text):
        return Path(text, name).read_bytes()
    client = _client(text)
    import obstore

    with _answering(text):
        return bytes(obstore.get(client, name).bytes())


def has_file(store: StoreName, name: str) -> bool:
    """Return whether a store has a file of this name.

    Examples
    --------
    >>> has_file("no/such/folder", "store.json")
    False
    """
    text = os.fspath(store)
    if not scheme_of(text):
        return Path(text, name).exists()
    client = _client(text)
    import obstore

    try:
        with _answering(text):
            obstore.head(client, name)
    except FileNotFoundError:
        return False
    return True


def list_files(store: StoreName, folder: str) -> list[str]:
    """Return the names of the files in a folder of a store, ascending; empty without the folder.

    Raises
    ------
    StoreError
        For the reasons of `read_file`.

    Examples
    --------
    >>> list_files("no/such/store", "records")
    []
    """
    text = os.fspath(store)
    if not scheme_of(text):
        return sorted(f"{folder}/{one.name}" for one in Path(text, folder).glob("*"))
    client = _client(text)
    import obstore

    with _answering(text):
        return sorted(str(one["path"]) for page in obstore.list(client, folder) for one in page)


def read_files(store: StoreName, names: Iterable[str]) -> Iterator[bytes]:
    """Yield whole files of a store in order; requests to a bucket are concurrent.

    Raises
    ------
    OSError, StoreError
        For the reasons of `read_file`.
    """
    if not scheme_of(os.fspath(store)):
        yield from (read_file(store, name) for name in names)
        return
    with ThreadPoolExecutor(REQUESTS) as pool:
        yield from pool.map(partial(read_file, store), names)


def hierarchy(store: StoreName, folder: str) -> Any:
    """Return the object with which xarray opens the Zarr hierarchy in a folder of a store.

    Raises
    ------
    StoreError
        For the reasons of `read_file`.

    Examples
    --------
    >>> str(hierarchy("kth.farm", "results.zarr"))
    'kth.farm/results.zarr'
    """
    text = os.fspath(store)
    if not scheme_of(text):
        return Path(text, folder)
    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype
    from zarr.storage import ObjectStore

    class Objects(ObjectStore[Any]):
        """Read objects; a refusal by the server is reported in one sentence."""

        async def get(
            self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
        ) -> Buffer | None:
            """Return an object or a part of it."""
            with _answering(text):
                return await super().get(key, prototype, byte_range)

        async def get_partial_values(
            self,
            prototype: BufferPrototype,
            key_ranges: Iterable[tuple[str, ByteRequest | None]],
        ) -> list[Buffer | None]:
            """Return parts of objects."""
            with _answering(text):
                return await super().get_partial_values(prototype, key_ranges)

    return Objects(_client(text, folder), read_only=True)


def _client(text: str, folder: str = "") -> Any:
    try:
        address = checked_address(text)
    except InputError as error:
        raise StoreError(str(error)) from None
    if find_spec("obstore") is None:
        raise StoreError(f"store {address}: {MISSING}")
    with _answering(address):
        return _connected(f"{address}/{folder}".rstrip("/"), settings(os.environ))


@cache
def _connected(address: str, environment: tuple[tuple[str, str], ...]) -> Any:
    """Return obstore's client for an environment; the client keeps its connections."""
    from obstore.store import from_url

    return from_url(address, **connection(dict(environment)))


@contextmanager
def _answering(text: str) -> Iterator[None]:
    """Report errors of obstore in one sentence."""
    try:
        yield
    except FileNotFoundError as error:
        if "NoSuchBucket" in str(error):
            raise StoreError(f"store {text}: {reason(text, error)}") from None
        raise
    except (OSError, InputError, StoreError):
        raise
    except Exception as error:  # classes of obstore, and errors in its settings
        if not is_answer(error):
            raise
        raise StoreError(f"store {text}: {reason(text, error)}") from None
