"""Parser of the Standard Workload Format: every field of every row as a whole number.

The format is that of the Parallel Workloads Archive (Chapin et al., JSSPP 1999; version 2.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.rows import whole_field
from schedfarm.core.workload.workload import Names

FIELDS = (
    "job",
    "submit",
    "wait",
    "run",
    "allocated",
    "cpu",
    "memory",
    "requested",
    "request_time",
    "request_memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding",
    "think",
)
"""The 18 fields of a row, in the order of the format."""

CHUNK = 2**21
"""Number of bytes that are parsed at a time; the arrays of such a chunk fit the processor's
cache."""

LONGEST_LINE = 2**24
"""Upper bound of the length of a line of any log, bytes."""

_HEADER = re.compile(
    rb"\s*;\s*(MaxProcs|MaxNodes|MaxEstimate|UnixStartTime)\s*:\s*(\d{1,18})(?!\d)", re.I
)
_DECLARED = re.compile(
    rb"\s*;\s*Field\s+(\d{1,4})\s*:\s*(\w+)(?:\s+per\s+(\w+))?(?:\s+\((\w+)\))?", re.I
)
_PLAIN = b"0123456789-. \t\r\n"


@dataclass(frozen=True)
class Log:
    """Hold the columns of a log, unchanged and in the order of its file.

    Parameters
    ----------
    columns : dict of str to int64[n], or int32[n] as they were parsed or cached
        Fields without decimals, by their names in `FIELDS`, in the order of the rows.
    processors : int
        Size of the machine in the header; 0 if unknown.
    max_estimate : int
        Largest estimate in the header, s; -1 if unknown.
    epoch : int
        Unix time of instant 0 in the header, s; -1 if unknown or 0.
    further : mapping of str to int64[n]
        Declared columns from fields beyond the 18 of the format.
    undeclared : mapping of str to int64[n]
        For each undeclared field beyond the 18, whether rows have a value, 1 or 0.
    names : mapping of str to mapping of int to str
        Names of the numbers of declared columns.
    """

    columns: dict[str, Int64]
    processors: int
    max_estimate: int
    epoch: int = -1
    further: Mapping[str, Int64] = field(default_factory=dict)
    undeclared: Mapping[str, Int64] = field(default_factory=dict)
    names: Names = field(default_factory=dict)


def parse(text: bytes | Iterable[bytes], source: str) -> Log:
    r"""Read the header and all rows of a decompressed log, given whole or in consecutive parts.

    All 18 columns are returned; a column is int32 if all its numbers fit.

    Examples
    --------
    >>> log = parse(b"; MaxProcs: 8 (4 nodes)\n1 0 -1 3.9 2" + 13 * b" -1", "log")
    >>> log.processors, log.columns["run"].tolist()
    (8, [3])
    """
    header, line, begun = Header(), 1, False
    pieces: list[list[Int64]] = [[] for _ in FIELDS]
    for chunk in _chunks([text] if isinstance(text, bytes) else text, source):
        if b"\0" in chunk:
            raise InputError(f"{source} is neither SWF text nor gzip; it holds binary data")
        begin = 0
        if not begun:
            begin, line, begun = header.read(chunk, line, source)
            if len(chunk[begin:].split(b"\n", 1)[0].split()) > len(FIELDS):
                raise Wide
        body = chunk[begin:]
        rows = _fast_rows(body)
        if rows is None:
            rows = _careful_rows(body, source, line)
        for k, kept in enumerate(pieces):
            kept.append(_narrow(rows[:, k]))
        line += body.count(b"\n")
    columns = {name: np.concatenate(pieces.pop(0) or [_NO_ROWS]) for name in FIELDS}
    if not columns["job"].size:
        raise InputError(f"{source} holds no data row; a log has one row of 18 fields for each job")
    return Log(columns, header.processors, header.found.get("maxestimate", -1), header.epoch)


_NO_ROWS = np.empty(0, np.int64)


def _narrow(column: Int64) -> Int64:
    """Return a copy of a column, as int32 if it fits; 10^7 rows then take 720 MB."""
    small = np.iinfo(np.int32)
    fits = not column.size or (small.min <= column.min() and column.max() <= small.max)
    return column.astype(np.int32 if fits else np.int64)


class Wide(Exception):
    """Report that the first row of a log has more fields than the format."""


class Header:
    """Collect the numbers of a header; a header may be longer than a chunk."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        # For each line such as "; Field 19: gpus": the word in lower case, the line, and its map.
        self.fields: list[tuple[str, int, dict[str, Any]]] = []

    @property
    def processors(self) -> int:
        """Size of the machine; 0 if unknown."""
        # Logs of the archive have MaxProcs, or only MaxNodes if a node is a processor.
        return self.found.get("maxprocs") or self.found.get("maxnodes", 0)

    @property
    def epoch(self) -> int:
        """Unix time of instant 0, s; -1 if unknown."""
        return self.found.get("unixstarttime") or -1

    def read(self, text: bytes, line: int, source: str) -> tuple[int, int, bool]:
        """Read lines; return position and line of the first data row, and whether there is one."""
        at = 3 if line == 1 and text.startswith(b"\xef\xbb\xbf") else 0
        while at < len(text):
            end = text.find(b"\n", at)
            end = len(text) if end < 0 else end
            row = text[at:end]
            if row.strip() and not row.lstrip().startswith(b";"):
                return at, line, True
            match = _HEADER.match(row)
            if match:
                self._take(match[1].decode().lower(), int(match[2]), line, source)
            match = _DECLARED.fullmatch(row.rstrip())
            if match:
                number, name, per, unit = ((part or b"").decode() for part in match.groups())
                table = {"field": int(number), "unit": unit, "per": per.lower()}
                self.fields.append((name.lower(), line, table))
            at, line = end + 1, line + 1
        return len(text), line, False

    def _take(self, key: str, value: int, line: int, source: str) -> None:
        if key == "maxprocs" and self.found.setdefault(key, value) != value:
            raise InputError(
                f"{source}: the header has MaxProcs {self.found[key]}, and {value} in line "
                f"{line}; keep the line that is right"
            )
        self.found.setdefault(key, value)


