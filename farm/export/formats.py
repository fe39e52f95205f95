"""Formats of exported files, one row each: name, suffixes, contents, and function."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import CELL
from schedfarm.core.labels import find_label
from schedfarm.farm.export.selection import WHAT, Selection
from schedfarm.farm.export.tables import Column, Part, Table, selected, steps, table_of

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int], None]
"""Receives the number of written cells."""

ROW_GROUP = 2**17
"""Least number of rows of a Parquet row group, except for the last group."""

MOST_ROWS = 2**20
"""Largest number of rows of a row group: a cell may have more jobs."""

EXTRA = "export"
"""Extra of the package that installs the libraries of the formats."""

PACKED = ".gz"


@dataclass(frozen=True)
class Format:
    """Declare a format: `write` takes a selection, a path and a progress function.

    what: kinds of tables that a file can hold, the default first. needs: module that must be
    installed. packed: whether names may end in .gz.
    """

    name: str
    meaning: str
    ends: tuple[str, ...]
    what: tuple[str, ...]
    write: Callable[[Selection, Path, Progress], None]
    needs: str = ""
    packed: bool = False

    @property
    def kind(self) -> str:
        """Suffix of a temporary file."""
        return self.ends[0]

    def table(self, what: str | None) -> str:
        """Return the kind of table to write; refuse a kind that the format cannot hold."""
        found = self.what[0] if what is None else find_label("table", what, WHAT)
        if found not in self.what:
            others = " and ".join(one.name for one in FORMATS.values() if found in one.what)
            raise InputError(
                f"--what {found}: a file of format {self.name} holds {' or '.join(self.what)}; "
                f"{others} can hold {found}"
            )
        return str(found)

    def check_installed(self) -> None:
        """Refuse a format whose library is not installed."""
        if self.needs and find_spec(self.needs) is None:
            raise InputError(
                f"format {self.name} needs {self.needs}, which is not installed; "
                f"pip install 'schedfarm[{EXTRA}]'"
            )


def _parquet(selection: Selection, path: Path, progress: Progress) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = table_of(selection)
    schema = _schema(table)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        waiting: list[Any] = []
        for part in table.parts:
            waiting.append(_arrow(part, schema))
            progress(part.cells)
            if sum(map(len, waiting)) >= ROW_GROUP:
                writer.write_table(pa.concat_tables(waiting), row_group_size=MOST_ROWS)
                waiting.clear()
        if waiting:
            writer.write_table(pa.concat_tables(waiting), row_group_size=MOST_ROWS)


def _schema(table: Table) -> pa.Schema:
    import pyarrow as pa

    fields = [
        pa.field(
            column.name,
            _type(column),
            metadata={"units": column.units, "long_name": column.long_name},
        )
        for column in table.columns
    ]
    return pa.schema(fields, metadata=dict(table.attributes))


def _type(column: Column) -> pa.DataType:
    import pyarrow as pa

    if column.dtype == "str":
        return pa.dictionary(pa.int32(), pa.string())
    return pa.from_numpy_dtype(column.dtype)


def _arrow(part: Part, schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    arrays = [
        pa.array(part.values[field.name]).cast(field.type)
        if field.name in part.values
        else pa.nulls(part.rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _csv(selection: Selection, path: Path, progress: Progress) -> None:
    import pandas as pd

    table = table_of(selection)
    names = [column.name for column in table.columns]
    with _text(path) as stream:
        for i, part in enumerate(table.parts):
            frame = pd.DataFrame(dict(part.values)).reindex(columns=names)
            frame.to_csv(stream, index=False, header=not i, lineterminator="\n")
            progress(part.cells)


@contextmanager
def _text(path: Path) -> Iterator[io.TextIOBase]:
    """Open a text file for writing; equal texts give equal bytes, even with gzip."""
    if not path.name.lower().endswith(PACKED):
        with path.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        return
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as text,
    ):
        yield text


def _netcdf(selection: Selection, path: Path, progress: Progress) -> None:
    import xarray as xr

    along = WHAT[selection.what]
    root = selected(selection, selection.summary())
    if not along:
        root.load().drop_encoding().to_netcdf(path, engine="netcdf4")
        progress(selection.cells)
        return
    table_of(selection)  # refuses a table that the store does not have
    xr.Dataset(attrs=root.attrs).to_netcdf(path, engine="netcdf4")
    for trace, cells in selection.done.items():
        group = selected(selection, selection.trace(trace))
        if along in group.dims:
            names = [name for name, one in group.items() if along in one.dims]
            # Chunks are written one after the other, since a trace may not fit into memory.
            lengths = steps([group.sizes[axis] for axis in CELL], group.sizes[along])
            chunks = dict(zip(CELL, lengths, strict=True))
            data = group[[*names, "jobs"]].drop_encoding().chunk(chunks)
            packed = {name: {"zlib": True, "complevel": 1, "shuffle": True} for name in names}
            data.to_netcdf(path, mode="a", group=trace, engine="netcdf4", encoding=packed)
        progress(len(cells))


def _swf(selection: Selection, path: Path, progress: Progress) -> None:
    from schedfarm.core.logs.swf import write_swf

    trace, (resample, load, policy) = selection.only("swf")
    platform = selection.store.platform(trace)
    if platform.asks:
        raise InputError(
            f"trace {trace}: SWF cannot hold jobs on {platform.part}s; csv and parquet can"
        )
    schedule = selection.schedule(trace=trace, policy=policy, resample=resample, load=load)
    notes = {
        "Policy": policy,
        "Load": load,
        "Resample": str(resample) if resample else "none, the log itself",
        "Store": f"{selection.store.campaign}, trace {trace}",
    }
    write_swf(schedule.workload, path, schedule, notes)
    progress(1)


def _batsim(selection: Selection, path: Path, progress: Progress) -> None:
    from schedfarm.core.logs.batsim import write_batsim

    trace, (resample, load, policy) = selection.only("batsim")
    schedule = selection.schedule(trace=trace, policy=policy, resample=resample, load=load)
    write_batsim(schedule.workload, path)
    progress(1)


def _evalys(selection: Selection, path: Path, progress: Progress) -> None:
    from schedfarm.farm.export.evalys import evalys_frame

    trace, (resample, load, policy) = selection.only("evalys")
    schedule = selection.schedule(trace=trace, policy=policy, resample=resample, load=load)
    with _text(path) as stream:
        evalys_frame(schedule).to_csv(stream, index=False, lineterminator="\n")
    progress(1)


TABLES = tuple(WHAT)

_ROWS = (
    Format("parquet", "Apache Parquet", (".parquet", ".pq"), TABLES, _parquet, needs="pyarrow"),
    Format("netcdf", "netCDF 4", (".nc", ".nc4"), TABLES, _netcdf, needs="netCDF4"),
    Format("swf", "Standard Workload Format", (".swf",), ("jobs",), _swf, packed=True),
    Format("batsim", "workload of Batsim", (".json",), ("jobs",), _batsim, packed=True),
    Format(
        "evalys", "jobs CSV of Batsim and evalys", (".evalys.csv",), ("jobs",), _evalys, packed=True
    ),
    Format("csv", "comma-separated values", (".csv",), TABLES, _csv, packed=True),
)

FORMATS = {row.name: row for row in _ROWS}
"""All formats by name; the first one with a matching suffix is used."""


def format_of(name: str | None, out: str) -> Format:
    """Return the format by its name, or by the suffix of the file.

    Examples
    --------
    >>> format_of(None, "kth.swf.gz").name, format_of("evalys", "kth.csv").name
    ('swf', 'evalys')
    """
    if name is not None:
        return FORMATS[find_label("format", name, FORMATS)]
    low = out.lower()
    for row in FORMATS.values():
        if low.endswith((*row.ends, *(end + PACKED for end in row.ends if row.packed))):
            return row
    ends = ", ".join(end for row in FORMATS.values() for end in row.ends)
    raise InputError(
        f"--out {out}: its format is not clear from its suffix; known: {ends}; or give one with "
        f"--format: {', '.join(FORMATS)}"
    )
