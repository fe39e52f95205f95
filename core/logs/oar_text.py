"""The text of logs of jobs on nodes: the columns of their CSV, and what may stand in each."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.arrays import Int64
from core.errors import InputError
from core.logs.packed import text_lines
from core.logs.rows import LONGEST_INT64
from core.names import choices
from core.platform.nodes import MOST

NEEDED = ("job", "submit", "nodes", "walltime", "run")
"""Columns that a log has."""

JOBS = (
    *("job", "submit", "nodes", "weight", "walltime", "run"),
    *("properties", "reserved", "serial", "user"),
)
"""Columns that it may have, as they are written."""

SCHEDULED = ("start", "end", "state", "on")
"""Columns of a schedule."""

LEAST = {
    **dict.fromkeys(("submit", "run", "reserved", "start", "end"), 0),
    **dict.fromkeys(("job", "nodes", "weight", "walltime"), 1),
}
"""The least value of each whole number."""

MOST_OF = {"nodes": MOST, "weight": MOST}
"""The largest, where it is not that of the clock."""

EMPTY = {"weight": 1, "reserved": -1, "start": -1, "end": -1}
"""What nothing stands for."""

SHOWN = 40
"""So much of a word is told of one that is wrong."""


class Table(NamedTuple):
    """Hold the rows of a file: numbers by their names, words, and the lines that they stand in."""

    numbers: dict[str, Int64]
    words: dict[str, list[str]]
    line: Int64


def read_table(path: str | os.PathLike[str]) -> Table:
    r"""Read the rows of a CSV file of jobs on nodes, with what nothing stands for filled in.

    Raises
    ------
    InputError
        If the file cannot be read, or a line of it is not of this form.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "one.csv")
    ...     _ = path.write_text("job,submit,nodes,walltime,run\n7,0,2,60,50\n")
    ...     read_table(path).numbers["weight"].tolist()
    [1]
    """
    source = os.fspath(path)
    lines = [(n, text) for n, text in enumerate(text_lines(path), 1) if text.strip()]
    if len(lines) < 2:
        raise InputError(f"{source} holds no job; a log has a header and a row for each job")
    first = f"{source}, line {lines[0][0]}"
    header = _header(_fields(lines[0][1], first), first)
    numbers: dict[str, list[int]] = {name: [] for name in header if name in LEAST}
    words: dict[str, list[str]] = {name: [] for name in header if name not in LEAST}
    for line, text in lines[1:]:
        where = f"{source}, line {line}"
        row = _fields(text, where)
        if len(row) != len(header):
            raise InputError(
                f"{where}: the row has {len(row)} fields, and the header has {len(header)} columns"
            )
        for name, word in zip(header, row, strict=True):
            if name in numbers:
                numbers[name].append(_number(name, word, where))
            else:
                words[name].append(word)
    count = len(lines) - 1
    for name in ("user", "properties", "serial"):
        words.setdefault(name, [""] * count)
    columns = {name: np.array(values, np.int64) for name, values in numbers.items()}
    for name, value in EMPTY.items():
        if name not in SCHEDULED:
            columns.setdefault(name, np.full(count, value, np.int64))
    return Table(columns, words, np.array([line for line, _ in lines[1:]], np.int64))


def _fields(text: str, where: str) -> list[str]:
    try:
        return [word.strip() for word in next(csv.reader([text]))]
    except csv.Error as error:
        raise InputError(f"{where}: no row of CSV ({error})") from None


def _header(words: Sequence[str], where: str) -> list[str]:
    names = [word.strip().lower() for word in words]
    for name in names:
        if name not in JOBS and name not in SCHEDULED:
            known = choices(name, [*JOBS, *SCHEDULED])
            raise InputError(f"{where}: unknown column {name[:SHOWN]!r}; {known}")
        if names.count(name) > 1:
            raise InputError(f"{where}: column {name!r} stands there twice; give it once")
    for name in NEEDED:
        if name not in names:
            raise InputError(
                f"{where}: there is no column {name!r}; a log of jobs on nodes has "
                f"{', '.join(NEEDED)}"
            )
    return names


def _number(name: str, word: str, where: str) -> int:
    if not word and name in EMPTY:
        return EMPTY[name]
    least, most = LEAST[name], MOST_OF.get(name, 10**LONGEST_INT64 - 1)
    sound = word.isascii() and word.isdigit() and len(word) <= LONGEST_INT64
    if not sound or not least <= int(word) <= most:
        nothing = ", or nothing" if name in EMPTY else ""
        raise InputError(
            f"{where}: {name} is {word[:SHOWN]!r}; give a whole number, at least {least} and at "
            f"most {most}{nothing}"
        )
    return int(word)
