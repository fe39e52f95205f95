"""Tables of jobs as CSV or Parquet, read through a map of columns and units."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.field_map import (
    COUNT,
    EACH,
    SECONDS,
    TARGETS,
    UNITS,
    UNKNOWN_WORDS,
    WORD,
    Field,
    FieldMap,
)
from schedfarm.core.logs.packed import check_is_file
from schedfarm.core.logs.rows import LONGEST_INT64, SHOWN, Parsed, check_products, number_words
from schedfarm.core.logs.sizes import size_word
from schedfarm.core.logs.text_table import (
    Layout,
    Source,
    first_line,
    log_text,
    numbering,
    read_rows,
)
from schedfarm.core.logs.times import clock_word, count_from_earliest
from schedfarm.core.logs.tokens import (
    Converter,
    Values,
    Words,
    instants,
    leading_numbers,
    spans,
    split_at,
)
from schedfarm.core.names import choices
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Names

PARQUET = b"PAR1"
"""First bytes of a Parquet file."""

EXTRA = "parquet"
"""Extra of this package that installs the reader of Parquet."""

BATCH = 2**18
"""Number of rows of a Parquet file that are converted at a time."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

NEEDED = (("submit",), ("run", "end"), ("procs", "allocated"))
"""Required columns of a table's map, at least one of each group."""


def parse_mapped(path: str | os.PathLike[str], fields: FieldMap | None) -> Parsed:
    """Read the rows of a CSV or Parquet file through a map."""
    source = os.fspath(path)
    if fields is None:
        raise InputError(
            f"{source}: a table of unknown columns; give a map of its columns and units, as "
            "map = ... in the campaign, --map, or a TOML file of its name with [columns]"
        )
    _check_needed(fields, source)
    check_is_file(path)
    columns, names, dropped = (_parquet if is_parquet(source) else _csv)(source, fields)
    if not columns["submit"].size:
        raise InputError(f"{source} holds no job; a log has a row for each job")
    multiply(columns, fields.columns, source)
    columns.pop("line", None)
    return _as_parsed(columns, names, dropped, fields)


def is_parquet(source: str) -> bool:
    """Return whether a file begins as Parquet does."""
    with open(source, "rb") as file:
        return file.read(len(PARQUET)) == PARQUET


def _check_needed(fields: FieldMap, source: str) -> None:
    for group in NEEDED:
        if not any(name in fields.columns for name in group):
            raise InputError(
                f"{source}: the map gives no column {' or '.join(group)!r}, which a table needs"
            )
    if "run" not in fields.columns and "start" not in fields.columns:
        raise InputError(f"{source}: the map gives 'end' without 'start' or 'run': no run time")


def _as_parsed(
    columns: dict[str, Int64], names: Names, dropped: Mapping[str, Bool], fields: FieldMap
) -> Parsed:
    count = columns["submit"].size
    empty = np.full(count, UNKNOWN, np.int64)
    given = dict(columns)
    for name in ("run", "start", "end", "requested", "allocated", "request_time", "user"):
        columns.setdefault(name, empty)
    start, end = columns["start"], columns.pop("end")
    both = (columns["run"] == UNKNOWN) & (start >= 0) & (end >= 0)
    waited = (columns["run"] <= 0) & (start < 0) & (end >= 0)
    columns["run"] = np.where(both, np.maximum(end - start, UNKNOWN), columns["run"])
    known = waited & (columns["submit"] >= 0) & (end >= columns["submit"])
    left = np.where(known, end - columns["submit"], UNKNOWN)
    if "job" not in columns or (columns["job"] < UNKNOWN).any():
        columns["job"] = np.arange(1, count + 1)
    columns.setdefault("eligible", empty)
    logged = given.get("wait")
    epoch = count_from_earliest(columns)
    if logged is not None:
        columns["wait"] = np.where(logged >= 0, logged, columns["wait"])
    for name, needs in (("wait", ("wait", "start")), ("eligible", ("eligible",))):
        if not any(one in given for one in needs):
            del columns[name]
    numeric = fields.columns["submit"].unit != "datetime"
    if numeric:
        epoch = UNKNOWN if fields.epoch < 0 else fields.epoch + epoch
    return Parsed(
        columns,
        processors=fields.processors,
        epoch=epoch,
        names=names,
        faults={reason: bad for reason, bad in dropped.items() if bad.any()},
        left=(lambda: left) if {"start", "end"} <= given.keys() else None,
    )


