"""Comparison of algorithms on one instance, relative to the lower bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedfarm.offline.algorithms import Algorithm, Case
from schedfarm.offline.bounds import minsum_bound
from schedfarm.offline.dual import PRECISION, approximate
from schedfarm.offline.instance import Instance
from schedfarm.offline.plan import Plan
from schedfarm.offline.shelves import SHUFFLES


@dataclass(frozen=True, eq=False)
class Outcome:
    """Hold the result of an algorithm on an instance.

    Parameters
    ----------
    algorithm : str
        Name of the algorithm.
    plan : Plan
        Checked schedule of the algorithm.
    makespan_bound, minsum_bound : int
        Lower bounds, in s and s x weight.
    """

    algorithm: str
    plan: Plan
    makespan_bound: int
    minsum_bound: int

    @property
    def makespan_ratio(self) -> float:
        """Makespan / bound."""
        return self.plan.makespan / self.makespan_bound

    @property
    def minsum_ratio(self) -> float:
        """Weighted sum of completion times / bound."""
        return self.plan.minsum / self.minsum_bound


def compare(
    instance: Instance,
    algorithms: Iterable[Algorithm],
    *,
    seed: int = 0,
    shuffles: int = SHUFFLES,
    precision: float = PRECISION,
) -> list[Outcome]:
    """Schedule an instance by several algorithms, and check each schedule.

    Examples
    --------
    >>> from schedfarm.offline.algorithms import ALGORITHMS
    >>> jobs = Instance([[12, 7, 5], [4, 4, 4]])
    >>> for one in compare(jobs, ALGORITHMS.values()):
    ...     print(one.algorithm, one.plan.makespan, one.plan.minsum)
    shelves 7 11
    batches 7 11
    dual 7 11
    gang 9 13
    sequential 12 16
    list 7 11
    saf 7 11
    smith 7 11
    """
    approximation = approximate(instance, precision=precision)
    least = minsum_bound(instance)
    outcomes = []
    for row in algorithms:
        plan = row.plan(Case(approximation, seed, shuffles))
        plan.check()
        outcomes.append(Outcome(row.name, plan, approximation.bound, least))
    return outcomes
