"""Copies of logs without names: users, groups, accounts and job names replaced consistently.

Only listed columns are kept, so that unknown columns are left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from schedfarm.core.arrays import MOST_WEEKS
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.logs.field_map import QUANTITIES, SPAN, TARGETS, UNKNOWN_WORDS, field_map
from schedfarm.core.logs.formats import FORMATS
from schedfarm.core.logs.read import format_of
from schedfarm.core.logs.rows import SHOWN
from schedfarm.core.logs.sacct import NO_VALUE, TIME
from schedfarm.core.logs.swf_text import FIELDS, Header
from schedfarm.core.logs.text_table import first_line, log_text

WEEK = timedelta(weeks=1)

SACCT_TIMES = frozenset({"submit", "eligible", "start", "end"})
"""Columns of sacct that hold instants."""

SACCT_NAMES = {
    "user": "user",
    "uid": "uid",
    "account": "account",
    "group": "group",
    "gid": "gid",
    "jobname": "job",
    "wckey": "wckey",
    "reservation": "reservation",
    "reservationid": "reservation",
    "association": "association",
    "associd": "association",
}
"""Columns of sacct with replaced words, and the prefix of the new words."""

_PLAIN = """jobid jobidraw partition qos elapsed elapsedraw timelimit timelimitraw reqcpus alloccpus
ncpus reqnodes allocnodes nnodes ntasks reqtres alloctres reqmem priority reason restarts restartcnt
state exitcode derivedexitcode planned reserved suspended cputime cputimeraw totalcpu maxrss averss
consumedenergy consumedenergyraw flags"""

SACCT_KEPT = SACCT_TIMES | frozenset(_PLAIN.split())
"""Columns of sacct that are kept unchanged."""

SWF_KEPT = re.compile(
    r";\s*(Version|MaxJobs|MaxRecords|MaxNodes|MaxProcs|MaxRuntime|MaxEstimate|UnixStartTime)"
    r"\s*:\s*(-?\d{1,18}(?!\d)(?:\.\d+)?)(.*)",
    re.IGNORECASE | re.ASCII,
)
"""Pattern of lines of an SWF header; their key and leading number are kept."""

SWF_NAMES = ("user", "group", "executable")
"""Fields of SWF with new numbers."""

SWF_DECLARED_NAMES = ("user", "group")
"""Columns of names that an SWF header may declare; they share their numbers with the fields of the
format."""

_NUMBER = re.compile(r"[-+.\d][-.:\d]*([eE][-+]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, eq=False)
class Anonymised:
    """Hold an anonymised log.

    Parameters
    ----------
    text : str
        The log.
    rows : int
        Number of rows.
    replaced : dict of str to int
        Number of different words in each replaced column.
    left_out : list of str
        Columns, fields or lines of the header that were left out.
    """

    text: str
    rows: int
    replaced: dict[str, int]
    left_out: list[str]


def anonymise(path: str | os.PathLike[str], weeks: int = 0) -> Anonymised:
    r"""Return a log of sacct or SWF without names, with times moved by whole weeks.

    Words are numbered in order of appearance. A shift by whole weeks keeps the hour and the day of
    the week.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "june.sacct"
    ...     _ = path.write_text("JobID|User|WorkDir|Submit\n9|ann|/home/ann|2024-06-08T00:00:00\n")
    ...     found = anonymise(path, weeks=-1)
    >>> found.text
    'JobID|User|Submit\n9|user1|2024-06-01T00:00:00\n'
    >>> found.replaced, found.left_out
    ({'User': 1}, ['WorkDir'])
    """
    source = os.fspath(path)
    weeks = whole("weeks", weeks, least=-MOST_WEEKS, most=MOST_WEEKS)
    kind = format_of(path, mapped=False)
    if kind not in _KINDS:
        known = " and ".join(FORMATS[name].meaning for name in _KINDS)
        raise InputError(f"{source} is {FORMATS[kind].meaning}; only {known} can be anonymised")
    return _KINDS[kind](source, weeks)


@dataclass
class _Names:
    """Number words in order of appearance."""

    begin: str
    seen: dict[str, str] = field(default_factory=dict)

    def __call__(self, word: str) -> str:
        if word in ("", "-1", "None", "Unknown", "(null)"):
            return word
        return self.seen.setdefault(word, f"{self.begin}{len(self.seen) + 1}")


def _sacct(source: str, weeks: int) -> Anonymised:
    first, line, rest = first_line(log_text(source))
    header = [name.strip() for name in first.split("|")]
    known = [name.lower() for name in header]
    names = {k: _Names(SACCT_NAMES[name]) for k, name in enumerate(known) if name in SACCT_NAMES}
    kept = [k for k, name in enumerate(known) if k in names or name in SACCT_KEPT]
    change: dict[int, Callable[[str], str]] = dict(names)
    for k, name in enumerate(known):
        if name == "state":
            change[k] = _state
    times = [k for k, name in enumerate(known) if name in SACCT_TIMES] if weeks else []
    lines = ["|".join(header[k] for k in kept)]
    for number, row in enumerate(rest.decode(errors="replace").split("\n"), line + 1):
        if not row.strip():
            continue
        words = [word.strip() for word in row.split("|")]
        if len(words) != len(header):
            raise InputError(
                f"{source}, line {number}: the row has {len(words)} fields and the first line "
                f"names {len(header)}; do not print columns that contain '|', such as JobName"
            )
        for k in times:
            words[k] = _moved(words[k], weeks, f"{source}, line {number}")
        lines.append("|".join(change[k](words[k]) if k in change else words[k] for k in kept))
    return Anonymised(
        "\n".join(lines) + "\n",
        len(lines) - 1,
        {header[k]: len(one.seen) for k, one in names.items()},
        [name for k, name in enumerate(header) if k not in kept and name],
    )


def _state(word: str) -> str:
    """Return a state without the name of the user that cancelled the job."""
    return word.split(" ")[0]


def _moved(word: str, weeks: int, where: str) -> str:
    if word.lower() in NO_VALUE:
        return word
    try:
        if not TIME.fullmatch(word):
            raise ValueError
        return (datetime.fromisoformat(word) + weeks * WEEK).isoformat()
    except (ValueError, OverflowError):
        raise InputError(
            f"{where}: {word[:SHOWN]!a} is not a time such as 2024-01-02T03:04:05 "
            f"that can be moved by {weeks} weeks"
        ) from None


def _swf(source: str, weeks: int) -> Anonymised:
    text = log_text(source)
    people = {name: _Names("") for name in SWF_NAMES}
    names = {FIELDS.index(name): one for name, one in people.items()}
    declared = _declared(text, source)
    names |= {one.field: people[one.name] for one in declared.values() if one.name in people}
    numbers = set(range(len(FIELDS))) | {one.field for one in declared.values()}
    # A field that is declared both as a number and as a name contains names.
    declared = {
        line: one for line, one in declared.items() if one.name in people or one.field not in names
    }
    lines: list[str] = []
    left_out: dict[str, None] = {}
    rows = 0
    for number, line in _lines(text):
        where = f"{source}, line {number}"
        if not line.startswith(";"):
            lines.append(_swf_row(line.split(), names, numbers, left_out, where))
            rows += 1
        elif number in declared:
            lines.append(declared[number].text)
        # Readers ignore comments behind the first row.
        elif not rows and (found := SWF_KEPT.fullmatch(line)):
            lines.append(_header_line(found, weeks, left_out, where))
        elif line.strip("; \t"):
            left_out[f"header {line.lstrip('; ').partition(':')[0][:SHOWN]}"] = None
    if not rows:
        raise InputError(f"{source} holds no data row; a log has one row of 18 fields for each job")
    replaced = {name: len(one.seen) for name, one in people.items()}
    return Anonymised("\n".join(lines) + "\n", rows, replaced, list(left_out))


def _swf_row(
    words: list[str],
    names: Mapping[int, _Names],
    numbers: Container[int],
    left_out: dict[str, None],
    where: str,
) -> str:
    """Return a row with replaced names, and -1 for all other words that are not numbers."""
    if len(words) < len(FIELDS):
        raise InputError(
            f"{where}: the row has {len(words)} fields; "
            f"a row of the Standard Workload Format has {len(FIELDS)}"
        )
    for k, word in enumerate(words):
        if k in names:
            words[k] = names[k](word)
        elif k not in numbers:
            words[k] = "-1"
            left_out[f"field {k + 1}"] = None
        elif not _NUMBER.fullmatch(word):
            words[k] = "-1"
            if word.lower() not in UNKNOWN_WORDS:
                left_out[f"words in field {k + 1}"] = None
    return " ".join(words)


class _Declared(NamedTuple):
    """Hold a kept declaration of a user, a group or a number."""

    text: str
    field: int  # counted from 0
    name: str


def _declared(text: bytes, source: str) -> dict[int, _Declared]:
    """Return the kept declarations by their lines."""
    header = Header()
    header.read(text, 1, source)
    found: dict[int, _Declared] = {}
    for name, line, table in header.fields:
        numeric = name in TARGETS and TARGETS[name].kind in (SPAN, *QUANTITIES)
        if not numeric and name not in SWF_DECLARED_NAMES:
            continue
        try:
            field_map({"columns": {name: table}}, source)
        except InputError:
            # This line is prose, such as "; Field 4: run" without a unit.
            continue
        per = f" per {table['per']}" if table["per"] else ""
        unit = f" ({table['unit']})" if table["unit"] else ""
        kept = f"; Field {table['field']}: {name}{per}{unit}"
        found[line] = _Declared(kept, table["field"] - 1, name)
    return found


def _header_line(found: re.Match[str], weeks: int, left_out: dict[str, None], where: str) -> str:
    """Return a line of the header, without any text after its number."""
    key, value, text = found.groups()
    if text.strip():
        left_out[f"text in header {key}"] = None
    if key.lower() == "unixstarttime" and weeks:
        value = _later(int(value.partition(".")[0]), weeks, where)
    return f"; {key}: {value}"


def _lines(text: bytes) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.decode(errors="replace").split("\n"), 1):
        if line.strip():
            yield number, line.strip()


def _later(start: int, weeks: int, where: str) -> str:
    """Return a Unix time moved by weeks; a time up to 0 is unknown and stays unchanged."""
    moved = start + weeks * int(WEEK.total_seconds())
    if start > 0 and moved <= 0:
        raise InputError(
            f"{where}: UnixStartTime {start} moved by {weeks} weeks is {moved}; "
            f"give at least {-((start - 1) // int(WEEK.total_seconds()))} weeks"
        )
    return str(moved if start > 0 else start)


_KINDS = {"sacct": _sacct, "swf": _swf}
