"""Columns of a workload; each is declared once, as a field of `Columns`.

Digests, stores, resamples and selections read the declarations in `COLUMNS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Bool, Int64, readonly
from schedfarm.core.errors import InputError

ALWAYS, FILLED, ASKED, NEVER = "always", "filled", "asked", "never"
"""Conditions under which a digest includes a column.

ALWAYS: in any case. FILLED: if a job differs from the default, so that a new column does not change
older digests. ASKED: as FILLED, but only on platforms that use the column. NEVER: in no case, for
columns that no simulation reads.
"""

OWN_NAME = "."
"""Placeholder for the column's own name as the name of its array."""

UNKNOWN = -1
"""Placeholder for a value that a log does not give."""

Default = Callable[[int], npt.NDArray[Any]]
"""Function from a number of jobs to the values of a missing column."""


@dataclass(frozen=True)
class Column:
    """Declare a column of a workload.

    Parameters
    ----------
    name : str
        Name of the attribute of a workload.
    unit : str
        Unit of the values, "1" for none.
    meaning : str
        Long name in a store.
    dtype : numpy.dtype
        Data type of the values.
    default : callable, optional
        Function that makes missing values; None for a column that is always given.
    travels : bool
        Whether a job keeps its value if it is drawn for another week or scaled to another load;
        otherwise the job gets the default.
    stored : str
        Name of the column's array in a store; empty if only the store's copy of the log has the
        column.
    asked : bool
        Whether only traces on platforms that use the column have the array.
    digest : str
        Condition under which a workload's digest includes the column: `ALWAYS`, `FILLED`, `ASKED`
        or `NEVER`.
    """

    name: str
    unit: str
    meaning: str
    dtype: np.dtype[Any]
    default: Default | None
    travels: bool
    stored: str
    digest: str
    asked: bool = False

    def __post_init__(self) -> None:
        if self.default is None and not self.travels:
            raise TypeError("a column that does not travel needs a default")


def column(
    unit: str,
    meaning: str,
    dtype: npt.DTypeLike = np.int64,
    *,
    default: Default | None = None,
    travels: bool = True,
    stored: str = OWN_NAME,
    digest: str = FILLED,
    asked: bool = False,
) -> Any:
    """Declare a column as a field of a dataclass; its parameters are those of `Column`.

    Examples
    --------
    >>> @dataclass(frozen=True, eq=False, kw_only=True)
    ... class Weighted(Columns):
    ...     weight: Int64 = column("1", "weight", default=lambda n: np.ones(n, np.int64))
    >>> columns_of(Weighted)["weight"].stored
    'weight'
    """
    row = Column("", unit, meaning, np.dtype(dtype), default, travels, stored, digest, asked)
    if default is None:
        return field(metadata={Column: row})
    return field(default=None, metadata={Column: row})


def _unknown(n: int) -> Int64:
    return np.full(n, UNKNOWN, np.int64)


def numbered(n: int) -> Int64:
    """Return numbers from 1, for jobs without numbers."""
    return np.arange(1, n + 1, dtype=np.int64)


def _zeros(n: int) -> Int64:
    return np.zeros(n, np.int64)


def _said(meaning: str, unit: str = "1", *, travels: bool = True) -> Any:
    """Declare a further column of a log, which digests never include."""
    return column(unit, meaning, default=_unknown, travels=travels, stored="", digest=NEVER)


