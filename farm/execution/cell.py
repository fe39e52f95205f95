"""One cell: its jobs, their schedule, its fairness, and the stored values of each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core import own
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.promises import NO_PROMISE, promises
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import LATE, UNFAIR, Block, Cell
from schedfarm.core.metrics.counted import Counted
from schedfarm.core.metrics.declared import find_metric
from schedfarm.core.metrics.fairness import lateness_of, resource_equality, unserved
from schedfarm.core.metrics.groups import means
from schedfarm.core.metrics.users import UserIndex, index_users, with_work
from schedfarm.core.metrics.window import NO_WARMUP
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.columns import COLUMNS, NOT_STORED, STORED, is_filled
from schedfarm.core.workload.resample_users import origin_user
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.samples import Samples
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.messages import MissingRequirement
from schedfarm.farm.store.block import Rows
from schedfarm.farm.store.checkpoints import Kept
from schedfarm.farm.store.codec import decode_schedule, encode_schedule, has_schedule
from schedfarm.farm.store.logs import stored_log
from schedfarm.farm.store.reading import stored_jobs
from schedfarm.farm.store.store import Store

Array = npt.NDArray[Any]

Figures = dict[str, float]

Values = tuple[int, Rows, Figures]
"""Number of a cell's jobs in a block, rows of the cell, and summary values of the cell."""