def multiply(columns: dict[str, Int64], fields: Mapping[str, Field], source: str) -> None:
    """Multiply the columns that the log gives per node or processor.

    `columns` may have the line of each row as `line`; otherwise messages give the row's number.
    """
    before = dict(columns)
    multipliers = {column for each in EACH.values() for column in each}
    # Processors per node come first: memory per processor is multiplied by the job's total.
    for name in sorted(fields, key=lambda name: TARGETS[name].parsed not in multipliers):
        one = fields[name]
        if not one.per:
            continue
        given = [columns[column] for column in EACH[one.per] if column in columns]
        if not given:
            raise InputError(
                f"{source}: the map gives {name!r} per {one.per}, and no column of {one.per}s"
            )
        by = given[0]
        for other in given[1:]:
            by = np.where(by > 0, by, other)
        each = before[TARGETS[name].parsed]
        known = (each >= 0) & (by >= 0)
        check_products(each, by, known, f"{name} per {one.per}", source, columns.get("line"))
        columns[TARGETS[name].parsed] = np.where(known, each * by, UNKNOWN)


def chosen(fields: FieldMap, header: Sequence[str], where: str) -> dict[str, str]:
    """Return the log's column for each mapped column; refuse a map that does not fit the file."""
    found = {}
    for name, one in fields.columns.items():
        column = next((candidate for candidate in one.names if candidate in header), None)
        if column is None:
            wanted = " or ".join(map(repr, one.names))
            raise InputError(
                f"{where}: there is no column {wanted}, which the map takes for {name!r}; "
                f"{choices(one.names[0], header)}"
            )
        found[name] = column
    for column in fields.drop:
        if column not in header:
            raise InputError(
                f"{where}: there is no column {column!r}, by which the map drops rows; "
                f"{choices(column, header)}"
            )
    return found


def _csv(source: str, fields: FieldMap) -> tuple[dict[str, Int64], Names, dict[str, Bool]]:
    first, line, rest = first_line(log_text(source))
    where = f"{source}, line {line}"
    if not first.strip() or not rest.strip():
        raise InputError(f"{source} holds no job; a log has a header and a row for each job")
    header = _cells(first, where)
    column_of = chosen(fields, header, where)
    for column in {*column_of.values(), *fields.drop}:
        if header.count(column) > 1:
            raise InputError(f"{where}: column {column!r} occurs twice; give it once")

    def split(text: str, where: str) -> list[str]:
        row = _cells(text, where)
        if len(row) != len(header):
            raise InputError(
                f"{where}: the row has {len(row)} fields, and the header has {len(header)} columns"
            )
        return row

    dropping: dict[str, dict[str, int]] = {column: {} for column in fields.drop}
    # Repeated names in a header are allowed unless the map uses them.
    unique = [name if header.count(name) == 1 else f"{k} {name}" for k, name in enumerate(header)]
    layout = Layout(
        fields=unique,
        columns={
            **{
                TARGETS[name].parsed: (Source(column, converter(name, one, fields, column)),)
                for (name, column), one in zip(
                    column_of.items(), fields.columns.values(), strict=True
                )
                if not is_name(name)
            },
            **{
                f"drop {column}": (Source(column, numbering(seen)),)
                for column, seen in dropping.items()
            },
        },
        words={name: column for name, column in column_of.items() if is_name(name)},
        split=split,
        tokens=lambda chunk, names: None if b'"' in chunk else split_at(chunk, b",", names),
    )
    columns, names = read_rows(rest, source, layout, line + 1)
    del columns["skip"]
    words = {
        column: (list(seen), columns.pop(f"drop {column}")) for column, seen in dropping.items()
    }
    return columns, names, _dropped(fields, words)


def is_name(name: str) -> bool:
    """Return whether a column, except the number of the job, has names that become numbers."""
    return TARGETS[name].kind == WORD and name != "job"


