"""A workload: the jobs that users submitted, as frozen columns, and the machine they ran on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.arrays import HORIZON, Int64
from core.errors import InputError

COLUMNS = ("submit", "run", "estimate", "procs", "user", "job")
"""The int64 columns of a workload, in the order in which they are stored."""


@dataclass(frozen=True, eq=False)
class Workload:
    """Hold the jobs of one log, model or resample, in (submit, position) order.

    Every array is int64[n], read-only and of the same length n. The index of a job is its
    place in (submit, position) order, so a smaller index wins every tie (SEMANTICS: time and jobs).

    Parameters
    ----------
    submit : int64[n]
        Submission instant, s, ascending, >= 0.
    run : int64[n]
        Run time that the scheduler never sees, s, 0 <= run <= estimate.
    estimate : int64[n]
        Requested time, s.
    procs : int64[n]
        Requested processors, 1 <= procs <= processors.
    user : int64[n]
        User number as in the log; -1 where unknown.
    job : int64[n]
        Job number as in the log; a resampled job keeps it, so that it leads back to its row.
    killed : bool[n]
        Whether the log's run time exceeded the estimate, so that the job is killed at it.
    processors : int
        Size of the machine.
    name : str
        What the workload is called in tables and figures.
    max_estimate : int, optional
        Largest estimate that the platform allows, s; by default the largest of the jobs.
        Transforms keep it, so that a resample without the longest job has the same limit.
    dropped : mapping of str to int, optional
        Rows that could not be simulated, and jobs that a selection left out, counted by reason.
    epoch : int, optional
        Unix time of instant 0, s; -1 where unknown. Transforms keep it; nothing that a simulation
        sees depends on it, so it is no part of the digest.

    Raises
    ------
    InputError
        If a column has another length, is out of range or unsorted, or if the schedule could
        run past the int64 clock.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 5], run=[10, 3], estimate=[20, 3], procs=[2, 4],
    ...                           processors=4)
    >>> len(w), w.estimate.tolist()
    (2, [20, 3])
    """

    submit: Int64
    run: Int64
    estimate: Int64
    procs: Int64
    user: Int64
    job: Int64
    killed: npt.NDArray[np.bool_]
    processors: int
    name: str = "workload"
    max_estimate: int = -1
    dropped: Mapping[str, int] = field(default_factory=dict)
    epoch: int = -1

    def __post_init__(self) -> None:
        for column in COLUMNS:
            object.__setattr__(self, column, _frozen(getattr(self, column), np.int64))
        object.__setattr__(self, "killed", _frozen(self.killed, np.bool_))
        object.__setattr__(self, "dropped", dict(self.dropped))
        self._check()
        if self.max_estimate < 0:
            object.__setattr__(self, "max_estimate", int(self.estimate.max(initial=0)))

    @classmethod
    def from_columns(
        cls,
        *,
        submit: npt.ArrayLike,
        run: npt.ArrayLike,
        estimate: npt.ArrayLike,
        procs: npt.ArrayLike,
        processors: int,
        user: npt.ArrayLike | None = None,
        job: npt.ArrayLike | None = None,
        killed: npt.ArrayLike | None = None,
        name: str = "workload",
        max_estimate: int = -1,
        dropped: Mapping[str, int] | None = None,
        epoch: int = -1,
    ) -> Workload:
        """Build a workload from columns in any order, sorting them by (submit, position).

        Parameters
        ----------
        submit, run, estimate, procs : array_like of int, shape (n,)
            As the attributes of the same names.
        processors : int
            Size of the machine.
        user, job : array_like of int, shape (n,), optional
            By default -1 for every user and 1 to n for the jobs.
        killed : array_like of bool, shape (n,), optional
            By default none.
        name, max_estimate, dropped, epoch
            As the attributes of the same names.

        Returns
        -------
        Workload
            The jobs, sorted.

        Raises
        ------
        InputError
            As the constructor.

        Examples
        --------
        >>> w = Workload.from_columns(submit=[7, 0], run=[1, 1], estimate=[1, 1], procs=[1, 2],
        ...                           processors=2)
        >>> w.submit.tolist(), w.job.tolist()
        ([0, 7], [2, 1])
        """
        first = np.asarray(submit)
        order = np.argsort(first, kind="stable")
        n = first.size
        given = {
            "submit": submit,
            "run": run,
            "estimate": estimate,
            "procs": procs,
            "user": np.full(n, -1) if user is None else user,
            "job": np.arange(1, n + 1) if job is None else job,
            "killed": np.zeros(n, np.bool_) if killed is None else killed,
        }
        columns = {}
        for column, values in given.items():
            array = np.asarray(values)
            if array.shape != (n,):
                raise InputError(
                    f"column {column!r} has shape {array.shape}; "
                    f"every column needs the shape of submit, ({n},)"
                )
            columns[column] = array[order]
        return cls(
            **columns,
            processors=processors,
            name=name,
            max_estimate=max_estimate,
            dropped=dropped or {},
            epoch=epoch,
        )

    def __len__(self) -> int:
        return int(self.submit.size)

    def digest(self) -> str:
        """Return the SHA-256 of everything that a simulation or a metric can see of the jobs.

        Returns
        -------
        str
            64 hexadecimal digits.

        Examples
        --------
        >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[1], procs=[1], processors=2)
        >>> len(w.digest())
        64
        """
        text = hashlib.sha256(f"{self.processors} {self.max_estimate}".encode())
        for column in COLUMNS:
            text.update(getattr(self, column).astype("<i8").tobytes())
        text.update(self.killed.tobytes())
        return text.hexdigest()

    def _check(self) -> None:
        n = self.submit.size
        if not 0 < self.processors < HORIZON:
            raise InputError(
                f"processors is {self.processors}; a machine has at least 1 and fewer than 2^62"
            )
        for column in (*COLUMNS, "killed"):
            shape = getattr(self, column).shape
            if shape != (n,):
                raise InputError(f"column {column!r} has shape {shape}; submit has ({n},)")
        _refuse(self.submit < 0, self.submit, "submit", "at least 0")
        _refuse(self.run < 0, self.run, "run", "at least 0")
        _refuse(self.run > self.estimate, self.run, "run", "at most the job's estimate")
        _refuse(self.procs < 1, self.procs, "procs", "at least 1")
        _refuse(
            self.procs > self.processors,
            self.procs,
            "procs",
            f"at most the machine's {self.processors}",
        )
        late = np.concatenate(([False], self.submit[1:] < self.submit[:-1]))
        _refuse(late, self.submit, "submit", "not before the job above it")
        self._check_horizon()

    def _check_horizon(self) -> None:
        if not len(self):
            return
        last = int(self.submit[-1])
        longest, widest = int(self.estimate.max()), int(self.procs.max())
        if last + longest * len(self) >= HORIZON:
            last += sum(self.estimate.tolist())
            if last >= HORIZON:
                raise InputError(
                    f"workload {self.name!r}: submit and estimates add up to {last} s, past the "
                    f"clock's {HORIZON}; check the units of its times"
                )
        if longest * widest >= HORIZON:
            raise InputError(
                f"workload {self.name!r}: its longest estimate x its widest job is "
                f"{longest * widest}, past {HORIZON}; check the units of its times"
            )


def _frozen(values: npt.ArrayLike, kind: type[np.generic]) -> npt.NDArray[np.generic]:
    raw = np.asarray(values)
    array = raw.astype(kind, copy=True)
    if raw.dtype.kind == "f" and not np.array_equal(array, raw):
        raise InputError("a workload's columns are whole numbers; truncate the fractions first")
    array.flags.writeable = False
    return array


def _refuse(bad: npt.NDArray[np.bool_], values: Int64, column: str, right: str) -> None:
    if bad.any():
        j = int(np.argmax(bad))
        raise InputError(f"{column} of job {j} is {int(values[j])}; it must be {right}")
