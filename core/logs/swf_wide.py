"""Logs of the Standard Workload Format with more than 18 fields in a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.logs.field_map import INSTANT, TARGETS, WORD, Field, FieldMap, field_map
from schedfarm.core.logs.mapped import converter, multiply
from schedfarm.core.logs.rows import whole_field
from schedfarm.core.logs.swf_text import FIELDS, Header, Log
from schedfarm.core.logs.text_table import Layout, Source, read_rows
from schedfarm.core.logs.tokens import Converter, split_blanks, whole_numbers
from schedfarm.core.workload.columns import UNKNOWN

NAMES = Converter(lambda word, _: 0)
"""Marker of a field of names; names are numbered after all of them have been read."""

_WHOLE = Converter(whole_field, whole_numbers)
_IS_KNOWN = Converter(lambda word, _: UNKNOWN if word in ("-1", "-") else 1)


def wide_log(text: bytes, source: str, fields: FieldMap | None) -> Log:
    r"""Read a log with further fields in its rows, declared by a map or by the header.

    A line of the header such as ``; Field 19: gpus`` or ``; Field 22: memory per processor (KiB)``
    declares a field by a key of `TARGETS`. A map has precedence over the header. Other further
    fields are `undeclared`.

    Examples
    --------
    >>> row = b"1 0 -1 9 2" + 13 * b" -1"
    >>> log = wide_log(b"; Field 19: gpus\n" + row + b" 8 x\n", "log", None)
    >>> log.further["gpus"].tolist(), list(log.undeclared)
    ([8], ['field 20'])
    """
    header = Header()
    begin, line, found = header.read(text, 1, source)
    if not found:
        raise InputError(f"{source} holds no data row; a log has a row for each job")
    end = text.find(b"\n", begin)
    width = len(text[begin : end if end >= 0 else len(text)].split())
    if width < len(FIELDS):
        raise InputError(
            f"{source}, line {line}: the row has {width} fields; "
            f"a row of the Standard Workload Format has {len(FIELDS)}, and perhaps further ones"
        )
    names = (*FIELDS, *(f"field {k}" for k in range(len(FIELDS) + 1, width + 1)))
    numbered = dict(zip((f"field {k}" for k in range(1, width + 1)), names, strict=True))
    declared = {**_in_header(header, source), **_mapped(fields, source)}
    sources = {
        TARGETS[name].parsed: Source(*_source(name, one, numbered, fields, source))
        for name, one in declared.items()
    }
    taken = {source.field for source in sources.values()}
    rest = [name for name in names[len(FIELDS) :] if name not in taken]
    # Mapped columns have a prefix, since `memory` of a log is field 7.
    words = {f"map {k}": one.field for k, one in sources.items() if one.convert is NAMES}
    mapped = {f"map {k}": (one,) for k, one in sources.items() if one.convert is not NAMES}

    def split(text: str, where: str) -> list[str] | None:
        found = text.split()
        if not found or found[0].startswith(";"):
            return None
        if len(found) != width:
            raise InputError(
                f"{where}: the row has {len(found)} fields, and the first row has {width}"
            )
        return found

    layout = Layout(
        fields=names,
        columns={
            **{name: (Source(name, _WHOLE),) for name in FIELDS if name not in words.values()},
            **mapped,
            **{name: (Source(name, _IS_KNOWN),) for name in rest},
        },
        words=words,
        split=split,
        tokens=split_blanks,
        comment=b";",
    )
    columns, labels = read_rows(text, source, layout, line, begin)
    further = {name: columns.pop(f"map {name}") for name in sources}
    used = {**columns, **further}
    named = {one.field: name for name, one in sources.items()}
    multiply(used, declared, source)
    undeclared = {name: np.maximum(columns.pop(name), 0) for name in rest}
    size = fields.processors if fields and fields.processors else header.processors
    return Log(
        {name: columns[name] if name in columns else used[named[name]] for name in FIELDS},
        size,
        header.found.get("maxestimate", -1),
        header.epoch,
        {name: used[name] for name in sources},
        undeclared,
        {name.removeprefix("map "): table for name, table in labels.items()},
    )


def _in_header(header: Header, source: str) -> dict[str, Field]:
    """Return the columns declared by lines of the header; other such lines are prose."""
    found: dict[str, Field] = {}
    first: dict[str, int] = {}
    for name, line, table in header.fields:
        if name in TARGETS:
            if first.setdefault(name, line) != line:
                raise InputError(
                    f"{source}, line {line}: {name!r} is declared in line {first[name]} already; "
                    "keep the line that is right"
                )
            found |= field_map({"columns": {name: table}}, f"{source}, line {line}").columns
    return found


def _mapped(fields: FieldMap | None, source: str) -> Mapping[str, Field]:
    if fields is not None and fields.drop:
        raise InputError(f"{source}: a map of SWF has no [drop]; leave it out")
    return fields.columns if fields else {}


def _source(
    name: str, one: Field, numbered: Mapping[str, str], fields: FieldMap | None, source: str
) -> tuple[str, Converter]:
    """Return the field and the converter of a declared column."""
    kind = TARGETS[name].kind
    if name == "job" or kind == INSTANT:
        raise InputError(
            f"{source}: a map of SWF cannot give {name!r}; "
            f"give {', '.join(k for k, t in TARGETS.items() if t.kind != INSTANT and k != 'job')}"
        )
    if one.names[0] not in numbered:
        raise InputError(
            f"{source}: the map takes {one.names[0]!r} for {name!r}; the rows of this log have "
            f"{len(numbered)} fields, which a map names as in field = 19"
        )
    field = numbered[one.names[0]]
    if kind == WORD:
        return field, NAMES
    known = fields or FieldMap({})
    known = replace(known, unknown=(*known.unknown, "-1"))
    return field, converter(name, one, known, one.names[0])