def _cells(text: str, where: str) -> list[str]:
    try:
        return [word.strip() for word in next(csv.reader([text]))]
    except csv.Error as error:
        raise InputError(f"{where}: no row of CSV ({error})") from None


def _dropped(fields: FieldMap, words: Mapping[str, tuple[Sequence[str], Int64]]) -> dict[str, Bool]:
    """Return the mask of the rows that are left out for each value of ``[drop]``."""
    found = {}
    for column, values in fields.drop.items():
        known, which = words[column]
        for value in values:
            same = [
                k for k, word in enumerate(known) if word == value or word.startswith(f"{value} ")
            ]
            found[f"{column} {value}"] = np.isin(which, same)
    return found


def converter(name: str, one: Field, fields: FieldMap, column: str) -> Converter:
    """Return the converter of the words of a column; `column` names it in messages."""
    kind = TARGETS[name].kind
    said = name if name == column else f"{name} ({column})"
    unknown = {*UNKNOWN_WORDS, *map(str.lower, fields.unknown)}
    if kind == WORD:
        return _job_numbers(unknown)
    read = _reader(kind, one, said)

    def word(word: str, where: str) -> int:
        if word.lower() in unknown:
            return UNKNOWN
        if one.match:
            found = re.findall(one.match, word)
            total = sum(read(part, where) for part in found) if found else UNKNOWN
            if total > HORIZON:
                raise InputError(
                    f"{where}: {said} sums to {total}; give matches whose sum is at most 2^62"
                )
            return total
        return read(word, where)

    return Converter(word, None if one.match else _fast(kind, one, unknown))


def _reader(kind: str, one: Field, said: str) -> Callable[[str, str], int]:
    """Return a function from a word to its value, >= 0."""
    if one.unit in TEXTS:
        text = TEXTS[one.unit].word
        return lambda word, where: text(word, f"{where}: {said}")
    up, down = UNITS[kind].get(one.unit, (one.times, 1))

    def number(word: str, where: str) -> int:
        if not _NUMBER.fullmatch(word):
            raise InputError(f"{where}: {said} is {word[:SHOWN]!a}; give a number")
        value = Decimal(word)
        if kind == COUNT and value == value.to_integral_value() or kind != COUNT:
            if 0 <= value <= HORIZON // up * down:
                return int(value * up) // down if down == 1 else int(value * up / down)
            bad = "at least 0" if value < 0 else "one that fits the clock, 2^62"
        else:
            bad = "a whole number"
        hint = ", or list it in 'unknown' of the map" if value < 0 else ""
        raise InputError(f"{where}: {said} is {word[:SHOWN]}; give {bad}{hint}")

    return number