def _asked(
    meaning: str,
    default: Default = _unknown,
    *,
    unit: str = "1",
    stored: str = OWN_NAME,
    digest: str = FILLED,
) -> Any:
    """Declare a request of nodes, links or resources; other platforms ignore it."""
    return column(unit, meaning, default=default, stored=stored, digest=digest, asked=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Columns:
    """Hold the columns of some jobs, in (submit, position) order.

    All arrays have the same length n, and are read-only. The index of a job is its place in
    (submit, position) order, so the smaller index wins every tie.

    Parameters
    ----------
    submit : int64[n]
        Submission instant, s, ascending, >= 0.
    run : int64[n]
        Run time, s, unknown to the scheduler; 0 <= run <= estimate.
    estimate : int64[n]
        Requested time, s.
    procs : int64[n]
        Requested processors, at least 1 and at most as many as the platform admits.
    user : int64[n], optional
        User number as in the log; -1 if unknown.
    job : int64[n], optional
        Job number as in the log, by default from 1 on; a resampled job keeps its number, which
        identifies its row in the log.
    killed : bool[n], optional
        Whether the log's run time exceeded the estimate, so that the job is killed at its estimate.
    group, queue, partition, nodes : int64[n], optional
        Further data of the log, as numbers of the log or of `Workload.names`; -1 if unknown. The
        order ``multifactor`` reads the first three columns.
    gpus, memory, licences, watts : int64[n], optional
        Request of the whole job for each resource, memory in bytes. The default is -1, unknown,
        which counts as 0.
    priority : int64[n], optional
        Priority of the job in the log's scheduler; -1 if unknown.
    soft : int64[n], optional
        Run time that the log's scheduler predicted (soft wall time), s; -1 if unknown.
    logged_wait : int64[n], optional
        Wait in the log, s; below 0 if unknown, as for drawn jobs and jobs at another load.
    weight : int64[n], optional
        Processors requested on each of procs / weight nodes, at least 1; by default 1.
    properties : int64[n], optional
        Index of the platform's set of nodes that the job may use; -1 for any node.
    leave : int64[n], optional
        Wait after which the job is withdrawn from the queue unless it has started, s; by default
        -1, for never.
    reserved : int64[n], optional
        Start of the job's advance reservation, s after its submission; -1 for none.
    serial : int64[n], optional
        Serial part of the work of a moldable job, in millionths; -1 for a rigid job.
    origin : int64[n], optional
        Cluster of a network to which the job is submitted, as an index of the network's places; by
        default the first.
    communication : int64[n], optional
        Part of the run time for communication, in thousandths; by default 0.
    bandwidth : int64[n], optional
        Traffic of each processor on one cluster, kbit/s; by default 0.
    alltoall : int64[n], optional
        All-to-all part of this traffic, in thousandths, by default 0; the rest goes to neighbours
        in a mesh.

    Raises
    ------
    InputError
        If a column holds fractions or has another length than `submit`.
    """

    submit: Int64 = column("s", "submission instant")
    run: Int64 = column("s", "run time")
    estimate: Int64 = column("s", "requested time")
    procs: Int64 = column("1", "requested processors")
    # A store already has dimensions `user` and `job`.
    user: Int64 = column(
        "1",
        "user",
        default=lambda n: np.full(n, -1, np.int64),
        stored="job_user",
        digest=ALWAYS,
    )
    job: Int64 = column(
        "1",
        "job number in the log",
        default=numbered,
        stored="number",
        digest=ALWAYS,
    )
    killed: Bool = column(
        "1",
        "job was killed at its estimate",
        np.bool_,
        default=lambda n: np.zeros(n, np.bool_),
        digest=ALWAYS,
    )
    group: Int64 = _said("group or account")
    queue: Int64 = _said("queue or quality of service")
    # Orders read this column on any platform; it is a request only on a machine with partitions.
    partition: Int64 = _asked("partition", digest=ASKED)
    nodes: Int64 = _said("nodes")
    hosts: Int64 = _asked("hosts that the job takes, -1 for as few as possible", digest=ASKED)
    gpus: Int64 = _asked("requested GPUs, -1 where unknown", digest=ASKED)
    memory: Int64 = _asked("requested memory, -1 where unknown", unit="B", digest=ASKED)
    licences: Int64 = _asked("requested licences, -1 where unknown", digest=ASKED)
    watts: Int64 = _asked("requested power, -1 where unknown", unit="W", digest=ASKED)
    priority: Int64 = _said("priority in the log")
    soft: Int64 = _said("run time that the log's scheduler predicted", "s")
    logged_wait: Int64 = _said("wait in the log", "s", travels=False)
    leave: Int64 = column(
        "s", "wait after which the job is withdrawn; -1 for never", default=_unknown, stored=""
    )
    weight: Int64 = _asked("processors requested on each node", lambda n: np.ones(n, np.int64))
    properties: Int64 = _asked("set of nodes that the job may use, -1 for any")
    reserved: Int64 = _asked("start requested in advance, after submission; -1 for none", unit="s")
    serial: Int64 = _asked("serial part of a moldable job, in millionths; -1 for a rigid one")
    # A store has a dimension `origin`.
    origin: Int64 = _asked("cluster to which the job is submitted", _zeros, stored="job_origin")
    communication: Int64 = _asked("part of the run time that is communication, in 1/1000", _zeros)
    bandwidth: Int64 = _asked("traffic of each processor on one cluster", _zeros, unit="kbit/s")
    alltoall: Int64 = _asked("all-to-all part of that traffic, in 1/1000", _zeros)

    def __post_init__(self) -> None:
        n = np.size(self.submit)
        for row in COLUMNS.values():
            given = getattr(self, row.name)
            if given is None and row.default is not None:
                object.__setattr__(self, row.name, _default(row.default, n, row.dtype))
                continue
            array = _frozen(row.name, given, row.dtype)
            if array.shape != (n,):
                raise InputError(f"column {row.name!r} has shape {array.shape}; submit has ({n},)")
            object.__setattr__(self, row.name, array)

    def __len__(self) -> int:
        return int(self.submit.size)


_DEFAULTS: WeakValueDictionary[tuple[Default, int], npt.NDArray[Any]] = WeakValueDictionary()
"""Arrays of missing columns by default and length, shared by all columns and workloads.

With 10^7 jobs such an array takes 80 MB, and most columns of a log are missing.
"""


def _default(default: Default, n: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the values of a missing column; other columns may share them."""
    found = _DEFAULTS.get((default, n))
    if found is None:
        found = _DEFAULTS[default, n] = readonly(default(n).astype(dtype, copy=False))
    return found


def is_missing(values: npt.NDArray[Any], default: Default | None) -> bool:
    """Return whether a column is the shared array of a default that is equal for all jobs."""
    if default is None or default is numbered:
        return False
    return _DEFAULTS.get((default, values.size)) is values


def columns_of(kind: type[Columns]) -> Mapping[str, Column]:
    """Return the columns that a class declares, by name, in the order of its fields."""
    rows = {f.name: f.metadata[Column] for f in fields(kind) if Column in f.metadata}
    return MappingProxyType(
        {
            name: replace(row, name=name, stored=row.stored.replace(OWN_NAME, name))
            for name, row in rows.items()
        }
    )


COLUMNS = columns_of(Columns)
"""Every column of a workload by its name, in the order in which digests and files hold them."""


STORED = MappingProxyType(
    {name: row for name, row in COLUMNS.items() if row.stored and not row.asked}
)
"""Columns with an array for every trace of a store."""

NOT_STORED = tuple(name for name in COLUMNS if name not in STORED)
"""Columns without an array for every trace: data that only the store's copy of the log has, and
requests of jobs on some platforms."""


def left_behind(n: int) -> dict[str, npt.NDArray[Any]]:
    """Return the columns that drawn jobs do not keep, with default values."""
    rows = COLUMNS.values()
    some = ((row, row.default) for row in rows if not row.travels)
    return {row.name: _default(d, n, row.dtype) for row, d in some if d is not None}


def is_filled(jobs: Columns, name: str) -> bool:
    """Return whether a column has another value than the default for any job."""
    row, values = COLUMNS[name], getattr(jobs, name)
    return row.default is None or not np.array_equal(values, row.default(len(jobs)))


def numbers(name: str, values: npt.ArrayLike | None) -> npt.NDArray[Any]:
    """Return the values of a column as an array; refuse values that do not fit 64 bits.

    Examples
    --------
    >>> numbers("user", ["a", "b"])
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: column 'user' holds 'a'; every column needs whole numbers of
    64 bits
    """
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise InputError(f"column {name!r} is not a list of numbers ({error})") from None
    bad = array.dtype.kind not in "biuf"
    if array.dtype.kind == "u" and array.size:
        bad = int(array.max()) > np.iinfo(np.int64).max
    if bad:
        first = array.ravel()[:1].tolist() if array.dtype.kind != "u" else [array.max()]
        shown = repr(first[0]) if first else f"values of kind {array.dtype}"
        raise InputError(
            f"column {name!r} holds {shown}; every column needs whole numbers of 64 bits"
        )
    return array


def _frozen(name: str, values: npt.ArrayLike, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    raw = numbers(name, values)
    if raw.dtype == dtype and _is_fixed(raw):
        return raw
    with np.errstate(invalid="ignore"):
        array = raw.astype(dtype, copy=True)
    if raw.dtype.kind == "f" and dtype.kind != "f" and not np.array_equal(array, raw):
        raise InputError(
            f"column {name!r} has fractions; a workload's columns are whole numbers; truncate the "
            "fractions first"
        )
    array.flags.writeable = False
    return array


def _is_fixed(array: npt.NDArray[Any]) -> bool:
    """Return whether an array can be shared: read-only, and with the layout for kernels."""
    owner = array if array.base is None else array.base
    sealed = isinstance(owner, np.ndarray) and not owner.flags.writeable
    return sealed and not array.flags.writeable and array.flags.c_contiguous
