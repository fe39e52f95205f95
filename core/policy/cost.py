"""Measured costs of rules and orders."""

from __future__ import annotations

from typing import NamedTuple


class Rate(NamedTuple):
    """CPU time per job, us, and additionally per unit of queue.

    A unit of queue is the average number of waiting jobs at offered load 0.7 in the archive's logs.
    """

    job: float
    waiting: float


class Cost(NamedTuple):
    """Rates of a simulation, and of a job's fair start on a clone of the state.

    An order's rates are added to those of its rule. `reference` is the cost of a fair start without
    a kernel: seconds of a relaxed one in a cell of 300 jobs, and the power of the number of jobs
    with which it grows. A strict one costs a simulation of the preceding jobs.
    """

    simulation: Rate
    fair_start: Rate = Rate(0.0, 0.0)
    reference: tuple[float, float] = (0.04, 1.3)


FREE = Cost(Rate(0.0, 0.0))
"""Additional cost of an order whose keys are known at submission."""

CALLED = Cost(Rate(60.0, 1.5))
"""Additional cost of a Python function that is called at each pass."""