def _fast(kind: str, one: Field, unknown: Iterable[str]) -> Callable[[Words], Values] | None:
    """Return the vectorised conversion of plain words; words that may be unknown are uncertain."""
    if one.unit in TEXTS:
        return TEXTS[one.unit].fast
    up, down = UNITS[kind].get(one.unit, (one.times, 1))
    listed = np.array([int(word) for word in unknown if word.isascii() and word.isdigit()])

    def fast(words: Words) -> Values:
        number, digits = leading_numbers(words)
        sure = (digits > 0) & (digits == words.length) & (number <= HORIZON // up)
        if listed.size:
            sure &= ~np.isin(number, listed)
        return np.where(sure, number, 0) * up // down, sure

    return fast


def _datetimes(words: Words) -> Values:
    """Convert words such as 2024-01-02 03:04:05 and 2024-01-02T03:04:05."""
    at = words.first + 10
    spaced = (words.length == 19) & (words.text[np.minimum(at, words.text.size - 1)] == ord(" "))
    text = words.text.copy()
    text[at[spaced]] = ord("T")
    values, sure = instants(Words(text, words.first, words.end))
    return values, sure & (values >= 0)


def _datetime(word: str, where: str) -> int:
    """Return an instant in s since 1970; a text without a time zone means UTC."""
    try:
        instant = datetime.fromisoformat(word)
    except ValueError:
        raise InputError(
            f"{where} is {word[:SHOWN]!a}; give a time such as 2024-01-02 03:04:05"
        ) from None
    instant = instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant
    seconds = math.floor((instant - _EPOCH).total_seconds())
    if seconds < 0:
        raise InputError(f"{where} is {word[:SHOWN]}; give a time from 1970 on")
    return seconds


class TextUnit(NamedTuple):
    """Declare the converter of single words of a unit, of many words, and the type in Arrow."""

    word: Callable[[str, str], int]
    fast: Callable[[Words], Values] | None = None
    arrow: str = ""


TEXTS = {
    "datetime": TextUnit(_datetime, _datetimes, "timestamp"),
    "clock": TextUnit(clock_word, spans, "duration"),
    "slurm": TextUnit(size_word),
}
"""Units of text; the other units are those of numbers."""


def _job_numbers(unknown: Iterable[str]) -> Converter:
    """Return a converter of job numbers; each distinct other word becomes a number below -1."""
    seen: dict[str, int] = {}

    def word(word: str, _: str) -> int:
        if word.lower() in unknown:
            return UNKNOWN
        if word.isascii() and word.isdigit() and len(word) <= LONGEST_INT64:
            return int(word)
        return seen.setdefault(word, -2 - len(seen))

    def fast(words: Words) -> Values:
        number, digits = leading_numbers(words)
        return number, (digits == words.length) & (digits > 0)

    return Converter(word, fast)


def _parquet(source: str, fields: FieldMap) -> tuple[dict[str, Int64], Names, dict[str, Bool]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"{source}: Parquet needs pyarrow, which is not installed; "
            f"pip install 'schedfarm[{EXTRA}]'"
        ) from None
    try:
        with pq.ParquetFile(source) as file:
            return _batches(file, source, fields)
    except (pa.ArrowException, OSError) as error:
        why = " ".join(str(error).split())
        raise InputError(f"{source}: damaged, or not Parquet ({why[:200]})") from None


def _batches(
    file: Any, source: str, fields: FieldMap
) -> tuple[dict[str, Int64], Names, dict[str, Bool]]:
    column_of = chosen(fields, file.schema_arrow.names, source)
    seen: dict[str, dict[str, int]] = {
        **{name: {} for name in column_of if is_name(name)},
        **{f"drop {column}": {} for column in fields.drop},
    }
    converters: dict[str, Converter | None] = {
        name: None if is_name(name) else converter(name, one, fields, column_of[name])
        for name, one in fields.columns.items()
    }
    pieces: dict[str, list[Int64]] = {name: [] for name in (*column_of, *seen)}
    row, needed = 1, list(dict.fromkeys((*column_of.values(), *fields.drop)))
    for batch in file.iter_batches(BATCH, columns=needed):
        for name, convert in converters.items():
            column = batch.column(column_of[name])
            if convert is None:
                pieces[name].append(_numbered(column, seen[name]))
                continue
            said = f"{name} ({column_of[name]})"
            pieces[name].append(
                _converted(column, convert, fields, fields.columns[name], name, said, source, row)
            )
        for name in fields.drop:
            pieces[f"drop {name}"].append(_numbered(batch.column(name), seen[f"drop {name}"]))
        row += batch.num_rows
    joined = {
        name: np.concatenate(parts or [np.empty(0, np.int64)]) for name, parts in pieces.items()
    }
    words = {name: (list(seen[f"drop {name}"]), joined.pop(f"drop {name}")) for name in fields.drop}
    names: dict[str, dict[int, str]] = {}
    for name in [name for name in column_of if is_name(name)]:
        numbers, table = number_words(list(seen[name]))
        joined[name] = numbers[joined[name]] if numbers.size else joined[name]
        if table:
            names[name] = table
    columns = {TARGETS[name].parsed: column for name, column in joined.items()}
    return columns, names, _dropped(fields, words)


def _numbered(column: Any, seen: dict[str, int]) -> Int64:
    """Return the numbers of words in order of appearance; a missing value is an empty word."""
    words, which = _distinct(column)
    return np.array([seen.setdefault(word, len(seen)) for word in words], np.int64)[which]


def _distinct(column: Any) -> tuple[list[str], Int64]:
    """Return the distinct words of an Arrow array, and the index of each row's word."""
    import pyarrow as pa

    text = column.cast(pa.string()).fill_null("").dictionary_encode()
    return text.dictionary.to_pylist(), text.indices.to_numpy().astype(np.int64)


def _converted(
    column: Any,
    convert: Converter,
    fields: FieldMap,
    one: Field,
    name: str,
    said: str,
    source: str,
    row: int,
) -> Int64:
    """Return the values of an Arrow array; `row` is the number of the first row."""
    import pyarrow.types as kinds

    kind, arrow = TARGETS[name].kind, column.type
    if kinds.is_dictionary(arrow):
        column = column.dictionary_decode()
        arrow = column.type
    timed = "timestamp" if kinds.is_timestamp(arrow) else "duration" * kinds.is_duration(arrow)
    numeric = kinds.is_integer(arrow) or kinds.is_floating(arrow)
    text = TEXTS.get(one.unit)
    if timed and (text is None or text.arrow != timed) or numeric and text is not None:
        right = next((unit for unit, row in TEXTS.items() if timed and row.arrow == timed), "")
        raise InputError(
            f"{source}: {said} holds {arrow}, and its unit is {one.unit or 'none'}; give "
            f"{right or 'the unit of its numbers'}"
        )
    if timed:
        return _seconds(column, f"{source}: {said}")
    plain = numeric and not one.match
    if plain and kind != WORD:
        return _numbers(column, convert, fields, one, kind, source, row)
    if plain and kinds.is_integer(arrow):
        known = column.is_valid().to_numpy(zero_copy_only=False)
        raw = column.fill_null(0).to_numpy(zero_copy_only=False)
        numbers = np.where(known & (raw >= 0), raw.astype(np.int64), UNKNOWN)
        # Like a word that is not a number, this value causes the numbering of jobs by rows.
        return np.where(raw > np.iinfo(np.int64).max, UNKNOWN - 1, numbers)
    if not (plain or kinds.is_string(arrow) or kinds.is_large_string(arrow) or kind == WORD):
        raise InputError(f"{source}: {said} holds {arrow}; give a column of numbers, text or times")
    words, which = _distinct(column)
    firsts = np.unique(which, return_index=True)[1]
    values = [
        convert.word(word.strip(), f"{source}, row {row + first}")
        for word, first in zip(words, firsts.tolist(), strict=True)
    ]
    return np.array(values, np.int64)[which]


def _seconds(column: Any, what: str) -> Int64:
    """Return timestamps or durations in s; as in Arrow, text without a time zone means UTC."""
    import pyarrow as pa

    known = column.is_valid().to_numpy(zero_copy_only=False)
    ticks = column.cast(pa.int64()).fill_null(0).to_numpy()
    if (ticks < 0).any():
        raise InputError(f"{what} holds times before 1970, or below 0; give times from 0 on")
    down = SECONDS[column.type.unit][1]
    return np.where(known, ticks // down, UNKNOWN)


def _numbers(
    column: Any, convert: Converter, fields: FieldMap, one: Field, kind: str, source: str, row: int
) -> Int64:
    """Return numbers in the unit of the workload; unusual numbers are converted as words."""
    import pyarrow.types as kinds

    valid = column.is_valid().to_numpy(zero_copy_only=False)
    raw = column.fill_null(0).to_numpy(zero_copy_only=False)
    unsigned = raw.dtype.kind == "u" and bool((raw > HORIZON).any())
    numbers = raw.astype(np.float64) if kinds.is_floating(column.type) or unsigned else raw
    numbers = numbers.astype(np.float64 if numbers.dtype.kind == "f" else np.int64)
    up, down = UNITS[kind].get(one.unit, (one.times, 1))
    listed = [float(word) for word in fields.unknown if _NUMBER.fullmatch(word)]
    known = valid & ~np.isnan(numbers) & ~np.isin(numbers, listed)
    sound = (numbers >= 0) & (numbers <= HORIZON // up)
    if kind == COUNT:
        sound &= numbers == np.floor(numbers)
    odd = np.flatnonzero(known & ~sound)
    usable = np.where(known & sound, numbers, 0)
    values = np.where(known, (usable * up // down).astype(np.int64), UNKNOWN)
    for k in odd.tolist():
        values[k] = convert.word(str(raw[k]), f"{source}, row {row + k}")
    return values
