"""Workload model of Lublin and Feitelson: sizes, run times and a daily cycle of arrivals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import MOST_JOBS, Float64, Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.models.parts import BLOCK, Key, check_size, cut, finish, generator
from schedfarm.core.names import choices
from schedfarm.core.workload.workload import Workload

BUCKET = 1_800
"""Length of a step of the daily cycle, half an hour, s."""

BUCKETS = 48
"""Number of half hours in a day; the first begins at midnight."""

CYCLE_START = 11
"""First half hour of the gamma density of the daily cycle, which continues past midnight."""

LONGEST_RUN = 12.0
"""Largest logarithm of a run time (45 hours); larger values are drawn again."""

LONGEST_GAP = 13.0
"""Largest logarithm of an inter-arrival time (five days); larger values are drawn again."""

SPARE = 16
"""Number of additional arrivals, which replace rejected arrivals."""


@dataclass(frozen=True)
class Class:
    """Hold the parameters of one class of jobs, by the names of the authors' program.

    Sizes: `ulow` and `uhi` are log2 of the smallest and the largest parallel job; None means the
    whole machine. The program's ``umed`` is `uhi` - `upper`.
    """

    name: str
    serial: float
    pow2: float
    ulow: float
    uprob: float
    a1: float
    b1: float
    a2: float
    b2: float
    pa: float
    pb: float
    aarr: float
    barr: float
    anum: float
    bnum: float
    arar: float
    upper: float = 2.5
    uhi: float | None = None


ALL = Class(
    name="all",
    serial=0.244, pow2=0.576, ulow=0.8, uprob=0.86,
    a1=4.2, b1=0.94, a2=312.0, b2=0.03, pa=-0.0054, pb=0.78,
    aarr=10.2303, barr=0.4871, anum=8.1737, bnum=3.9631, arar=1.0225,
)  # fmt: skip
"""All jobs as one class."""

BATCH = Class(
    name="batch",
    serial=0.2927, pow2=0.6686, ulow=1.2, uprob=0.875, upper=2.0,
    a1=6.57, b1=0.823, a2=639.1, b2=0.0156, pa=-0.003, pb=0.6986,
    aarr=6.0415, barr=0.8531, anum=6.1271, bnum=5.2740, arar=1.0519,
)  # fmt: skip
"""Batch jobs."""

INTERACTIVE = Class(
    name="interactive",
    serial=0.1541, pow2=0.625, ulow=1.0, uprob=0.705, uhi=5.5,
    a1=3.8351, b1=0.6605, a2=7.073, b2=0.6856, pa=-0.0118, pb=0.9156,
    aarr=6.5510, barr=0.6621, anum=8.9186, bnum=3.6680, arar=0.9797,
)  # fmt: skip
"""Interactive jobs."""

CLASSES = {"one": (ALL,), "two": (INTERACTIVE, BATCH)}
"""Values of `classes`; at one instant, jobs of the first class come first."""


def lublin(
    processors: int,
    *,
    jobs: int | None = None,
    weeks: int | None = None,
    seed: int = 0,
    index: int = 0,
    load: float | None = None,
    classes: str = "one",
    users: int = 64,
    estimates: str = "f-model",
    f: float = 5.0,
    max_estimate: int | None = None,
) -> Workload:
    """Draw a workload from the Lublin-Feitelson model; it starts at midnight.

    Sizes, run times and arrivals are those of the authors' program ``m_lublin99.c``, except for
    rounding: a submission is rounded down to whole seconds only once, and rounding errors do not
    add up over later jobs. The model has neither estimates nor users. Here estimates follow
    `core.models.estimates.f_model`. User k submits each job with a probability in proportion to 1 /
    k, a choice of this package. A shorter workload with the same seed and index is the beginning of
    a longer workload. The draws come from numpy's `Generator`, and stay the same as long as numpy
    keeps its streams.

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
    classes : {"one", "two"}
        Parameters of one class for all jobs, or of separate classes for batch and interactive jobs,
        each with its own arrivals.
    users : int
        Number of users.
    estimates, f, max_estimate
        As for `core.models.estimates.draw_estimates`. A job that runs longer than `max_estimate`,
        s, is killed after this time.

    Returns
    -------
    Workload
        The jobs; jobs of two classes are merged by submission.

    Raises
    ------
    InputError
        If a parameter is out of range, or not exactly one of `jobs` and `weeks` is given.

    References
    ----------
    U. Lublin, D. G. Feitelson, The workload on parallel supercomputers: modeling the
    characteristics of rigid jobs, JPDC 63(11), 2003.

    Examples
    --------
    >>> w = lublin(128, jobs=1000, seed=7)
    >>> len(w), w.processors, int(w.procs.max()) <= 128, lublin(128, jobs=10, seed=7).name
    (1000, 128, True, 'lublin-128')
    """
    key = check_size("lublin", processors, jobs, weeks, seed, index)
    whole("users", users, least=1, most=MOST_JOBS)
    if classes not in CLASSES:
        raise InputError(f"classes={classes!r} is unknown; {choices(classes, CLASSES)}")
    parts = [_draw_class(kind, int(processors), jobs, weeks, key) for kind in CLASSES[classes]]
    submit, procs, run = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(submit, kind="stable")[:jobs]
    return finish(
        key,
        int(processors),
        (submit[order], procs[order], run[order]),
        users=users,
        estimates=estimates,
        f=f,
        max_estimate=max_estimate,
        load=load,
    )


def _draw_class(
    kind: Class, processors: int, jobs: int | None, weeks: int | None, key: Key
) -> tuple[Int64, Int64, Int64]:
    """Return submit, procs and run of one class, in order of submission."""
    # For few jobs, few arrivals are drawn: with 50 jobs, a whole block would take most of the time.
    block = BLOCK if jobs is None else min(BLOCK, jobs + SPARE)
    submit = cut(_arrivals(kind, key, block), jobs, weeks)
    procs = _sizes(kind, processors, submit.size, key)
    return submit, procs, _runs(kind, procs, key)


def _arrivals(kind: Class, key: Key, block: int = BLOCK) -> Iterator[Int64]:
    """Yield blocks of submissions, s since midnight; `block` does not affect the instants.

    A gap is a number of points, e^gamma / 1800. Each passed half hour takes as many points as its
    weight. So the program's walk over half hours is the inverse of the running sum of weights.
    """
    draw = generator(key, kind.name, "arrivals")
    paid = np.concatenate(([0.0], np.cumsum(_daily_cycle(kind))))
    clock = BUCKET * np.arange(BUCKETS + 1.0)
    points = 0.0
    while True:
        gap = draw.gamma(kind.aarr * kind.arar, kind.barr, block)
        gap = np.exp(gap[gap <= LONGEST_GAP]) / BUCKET
        spent = np.cumsum(np.concatenate(([points], gap)))[1:]
        points = float(spent[-1])
        day, rest = np.divmod(spent, paid[-1])
        yield (day * BUCKET * BUCKETS + np.interp(rest, paid, clock)).astype(np.int64)


@cache
def _daily_cycle(kind: Class) -> Float64:
    """Return the weights of the 48 half hours from midnight; their mean is 1."""
    step = np.arange(CYCLE_START, CYCLE_START + BUCKETS)
    weight = np.empty(BUCKETS)
    weight[(step - 1) % BUCKETS] = _gamma_mass(kind.anum, kind.bnum, step)
    weight /= weight.mean()
    return weight


def _gamma_mass(shape: float, scale: float, middle: npt.NDArray[np.int64]) -> Float64:
    """Return the gamma distribution's mass within 1/2 of each point, by Gauss-Legendre.

    With 20 nodes per interval the result agrees with the incomplete gamma function to 1e-13.
    """
    node, weight = np.polynomial.legendre.leggauss(20)
    x = middle[:, None] + node / 2
    log = (shape - 1) * np.log(x) - x / scale - shape * math.log(scale) - math.lgamma(shape)
    mass: Float64 = np.exp(log) @ weight / 2
    return mass


def _sizes(kind: Class, processors: int, size: int, key: Key) -> Int64:
    """Draw processors: 1, a power of two, or any number, by a two-stage uniform log2."""
    draw = generator(key, kind.name, "sizes")
    high = math.log2(processors) if kind.uhi is None else min(kind.uhi, math.log2(processors))
    low = min(kind.ulow, high)
    # The program needs ulow < umed < uhi, which is impossible with fewer than 10 processors.
    middle = max(high - kind.upper, low)
    which, stage, place = draw.random((size, 3)).T
    first = stage <= kind.uprob
    log = np.where(first, low + place * (middle - low), middle + place * (high - middle))
    power = which <= kind.serial + kind.pow2
    log = np.where(power, np.floor(log + 0.5), log)
    procs = np.floor(np.exp2(log) + 0.5).astype(np.int64)
    return np.where(which <= kind.serial, 1, np.clip(procs, 1, processors))


def _runs(kind: Class, procs: Int64, key: Key) -> Int64:
    """Draw run times, s: e^g for a mixture g of two gammas, larger for more processors."""
    share = np.clip(kind.pa * procs + kind.pb, 0, 1)
    log = np.full(procs.size, np.inf)
    turn = 0
    while (again := log > LONGEST_RUN).any():
        # Each turn draws numbers for all jobs, so that the numbers of a job do not depend on later
        # jobs.
        one, two, coin = (
            generator(key, kind.name, f"runs {turn} {part}") for part in ("first", "second", "coin")
        )
        short = one.gamma(kind.a1, kind.b1, procs.size)
        long = two.gamma(kind.a2, kind.b2, procs.size)
        drawn = np.where(coin.random(procs.size) <= share, short, long)
        log = np.where(again, drawn, log)
        turn += 1
    run: Int64 = np.exp(log).astype(np.int64)
    return run