class Simulations:
    """Simulate the cells of one trace, and share jobs and schedules among consecutive cells.

    Results are pure functions of the arguments. Long simulations for a `run` write checkpoints, and
    continue from the checkpoints of a killed worker.
    """

    def __init__(self, store: Store, trace: Trace, run: str | None = None) -> None:
        self.store, self.trace = store, trace
        self.kept = None if run is None else Kept(store, trace.name, run)
        name = store.log_name(trace.name)
        self._log = _log(store.place, name) if name else None
        self._labels = np.array(store.users[trace.name], np.int64)
        self._samples = Samples(trace, self._log, store.settings)
        self._met: tuple[tuple[int, str], Workload] | None = None
        self._users: tuple[Workload, UserIndex] | None = None
        self._made: tuple[Cell, Schedule] | None = None

    def jobs(self, resample: int, load: str) -> Workload:
        """Return the jobs of one resample at one load; refuse a load that cannot be reached."""
        if self._met is None or self._met[0] != (resample, load):
            self._met = (resample, load), self._samples.at(resample, load)
        return self._met[1]

    def users(self, jobs: Workload) -> UserIndex:
        """Return the users of the jobs by their index in the trace; a resample may copy users."""
        known = self._users
        if known is None or known[0].user is not jobs.user:
            drawn = self._samples.method.users
            user = origin_user(jobs.user, self._log) if drawn and self._log else jobs.user
            known = self._users = jobs, index_users(jobs, self._labels, user)
        elif known[0] is not jobs:
            # Loads differ neither in users nor in processors.
            known = self._users = jobs, with_work(known[1], jobs)
        return known[1]

    def schedule(self, cell: Cell) -> Schedule:
        """Simulate a cell; raises `MissingRequirement` if the kernels' files cannot be read."""
        if self._made is None or self._made[0] != cell:
            resample, load, policy = cell
            jobs = self.jobs(resample, load)
            try:
                with self.checkpoints(cell, "schedule"):
                    self._made = cell, simulate(jobs, policy)
            except OSError as error:
                # The error concerns the kernels' files, since no simulation uses the store.
                raise MissingRequirement(
                    f"the kernels of {policy} cannot be read ({error})"
                ) from error
        return self._made[1]

    def checkpoints(self, cell: Cell, kind: str) -> AbstractContextManager[object]:
        """Make checkpoints of the simulations of a cell inside this context."""
        return self.kept.of(cell, kind) if self.kept else nullcontext()

    def recall(self, cell: Cell, stored: Rows) -> Schedule:
        """Return the schedule of a stored cell without simulating it."""
        if self._made is None or self._made[0] != cell:
            resample, load, policy = cell
            if self._met is None or self._met[0] != (resample, load):
                jobs = stored_jobs(self.store, self.trace.name, resample, load)
                if len(jobs) != len(stored["wait"]):
                    # The block of the workload is not done yet.
                    jobs = self._samples.at(resample, load)
                elif self._log and any(is_filled(self._log, name) for name in self._unstored):
                    drawn = self._samples.at(resample, load)
                    said = {name: getattr(drawn, name) for name in self._unstored}
                    jobs = jobs.take(slice(None), **said)
                self._met = (resample, load), jobs
            # The counts of a simulation are only in its record, and no metric uses them.
            self._made = cell, decode_schedule(self._met[1], policy, stored, {})
        return self._made[1]

    @property
    def _unstored(self) -> list[str]:
        """Columns without an array in the store for this trace."""
        asks = self.store.platform(self.trace.name).asks
        return [name for name in NOT_STORED if name not in asks]

    def values(self, block: Block, cell: Cell, stored: Rows | None) -> Values:
        """Return the jobs of a cell that a block covers, its rows and its summary values.

        stored: rows of the cell that are already in the block's arrays. Rows have no padding. For a
        piece of a cell, the summary values are sums.
        """
        with own.sources(self.store.own):
            return MAKERS[block.kind](self, block, cell, stored)

    def piece(self, block: Block, schedule: Schedule) -> slice:
        """Return the range of a schedule's jobs that a block covers."""
        places, jobs = self.store.job_range(block), len(schedule.workload)
        return slice(min(places.start, jobs), min(places.stop, jobs))

    def measured(self, block: Block, cell: Cell, of: Any, jobs: int) -> tuple[Rows, Figures]:
        """Return the stored metrics of a cell, from its jobs or a metric input.

        Raises `InputError` if a metric returns a wrong number of values.
        """
        lengths, rows = self.store.lengths_of(block, cell, jobs), {}
        for variable in self.store.arrays_of(self.trace.name, block.kind):
            if variable.of:
                try:
                    values = np.asarray(find_metric(variable.of).of(of), dtype=variable.dtype)
                except Exception as error:
                    raise _broken(variable.of, error) from error
                if values.shape != (lengths[variable.name],):
                    raise InputError(
                        f"metric {variable.of!r} gave values of shape {values.shape} for the "
                        f"{lengths[variable.name]} entries along {variable.inner[0]!r}"
                    )
                rows[variable.name] = values
        found, name = {}, ""
        try:
            # One loop, since calls take a large part of the time of a cell of 50 jobs.
            for v in self.store.figures_of(self.trace.name, block.kind):
                name = v.of
                found[v.name] = float(find_metric(name).of(of))
        except Exception as error:
            raise _broken(name, error) from error
        return rows, found


def workload_values(made: Simulations, block: Block, cell: Cell, stored: Rows | None) -> Values:
    """Return the columns and metrics of the jobs, which are the same for all policies."""
    jobs = made.jobs(*cell[:2])
    columns = {column.stored: getattr(jobs, name) for name, column in STORED.items()}
    columns |= {COLUMNS[name].stored: getattr(jobs, name) for name in jobs.platform.asks}
    alone = {"jobs": np.asarray(len(jobs)), "max_estimate": np.asarray(jobs.max_estimate)}
    rows, figures = made.measured(block, cell, jobs, len(jobs))
    return len(jobs), {**alone, **columns, **rows}, figures


def schedule_values(made: Simulations, block: Block, cell: Cell, stored: Rows | None) -> Values:
    """Return the waits and metrics of a cell's schedule, and the counts of its simulation."""
    recall = stored is not None and has_schedule(stored)
    schedule = made.recall(cell, stored or {}) if recall else made.schedule(cell)
    known, jobs = made.store.settings, schedule.workload
    counted = Counted(
        schedule,
        int(known["tau"]),
        known.get("warmup", NO_WARMUP),
        bool(known.get("cooldown")),
        weeks=made.store.week_entries(made.trace.name, cell),
        users=made.users(jobs),
    )
    rows, figures = made.measured(block, cell, counted, len(jobs))
    counts: Figures = {}
    if schedule.counts:
        held = {v.name for v in made.store.holds[block.kind].figures}
        counts = {name: float(n) for name, n in schedule.counts.items() if name in held}
    return len(jobs), {**encode_schedule(schedule), **rows}, {**figures, **counts}


