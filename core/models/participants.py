"""Workload of Jones and Ligon: a separate Poisson stream for each cluster of a network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from schedfarm.core.arrays import MOST_JOBS, MOST_WEEKS, Float64, Int64
from schedfarm.core.checks import positive, whole
from schedfarm.core.errors import InputError
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.platform import Platform
from schedfarm.core.models.parts import LONGEST, Key, check_amount, finish, generator, sums
from schedfarm.core.models.poisson import MEAN_RUN, NODES, PER_WEEK
from schedfarm.core.workload.join import join
from schedfarm.core.workload.load import scale_load
from schedfarm.core.workload.on_network import (
    ALLTOALL,
    BANDWIDTH,
    COMPUTATION,
    Numbers,
    asked_of_links,
    each,
)
from schedfarm.core.workload.resample_weeks import WEEK
from schedfarm.core.workload.workload import Workload

PROCESSORS = 100
"""Processors of each cluster in the paper; `PER_WEEK` is its lowest number of jobs per week."""

FASTEST = 1e9
"""Largest number of jobs per week, more than a thousand per second of the clock."""

AHEAD = 1.1
"""Factor by which too short streams are extended; the results do not depend on this factor."""

EACH = ("per_week", "mean_run", "least", "most", "computation", "bandwidth", "alltoall")
"""Parameters that may be a list with one number for each cluster."""


def participants(
    platform: Platform,
    *,
    jobs: int | None = None,
    weeks: int | None = None,
    seed: int = 0,
    index: int = 0,
    load: float | None = None,
    per_week: Numbers | None = None,
    mean_run: Numbers = MEAN_RUN,
    least: Numbers = NODES[0],
    most: Numbers = NODES[1],
    computation: Numbers = COMPUTATION,
    bandwidth: Numbers = BANDWIDTH,
    alltoall: Numbers = ALLTOALL,
    users: int = 64,
    estimates: str = "exact",
    f: float = 5.0,
    max_estimate: int | None = None,
) -> Workload:
    """Draw Poisson arrivals, exponential run times and uniform sizes for each cluster.

    The random numbers of a cluster depend only on the seed, the index and the cluster's position.
    The parameters scale these numbers. So a change of a rate moves the arrivals of the same jobs,
    and does not change the jobs of other clusters (common random numbers).

    With K clusters, the k-th job of cluster c (k from 1, c from 0) has the number k x K + c, and
    the cluster's u-th user the number u x K + c. Users are as in `core.lublin`. Submissions are
    rounded down to whole seconds, run times to the nearest second. A shorter workload with the same
    seed and index is the beginning of a longer workload, unless estimates are Tsafrir's.

    Parameters
    ----------
    platform : Network
        The clusters.
    jobs, weeks : int, optional
        Amount to draw: this number of jobs of all clusters together, or all jobs submitted in this
        number of weeks. Exactly one of them is given.
    seed, index : int
        Seed of the campaign, and number of the sample of the model.
    load : float, optional
        Scale run times to this offered load of the whole network, as `core.scale_load`; by default
        the model's own.
    per_week : float or sequence of float, optional
        Mean number of jobs per week of each cluster, by default 5.7 per processor.
    mean_run : float or sequence of float
        Mean run time, s. The paper does not give its value.
    least, most : int or sequence of int
        Least and largest number of processors of a job; all numbers in between are equally likely.
    computation : float or sequence of float
        Computation as a part of the run time, the paper's K, counted in thousandths; the rest is
        communication.
    bandwidth : int or sequence of int
        Traffic of each processor of a job on one cluster, kbit/s. The paper does not give its
        value.
    alltoall : float or sequence of float
        All-to-all part of this traffic, counted in thousandths; the rest goes to neighbours in a
        mesh. The paper does not give its value.
    users : int
        Number of users of each cluster.
    estimates, f, max_estimate
        As for `core.models.estimates.draw_estimates`.

    Returns
    -------
    Workload
        The jobs with `origin`, by submission and then by cluster.

    Raises
    ------
    InputError
        If the platform is not a network; if a parameter is out of range, or has a wrong number of
        values; or if not exactly one of `jobs` and `weeks` is given.

    References
    ----------
    W. M. Jones, W. B. Ligon, Multi-site scheduling with co-allocation on clusters, 2005, section 4:
    arrivals Poisson, execution times exponential, 10 to 50 nodes, K = 0.7.

    Examples
    --------
    >>> four = Network([100] * 4, ["a", "b", "c", "d"])
    >>> w = participants(four, weeks=2, per_week=[1_000, 1_000, 1_000, 570], seed=7)
    >>> len(w), w.origin[:6].tolist(), w.name
    (7074, [1, 2, 3, 3, 2, 3], 'participants-400')
    """
    if not isinstance(platform, Network):
        raise InputError(
            f"model 'participants' draws jobs for each cluster of a network, and the platform is a "
            f"{platform.name}; give a platform with name = 'network'"
        )
    check_amount(jobs, weeks)
    key = (f"participants-{platform.size}", whole("seed", seed), whole("index", index))
    count = len(platform.places)
    means = each("mean_run", mean_run, count, _mean)
    bounds = _bounds(platform, least, most)
    parts = []
    for c, submit in enumerate(_submissions(_rates(platform, per_week), key, jobs, weeks)):
        own = _own(key, c)
        draw = generator(own, "runs")
        run = np.rint(draw.standard_exponential(submit.size) * means[c]).astype(np.int64)
        low, high = bounds[c]
        procs = low + (generator(own, "sizes").random(submit.size) * (high - low + 1)).astype(
            np.int64
        )
        parts.append(
            finish(
                own,
                platform.size,
                (submit, procs, run),
                users=users,
                estimates=estimates,
                f=f,
                max_estimate=max_estimate,
                load=None,
            )
        )
    drawn = join(parts, platform, key[0])
    asked = asked_of_links(drawn.origin, count, computation, bandwidth, alltoall)
    drawn = drawn.take(slice(None), **asked)
    return drawn if load is None else scale_load(drawn, load)


def _own(key: Key, cluster: int) -> Key:
    """Return the key of a cluster's draws, which does not depend on the network's size."""
    return f"participants {cluster}", *key[1:]


def _rates(platform: Network, per_week: Numbers | None) -> tuple[float, ...]:
    if per_week is None:
        return tuple(PER_WEEK * size / PROCESSORS for size in platform.sizes)
    return each("per_week", per_week, len(platform.sizes), _rate)


def _rate(what: str, value: object) -> float:
    return positive(what, value, most=FASTEST)


def _mean(what: str, value: object) -> float:
    return positive(what, value, most=LONGEST)


def _bounds(platform: Network, least: Numbers, most: Numbers) -> Sequence[tuple[int, int]]:
    count, size = len(platform.places), platform.size
    low, high = (each(n, v, count, _procs) for n, v in (("least", least), ("most", most)))
    for a, b in zip(low, high, strict=True):
        if a > b:
            raise InputError(f"least={a}, most={b}: give least <= most")
        if b > size:
            raise InputError(
                f"most={b}: a job would be wider than the whole network; give at most the "
                f"{size} processors of all clusters"
            )
    return list(zip(low, high, strict=True))


def _procs(what: str, value: object) -> int:
    return whole(what, value, least=1)


def _submissions(
    rates: Sequence[float], key: Key, jobs: int | None, weeks: int | None
) -> list[Int64]:
    """Return the submissions of each cluster's jobs, ascending."""
    total = sum(rates)
    span = float(weeks) if weeks is not None else (jobs or 0) / total
    if span > MOST_WEEKS:
        raise InputError(
            f"jobs={jobs}: at {total:g} a week they take longer than a century; give fewer jobs, "
            "or a higher per_week"
        )
    if span * total > 2 * MOST_JOBS:
        raise InputError(_too_many(weeks))
    while True:
        drawn = [_before(_arrivals(WEEK / rate, key, c), span) for c, rate in enumerate(rates)]
        found = sum(submit.size for submit in drawn)
        if weeks is not None and found > MOST_JOBS:
            raise InputError(_too_many(weeks))
        if weeks is not None:
            return drawn
        if jobs is not None and found >= jobs:
            return _first(drawn, jobs)
        span = AHEAD * span + 1 / total


