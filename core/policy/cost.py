"""Measured costs of rules and orders."""

from __future__ import annotations

from typing import NamedTuple


class Rate(NamedTuple):
    """Hold the CPU time per job, us, and the additional time per unit of queue.

    A unit of queue is the average number of waiting jobs at offered load 0.7 in the archive's logs.
    """

    job: float
    waiting: float


class Cost(NamedTuple):
    """Hold the rates of a simulation, and of a job's fair start on a clone of the state.

    The rates of an order are added to the rates of the rule. `reference` is the cost of a relaxed
    fair start without a kernel: the seconds in a cell of 300 jobs, and the exponent e if this time
    is proportional to (number of jobs)^e. A strict fair start costs a simulation of the preceding
    jobs.
    """

    simulation: Rate
    fair_start: Rate = Rate(0.0, 0.0)
    reference: tuple[float, float] = (0.04, 1.3)


FREE = Cost(Rate(0.0, 0.0))
"""Additional cost of an order with keys that are known at submission."""

CALLED = Cost(Rate(60.0, 1.5))
"""Additional cost of a Python function that is called at each pass."""
