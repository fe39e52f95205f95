"""`sacctmgr show tres`: the resources in the accounting."""

from __future__ import annotations

from pathlib import Path

from schedfarm.farm.site.dump.tables import rows_of


def read_tres(path: Path) -> frozenset[str]:
    """Read the names of resources, such as cpu and gres/gpu."""
    found = set()
    for row in rows_of(path, ("type", "name")):
        kind, name = row.get("type"), row.get("name")
        found.add(f"{kind}/{name}" if name else kind)
    return frozenset(found)
