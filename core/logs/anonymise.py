"""Copies of logs without names: users, groups, accounts and job names replaced consistently.

A list says what is kept, so that an unforeseen column is left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from schedfarm.core.arrays import MOST_WEEKS
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.logs.formats import FORMATS
from schedfarm.core.logs.read import format_of
from schedfarm.core.logs.rows import SHOWN
from schedfarm.core.logs.swf_text import FIELDS
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
"""Columns of sacct whose words are replaced, and the beginning of the new words."""

_PLAIN = """jobid jobidraw partition qos elapsed elapsedraw timelimit timelimitraw reqcpus alloccpus
ncpus reqnodes allocnodes nnodes ntasks reqtres alloctres reqmem priority reason restarts restartcnt
state exitcode derivedexitcode planned reserved suspended cputime cputimeraw totalcpu maxrss averss
consumedenergy consumedenergyraw flags"""

SACCT_KEPT = SACCT_TIMES | frozenset(_PLAIN.split())
"""Columns of sacct that are kept as they are."""

SWF_KEPT = re.compile(
    r";\s*(Version|MaxJobs|MaxRecords|MaxNodes|MaxProcs|MaxRuntime|MaxEstimate|UnixStartTime"
    r"|Field\s+\d+)\s*:",
    re.IGNORECASE,
)
"""Lines of an SWF header that are kept."""

SWF_NAMES = ("user", "group", "executable")
"""Fields of SWF that are numbered again."""

_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)
_START = re.compile(r"(;\s*UnixStartTime\s*:\s*)(\d{1,18})", re.IGNORECASE)
_FIELD = re.compile(r";\s*Field\s+(\d+)\s*:", re.IGNORECASE)


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
        Number of different words by replaced column.
    left_out : list of str
        Columns, fields or lines of the header that were left out.
    """

    text: str
    rows: int
    replaced: dict[str, int]
    left_out: list[str]


def anonymise(path: str | os.PathLike[str], weeks: int = 0) -> Anonymised:
    r"""Return a log of sacct or SWF without names, with times moved by whole weeks.

    Words are numbered in order of appearance. Whole weeks keep the hour and the day of the week.

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
        elif name in SACCT_TIMES and weeks:
            change[k] = lambda word: _moved(word, weeks, source)
    lines = ["|".join(header[k] for k in kept)]
    for number, row in enumerate(rest.decode(errors="replace").split("\n"), line + 1):
        if not row.strip():
            continue
        words = [word.strip() for word in row.split("|")]
        if len(words) != len(header):
            raise InputError(
                f"{source}, line {number}: the row has {len(words)} fields and the first line "
                f"names {len(header)}; ask sacct for no column that holds a '|', such as JobName"
            )
        lines.append("|".join(change[k](words[k]) if k in change else words[k] for k in kept))
    return Anonymised(
        "\n".join(lines) + "\n",
        len(lines) - 1,
        {header[k]: len(one.seen) for k, one in names.items()},
        [name for k, name in enumerate(header) if k not in kept and name],
    )


def _state(word: str) -> str:
    """Return a state without the user who cancelled the job."""
    return word.split(" ")[0]


def _moved(word: str, weeks: int, source: str) -> str:
    if not _STAMP.fullmatch(word):
        return word
    try:
        return (datetime.fromisoformat(word) + weeks * WEEK).isoformat()
    except (ValueError, OverflowError):
        raise InputError(
            f"{source}: {word[:SHOWN]!a} is not a time that can be moved by {weeks} weeks"
        ) from None


def _swf(source: str, weeks: int) -> Anonymised:
    names = {FIELDS.index(name): _Names("") for name in SWF_NAMES}
    declared: set[int] = set()
    lines: list[str] = []
    left_out: dict[str, None] = {}
    rows = 0
    for number, line in _lines(source):
        if line.startswith(";"):
            if SWF_KEPT.match(line):
                declared |= {int(found[1]) for found in _FIELD.finditer(line)}
                lines.append(_START.sub(lambda found: _later(found, weeks), line))
            elif line.strip("; \t"):
                left_out[f"header {line.lstrip('; ').partition(':')[0][:SHOWN]}"] = None
            continue
        words = line.split()
        if len(words) < len(FIELDS):
            raise InputError(
                f"{source}, line {number}: the row has {len(words)} fields; "
                f"a row of the Standard Workload Format has {len(FIELDS)}"
            )
        for k, one in names.items():
            words[k] = one(words[k])
        for k in range(len(FIELDS), len(words)):
            # A field of unknown meaning may hold a name.
            if k + 1 not in declared:
                words[k] = "-1"
                left_out[f"field {k + 1}"] = None
        lines.append(" ".join(words))
        rows += 1
    if not rows:
        raise InputError(f"{source} holds no data row; a log has one row of 18 fields for each job")
    replaced = {FIELDS[k]: len(one.seen) for k, one in names.items()}
    return Anonymised("\n".join(lines) + "\n", rows, replaced, list(left_out))


def _lines(source: str) -> Iterator[tuple[int, str]]:
    text = log_text(source).decode(errors="replace")
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.strip()


def _later(found: re.Match[str], weeks: int) -> str:
    return f"{found[1]}{max(0, int(found[2]) + weeks * int(WEEK.total_seconds()))}"


_KINDS = {"sacct": _sacct, "swf": _swf}
