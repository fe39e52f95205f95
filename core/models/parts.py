"""Common parts of workload models: keys of draws, cuts of arrivals, and the final workload."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from schedfarm.core.arrays import MOST_JOBS, MOST_WEEKS, Float64, Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.models.estimates import draw_estimates
from schedfarm.core.philox import philox
from schedfarm.core.workload.load import scale_load
from schedfarm.core.workload.resample_weeks import WEEK
from schedfarm.core.workload.workload import Workload

Key = tuple[str, int, int]
"""Key of draws: the workload's name, the seed and the index."""

LONGEST = 1e12
"""Largest mean time, s, or work of a model's job; larger draws could exceed the clock."""

BLOCK = 4_096
"""Number of arrivals drawn at a time; the results do not depend on this number."""


def check_size(
    model: str, processors: int, jobs: int | None, weeks: int | None, seed: int, index: int
) -> Key:
    """Check the size of a model's workload, and return the key of its draws."""
    machine = whole("processors", processors, least=1)
    check_amount(jobs, weeks)
    return f"{model}-{machine}", whole("seed", seed), whole("index", index)


def check_amount(jobs: int | None, weeks: int | None) -> None:
    """Raise an error unless exactly one of a number of jobs and a number of weeks is given."""
    if (jobs is None) == (weeks is None):
        raise InputError(f"jobs={jobs!r}, weeks={weeks!r}: a model needs exactly one of them")
    if weeks is None:
        whole("jobs", jobs, least=1, most=MOST_JOBS)
    else:
        whole("weeks", weeks, least=1, most=MOST_WEEKS)


def generator(key: Key, *what: object) -> np.random.Generator:
    """Return the generator for one purpose, independent of all other draws."""
    return np.random.Generator(philox(*key, *what))


def sums(gaps: Callable[[int], Float64]) -> Iterator[Float64]:
    """Yield blocks of the running sum of endless gaps; `gaps` draws a given number of gaps."""
    last = 0.0
    while True:
        block = np.cumsum(np.concatenate(([last], gaps(BLOCK))))[1:]
        last = float(block[-1])
        yield block


def cut(blocks: Iterator[Int64], jobs: int | None, weeks: int | None) -> Int64:
    """Return the first `jobs` of endless ascending instants, or those in the first `weeks`."""
    taken, size = [], 0
    for block in blocks:
        taken.append(block)
        size += block.size
        if size >= jobs if jobs is not None else weeks is not None and block[-1] >= weeks * WEEK:
            break
        if size > MOST_JOBS:
            raise InputError(
                f"weeks={weeks}: the model draws more than {MOST_JOBS} jobs; give fewer weeks"
            )
    instants = np.concatenate(taken)
    return instants[:jobs] if weeks is None else instants[instants < weeks * WEEK]


def finish(
    key: Key,
    processors: int,
    columns: tuple[Int64, Int64, Int64],
    *,
    users: int,
    estimates: str,
    f: float,
    max_estimate: int | None,
    load: float | None,
) -> Workload:
    """Make a workload from a model's submit, procs and run; add users and estimates.

    Columns are in order of submission, and jobs are numbered from 1. The k-th user submits each job
    with a probability in proportion to 1 / k.
    """
    submit, procs, run = columns
    crowd = whole("users", users, least=1, most=MOST_JOBS)
    estimate, limit = draw_estimates(run, estimates, key=key, f=f, max_estimate=max_estimate)
    workload = Workload(
        submit=submit,
        run=np.minimum(run, estimate),
        estimate=estimate,
        procs=procs,
        user=_users(submit.size, crowd, key),
        job=np.arange(1, submit.size + 1),
        killed=run > estimate,
        platform=Pool(processors),
        name=key[0],
        max_estimate=limit,
    )
    return workload if load is None else scale_load(workload, load)


def _users(size: int, users: int, key: Key) -> Int64:
    weight = np.cumsum(1.0 / np.arange(1, users + 1))
    uniform = generator(key, "users", users).random(size)
    rank: Int64 = np.searchsorted(weight, uniform * weight[-1], side="right") + 1
    return rank
