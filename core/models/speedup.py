"""Monotone models of speedup: times of moldable jobs on each number of processors.

A job is monotone if more processors never increase its time, and never decrease its work (time x
processors).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import HORIZON, Bool, Float64, Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.workload.workload import MILLION

MOST_PROCESSORS = 10**5
"""Largest number of processors of a moldable job, so that products in Amdahl's law fit int64."""

FLOAT_ERROR = 2.0**-45
"""Largest relative error by which a quotient of floats may exceed an exact integer."""


def amdahl(sequential: npt.ArrayLike, serial: npt.ArrayLike, processors: int) -> Int64:
    """Return the times of jobs on 1, 2, ... processors by Amdahl's law, int64[n, processors], s.

    Times are exact, rounded up to whole seconds, and monotone. `sequential` is the time on one
    processor, s, and `serial` is its serial share, in millionths.

    References
    ----------
    G. M. Amdahl, Validity of the single processor approach to achieving large scale computing
    capabilities, AFIPS 1967.

    Examples
    --------
    >>> amdahl([100, 100], [0, 500_000], 4).tolist()
    [[100, 50, 34, 26], [100, 75, 67, 63]]
    """
    k = _numbers(processors)
    one = _times(sequential, k.size)
    share = np.asarray(serial)
    if share.dtype.kind not in "iu" or ((share < 0) | (share > MILLION)).any():
        raise InputError(f"serial={serial!r}: give millionths, whole numbers from 0 to {MILLION}")
    # The product (share k + MILLION - share) one, divided by k MILLION, would overflow int64. So
    # the quotient is computed in two steps: for the millions of seconds and for the rest.
    part = share.astype(np.int64)[:, None] * (k - 1) + MILLION
    millions, rest = np.divmod(one, MILLION)
    quotient, left = np.divmod(millions * part, k)
    exact = quotient - (-(left * MILLION + rest * part) // (k * MILLION))
    return _monotone(one[:, 0], exact)


def downey(
    sequential: npt.ArrayLike, parallelism: npt.ArrayLike, variance: npt.ArrayLike, processors: int
) -> Int64:
    """Return the times of jobs by Downey's model, rounded up to whole seconds.

    Parameters
    ----------
    sequential : array_like of int[n]
        Time on one processor, s, at least 1.
    parallelism : array_like of float[n]
        Average parallelism, A, at least 1.
    variance : array_like of float[n]
        Variance of the parallelism, sigma, at least 0.
    processors : int
        Size of the machine.

    Returns
    -------
    int64[n, processors]
        Time on 1, 2, ... processors, s; monotone.

    Raises
    ------
    InputError
        If a number is out of range.

    References
    ----------
    A. B. Downey, A model for speedup of parallel programs, Berkeley CSD-97-933, 1997.

    Examples
    --------
    >>> downey([100, 100], [4, 4], [0, 1], 6).tolist()
    [[100, 50, 34, 26, 25, 25], [100, 57, 42, 35, 30, 28]]
    """
    k = _numbers(processors)
    one = _times(sequential, k.size)
    a, s = (np.asarray(x, np.float64)[:, None] for x in (parallelism, variance))
    if not ((a >= 1) & np.isfinite(a)).all() or not ((s >= 0) & np.isfinite(s)).all():
        raise InputError(
            f"parallelism={parallelism!r}, variance={variance!r}: give finite numbers, parallelism "
            "at least 1 and variance at least 0"
        )
    quotient = one / downey_speedup(k, a, s)
    rounded: Int64 = np.ceil(quotient * (1 - FLOAT_ERROR)).astype(np.int64)
    return _monotone(one[:, 0], rounded)


def downey_speedup(
    procs: npt.ArrayLike, parallelism: npt.ArrayLike, variance: npt.ArrayLike
) -> Float64:
    """Return the speedup of a job on `procs` processors, from 1 to `parallelism`.

    `parallelism` is the job's average parallelism, at least 1, and `variance` its variance, at
    least 0. A job with variance 0 is perfectly parallel up to its parallelism.

    References
    ----------
    A. B. Downey, A model for speedup of parallel programs, Berkeley CSD-97-933, 1997.

    Examples
    --------
    >>> downey_speedup([1, 4, 8, 99], 8, 0).tolist()
    [1.0, 4.0, 8.0, 8.0]
    >>> downey_speedup([1, 8, 15], 8, 1).tolist(), downey_speedup([1, 8, 22], 8, 2).tolist()
    ([1.0, 5.565217391304348, 8.0], [1.0, 5.052631578947368, 8.0])
    """
    n, a, s = (np.asarray(x, np.float64) for x in (procs, parallelism, variance))
    steep = a * n / (a + s / 2 * (n - 1))
    # The divisor may be 0 for variances above 2, for which the other branch is used.
    with np.errstate(divide="ignore"):
        flat = a * n / (s * (a - 0.5) + n * (1 - s / 2))
    low = np.where(n <= a, steep, np.where(n < 2 * a - 1, flat, a))
    high = np.where(n < a + a * s - s, n * a * (s + 1) / (s * (n + a - 1) + a), a)
    result: Float64 = np.where(s <= 1, low, high)
    return result


def breaks(times: Int64) -> tuple[Bool, Bool]:
    """Return masks: one more processor prolongs the job; one more processor reduces its work.

    Column k - 1 compares k + 1 processors with k.

    Examples
    --------
    >>> [broken.tolist() for broken in breaks(np.array([[12, 6, 7], [12, 5, 4]]))]
    [[[False, True], [False, False]], [[False, False], [True, False]]]
    """
    work = times * np.arange(1, times.shape[1] + 1)
    return times[:, 1:] > times[:, :-1], work[:, 1:] < work[:, :-1]


def _numbers(processors: int) -> Int64:
    most = whole("processors", processors, least=1, most=MOST_PROCESSORS)
    return np.arange(1, most + 1, dtype=np.int64)


def _times(sequential: npt.ArrayLike, processors: int) -> Int64:
    one, most = np.asarray(sequential), HORIZON // processors
    if one.dtype.kind not in "iu" or one.ndim != 1 or ((one < 1) | (one > most)).any():
        raise InputError(
            f"sequential={sequential!r}: give whole seconds, at least 1 and at most {most} on "
            f"{processors} processors"
        )
    return one.astype(np.int64)[:, None]


def _monotone(one: Int64, rounded: Int64) -> Int64:
    """Change rounded times by the least amount that makes them monotone again."""
    times = rounded.copy()
    times[:, 0] = one
    for k in range(2, times.shape[1] + 1):
        before = times[:, k - 2]
        least = -(-before * (k - 1) // k)
        times[:, k - 1] = np.maximum(np.minimum(times[:, k - 1], before), least)
    return times