def _chunks(parts: Iterable[bytes], source: str) -> Iterator[bytes]:
    """Yield the parts of a text as chunks of whole lines."""
    rest = b""
    for part in parts:
        # A text that is given whole is one part.
        for at in range(0, len(part), CHUNK):
            rest += part[at : at + CHUNK]
            end = rest.rfind(b"\n") + 1
            if end and len(rest) >= CHUNK:
                yield rest[:end]
                rest = rest[end:]
            elif len(rest) > LONGEST_LINE:
                raise InputError(
                    f"{source} holds a line of more than {LONGEST_LINE:,} bytes, so it is not a log"
                )
    if rest:
        yield rest


def _fast_rows(chunk: bytes) -> Int64 | None:
    """Return int64[n, 18] if each line is certainly a row of 18 plain numbers, else None.

    The careful parser defines the meaning of a row. This fast parser reads SDSC BLUE in 0.2 s of
    CPU, the careful parser in 3 s.
    """
    if chunk.translate(None, _PLAIN):
        return None
    text = _truncated(np.frombuffer(b"\n" + chunk + b"\n", np.uint8))
    if text is None or not _is_table(text):
        return None
    # Numbers are parsed as int64: float64 loses whole numbers from 2^53 on, and takes 5 times as
    # long.
    table = np.fromstring(text.tobytes(), np.int64, sep=" ")
    # The parser clips numbers beyond 64 bits to the nearest int64.
    limits = np.iinfo(np.int64)
    if table.max() == limits.max or table.min() == limits.min:
        return None
    return table.reshape(-1, len(FIELDS))


def _truncated(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8] | None:
    """Return the text with blanks in place of decimals; None if a decimal point is misplaced."""
    whole = text.copy()
    at = np.flatnonzero(text == ord("."))
    if (text[at - 1] < ord("0")).any():
        return None
    while at.size:
        whole[at] = ord(" ")
        after = text[at + 1]
        digit = after >= ord("0")
        if (after[~digit] > ord(" ")).any():
            return None
        at = at[digit] + 1
    return whole


def _is_table(text: npt.NDArray[np.uint8]) -> bool:
    """Return whether each line has 18 whole numbers, except an empty first or last line."""
    ink = text > ord(" ")
    first = np.flatnonzero(ink[1:] > ink[:-1]) + 1
    minus = np.flatnonzero(text == ord("-"))
    if ink[minus - 1].any() or not (text[minus + 1] >= ord("0")).all():
        return False
    ends = np.flatnonzero(text == ord("\n"))[1:]
    if ends.size > 1 and ends[-1] == ends[-2] + 1:
        ends = ends[:-1]
    width = len(FIELDS)
    if first.size != width * ends.size or not ends.size:
        return False
    inside = first[width - 1 :: width] < ends
    return bool(inside.all() and (first[width::width] > ends[:-1]).all())


def _careful_rows(chunk: bytes, source: str, line: int) -> Int64:
    rows = []
    for number, text in enumerate(chunk.split(b"\n"), line):
        words = text.split()
        if not words or words[0].startswith(b";"):
            continue
        if len(words) != len(FIELDS):
            raise InputError(
                f"{source}, line {number}: the row has {len(words)} fields; "
                f"a row of the Standard Workload Format has {len(FIELDS)}"
            )
        where = f"{source}, line {number}"
        rows.append([whole_field(word.decode("latin-1"), where) for word in words])
    return np.array(rows, np.int64).reshape(-1, len(FIELDS))
