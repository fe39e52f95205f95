"""Where a campaign's jobs come from: a log on disk or a model, and how it is sampled."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.load import scale_load
from core.models.lublin import lublin
from core.resample import WEEK, resample_weekly
from core.swf import read_swf
from core.workload import Workload
from farm.keys import check_keys

MODELS = ("lublin",)
"""Workload models that a trace can name."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Trace:
    """Name a source of jobs: a log in SWF, or a model that draws a new log for each resample.

    Parameters
    ----------
    name : str
        Label in tables and name of the group in the store; by default the file's name.
    file : str, optional
        Path of an SWF log, plain or gzip.
    model : str, optional
        Name of a model, one of `MODELS`. Either `file` or `model`.
    processors : int, optional
        Size of the machine; by default what the log's header says. A model needs it.
    rows : pair of int, optional
        Rows of the file, [first, last), before any filter.
    jobs : int, optional
        The first jobs that survive the filters; for a model, how many to draw.
    weeks : int, optional
        Weeks of each sample; by default as many as the log has.
    parameters : mapping, optional
        Further parameters of the model.

    Raises
    ------
    InputError
        If keys contradict each other or a value is out of range.
    """

    name: str = ""
    file: str | None = None
    model: str | None = None
    processors: int | None = None
    rows: tuple[int, int] | None = None
    jobs: int | None = None
    weeks: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name and self.file:
            object.__setattr__(self, "name", Path(self.file).name.split(".swf")[0])
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InputError(f"trace name {self.name!r}: use letters, digits, '.', '_' and '-'")
        if (self.file is None) == (self.model is None):
            raise InputError(f"trace {self.name!r}: give either 'file' or 'model'")
        for key in ("processors", "jobs", "weeks"):
            value = getattr(self, key)
            if value is not None and (type(value) is not int or value < 1):
                raise InputError(f"trace {self.name!r}: {key} is {value!r}; it must be at least 1")
        if self.rows is not None:
            object.__setattr__(self, "rows", _pair(self.name, self.rows))
        self._check_model()

    def _check_model(self) -> None:
        if self.model is None:
            if self.parameters:
                raise InputError(f"trace {self.name!r}: 'parameters' goes with a model only")
            return
        if self.model not in MODELS:
            raise InputError(
                f"trace {self.name!r}: unknown model {self.model!r}; known: {', '.join(MODELS)}"
            )
        if self.rows is not None:
            raise InputError(f"trace {self.name!r}: 'rows' goes with a file only")
        if self.processors is None or (self.jobs is None) == (self.weeks is None):
            raise InputError(
                f"trace {self.name!r}: a model needs 'processors' and either 'jobs' or 'weeks'"
            )
        own = ("processors", "jobs", "weeks", "seed", "index", "name")
        known = [p for p in inspect.signature(lublin).parameters if p not in own]
        for key in self.parameters:
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
        if "file" in values:
            values["file"] = str((folder / str(values["file"])).resolve())
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return the keys that are set, as plain values."""
        plain = {k: v for k, v in asdict(self).items() if v is not None and v != {}}
        if self.rows is not None:
            plain["rows"] = list(self.rows)
        return plain

    def read(self) -> Workload | None:
        """Return the log, or None for a model.

        Raises
        ------
        InputError
            If the log cannot be read.
        """
        if self.file is None:
            return None
        return read_swf(self.file, processors=self.processors, rows=self.rows, jobs=self.jobs)


def sample(trace: Trace, log: Workload | None, *, seed: int, resample: int, draw: str) -> Workload:
    """Return the jobs of one resample of a trace; a pure function of its arguments.

    Parameters
    ----------
    trace : Trace
        The source.
    log : Workload or None
        What `trace.read()` gave.
    seed, resample : int
        The campaign's seed, and the resample's number; 0 is the log itself.
    draw : {"replace", "permute"}
        How each user's weeks are drawn.

    Returns
    -------
    Workload
        The jobs, at their original load.
    """
    if log is None:
        return lublin(
            trace.processors or 0,
            jobs=trace.jobs,
            weeks=trace.weeks,
            seed=seed,
            index=resample,
            **trace.parameters,
        )
    if resample == 0:
        return log
    return resample_weekly(log, seed=seed, index=resample, weeks=trace.weeks, draw=draw)


def at_load(workload: Workload, load: str) -> Workload:
    """Return the jobs at a labelled load, by runtime expansion."""
    if load == "original":
        return workload
    return scale_load(workload, float(load))


def span_weeks(workload: Workload) -> int:
    """Return how many weeks, counted from the first submit, hold every submit."""
    return int(workload.submit[-1] - workload.submit[0]) // WEEK + 1


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
