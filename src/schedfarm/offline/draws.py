"""Random instances: work, parallelism and weights of moldable jobs, drawn with a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.models.downey import VARIANCE
from schedfarm.core.models.speedup import MOST_PROCESSORS, amdahl, downey
from schedfarm.core.names import choices
from schedfarm.core.philox import philox
from schedfarm.core.workload.workload import MILLION
from schedfarm.offline.instance import Instance

MOST_JOBS = 10**5
"""Largest number of jobs of a drawn instance."""

LONGEST = 10**9
"""Longest time of a drawn job on one processor, s: thirty years."""

MOST_TIMES = 10**8
"""Largest product of jobs and processors of a drawn instance: its times take 800 MB."""

TIMES = (600, 36_000)
"""Default shortest and longest time on one processor, s. They are not from a paper."""

HEAVIEST = 10
"""Largest weight; weights are uniform from 1 on, as in the experiments of DEMT's authors."""


@dataclass(frozen=True)
class Speedup:
    """Declare a speed-up model from which jobs are drawn.

    Parameters
    ----------
    name : str
        Name on the command line.
    meaning : str
        One-line description of the model and of the jobs drawn from it.
    times : callable
        Function from times on one processor, parallelisms, uniform numbers from 0 to 1 for other
        parameters, and the number of processors of the machine, to times on each number of
        processors.
    """

    name: str
    meaning: str
    times: Callable[[Int64, Float64, Float64, int], Int64]


def _amdahl(sequential: Int64, parallelism: Float64, _: Float64, processors: int) -> Int64:
    serial = np.rint(MILLION / parallelism).astype(np.int64)
    return amdahl(sequential, serial, processors)


def _downey(sequential: Int64, parallelism: Float64, uniform: Float64, processors: int) -> Int64:
    low, high = VARIANCE
    return downey(sequential, parallelism, low + uniform * (high - low), processors)


SPEEDUPS: Mapping[str, Speedup] = MappingProxyType(
    {
        row.name: row
        for row in (
            Speedup(
                "amdahl",
                "Amdahl's law; the greatest speedup is log-uniform, 1 to the whole machine",
                _amdahl,
            ),
            Speedup(
                "downey",
                "Downey's model; parallelism is log-uniform, 1 to the whole machine, its variance "
                f"uniform, {VARIANCE[0]:g} to {VARIANCE[1]:g}",
                _downey,
            ),
        )
    }
)
"""Every model by its name."""


def find_speedup(name: str) -> Speedup:
    """Return the speed-up model with this name.

    Examples
    --------
    >>> find_speedup("amdal")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: speed-up model 'amdal' is unknown; did you mean 'amdahl'?
    known: \
amdahl, downey
    """
    if name not in SPEEDUPS:
        raise InputError(f"speed-up model {name!r} is unknown; {choices(name, SPEEDUPS)}")
    return SPEEDUPS[name]


def draw_instance(
    jobs: int,
    processors: int,
    *,
    model: str = "amdahl",
    seed: int = 0,
    index: int = 0,
    shortest: int = TIMES[0],
    longest: int = TIMES[1],
) -> Instance:
    """Draw an instance; jobs have the same work, parallelism and weight in all models.

    The time on one processor is log-uniform from `shortest` to `longest`, s. Parallelism is
    log-uniform from 1 to the whole machine. Weights are uniform from 1 to `HEAVIEST`.

    Examples
    --------
    >>> draw_instance(3, 4, seed=1).times[0].tolist()
    [32976, 22344, 18799, 17027]
    """
    count = whole("jobs", jobs, least=1, most=MOST_JOBS)
    size = whole("processors", processors, least=1, most=MOST_PROCESSORS)
    if count * size > MOST_TIMES:
        raise InputError(
            f"jobs={count} on processors={size}: give at most {MOST_TIMES} of both multiplied"
        )
    least = whole("shortest", shortest, least=1, most=LONGEST)
    most = whole("longest", longest, least=least, most=LONGEST)
    row = find_speedup(model)
    key = philox("offline", size, whole("seed", seed), whole("index", index))
    # Each job has a row of random numbers, so that small instances are the start of large ones.
    numbers = np.random.Generator(key).random((count, 4)).T
    sequential = np.rint(least * (most / least) ** numbers[0]).astype(np.int64)
    weights = 1 + np.floor(numbers[3] * HEAVIEST).astype(np.int64)
    times = row.times(sequential, size ** numbers[1], numbers[2], size)
    return Instance(times, weights)
