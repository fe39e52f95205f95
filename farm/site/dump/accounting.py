"""`sacct`: the jobs of the site."""

from __future__ import annotations

from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.farm.site.dump.facts import text_of


def check_accounting(path: Path) -> tuple[str, ...]:
    """Return the cluster in the rows of the table; refuse a table with several clusters.

    The jobs are read by `core.logs` once the machine is known.
    """
    lines = text_of(path).splitlines()
    if not lines:
        raise InputError(f"{path} is empty; run sacct again")
    names = [name.strip().lower() for name in lines[0].split("|")]
    if "cluster" not in names:
        return ()
    place = names.index("cluster")
    rows = (line.split("|") for line in lines[1:])
    found = dict.fromkeys(row[place] for row in rows if len(row) > place and row[place])
    if len(found) > 1:
        raise InputError(
            f"{path} has the jobs of {len(found)} clusters, {', '.join(found)}; run sacct for one "
            f"of them with --clusters={next(iter(found))}"
        )
    return tuple(found)
