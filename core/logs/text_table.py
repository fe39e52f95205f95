"""Logs as text tables, read in chunks; columns are declared with their converters.

A chunk of plain text is split and converted as arrays. A chunk that is not certainly well formed is
read line by line. The same converters give the same values, and error messages name the line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.packed import read_bytes, unpacked
from schedfarm.core.logs.rows import number_words
from schedfarm.core.logs.tokens import Converter, Words
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Names

CHUNK = 2**21
"""Number of bytes that are converted at a time; the arrays of such a chunk fit the processor's
cache."""

_ODD_ENDS = (b"\r", b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e", b"\x85", b"\xe2\x80")
_PLAIN = bytes(range(32, 127)) + b"\t\n"


class Source(NamedTuple):
    """Declare a field of a row, and the converter of its words."""

    field: str
    convert: Converter


@dataclass(frozen=True)
class Layout:
    """Declare the rows of a text table, and the columns that are computed from them.

    Parameters
    ----------
    fields : sequence of str
        Names of the fields of a row.
    columns : mapping of str to tuple of Source
        Sources of each column. Columns are checked in this order. The first source with a known
        value counts; without one, the value is `UNKNOWN`.
    words : mapping of str to str
        Columns with names that become numbers, and their fields.
    split : callable
        Function from a line and its position to the fields of the row; None for other lines.
    tokens : callable
        Function from a chunk of plain lines to the words of each field; None if a line is not a
        row.
    skip : Source, optional
        Field with value 1 in rows that count only for names.
    comment : bytes
        Prefix of lines that are not rows; empty if the format has none.
    """

    fields: Sequence[str]
    columns: Mapping[str, tuple[Source, ...]]
    words: Mapping[str, str]
    split: Callable[[str, str], list[str] | None]
    tokens: Callable[[bytes, Sequence[str]], Mapping[str, Words] | None]
    skip: Source | None = None
    comment: bytes = b""


def log_text(path: str | os.PathLike[str]) -> bytes:
    """Return the text of a log, plain or gzip, with newlines as the only line ends."""
    source = os.fspath(path)
    text = unpacked(read_bytes(path), source)
    if b"\0" in text:
        raise InputError(f"{source} is neither text nor gzip; it holds binary data")
    text = text.removeprefix(b"\xef\xbb\xbf")
    text = text.replace(b"\r\n", b"\n") if b"\r" in text else text
    if any(end in text for end in _ODD_ENDS):
        # Names of users and jobs may be in any encoding; all other fields are ASCII.
        return "\n".join(text.decode(errors="replace").splitlines()).encode()
    return text


def first_line(text: bytes) -> tuple[str, int, bytes]:
    """Return the first line that is not blank, its number, and the text behind it."""
    ink = re.search(rb"\S", text)
    begin = text.rfind(b"\n", 0, ink.start()) + 1 if ink else 0
    end = text.find(b"\n", begin) + 1 or len(text)
    line = text[begin:end].decode(errors="replace").rstrip("\n")
    return line, text.count(b"\n", 0, begin) + 1, text[end:]


def read_rows(
    text: bytes, source: str, layout: Layout, line: int = 1, at: int = 0
) -> tuple[dict[str, Int64], Names]:
    """Return the columns of a text, from a byte and line on, and the names of numbers.

    Every layout has the columns `line`, the line of each row, and `skip`, 1 for skipped rows.
    """
    seen: dict[str, dict[str, int]] = {name: {} for name in layout.words}
    named = {name: (Source(f, numbering(seen[name])),) for name, f in layout.words.items()}
    # Joining pieces at the end would take twice the memory of the columns.
    most, count = text.count(b"\n", at) + 1, 0
    columns = {
        name: np.empty(most, np.int64) for name in ("line", "skip", *layout.columns, *layout.words)
    }
    for chunk in _chunks(text, at):
        found = _fast(chunk, line, layout, named)
        if found is None:
            found = _careful(chunk, source, line, layout, named)
        rows = slice(count, count + found["line"].size)
        for name, column in columns.items():
            column[rows] = found[name]
        line, count = line + chunk.count(b"\n"), rows.stop
    columns = {name: column[:count] for name, column in columns.items()}
    columns["skip"] = columns["skip"] == 1
    names = {}
    for name, words in seen.items():
        if words:
            numbers, table = number_words(list(words))
            columns[name] = numbers[columns[name]]
            if table:
                names[name] = table
    return columns, names


def numbering(seen: dict[str, int]) -> Converter:
    """Return a converter that numbers words from 0 in order of appearance, and records them."""
    return Converter(lambda word, _: seen.setdefault(word, len(seen)))


def _chunks(text: bytes, at: int) -> Iterator[bytes]:
    while at < len(text):
        end = text.find(b"\n", at + CHUNK) + 1 or len(text)
        yield text[at:end]
        at = end


def _fast(
    chunk: bytes, line: int, layout: Layout, named: Mapping[str, tuple[Source, ...]]
) -> dict[str, Int64] | None:
    """Return the columns of a chunk; None if a line or word needs the careful reader."""
    if chunk.translate(None, _PLAIN):
        return None
    mark = layout.comment
    lines: Int64 | None = None
    if (mark and mark in chunk) or b"\n\n" in chunk or chunk.startswith(b"\n"):
        every = chunk.split(b"\n")
        rows = [k for k, row in enumerate(every) if (ink := row.lstrip()[:1]) and ink != mark]
        chunk, lines = b"\n".join(every[k] for k in rows), np.array(rows, np.int64)
    words = layout.tokens(chunk if chunk.endswith(b"\n") else chunk + b"\n", layout.fields)
    if words is None:
        return None
    try:
        columns = {name: _first_known(sources, words) for name, sources in named.items()}
        count = len(next(iter(words.values())))
        skip = np.full(count, UNKNOWN, np.int64)
        if layout.skip is not None:
            skip = layout.skip.convert(words[layout.skip.field])
        taken = np.flatnonzero(skip != 1)
        some = words if taken.size == count else {k: v.only(taken) for k, v in words.items()}
        for name, sources in layout.columns.items():
            columns[name] = np.full(count, UNKNOWN, np.int64)
            if sources:
                columns[name][taken] = _first_known(sources, some)
    except InputError:
        return None
    lines = np.arange(count) if lines is None else lines
    return {"line": line + lines, "skip": skip == 1, **columns}


def _first_known(sources: Sequence[Source], words: Mapping[str, Words]) -> Int64:
    """Return a column; in each row, the first source with a known value counts."""
    values = sources[0].convert(words[sources[0].field])
    for field, convert in sources[1:]:
        rows = np.flatnonzero(values == UNKNOWN)
        values[rows] = convert(words[field].only(rows))
    return values


def _careful(
    chunk: bytes,
    source: str,
    line: int,
    layout: Layout,
    named: Mapping[str, tuple[Source, ...]],
) -> dict[str, Int64]:
    """Return the columns of a chunk, read word by word."""
    columns: dict[str, list[int]] = {
        name: [] for name in ("line", "skip", *layout.columns, *layout.words)
    }
    for number, text in enumerate(chunk.decode(errors="replace").split("\n"), line):
        where = f"{source}, line {number}"
        words = layout.split(text, where) if text.strip() else None
        if words is None:
            continue
        row = dict(zip(layout.fields, words, strict=True))
        skip = (
            layout.skip.convert.word(row[layout.skip.field], where) == 1 if layout.skip else False
        )
        columns["line"].append(number)
        columns["skip"].append(skip)
        for name, sources in layout.columns.items():
            columns[name].append(UNKNOWN if skip else _word(sources, row, where))
        for name, sources in named.items():
            columns[name].append(_word(sources, row, where))
    return {name: np.array(values, np.int64) for name, values in columns.items()}


def _word(sources: Sequence[Source], row: Mapping[str, str], where: str) -> int:
    for field, convert in sources:
        value = convert.word(row[field], where)
        if value != UNKNOWN:
            return value
    return UNKNOWN
