"""Logs as CSV tables, with the machine in a TOML file of the same name."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.rows import LONGEST_INT64, SHOWN
from schedfarm.core.logs.text_table import (
    Layout,
    Source,
    first_line,
    log_text,
    numbering,
    read_rows,
)
from schedfarm.core.logs.tokens import Converter, Values, Words, leading_numbers, split_at
from schedfarm.core.names import choices
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Names, Workload

SCHEDULED = ("start", "end", "state", "on")
"""Columns of a schedule, in every kind of table."""

MOST = 10**LONGEST_INT64 - 1


class Column(NamedTuple):
    """Declare a column of numbers: the converter of its words, and the value if it is absent."""

    convert: Converter
    absent: int = UNKNOWN


@dataclass(frozen=True)
class Form:
    """Declare the columns of a table.

    Parameters
    ----------
    meaning : str
        Kind of file.
    needed : tuple of str
        Columns that a file must have.
    columns : mapping of str to Column
        Columns of numbers; `user` and those of `SCHEDULED` may follow.
    """

    meaning: str
    needed: tuple[str, ...]
    columns: Mapping[str, Column]


@dataclass(frozen=True)
class Table:
    """Hold the rows of a file.

    Parameters
    ----------
    source : str
        The file.
    columns : dict of str to int64[n]
        Columns of numbers; absent columns have their default values.
    words : dict of str to (list of str, int64[n])
        Distinct words of the columns `state` and `on`, and the index of each row's word.
    names : mapping of str to mapping of int to str
        Names of users.
    """

    source: str
    columns: dict[str, Int64]
    words: dict[str, tuple[list[str], Int64]]
    names: Names

    def at(self, row: int) -> str:
        """Return the file and line of a row."""
        return f"{self.source}, line {self.columns['line'][row]}"

    @property
    def waits(self) -> dict[str, Int64]:
        """Column `wait`, s, if there are starts; `UNKNOWN` for a start before the submission."""
        if "start" not in self.columns:
            return {}
        submit, start = self.columns["submit"], self.columns["start"]
        return {"wait": np.where(start >= submit, start - submit, UNKNOWN)}

    def word(self, name: str, row: int) -> str:
        """Return the word of a column and row."""
        words, which = self.words[name]
        return words[int(which[row])]


def whole_column(name: str, least: int, most: int = MOST, *, empty: int | None = None) -> Column:
    """Declare a column of whole numbers; `empty` is the value of an empty word, if allowed."""

    def word(word: str, where: str) -> int:
        if not word and empty is not None:
            return empty
        sound = word.isascii() and word.isdigit() and len(word) <= LONGEST_INT64
        if not sound or not least <= int(word) <= most:
            nothing = "" if empty is None else ", or nothing"
            raise InputError(
                f"{where}: {name} is {word[:SHOWN]!r}; give a whole number, at least {least} and "
                f"at most {most}{nothing}"
            )
        return int(word)

    def fast(words: Words) -> Values:
        number, digits = leading_numbers(words)
        sure = (digits > 0) & (digits == words.length)
        return number, sure & (least <= number) & (number <= most)

    return Column(Converter(word, fast), UNKNOWN if empty is None else empty)


def share_column(name: str, digits: int, empty: int, nothing: str) -> Column:
    """Declare a column of shares from 0 to 1, read exactly as multiples of 10^-digits.

    Error messages end with `nothing`, the meaning of an empty word.
    """
    shape = re.compile(rf"0|1|0?\.\d{{1,{digits}}}|1\.0{{1,{digits}}}", re.ASCII)

    def word(word: str, where: str) -> int:
        if word and not shape.fullmatch(word):
            raise InputError(
                f"{where}: {name} is {word[:SHOWN]!r}; give a share from 0 to 1 of at "
                f"most {digits} decimals, or nothing {nothing}"
            )
        return int(Decimal(word) * 10**digits) if word else empty

    return Column(Converter(word), empty)


def choice_column(name: str, known: Mapping[str, int], fault: str, *more: str) -> Column:
    """Declare a column of names with numbers; `fault` is the reason to refuse other names."""

    def word(word: str, where: str) -> int:
        if word not in known:
            listed = choices(word, [name for name in known if name], *more)
            raise InputError(f"{where}: {name} is {word[:SHOWN]!r}, and {fault}; {listed}")
        return known[word]

    return Column(Converter(word), known.get("", UNKNOWN))


def share_word(part: int, digits: int) -> str:
    """Return the text of a share, from its multiple of 10^-digits.

    Examples
    --------
    >>> share_word(300, 3), share_word(1000, 3), share_word(0, 3)
    ('0.3', '1', '0')
    """
    whole, rest = divmod(part, 10**digits)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")


def read_table(path: str | os.PathLike[str], form: Form) -> Table:
    r"""Read the rows of a CSV file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> columns = {"job": whole_column("job", 1), "size": whole_column("size", 1, empty=9)}
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "one.csv")
    ...     _ = path.write_text("job\n7\n")
    ...     read_table(path, Form("a toy", ("job",), columns)).columns["size"].tolist()
    [9]
    """
    source = os.fspath(path)
    first, line, rest = first_line(log_text(path))
    where = f"{source}, line {line}"
    if not first.strip() or not rest.strip():
        raise InputError(f"{source} holds no job; a log has a header and a row for each job")
    header = _header(_fields(first, where), form, where)

    def split(text: str, where: str) -> list[str]:
        row = _fields(text, where)
        if len(row) != len(header):
            raise InputError(
                f"{where}: the row has {len(row)} fields, and the header has {len(header)} columns"
            )
        return row

    seen: dict[str, dict[str, int]] = {name: {} for name in SCHEDULED[2:] if name in header}
    known = {
        **{name: row.convert for name, row in form.columns.items()},
        **{name: whole_column(name, 0, empty=UNKNOWN).convert for name in SCHEDULED[:2]},
        **{name: numbering(words) for name, words in seen.items()},
    }
    layout = Layout(
        fields=header,
        columns={name: (Source(name, c),) for name, c in known.items() if name in header},
        words={"user": "user"} if "user" in header else {},
        split=split,
        tokens=lambda chunk, fields: None if b'"' in chunk else split_at(chunk, b",", fields),
    )
    columns, names = read_rows(rest, source, layout, line + 1)
    count = columns["line"].size
    for name, row in form.columns.items():
        columns.setdefault(name, np.full(count, row.absent, np.int64))
    columns.setdefault("user", np.full(count, UNKNOWN, np.int64))
    words = {name: (list(found), columns.pop(name)) for name, found in seen.items()}
    return Table(source, columns, words, names)


def _fields(text: str, where: str) -> list[str]:
    try:
        return [word.strip() for word in next(csv.reader([text]))]
    except csv.Error as error:
        raise InputError(f"{where}: no row of CSV ({error})") from None


def _header(words: Sequence[str], form: Form, where: str) -> list[str]:
    names, may = [word.strip().lower() for word in words], [*form.columns, "user", *SCHEDULED]
    for name in names:
        if name not in may:
            known = choices(name, may)
            raise InputError(f"{where}: unknown column {name[:SHOWN]!r}; {known}")
        if names.count(name) > 1:
            raise InputError(f"{where}: column {name!r} occurs twice; give it once")
    for name in form.needed:
        if name not in names:
            raise InputError(
                f"{where}: there is no column {name!r}; {form.meaning} has {', '.join(form.needed)}"
            )
    return names


def user_words(work: Workload) -> list[object]:
    """Return the users of jobs as words: names, or else numbers; empty if unknown."""
    names = work.names.get("user", {})
    return ["" if user < 0 else names.get(user, user) for user in work.user.tolist()]


def table_bytes(columns: Mapping[str, Sequence[object]]) -> bytes:
    r"""Return the content of a CSV file with some columns.

    Examples
    --------
    >>> table_bytes({"job": [1, 2], "user": ["ann", ""]})
    b'job,user\n1,ann\n2,\n'
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue().encode()
