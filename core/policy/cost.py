"""What a rule or an order costs a simulation, as it was measured."""

from __future__ import annotations

from typing import NamedTuple


class Rate(NamedTuple):
    """CPU time of each job, us, and beside it for each unit of queue.

    A unit of queue is what waits on average at offered load 0.7, the archive's logs as they are.
    """

    job: float
    waiting: float


class Cost(NamedTuple):
    """Rates of a simulation, and of each job's fair start on a copy of the machine.

    An order's rates are added to those of its rule. Fair starts that no kernel finds cost
    `reference`: seconds of each relaxed one in a cell of 300 jobs, and the power of the jobs
    with which it grows; a strict one costs a simulation of the jobs up to it.
    """

    simulation: Rate
    fair_start: Rate = Rate(0.0, 0.0)
    reference: tuple[float, float] = (0.04, 1.3)


FREE = Cost(Rate(0.0, 0.0))
"""What is worked out once, at submission."""

CALLED = Cost(Rate(60.0, 1.5))
"""What a Python function adds that is called at each pass."""
