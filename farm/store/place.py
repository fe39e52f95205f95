"""Where a store stands: a folder of a file system, for now."""

from __future__ import annotations

import os
import re
from pathlib import Path

from core.errors import InputError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


def folder_of(store: str | os.PathLike[str]) -> Path:
    """Return the folder that a store is named by.

    Raises
    ------
    InputError
        If it is empty, or the address of something else, such as an object store.

    Examples
    --------
    >>> folder_of("kth.farm").name
    'kth.farm'
    >>> folder_of("s3://bucket/kth.farm")
    Traceback (most recent call last):
    core.errors.InputError: store s3://bucket/kth.farm: a store is a folder; object stores and \
other addresses (s3) are not supported
    """
    text = os.fspath(store)
    if not text or "\0" in text:
        raise InputError(f"store {text!r}: give the name of a folder")
    scheme = _SCHEME.match(text)
    if scheme:
        raise InputError(
            f"store {text}: a store is a folder; object stores and other addresses "
            f"({scheme[1]}) are not supported"
        )
    return Path(text)
