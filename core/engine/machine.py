"""The steps that depend on the type of machine; all other steps serve every machine.

A place is a part of a machine inside which a job runs: a whole pool, or a cluster of a grid. A need
is a number above 0: the requested processors, or a number that represents a request on a machine
with other resources. A smaller need never requests more processors. `core.machines` implements each
step for each type of machine.
"""

from __future__ import annotations

from typing import Any

from schedfarm.core.engine.jit import generic, optional
from schedfarm.core.engine.queue import Queue
from schedfarm.core.engine.record import Record
from schedfarm.core.engine.running import Jobs

Machine = Any
"""The running jobs of a machine: a named tuple for which all steps here are implemented."""


class Hold:
    """The head's reservation.

    known: whether the reservation has been made. shadow: its shadow time, s. extra: number of extra
    processors at the shadow time. cluster: on a grid, the cluster of the reservation, -1 for none.
    """

    known: int
    shadow: int
    extra: int
    cluster: int


@generic
def next_end(machine: Machine) -> int:
    """Return the next instant at which a job ends or the machine changes, s, or NEVER."""
    raise NotImplementedError


@optional
def give_back(machine: Machine, now: int) -> bool:
    """Free the processors of jobs with a predicted end up to now; return whether any exist.

    Only machines with the per-event clock implement this step.
    """
    return False


@generic
def release_due(machine: Machine, jobs: Jobs, now: int, one: bool) -> bool:
    """End the jobs that end now, or only the first; return whether an end is early.

    At this instant a job ends or the machine changes. An end before the predicted end is early.
    """
    raise NotImplementedError


@generic
def running_count(machine: Machine) -> int:
    """Return the number of running jobs."""
    raise NotImplementedError


@generic
def most_free(machine: Machine) -> int:
    """Return an upper bound of the needs that fit somewhere now; a smaller need may not fit."""
    raise NotImplementedError


@generic
def has_free(machine: Machine, c: int, need: int) -> bool:
    """Return whether place c has this many processors free."""
    raise NotImplementedError


@generic
def place_for(machine: Machine, need: int, now: int) -> int:
    """Return the first place with this many processors free, -1 if there is none."""
    raise NotImplementedError


@generic
def begin(machine: Machine, jobs: Jobs, c: int, j: int, now: int) -> None:
    """Start job j at place c, where it fits."""
    raise NotImplementedError


@generic
def set_aside(machine: Machine, need: int) -> bool:
    """Withhold all resources that a job could use; return whether another job may fit."""
    raise NotImplementedError


@optional
def put_back(machine: Machine) -> None:
    """Give back the withheld resources; by default, nothing is withheld."""


@generic
def reserve(machine: Machine, hold: Record[Hold], rule: int, need: int) -> None:
    """Make the head's reservation; without one, every job that fits may start."""
    raise NotImplementedError


@generic
def place_beside(machine: Machine, hold: Record[Hold], now: int, need: int, estimate: int) -> int:
    """Return the first place where a job fits without affecting the reservation, or -1.

    The caller starts the job there. If the job's predicted end is after the shadow time, this step
    subtracts the job's processors from the extra processors.
    """
    raise NotImplementedError


@generic
def candidates(machine: Machine, queue: Queue, hold: Record[Hold], now: int, cell: int) -> int:
    """Return the lane mask of the cells, from `cell` on, with jobs that `place_beside` could place.

    The mask is exact for waiting jobs; lanes behind the last job are arbitrary.
    """
    raise NotImplementedError


@generic
def within_reach(machine: Machine, queue: Queue, hold: Record[Hold], now: int, b: int) -> bool:
    """Return whether the minima of block b permit a backfill; its least need fits somewhere."""
    raise NotImplementedError
