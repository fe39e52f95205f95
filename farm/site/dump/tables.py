"""Tables of `sacctmgr show ... --parsable2` and of sinfo: a line of names, then lines of fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.farm.site.dump.facts import text_of


@dataclass(frozen=True)
class Row:
    """Hold a line of a table: its fields by name in small letters, and its source."""

    fields: Mapping[str, str]
    where: str

    def get(self, name: str) -> str:
        """Return a field without surrounding blanks; empty if the table has no such column."""
        return self.fields.get(name, "").strip()


def rows_of(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a table; refuse a table without the needed columns."""
    lines = [line for line in text_of(path).splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{path} is empty; print it again")
    names = [name.strip().lower().replace(" ", "") for name in lines[0].split("|")]
    for name in needed:
        if name not in names:
            raise InputError(
                f"{path}: the first line names no column {name!r}; print the file with its "
                "header, as the script of `farm site --script` does"
            )
    for number, line in enumerate(lines[1:], 2):
        where, words = f"{path.name}:{number}", line.split("|")
        # `sacctmgr --parsable` ends each line with a separator.
        if len(words) == len(names) + 1 and not words[-1]:
            words.pop()
        if len(words) != len(names):
            raise InputError(
                f"{where}: the row has {len(words)} fields, and the first line names {len(names)}"
            )
        yield Row(dict(zip(names, words, strict=True)), where)
