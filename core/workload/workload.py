"""Workloads: submitted jobs, as frozen columns, and their platform."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import HORIZON, Bool, Int64, readonly
from schedfarm.core.checks import refuse_jobs, whole
from schedfarm.core.errors import InputError
from schedfarm.core.machines.platform import Platform
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.numerals import counted, lasting
from schedfarm.core.workload.columns import (
    ALWAYS,
    ASKED,
    COLUMNS,
    NEVER,
    Columns,
    is_filled,
    is_missing,
    numbered,
    numbers,
)

MILLION = 10**6
"""Denominator of the serial share of a moldable job."""

Names = Mapping[str, Mapping[int, str]]
"""For columns of a workload, names by number."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Workload(Columns):
    """Hold the jobs of one log, model or resample, in (submit, position) order.

    The columns are those of `core.workload.columns.Columns` (semantics.md: time and jobs).

    Parameters
    ----------
    submit, run, estimate, procs, user, job, killed, group, queue, partition, nodes, gpus, \
    memory, licences, watts, logged_wait, leave, weight, properties, reserved, serial
        The columns.
    platform : Platform
        The machine.
    name : str
        Name of the workload in tables and figures.
    max_estimate : int, optional
        Largest estimate that the platform allows, s; by default the largest estimate of the jobs.
        Transforms keep this limit, so that a resample without the longest job has the same limit.
    dropped : mapping of str to int, optional
        Rows that could not be simulated, and jobs that a selection left out, counted by reason.
    unasked : (int, int), optional
        Number of jobs of the log, as read, without a requested time (their estimate is their run
        time), and number of all jobs. Transforms keep these numbers; the digest does not contain
        them.
    ignored : mapping of str to int, optional
        Number of jobs of the log, as read, for each property that simulations ignore, such as GPUs,
        or a partition other than the most frequent one. Transforms keep these numbers; the digest
        does not contain them.
    epoch : int, optional
        Unix time of instant 0, s; -1 if unknown. Transforms keep this time. Only simulations on
        nodes may depend on it, by the time of day, and only on nodes does the digest contain it.
    names : mapping of str to mapping of int to str, optional
        Names by number, for columns with names in the log: ``{"user": {1: "ann"}}``. Transforms
        keep the names; the digest does not contain them, and stores contain them only on request.

    Raises
    ------
    InputError
        If a column has another length, is out of range or unsorted; if the platform does not admit
        a job; or if the schedule could exceed the int64 clock.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 5], run=[10, 3], estimate=[20, 3], procs=[2, 4],
    ...                           processors=4)
    >>> len(w), w.estimate.tolist(), w.platform
    (2, [20, 3], Pool(processors=4))
    >>> w
    <Workload 'workload': 2 jobs on 4 processors, submitted in 5 s>
    """

    platform: Platform
    name: str = "workload"
    max_estimate: int = -1
    dropped: Mapping[str, int] = field(default_factory=dict)
    unasked: tuple[int, int] = (0, 0)
    ignored: Mapping[str, int] = field(default_factory=dict)
    epoch: int = -1
    names: Names = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("dropped", "ignored", "names"):
            object.__setattr__(self, key, dict(getattr(self, key)))
        for key in ("max_estimate", "epoch"):
            given = whole(key, getattr(self, key), least=-1, most=HORIZON)
            object.__setattr__(self, key, given)
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
        processors: int | None = None,
        platform: Platform | None = None,
        name: str = "workload",
        max_estimate: int = -1,
        dropped: Mapping[str, int] | None = None,
        unasked: tuple[int, int] = (0, 0),
        ignored: Mapping[str, int] | None = None,
        epoch: int = -1,
        names: Names | None = None,
        **others: npt.ArrayLike | None,
    ) -> Workload:
        """Build a workload from columns in any order; sort the jobs by (submit, position).

        Parameters
        ----------
        submit, run, estimate, procs : array_like of int, shape (n,)
            As the attributes of the same names.
        processors : int, optional
            Size of the machine, if it is a pool.
        platform : Platform, optional
            The machine; exactly one of `processors` and `platform` is given.
        name, max_estimate, dropped, unasked, ignored, epoch, names
            As the attributes of the same names.
        **others : array_like, shape (n,), optional
            The columns that have a default, such as `user` (-1 for every job), `job` (1 to n) and
            `killed` (False).

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
        first = numbers("submit", submit)
        order = np.argsort(first, kind="stable")
        given = {"submit": submit, "run": run, "estimate": estimate, "procs": procs, **others}
        if unknown := given.keys() - COLUMNS.keys():
            raise TypeError(f"from_columns() got unexpected keyword arguments {sorted(unknown)}")
        columns: dict[str, Any] = {}
        for row in COLUMNS.values():
            values = given.get(row.name)
            if values is None and row.default is not None:
                # The constructor fills in all defaults except the numbers of jobs.
                number = row.default is numbered
                columns[row.name] = readonly(row.default(first.size)[order]) if number else None
                continue
            array = numbers(row.name, values)
            if array.shape != (first.size,):
                raise InputError(
                    f"column {row.name!r} has shape {array.shape}; "
                    f"every column needs the shape of submit, ({first.size},)"
                )
            columns[row.name] = readonly(array[order])
        return cls(
            **columns,
            platform=_machine(processors, platform),
            name=name,
            max_estimate=max_estimate,
            dropped=dropped or {},
            unasked=unasked,
            ignored=ignored or {},
            epoch=epoch,
            names=names or {},
        )

    def __repr__(self) -> str:
        span = f", submitted in {lasting(int(np.ptp(self.submit)))}" if len(self) else ""
        return f"<Workload {self.name!r}: {counted(len(self), 'job')} on {self.machine}{span}>"

    @property
    def machine(self) -> str:
        """Places and processors of the platform, as text."""
        size, parts = counted(self.processors, "processor"), len(self.platform.places)
        return f"{counted(parts, self.platform.part)} with {size}" if parts > 1 else size

    @property
    def processors(self) -> int:
        """Total number of processors of the platform."""
        return self.platform.size

    @property
    def has_leaving(self) -> bool:
        """Whether a job may be withdrawn from the queue."""
        leave = self.leave
        return not is_missing(leave, COLUMNS["leave"].default) and bool((leave >= 0).any())

    def refuse_leaving(self, what: str) -> None:
        """Refuse jobs that may be withdrawn; the error names `what`, which excludes such jobs."""
        if self.has_leaving:
            count = int(np.count_nonzero(self.leave >= 0))
            raise InputError(
                f"workload {self.name!r}: {counted(count, 'job')} of the log left the queue before "
                f"a start, which {what} cannot simulate; clean the log with cancelled = 'drop'"
            )

    def take(self, places: Int64 | Bool | slice, **changed: Any) -> Workload:
        """Return a workload with some of the jobs, on the same platform and with the same name.

        Parameters
        ----------
        places : int64[k], bool[n] or slice
            Indices of the jobs; a job may be taken several times.
        **changed
            Columns, int64[k], that replace those of the taken jobs, and other attributes to
            replace.

        Returns
        -------
        Workload
            The jobs in the order in which they were taken; their submissions must ascend.

        Raises
        ------
        InputError
            As the constructor.

        Examples
        --------
        >>> w = Workload.from_columns(submit=[0, 5, 9], run=[1, 2, 3], estimate=[4, 4, 4],
        ...                           procs=[1, 1, 1], processors=1)
        >>> w.take(w.run > 1).job.tolist()
        [2, 3]
        >>> again = w.take(np.array([2, 0]), submit=[0, 7])
        >>> again.run.tolist(), again.submit.tolist()
        ([3, 1], [0, 7])
        """
        kept = {key: getattr(self, key) for key in COLUMNS if key not in changed}
        if isinstance(places, slice) and places == slice(None):
            return replace(self, **kept, **changed)
        # Most columns are not filled by the log; such columns are equal for all jobs.
        taken: dict[str, Any] = {
            key: None if is_missing(values, COLUMNS[key].default) else readonly(values[places])
            for key, values in kept.items()
        }
        return replace(self, **taken, **changed)

    def digest(self) -> str:
        """Return the SHA-256 of all data of the jobs that a simulation or a metric can use.

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
        text = hashlib.sha256(f"{self.platform.key} {self.max_estimate}".encode())
        if self.platform.dated and self.epoch >= 0:
            text.update(f"epoch {self.epoch}".encode())
        for row in COLUMNS.values():
            if row.digest == NEVER or (row.digest == ASKED and row.name not in self.platform.asks):
                continue
            if row.digest != ALWAYS and not is_filled(self, row.name):
                continue
            if row.default is not None and row.digest != ALWAYS:
                text.update(row.name.encode())
            values = getattr(self, row.name)
            text.update(values.astype(row.dtype.newbyteorder("<")).tobytes())
        return text.hexdigest()

    def _check(self) -> None:
        refuse_jobs(self.submit < 0, self.submit, "submit", "at least 0")
        refuse_jobs(self.run < 0, self.run, "run", "at least 0")
        refuse_jobs(self.run > self.estimate, self.run, "run", "at most the job's estimate")
        refuse_jobs(self.procs < 1, self.procs, "procs", "at least 1")
        refuse_jobs(~self.platform.admits(self), self.procs, "procs", self.platform.limit)
        refuse_jobs(self.serial > MILLION, self.serial, "serial", "at most 1000000 millionths")
        refuse_jobs(self.leave < -1, self.leave, "leave", "at least -1")
        self.platform.check(self)
        late = np.concatenate(([False], self.submit[1:] < self.submit[:-1]))
        refuse_jobs(late, self.submit, "submit", "not before the job above it")
        self._check_horizon()

    def _check_horizon(self) -> None:
        if not len(self):
            return
        last = int(self.submit[-1])
        longest, widest = int(self.estimate.max()), int(self.procs.max())
        if last + longest * len(self) >= HORIZON:
            total = last + sum(self.estimate.tolist())
            if total >= HORIZON:
                raise InputError(
                    f"workload {self.name!r}: submit and estimates add up to {total} s, past the "
                    f"clock's {HORIZON}; check the units of its times"
                )
        leave = int(self.leave.max())
        if last + leave >= HORIZON:
            raise InputError(
                f"workload {self.name!r}: leave goes to {leave} s after a submission, past the "
                f"clock's {HORIZON} s; check the units of its times"
            )
        asked = int(self.reserved.max())
        if asked >= 0 and last + asked + longest >= HORIZON:
            raise InputError(
                f"workload {self.name!r}: reserved goes to {asked} s after a submission, past the "
                f"clock's {HORIZON} s; check the units of its times"
            )
        if longest * widest >= HORIZON:
            raise InputError(
                f"workload {self.name!r}: its longest estimate x its widest job is "
                f"{longest * widest}, past {HORIZON}; check the units of its times"
            )


def _machine(processors: int | None, platform: Platform | None) -> Platform:
    if platform is not None and processors is None:
        return platform
    if platform is None and processors is not None:
        return Pool(processors)
    raise InputError(
        f"processors={processors!r}, platform={platform!r}: a workload needs exactly one of them"
    )
