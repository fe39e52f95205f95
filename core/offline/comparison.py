"""Algorithms side by side on one instance, each beside what no schedule can be better than."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedfarm.core.offline.algorithms import Algorithm, Case
from schedfarm.core.offline.bounds import minsum_bound
from schedfarm.core.offline.dual import PRECISION, approximate
from schedfarm.core.offline.instance import Instance
from schedfarm.core.offline.plan import Plan
from schedfarm.core.offline.shelves import SHUFFLES


@dataclass(frozen=True, eq=False)
class Outcome:
    """Hold what an algorithm made of an instance.

    Parameters
    ----------
    algorithm : str
        Its name.
    plan : Plan
        Its schedule, which has been checked.
    makespan_bound, minsum_bound : int
        What no schedule is below, s, and s x weight.
    """

    algorithm: str
    plan: Plan
    makespan_bound: int
    minsum_bound: int

    @property
    def makespan_ratio(self) -> float:
        """How many times as long as the bound the schedule is."""
        return self.plan.makespan / self.makespan_bound

    @property
    def minsum_ratio(self) -> float:
        """How many times the bound the weighted sum of ends is."""
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

    Parameters
    ----------
    instance : Instance
        The jobs.
    algorithms : iterable of Algorithm
        Rows of `core.offline.algorithms.ALGORITHMS`.
    seed, shuffles : int
        As for `core.offline.shelves.shelves`.
    precision : float
        As for `core.offline.dual.approximate`.

    Returns
    -------
    list of Outcome
        One for each, in their order.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Examples
    --------
    >>> from schedfarm.core.offline.algorithms import ALGORITHMS
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
