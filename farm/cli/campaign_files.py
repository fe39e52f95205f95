"""Files that a store's campaign reads, which no output may replace."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def campaign_files(store: str) -> list[Path]:
    """Return the existing files of a store's campaign: its campaign file, and the files it names.

    Relative names are looked up in the folder of the store and in the current folder.
    """
    from schedfarm.analysis.store import read_manifest
    from schedfarm.core.errors import InputError

    try:
        head = read_manifest(store)
    except InputError:
        return []
    folders = (Path(store).parent, Path())
    named = [folder / name for name in _named(head) for folder in folders]
    return [path for path in dict.fromkeys(named) if path.is_file()]


def _named(head: dict[str, Any]) -> Iterator[str]:
    # Descriptions of early versions lack `own` and `text`.
    yield f"{head.get('campaign')}.toml"
    yield from (f"{module}.py" for module in head.get("own", {}))
    for trace in tomllib.loads(head.get("text", "")).get("traces", ()):
        values = [*trace.values(), *(trace.get("join") or ())]
        yield from (value for value in values if isinstance(value, str))