def fair_start(
    kind: str, made: Simulations, block: Block, cell: Cell, stored: Rows | None
) -> Values:
    """Return the fair start times of one kind of a range of jobs, s, and the jobs' lateness."""
    schedule = made.schedule(cell)
    here = made.piece(block, schedule)
    with made.checkpoints(cell, f"{kind}.{block.piece:05d}"):
        fair = fair_start_times(schedule.workload, schedule.policy, kind, jobs=here)[here]
    return _kept(f"fst_{kind}", fair, lateness_of(schedule.start[here], fair))


def resource(made: Simulations, block: Block, cell: Cell, stored: Rows | None) -> Values:
    """Return the deserved processor time of each job of a range, processor s, and its deficit.

    G. Sabin and P. Sadayappan (2005), section 3.2.
    """
    schedule = made.schedule(cell)
    here = made.piece(block, schedule)
    share = resource_equality(schedule)[here]
    short = unserved(share, schedule.held[here], schedule.taken[here])
    return _kept("resource_share", share, short)


def promise(made: Simulations, block: Block, cell: Cell, stored: Rows | None) -> Values:
    """Return the starts (s) that some jobs were promised at arrival, and the jobs' lateness."""
    schedule = made.schedule(cell)
    here = made.piece(block, schedule)
    promised = promises(schedule.workload, schedule.policy)[here]
    late = lateness_of(schedule.start[here], promised)
    return _kept("promised", promised, np.where(promised == NO_PROMISE, 0, late))


def isolation(made: Simulations, block: Block, cell: Cell, stored: Rows | None) -> Values:
    """Return the starts of a cell's jobs if each cluster were alone, s, and the jobs' lateness.

    Also return, for each cluster, the mean lateness of its jobs and the mean gain of its jobs that
    fit. W. M. Jones and W. B. Ligon (2005), section 3, compare such means by eye.
    """
    # The imported module loads numba, which takes 0.4 s of CPU; a coordinator that only hands out
    # tasks does not need numba.
    from schedfarm.core.machines.network.simulation import isolated_starts

    schedule = made.schedule(cell)
    jobs, start = schedule.workload, schedule.start
    alone = isolated_starts(jobs, Policy.parse(schedule.policy))
    fits = alone >= 0
    late = np.where(fits, lateness_of(start, alone), 0)
    count, rows, figures = _kept("fst_isolation", alone, late)
    many = len(jobs.platform.participants)
    of_each = {
        "origin_lateness_isolation": means(
            jobs.origin, np.bincount(jobs.origin, minlength=many), late
        ),
        "origin_gain_isolation": means(
            jobs.origin[fits],
            np.bincount(jobs.origin[fits], minlength=many),
            (alone - start)[fits],
        ),
    }
    return count, {**rows, **of_each}, figures


def _kept(name: str, due: Array, late: Array) -> Values:
    sums = {LATE: float(late.sum()), UNFAIR: float(np.count_nonzero(late))}
    return due.size, {name: due}, sums


MAKERS: dict[str, Callable[[Simulations, Block, Cell, Rows | None], Values]] = {
    "workload": workload_values,
    "cells": schedule_values,
    "strict": partial(fair_start, "strict"),
    "relaxed": partial(fair_start, "relaxed"),
    "resource": resource,
    "promise": promise,
    "isolation": isolation,
}
"""The function of each kind of block, which computes a cell from its stored rows."""


def _broken(metric: str, error: Exception) -> InputError:
    return InputError(f"metric {metric!r}: {type(error).__name__}: {error}")


_log = lru_cache(maxsize=8)(stored_log)
