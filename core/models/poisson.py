"""Plain model of queueing theory: Poisson arrivals, exponential run times, uniform sizes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import positive, whole
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
from schedfarm.core.workload.resample_weeks import WEEK
from schedfarm.core.workload.workload import Workload

PER_WEEK = 570.0
"""Lowest number of jobs per week on the paper's clusters of 100 nodes."""

NODES = (10, 50)
"""Least and largest number of nodes of the paper's jobs."""

MEAN_RUN = 2_700.0
"""Default mean run time, s, because the paper gives none; on 100 nodes the offered load is 0.76."""


def poisson(
    processors: int,
    *,
    jobs: int | None = None,
    weeks: int | None = None,
    seed: int = 0,
    index: int = 0,
    load: float | None = None,
    per_week: float = PER_WEEK,
    mean_run: float = MEAN_RUN,
    least: int = NODES[0],
    most: int = NODES[1],
    users: int = 64,
    estimates: str = "exact",
    f: float = 5.0,
    max_estimate: int | None = None,
) -> Workload:
    """Draw a workload of Poisson arrivals, exponential run times and uniform job sizes.

    The defaults are those of Jones and Ligon's clusters. Submissions are rounded down to whole
    seconds, run times to the nearest second. Users are as in `core.lublin`. A shorter workload with
    the same seed and index is the beginning of a longer workload, unless estimates are Tsafrir's.

    Parameters
    ----------
    processors : int
        Size of the machine, at least `most`.
    jobs, weeks : int, optional
        Amount to draw: this number of jobs, or all jobs submitted in this number of weeks. Exactly
        one of them is given.
    seed, index : int
        Seed of the campaign, and number of the sample of the model.
    load : float, optional
        Scale run times to this offered load, as `core.scale_load`; by default the model's own.
    per_week : float
        Mean number of jobs per week.
    mean_run : float
        Mean run time, s. The paper does not give its value.
    least, most : int
        Least and largest number of processors of a job; all numbers in between are equally likely.
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
    W. M. Jones, W. B. Ligon, Multi-site scheduling with co-allocation on clusters, 2005: arrivals
    Poisson, execution times exponential, 10 to 50 nodes.

    Examples
    --------
    >>> w = poisson(100, jobs=1000, seed=7)
    >>> len(w), int(w.procs.min()), int(w.procs.max()), w.name
    (1000, 10, 50, 'poisson-100')
    """
    key = check_size("poisson", processors, jobs, weeks, seed, index)
    gap, mean = WEEK / positive("per_week", per_week), positive("mean_run", mean_run, most=LONGEST)
    low, high = whole("least", least, least=1), whole("most", most, least=1)
    if not low <= high <= processors:
        raise InputError(
            f"least={least!r}, most={most!r}: give least <= most <= the machine's {processors}"
        )
    submit = cut(_arrivals(gap, key), jobs, weeks)
    run = np.rint(generator(key, "runs").exponential(mean, submit.size)).astype(np.int64)
    sizes = generator(key, "sizes").random(submit.size)
    return finish(
        key,
        int(processors),
        (submit, low + (sizes * (high - low + 1)).astype(np.int64), run),
        users=users,
        estimates=estimates,
        f=f,
        max_estimate=max_estimate,
        load=load,
    )


def _arrivals(gap: float, key: Key) -> Iterator[Int64]:
    draw = generator(key, "arrivals")
    for block in sums(lambda size: draw.exponential(gap, size)):
        yield block.astype(np.int64)
