"""Name and version of the store's format, and the checksum of its description."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

FORMAT = "schedfarm-store"
"""Value of the key `format` in store.json."""

VERSION = 6
"""Version of the format; docs/store-format.md lists the changes of each version."""

CHECKED_SINCE = 5
"""First version whose records can be read by `core.format.record`."""

SEAL = "crc32"
"""Key of the checksum in store.json."""


def seal(entries: Mapping[str, Any]) -> int:
    """Return the checksum of the entries of store.json, except the entry of the checksum.

    Examples
    --------
    >>> seal({"version": 6, "format": "f"}) == seal({"format": "f", "version": 6, "crc32": 1})
    True
    """
    plain = {key: value for key, value in entries.items() if key != SEAL}
    return zlib.crc32(json.dumps(plain, sort_keys=True).encode())
