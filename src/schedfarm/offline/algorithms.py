"""Algorithms for off-line moldable jobs, one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from schedfarm.core.errors import InputError
from schedfarm.core.names import choices
from schedfarm.offline.batches import batches
from schedfarm.offline.dual import Approximation
from schedfarm.offline.instance import Instance
from schedfarm.offline.list_schedules import (
    gang,
    heaviest_first,
    listed,
    sequential,
    smallest_first,
)
from schedfarm.offline.plan import Plan
from schedfarm.offline.shelves import SHUFFLES, shelves


@dataclass(frozen=True, eq=False)
class Case:
    """Hold the input of an algorithm.

    Parameters
    ----------
    approximation : Approximation
        Approximation of the makespan, computed once for all algorithms.
    seed : int
        Seed of random orders.
    shuffles : int
        Number of random orders that an algorithm tries, if it uses random orders.
    """

    approximation: Approximation
    seed: int = 0
    shuffles: int = SHUFFLES

    @property
    def instance(self) -> Instance:
        """The jobs."""
        return self.approximation.instance


@dataclass(frozen=True)
class Algorithm:
    """Declare an algorithm.

    Parameters
    ----------
    name : str
        Name on the command line.
    meaning : str
        One-line description.
    plan : callable
        Function from a case to its schedule.
    """

    name: str
    meaning: str
    plan: Callable[[Case], Plan]


def _shelves(case: Case) -> Plan:
    guess = case.approximation.guess
    return shelves(case.instance, guess, seed=case.seed, shuffles=case.shuffles)


def _listed(case: Case) -> Plan:
    plan = case.approximation.plan
    return listed(case.instance, plan.procs, plan.start.argsort(kind="stable"))


ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType(
    {
        row.name: row
        for row in (
            Algorithm(
                "shelves",
                "DEMT: shelves of doubling length, filled by a knapsack; best of random orders",
                _shelves,
            ),
            Algorithm(
                "batches",
                "DEMT: batches of doubling length, filled by the dual approximation",
                lambda case: batches(case.instance, case.approximation.guess),
            ),
            Algorithm(
                "dual",
                "3/2 dual approximation of the makespan",
                lambda case: case.approximation.plan,
            ),
            Algorithm(
                "gang",
                "every job on the whole machine, by weight over time",
                lambda case: gang(case.instance),
            ),
            Algorithm(
                "sequential",
                "every job on one processor, the longest first",
                lambda case: sequential(case.instance),
            ),
            Algorithm(
                "list",
                "list schedule with the processors that dual gives, in the order of its starts",
                _listed,
            ),
            Algorithm(
                "saf",
                "list schedule with the processors that dual gives, the smallest area first",
                lambda case: smallest_first(case.instance, case.approximation.plan.procs),
            ),
            Algorithm(
                "smith",
                "list schedule with the processors that dual gives, by weight over area",
                lambda case: heaviest_first(case.instance, case.approximation.plan.procs),
            ),
        )
    }
)
"""Every algorithm by its name."""


def find_algorithm(name: str) -> Algorithm:
    """Return the algorithm with this name.

    Examples
    --------
    >>> find_algorithm("shelfs")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: algorithm 'shelfs' is unknown; did you mean 'shelves'? known:
    \
shelves, batches, dual, gang, sequential, list, saf, smith
    """
    if name not in ALGORITHMS:
        raise InputError(f"algorithm {name!r} is unknown; {choices(name, ALGORITHMS)}")
    return ALGORITHMS[name]
