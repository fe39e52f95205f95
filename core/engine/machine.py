"""The steps that depend on the machine; everything else is written for every machine.

A place is a part of a machine inside which a job runs: a whole pool, or a cluster of a grid. A need
is a number of processors, or a number that represents a request on a machine with other resources.
It is above 0, and a smaller need never requests more processors. `core.machines` has an
implementation of each step for each type of machine.
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

    known: whether it has been made. shadow: its shadow time, s. extra: number of extra processors
    then. cluster: on a grid its cluster, -1 for none.
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
    """Count jobs that are predicted to end by now as free; return whether there are any.

    By default there is no per-event clock.
    """
    return False


@generic
def release_due(machine: Machine, jobs: Jobs, now: int, one: bool) -> bool:
    """End the jobs that end now, or only the first of them; return whether any is early.

    A job ends, or the machine changes. An end before its prediction is early.
    """
    raise NotImplementedError


@generic
def running_count(machine: Machine) -> int:
    """Return the number of running jobs."""
    raise NotImplementedError


@generic
def most_free(machine: Machine) -> int:
    """Return the free processors of the place with the most of them."""
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
    """Withhold all that a job that does not fit could take; return whether another may fit."""
    raise NotImplementedError


@optional
def put_back(machine: Machine) -> None:
    """Give back the withheld amounts. By default nothing is withheld."""


@generic
def reserve(machine: Machine, hold: Record[Hold], rule: int, need: int) -> None:
    """Make the head's reservation; without one, every job that fits may start."""
    raise NotImplementedError


@generic
def place_beside(machine: Machine, hold: Record[Hold], now: int, need: int, estimate: int) -> int:
    """Return the first place where a job fits without affecting the reservation, or -1.

    The job starts there; if it ends after the shadow time, its processors are charged to the extra
    ones.
    """
    raise NotImplementedError


@generic
def candidates(machine: Machine, queue: Queue, hold: Record[Hold], now: int, cell: int) -> int:
    """Return the lane mask of the cells, from `cell` on, whose jobs have such a place."""
    raise NotImplementedError


@generic
def within_reach(machine: Machine, queue: Queue, hold: Record[Hold], now: int, b: int) -> bool:
    """Return whether the minima of block b, which fits somewhere, leave room for a backfill."""
    raise NotImplementedError
