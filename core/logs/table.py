"""Logs that are tables: the columns of their CSV, and what may stand in each.

What a machine of several places is, stands in a TOML file of the same name beside such a table.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.packed import text_lines
from schedfarm.core.logs.rows import LONGEST_INT64
from schedfarm.core.names import choices
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Workload

SCHEDULED = ("start", "end", "state", "on")
"""Columns of a schedule, in any form."""

SHOWN = 40
"""So much of a word is told of one that is wrong."""


@dataclass(frozen=True)
class Form:
    """Declare which columns a table has.

    Parameters
    ----------
    meaning : str
        What a file of this form is.
    needed : tuple of str
        Columns that a file has.
    jobs : tuple of str
        Columns that it may have, as they are written; those of `SCHEDULED` may follow.
    least : mapping of str to int
        The least value of each whole number; all other columns hold words.
    most : mapping of str to int
        The largest, where it is not that of the clock.
    empty : mapping of str to int
        What nothing stands for, of numbers that may be left out.
    """

    meaning: str
    needed: tuple[str, ...]
    jobs: tuple[str, ...]
    least: Mapping[str, int]
    most: Mapping[str, int]
    empty: Mapping[str, int]

    def first_of(self, name: str) -> int | None:
        """Return the least value of a column of numbers; None of words."""
        return {**self.least, "start": 0, "end": 0}.get(name)


@dataclass(frozen=True)
class Table:
    """Hold the rows of a file.

    Parameters
    ----------
    source : str
        The file.
    numbers : dict of str to int64[n]
        Its columns of whole numbers.
    words : dict of str to list of str
        Its other columns.
    line : int64[n]
        The line that each row stands in.
    """

    source: str
    numbers: dict[str, Int64]
    words: dict[str, list[str]]
    line: Int64

    def at(self, row: int) -> str:
        """Return where a row stands, as errors say it."""
        return f"{self.source}, line {self.line[row]}"

    @property
    def waits(self) -> Int64:
        """Waits that `start` tells, s, int64[n]; `UNKNOWN` where it is before the submission."""
        submit, start = self.numbers["submit"], self.numbers["start"]
        return np.where(start >= submit, start - submit, UNKNOWN)

    def shares(self, name: str, digits: int, empty: int, nothing: str) -> Int64:
        """Return a column of shares from 0 to 1 as whole numbers of 10^-digits, exactly.

        Parameters
        ----------
        name : str
            The column, of words.
        digits : int
            Decimals that a share may have.
        empty : int
            What no word stands for.
        nothing : str
            What that means, as errors say it.

        Raises
        ------
        InputError
            If a word is no such share.
        """
        shape = re.compile(rf"0|1|0?\.\d{{1,{digits}}}|1\.0{{1,{digits}}}", re.ASCII)
        found = []
        for row, word in enumerate(self.words[name]):
            if word and not shape.fullmatch(word):
                raise InputError(
                    f"{self.at(row)}: {name} is {word[:SHOWN]!r}; give a share from 0 to 1 of at "
                    f"most {digits} decimals, or nothing {nothing}"
                )
            found.append(int(Decimal(word) * 10**digits) if word else empty)
        return np.array(found, np.int64)


def share_word(part: int, digits: int) -> str:
    """Return a share as it is written, from a whole number of 10^-digits.

    Examples
    --------
    >>> share_word(300, 3), share_word(1000, 3), share_word(0, 3)
    ('0.3', '1', '0')
    """
    whole, rest = divmod(part, 10**digits)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")


def read_table(path: str | os.PathLike[str], form: Form) -> Table:
    r"""Read the rows of a CSV file, with what nothing stands for filled in.

    Raises
    ------
    InputError
        If the file cannot be read, or a line of it is not of this form.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> form = Form("a toy", ("job",), ("job", "size"), {"job": 1, "size": 1}, {}, {"size": 9})
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "one.csv")
    ...     _ = path.write_text("job\n7\n")
    ...     read_table(path, form).numbers["size"].tolist()
    [9]
    """
    source = os.fspath(path)
    lines = [(n, text) for n, text in enumerate(text_lines(path), 1) if text.strip()]
    if len(lines) < 2:
        raise InputError(f"{source} holds no job; a log has a header and a row for each job")
    first = f"{source}, line {lines[0][0]}"
    header = _header(_fields(lines[0][1], first), form, first)
    kinds = {name: form.first_of(name) for name in header}
    numbers: dict[str, list[int]] = {name: [] for name in header if kinds[name] is not None}
    words: dict[str, list[str]] = {name: [] for name in header if kinds[name] is None}
    for line, text in lines[1:]:
        where = f"{source}, line {line}"
        row = _fields(text, where)
        if len(row) != len(header):
            raise InputError(
                f"{where}: the row has {len(row)} fields, and the header has {len(header)} columns"
            )
        for name, word in zip(header, row, strict=True):
            if name in numbers:
                numbers[name].append(_number(name, word, form, where))
            else:
                words[name].append(word)
    count = len(lines) - 1
    for name in form.jobs:
        if name not in form.least:
            words.setdefault(name, [""] * count)
    columns = {name: np.array(values, np.int64) for name, values in numbers.items()}
    for name, value in form.empty.items():
        columns.setdefault(name, np.full(count, value, np.int64))
    return Table(source, columns, words, np.array([line for line, _ in lines[1:]], np.int64))


def _fields(text: str, where: str) -> list[str]:
    try:
        return [word.strip() for word in next(csv.reader([text]))]
    except csv.Error as error:
        raise InputError(f"{where}: no row of CSV ({error})") from None


def _header(words: Sequence[str], form: Form, where: str) -> list[str]:
    names, may = [word.strip().lower() for word in words], [*form.jobs, *SCHEDULED]
    for name in names:
        if name not in may:
            known = choices(name, may)
            raise InputError(f"{where}: unknown column {name[:SHOWN]!r}; {known}")
        if names.count(name) > 1:
            raise InputError(f"{where}: column {name!r} stands there twice; give it once")
    for name in form.needed:
        if name not in names:
            raise InputError(
                f"{where}: there is no column {name!r}; {form.meaning} has {', '.join(form.needed)}"
            )
    return names


def _number(name: str, word: str, form: Form, where: str) -> int:
    empty = {**form.empty, "start": UNKNOWN, "end": UNKNOWN}
    if not word and name in empty:
        return empty[name]
    least, most = form.first_of(name) or 0, form.most.get(name, 10**LONGEST_INT64 - 1)
    sound = word.isascii() and word.isdigit() and len(word) <= LONGEST_INT64
    if not sound or not least <= int(word) <= most:
        nothing = ", or nothing" if name in empty else ""
        raise InputError(
            f"{where}: {name} is {word[:SHOWN]!r}; give a whole number, at least {least} and at "
            f"most {most}{nothing}"
        )
    return int(word)


def user_words(work: Workload) -> list[object]:
    """Return the users of jobs as they are written: names, else numbers, nothing for unknown."""
    names = work.names.get("user", {})
    return ["" if user < 0 else names.get(user, user) for user in work.user.tolist()]


def table_bytes(columns: Mapping[str, Sequence[object]]) -> bytes:
    r"""Return columns as a CSV file.

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
