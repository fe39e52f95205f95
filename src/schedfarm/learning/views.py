"""Observations, rules and rewards by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.metrics.counted import Counted
from schedfarm.core.metrics.declared import find_metric
from schedfarm.core.metrics.metric import CELL, NEITHER, SMALLER, Metric
from schedfarm.core.metrics.slowdown import checked_tau
from schedfarm.core.names import choices
from schedfarm.core.schedule import Schedule
from schedfarm.core.stepping.fields import COMPACT, EASY, FREELY, IN_TURN, SCHEDGYM
from schedfarm.core.workload.workload import Workload
from schedfarm.learning.samples import Longest

Float32 = npt.NDArray[np.float32]

FEATURES = 8
"""Number of features per visible job, in both observations."""

BELOW_ONE = 1 - 1e-5
"""Largest value of a feature in RLScheduler."""

RULES = {"free": FREELY, "none": IN_TURN, "easy": EASY}
"""Codes of the rules by name."""


@dataclass(frozen=True)
class Observation:
    """Declare an observation: its code, default number of slots, and constant features.

    still: function from the jobs and the longest times of the training weeks to the constant
    features, float32[features, n].
    """

    code: int
    slots: int
    features: int
    still: Callable[[Workload, Longest], Float32]


def _compact(jobs: Workload, longest: Longest) -> Float32:
    most = np.log1p(max(longest.estimate, 1))
    share = jobs.procs / jobs.processors
    estimate = np.minimum(np.log1p(jobs.estimate) / most, 1.0)
    return np.stack([estimate, share]).astype(np.float32)


def _schedgym(jobs: Workload, longest: Longest) -> Float32:
    wide = np.minimum(jobs.procs / jobs.processors, BELOW_ONE)
    long = np.minimum(jobs.estimate / max(longest.run, 1), BELOW_ONE)
    given = (jobs.memory, jobs.user, jobs.group)
    # Logs are read without the number of the program, which therefore counts as missing.
    columns = [long, wide, *map(_part_of_most, given), np.ones(len(jobs))]
    return np.stack(columns).astype(np.float32)


def _part_of_most(values: Int64) -> npt.NDArray[np.float64]:
    """Return values divided by the largest value; 1 for missing values."""
    most = max(int(values.max(initial=0)), 1)
    return np.where(values < 0, 1.0, np.minimum(values / most, BELOW_ONE))


OBSERVATIONS: Mapping[str, Observation] = {
    "compact": Observation(COMPACT, 64, 2, _compact),
    "schedgym": Observation(SCHEDGYM, 128, 6, _schedgym),
}
"""The observations by name."""

T = TypeVar("T")


def named(what: str, name: str, known: Mapping[str, T]) -> T:
    """Return a row by its name; refuse unknown names.

    Examples
    --------
    >>> named("rule", "easy", {"none": 0, "easy": 1})
    1
    """
    if name not in known:
        raise InputError(f"{what}={name!r} is unknown; {choices(name, known)}")
    return known[name]


@dataclass(frozen=True)
class Reward:
    """Compute the reward of an episode: a metric of its schedule, negative if smaller is better."""

    metric: Metric
    tau: float

    @classmethod
    def of(cls, name: str, tau: float) -> Reward:
        """Return the reward for a metric with one value per simulation and a better direction."""
        metric = find_metric(name)
        if metric.over != CELL or metric.better == NEITHER or metric.among:
            raise InputError(
                f"reward={name!r} is not a goal: choose a metric with one value per simulation of "
                "which smaller or larger values are better, such as 'bounded_slowdown', 'wait' or "
                "'utilisation'"
            )
        return cls(metric, checked_tau(tau))

    def value(self, schedule: Schedule) -> float:
        """Return the metric of a schedule."""
        return float(self.metric.value(Counted(schedule, self.tau)))

    def sign(self, value: float) -> float:
        """Return the reward for a value of the metric."""
        return -value if self.metric.better == SMALLER else value
