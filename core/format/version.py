"""Name and version of the store's format."""

from __future__ import annotations

FORMAT = "schedfarm-store"
"""Value of the key `format` in store.json."""

VERSION = 6
"""Version of the format; docs/store-format.md lists the changes of each."""

CHECKED_SINCE = 5
"""First version whose records can be read by `core.format.record`."""