def _too_many(weeks: int | None) -> str:
    return f"weeks={weeks}: the model draws more than {MOST_JOBS} jobs; give fewer weeks"


def _arrivals(gap: float, key: Key, cluster: int) -> Iterator[Float64]:
    draw = generator(_own(key, cluster), "arrivals")
    for block in sums(draw.standard_exponential):
        yield block * gap


def _before(blocks: Iterator[Float64], weeks: float) -> Int64:
    """Return the instants of the first weeks from endless ascending instants, in whole seconds."""
    # The result has whole seconds, so that a longer draw has no further job at the instants of a
    # shorter draw.
    end = float(np.ceil(weeks * WEEK))
    taken = []
    for block in blocks:
        taken.append(block[block < end])
        if block[-1] >= end:
            break
    return np.concatenate(taken).astype(np.int64)


def _first(drawn: Sequence[Int64], jobs: int) -> list[Int64]:
    """Return the first jobs of all clusters together, in order of instant and cluster."""
    submit = np.concatenate(drawn)
    cluster = np.repeat(np.arange(len(drawn)), [own.size for own in drawn])
    taken = cluster[np.argsort(submit, kind="stable")[:jobs]]
    count = np.bincount(taken, minlength=len(drawn))
    return [own[:n] for own, n in zip(drawn, count.tolist(), strict=True)]
