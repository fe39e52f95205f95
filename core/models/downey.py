"""Downey's model: log-uniform work and parallelism, as a model of rigid jobs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import positive
from schedfarm.core.errors import InputError
from schedfarm.core.models.parts import (
    LONGEST,
    Key,
    check_size,
    cut,
    finish,
    generator,
    sums,
)
from schedfarm.core.models.speedup import downey_speedup
from schedfarm.core.workload.workload import Workload

WORK = (70.0, 310_000.0)
"""Least and greatest work of a job, s x processors, from the archive's log of the CTC SP2.

A straight line through the middle 80 % of the distribution of log work reaches 0 and 1 at these
values.
"""

GAP = 380.0
"""Mean time between submissions, s, from the same log."""

VARIANCE = (0.0, 2.0)
"""Bounds of the uniformly drawn variance of parallelism, as in the author's program."""

HALF_DAY = 43_200
"""Time between changes of the rate of arrivals, twelve hours, s."""


def downey(
    processors: int,
    *,
    jobs: int | None = None,
    weeks: int | None = None,
    seed: int = 0,
    index: int = 0,
    load: float | None = None,
    least_work: float = WORK[0],
    most_work: float = WORK[1],
    interarrival: float = GAP,
    night: float = 0.0,
    least_variance: float = VARIANCE[0],
    most_variance: float = VARIANCE[1],
    users: int = 64,
    estimates: str = "f-model",
    f: float = 5.0,
    max_estimate: int | None = None,
) -> Workload:
    """Draw a workload of rigid jobs from Downey's model, beginning with the busy half of a day.

    The work of a job and its average parallelism are log-uniform; the parallelism extends from 1 to
    the whole machine. The model describes moldable jobs, for which the scheduler chooses the
    processors. Here jobs are rigid: a job requests its rounded average parallelism, and its run
    time is its work / `downey_speedup` on these processors. Arrivals are Poisson, with different
    rates in the two halves of a day.

    The distributions, the range of the variance and the speedup are as published. Published values
    of the bounds of work and of the mean time between submissions could not be found. Their
    defaults are fitted to the archive's log of the CTC SP2, one of the author's two logs. The
    default of no submissions in the second half of a day is not from the paper. Users are as in
    `core.lublin`. Submissions are rounded down to whole seconds; run times are rounded to the
    nearest second, at least 1 s. A shorter workload with the same seed and index is the beginning
    of a longer workload, unless estimates are Tsafrir's.

    Parameters
    ----------
    processors : int
        Size of the machine.
    jobs, weeks : int, optional
        Amount to draw: this number of jobs, or all jobs submitted in this number of weeks. Exactly
        one of them is given.
    seed, index : int
        Seed of the campaign, and number of the sample of the model.
    load : float, optional
        Scale run times to this offered load, as `core.scale_load`; by default the model's own.
    least_work, most_work : float
        Bounds of the distribution of work, s x processors.
    interarrival : float
        Mean time between submissions over whole days, s.
    night : float
        Ratio of the rate of arrivals in the second half of a day to the rate in the first, 0 to 1.
    least_variance, most_variance : float
        Bounds of the uniform distribution of the variance of parallelism, at least 0.
    users : int
        Number of users.
    estimates, f, max_estimate
        As for `core.models.estimates.draw_estimates`.

    Returns
    -------
    Workload
        The jobs.

    Raises
    ------
    InputError
        If a parameter is out of range, or not exactly one of `jobs` and `weeks` is given.

    References
    ----------
    A. B. Downey, A parallel workload model and its implications for processor allocation, HPDC
    1997; the same, A model for speedup of parallel programs, Berkeley CSD-97-933, 1997.

    Examples
    --------
    >>> w = downey(128, jobs=1000, seed=7)
    >>> len(w), bool((w.submit % 86_400 < 43_200).all()), w.name
    (1000, True, 'downey-128')
    """
    key = check_size("downey", processors, jobs, weeks, seed, index)
    low, high = (
        positive(name, value, most=LONGEST)
        for name, value in (("least_work", least_work), ("most_work", most_work))
    )
    if low > high or not 0 <= night <= 1 or not 0 <= least_variance <= most_variance:
        raise InputError(
            f"work {low!r} to {high!r}, night={night!r}, variance {least_variance!r} to "
            f"{most_variance!r}: give ends that ascend, at least 0, and night from 0 to 1"
        )
    gap = positive("interarrival", interarrival, most=LONGEST)
    submit = cut(_arrivals(gap, night, key), jobs, weeks)
    machine, uniform = int(processors), generator(key, "jobs").random((submit.size, 3)).T
    parallelism = machine ** uniform[0]
    procs = np.rint(parallelism).astype(np.int64)
    variance = least_variance + uniform[1] * (most_variance - least_variance)
    work = low * (high / low) ** uniform[2]
    run = np.rint(work / downey_speedup(procs, parallelism, variance)).astype(np.int64)
    return finish(
        key,
        machine,
        (submit, procs, np.maximum(run, 1)),
        users=users,
        estimates=estimates,
        f=f,
        max_estimate=max_estimate,
        load=load,
    )


def _arrivals(gap: float, night: float, key: Key) -> Iterator[Int64]:
    """Yield the instants of a Poisson process with alternating rates in two halves of a day."""
    draw = generator(key, "arrivals")
    day = 2.0 * HALF_DAY
    clock, paid = [0.0, HALF_DAY, day], [0.0, day / (1 + night), day]
    for block in sums(lambda size: draw.exponential(gap, size)):
        days, rest = np.divmod(block, day)
        yield (days * day + np.interp(rest, paid, clock)).astype(np.int64)
