"""Where a campaign's jobs come from: a log on disk or a model, and how it is sampled."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.logs.read import read_log
from core.logs.rows import log_name
from core.metrics.declared import METRICS
from core.models import MODELS
from core.workload.resample_weeks import WEEK
from core.workload.select import check_criteria, select, select_jobs
from core.workload.workload import Workload
from farm.campaign.keys import check_keys
from farm.logs import registry
from farm.logs.fetch import locate

RESERVED = {*METRICS, "trace", "resample", "load", "policy", "zarr.json"}
"""What stands at the root of a store beside the groups of the traces."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Trace:
    """Name a source of jobs: a log, or a model that draws a new log for each resample.

    Parameters
    ----------
    name : str
        Label in tables and name of the group in the store; by default the file's or the log's.
    file : str, optional
        Path of a log, in any format that `core.read_log` knows.
    log : str, optional
        Name of a log in the registry, or of one fetched by its URL; kept in its full form. With
        `file` it is a log whose file has been found.
    model : str, optional
        Name of a model in `core.models.MODELS`. One of `file`, `log` and `model` is needed.
    processors : int, optional
        Size of the machine; by default what the registry or the log's header says. A model
        needs it.
    rows : pair of int, optional
        Rows of the file, [first, last), before any filter.
    jobs : int, optional
        The first jobs that survive the filters; for a model, how many to draw.
    weeks : int, optional
        Weeks of each sample; by default as many as the log has.
    select : mapping, optional
        Which jobs of the log to keep: the arguments of `core.workload.select.select`.
    parameters : mapping, optional
        Further parameters of the model.

    Raises
    ------
    InputError
        If keys contradict each other or a value is out of range.
    """

    name: str = ""
    file: str | None = None
    log: str | None = None
    model: str | None = None
    processors: int | None = None
    rows: tuple[int, int] | None = None
    jobs: int | None = None
    weeks: int | None = None
    select: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = self.log if self.log is not None else self.file
        if not self.name and isinstance(given, str):
            object.__setattr__(self, "name", log_name(given))
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InputError(f"trace name {self.name!r}: use letters, digits, '.', '_' and '-'")
        if self.name in RESERVED:
            raise InputError(
                f"trace name {self.name!r} is that of a summary array of the store; give another"
            )
        if (given is None) == (self.model is None):
            raise InputError(f"trace {self.name!r}: give one of 'file', 'log' and 'model'")
        if self.log is not None:
            object.__setattr__(self, "log", _full_name(self.name, self.log))
        for key in ("processors", "jobs", "weeks"):
            value = getattr(self, key)
            if value is not None and (type(value) is not int or value < 1):
                raise InputError(f"trace {self.name!r}: {key} is {value!r}; it must be at least 1")
        if self.rows is not None:
            object.__setattr__(self, "rows", _pair(self.name, self.rows))
        object.__setattr__(self, "select", _criteria(self.name, self.select))
        self._check_model()

    def _check_model(self) -> None:
        if not isinstance(self.parameters, Mapping):
            raise InputError(
                f"trace {self.name!r}: parameters is {self.parameters!r}; it must be a table"
            )
        if self.model is None:
            if self.parameters:
                raise InputError(f"trace {self.name!r}: 'parameters' goes with a model only")
            return
        if self.model not in MODELS:
            raise InputError(
                f"trace {self.name!r}: unknown model {self.model!r}; known: {', '.join(MODELS)}"
            )
        for key in ("rows", "select"):
            if getattr(self, key):
                raise InputError(f"trace {self.name!r}: {key!r} goes with a log only")
        if self.processors is None or (self.jobs is None) == (self.weeks is None):
            raise InputError(
                f"trace {self.name!r}: a model needs 'processors' and either 'jobs' or 'weeks'"
            )
        self._check_parameters(MODELS[self.model])

    def _check_parameters(self, model: Callable[..., Workload]) -> None:
        own = ("processors", "jobs", "weeks", "seed", "index", "name")
        known = [p for p in inspect.signature(model).parameters if p not in own]
        for key, value in self.parameters.items():
            if not isinstance(value, str | int | float):
                raise InputError(
                    f"trace {self.name!r}: {key}={value!r}; it must be a number or a name"
                )
            if key not in known:
                raise InputError(
                    f"trace {self.name!r}: unknown parameter {key!r} of model {self.model!r}; "
                    f"known: {', '.join(known)}"
                )

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], folder: Path) -> Trace:
        """Build a trace from plain values; `file` is relative to `folder`.

        Raises
        ------
        InputError
            If a key is unknown or a value is wrong.
        """
        check_keys("trace", given, cls)
        values = dict(given)
        if "file" in values and "log" in values:
            raise InputError(f"trace: give either file = {values['file']!r} or log")
        if "file" in values:
            values["file"] = str((folder / str(values["file"])).resolve())
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys that are set, as plain values; where a named log's file is, is none."""
        plain = {k: v for k, v in asdict(self).items() if v is not None and v != {}}
        if self.log is not None:
            plain.pop("file", None)
        if self.rows is not None:
            plain["rows"] = list(self.rows)
        return plain

    def located(self, folder: Path | None = None) -> Trace:
        """Return the trace with the file of its log, fetched if need be; others as they are.

        Parameters
        ----------
        folder : Path, optional
            A folder of logs to look in first; nothing is written to it.

        Raises
        ------
        InputError
            If the log is not known, is not what it should be, or cannot be fetched.
        """
        if self.log is None or self.file is not None:
            return self
        return replace(self, file=str(locate(self.log, folder)))

    def read(self) -> Workload | None:
        """Return the log, or None for a model.

        Raises
        ------
        InputError
            If the log cannot be found or read.
        """
        if self.model is not None:
            return None
        entry = registry.find(self.log) if self.log else None
        processors = entry.processors if entry and self.processors is None else self.processors
        path = self.located().file or ""
        if not self.select:
            return read_log(path, processors=processors, rows=self.rows, jobs=self.jobs)
        kept = select(read_log(path, processors=processors, rows=self.rows), **self.select)
        return kept if self.jobs is None else select_jobs(kept, self.jobs)

    def acknowledgement(self) -> str:
        """Return whom to thank for the log; empty where that is not known, and for a model.

        Raises
        ------
        InputError
            If the log cannot be found or read.
        """
        entry = registry.find(self.log) if self.log else None
        if self.model is not None or entry:
            return entry.acknowledge if entry else ""
        return registry.acknowledgement(self.located().file or "")


