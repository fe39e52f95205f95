"""Instances in CSV files: a row for each job, a column for each number of processors."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from schedfarm.core.checks import shown
from schedfarm.core.errors import InputError
from schedfarm.offline.instance import Instance, break_of

HEAD = ("job", "weight")
"""Names of the columns before the columns of times."""

DIGITS = 12
"""Largest number of digits of a time: works on up to 10^6 processors then compare in int64."""

FORM = "job,weight,1,2,3,... up to the machine's processors"


def read_times(path: str | os.PathLike[str]) -> Instance:
    r"""Read an instance from a CSV file with the columns job, weight, 1, 2, 3 and so on.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "times.csv")
    ...     _ = file.write_text("job,weight,1,2\nweather,3,70,40\nclimate,1,9,9\n")
    ...     read_times(file).times.tolist()
    [[70, 40], [9, 9]]
    """
    file = os.fspath(path) or "''"
    lines = _lines(file)
    head = next(lines, (1, []))[1]
    processors = len(head) - len(HEAD)
    wanted = [*HEAD, *(str(k) for k in range(1, processors + 1))]
    if processors < 1 or head != wanted:
        raise InputError(f"{file}, line 1: the columns are not {FORM}")
    rows = [(line, _row(file, line, row, processors)) for line, row in lines]
    if not rows:
        raise InputError(f"{file}: there is no job; give a line for each, below {FORM}")
    times = np.array([row[1:] for _, (_, row) in rows], np.int64)
    found = break_of(times)
    if found:
        job, procs, why = found
        raise InputError(f"{file}, line {rows[job][0]}, column {procs}: {why}")
    try:
        return Instance(
            times,
            np.array([row[0] for _, (_, row) in rows], np.int64),
            tuple(name for _, (name, _) in rows),
        )
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def _lines(file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the stripped fields of each line that is not empty."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
        reader = csv.reader(text.splitlines(), strict=True)
        for row in reader:
            if row:
                yield reader.line_num, [field.strip() for field in row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(
            f"{file}: cannot be read as CSV ({why}); give a file with {FORM}"
        ) from None


def _row(file: str, line: int, row: list[str], processors: int) -> tuple[str, list[int]]:
    """Return a job's name, and a list of its weight and times."""
    if len(row) != len(HEAD) + processors:
        raise InputError(
            f"{file}, line {line}: {len(row)} fields below {len(HEAD) + processors} columns; give "
            "one in each"
        )
    numbers = []
    for at, field in enumerate(row[1:]):
        if not field.isascii() or not field.isdigit() or len(field) > DIGITS or int(field) < 1:
            column, what = (f"column {at}", "whole seconds") if at else ("weight", "a whole number")
            raise InputError(
                f"{file}, line {line}, {column}: {shown(field[:40])} is given; give {what}, at "
                f"least 1 and of at most {DIGITS} digits"
            )
        numbers.append(int(field))
    return row[0], numbers