def named(text: str, folder: Path | None = None, **keys: Any) -> Trace:
    """Return the trace that a word on the command line means: a file, else a log's name.

    Parameters
    ----------
    text : str
        Path of a log, or the name of one.
    folder : Path, optional
        As for `Trace.located`.
    **keys
        Further attributes of the trace.

    Raises
    ------
    InputError
        As `Trace` and `Trace.located`.
    """
    is_path = os.path.exists(text) or os.path.basename(text) != text or text.endswith(registry.ENDS)
    if is_path and (os.path.exists(text) or not registry.find(text)):
        return Trace(file=text, **keys)
    return Trace(log=text, **keys).located(folder)


def span_weeks(workload: Workload) -> int:
    """Return how many weeks, counted from the first submit, hold every submit."""
    return int(workload.submit[-1] - workload.submit[0]) // WEEK + 1


def _full_name(trace: str, log: Any) -> str:
    if not isinstance(log, str) or not log:
        raise InputError(f"trace {trace!r}: log is {log!r}; it must be a name, such as 'KTH-SP2'")
    entry = registry.find(log)
    return entry.name if entry else log_name(log)


def _criteria(name: str, criteria: Any) -> dict[str, Any]:
    if not isinstance(criteria, Mapping):
        raise InputError(f"trace {name!r}: select is {criteria!r}; it must be a table of criteria")
    try:
        check_criteria(criteria)
    except InputError as error:
        raise InputError(f"trace {name!r}: select: {error}") from None
    plain = {key: list(v) if isinstance(v, tuple) else v for key, v in criteria.items()}
    if "dates" in plain:
        plain["dates"] = [str(day) for day in plain["dates"]]
    return plain


def _pair(name: str, rows: Any) -> tuple[int, int]:
    if (
        not isinstance(rows, list | tuple)
        or len(rows) != 2
        or any(type(r) is not int for r in rows)
        or not 0 <= rows[0] < rows[1]
    ):
        raise InputError(
            f"trace {name!r}: rows is {rows!r}; it must be [first, last), such as [0, 5000]"
        )
    return rows[0], rows[1]
