"""Offered load: the work of a workload relative to its machine, and its scaling."""

from __future__ import annotations

from fractions import Fraction
from weakref import WeakKeyDictionary

import numpy as np

from schedfarm.core.arrays import HORIZON, Int64, readonly
from schedfarm.core.checks import positive
from schedfarm.core.errors import InputError
from schedfarm.core.workload.columns import left_behind
from schedfarm.core.workload.workload import Workload

_WORK: WeakKeyDictionary[Workload, int] = WeakKeyDictionary()
"""Work of workloads: each load of a sample, and the utilisation under each policy, ask for it."""


def work(workload: Workload) -> int:
    """Return the sum of run x procs over all jobs, s x processors, exactly; computed once.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 5], run=[10, 3], estimate=[20, 3], procs=[2, 4],
    ...                           processors=4)
    >>> work(w)
    32
    """
    found = _WORK.get(workload)
    if found is None:
        found = _WORK[workload] = _work(workload)
    return found


def _work(workload: Workload) -> int:
    if not len(workload):
        return 0
    # int64 sums wrap silently; Python's do not, and take 5 ms for 77,222 jobs, not 0.1.
    largest = int(workload.run.max()) * int(workload.procs.max())
    if largest * len(workload) < HORIZON:
        return int(np.dot(workload.run, workload.procs))
    pairs = zip(workload.run.tolist(), workload.procs.tolist(), strict=True)
    return sum(run * procs for run, procs in pairs)


def most_in_use(start: Int64, run: Int64, procs: Int64) -> int:
    """Return the most processors in use at once; a completion frees its processors at that second.

    Examples
    --------
    >>> most_in_use(np.array([0, 5, 10]), np.array([10, 10, 10]), np.array([2, 3, 4]))
    7
    """
    runs = run > 0
    start, width = start[runs], procs[runs]
    # Only damaged logs have an end past the clock's; any value serves there.
    end = start + np.minimum(run[runs], HORIZON - np.minimum(start, HORIZON))
    instants = np.concatenate([start, end])
    changes = np.concatenate([width, -width])
    # At one instant ends sort first, since their changes are below 0.
    order = np.lexsort((changes, instants))
    return int(np.cumsum(changes[order]).max(initial=0))


def offered_load(workload: Workload) -> float:
    """Return sum(run x procs) / (machine x (last submit - first submit)).

    Parameters
    ----------
    workload : Workload
        At least two jobs that were not submitted at the same instant.

    Returns
    -------
    float
        The load, where 1 is a machine that could be busy from first to last submission.

    Raises
    ------
    InputError
        If there are fewer than two submission instants.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 5], run=[10, 3], estimate=[20, 3], procs=[2, 4],
    ...                           processors=4)
    >>> offered_load(w)
    1.6
    """
    return work(workload) / (workload.processors * _span(workload))


def scale_load(workload: Workload, load: float) -> Workload:
    """Give a workload another offered load by runtime expansion.

    Run times, estimates and the platform's largest estimate are multiplied by load / offered load
    and rounded half up to whole seconds; times of 1 s or more remain at least 1 s. The factor is an
    exact fraction in which 0.9 means nine tenths, so the result is the same on every machine.
    Because of rounding the new offered load differs slightly from the requested one.

    Parameters
    ----------
    workload : Workload
        At least two jobs that were not submitted at the same instant.
    load : float
        The offered load to reach, above 0.

    Returns
    -------
    Workload
        The same jobs with other run times and estimates.

    Raises
    ------
    InputError
        If `load` is not a number above 0, there are fewer than two submission instants, no job
        has any work, or a time would pass the clock's horizon.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 5], run=[10, 3], estimate=[20, 3], procs=[2, 4],
    ...                           processors=4)
    >>> scale_load(w, 0.8).estimate.tolist()
    [10, 2]
    """
    factor = _factor(workload, load)
    longest = max(workload.max_estimate, int(workload.estimate.max()))
    if longest * factor >= HORIZON:
        raise InputError(
            f"load={load!r}: the longest estimate of workload {workload.name!r} would pass the "
            f"clock's {HORIZON} s"
        )
    limit = _scaled(np.array([workload.max_estimate]), factor)
    return workload.take(
        slice(None),
        run=_scaled(workload.run, factor),
        estimate=_scaled(workload.estimate, factor),
        max_estimate=int(limit[0]),
        **left_behind(len(workload)),
    )


def scale_arrivals(workload: Workload, load: float) -> Workload:
    """Give a workload another offered load by shrinking or stretching its inter-arrival times.

    The time since the first submission is multiplied by offered load / load and rounded half up
    to whole seconds, job by job, so that roundings do not add up and the order of the jobs is kept.
    Run times and estimates are kept, too. The factor is an exact fraction in which 0.9 means nine
    tenths. Daily and weekly cycles are scaled with the rest, and the trace's span changes.

    Parameters
    ----------
    workload : Workload
        At least two jobs that were not submitted at the same instant.
    load : float
        The offered load to reach, above 0.

    Returns
    -------
    Workload
        The same jobs at other instants, the first at its own.

    Raises
    ------
    InputError
        If `load` is not a number above 0, there are fewer than two submission instants, no job
        has any work, the last submission would pass the clock's horizon, or all of them would
        fall on one instant.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[10, 12, 15], run=[10, 3, 0], estimate=[20, 3, 1],
    ...                           procs=[2, 4, 1], processors=4)
    >>> offered_load(w)
    1.6
    >>> scale_arrivals(w, 0.8).submit.tolist()
    [10, 14, 20]
    """
    factor = 1 / _factor(workload, load)
    begin = int(workload.submit[0])
    since = workload.submit - begin
    if begin + int(since[-1]) * factor >= HORIZON:
        raise InputError(
            f"load={load!r}: the last submission of workload {workload.name!r} would pass the "
            f"clock's {HORIZON} s"
        )
    scaled = workload.take(
        slice(None), submit=readonly(begin + _rounded(since, factor)), **left_behind(len(workload))
    )
    if scaled.submit[-1] == begin:
        raise InputError(
            f"load={load!r}: all jobs of workload {workload.name!r} would be submitted at one "
            "instant; give a smaller load"
        )
    return scaled


def _factor(workload: Workload, load: float) -> Fraction:
    """Return load / offered load, exactly."""
    wanted = positive("load", load)
    space, done = workload.processors * _span(workload), work(workload)
    if not done:
        raise InputError(f"workload {workload.name!r}: no job has any work to scale")
    return Fraction(str(wanted)) * space / done


def _span(workload: Workload) -> int:
    span = int(workload.submit[-1] - workload.submit[0]) if len(workload) else 0
    if not span:
        raise InputError(
            f"workload {workload.name!r} has {len(workload)} jobs and fewer than two submission "
            "instants; an offered load needs two"
        )
    return span


def _scaled(values: Int64, factor: Fraction) -> Int64:
    """Return values x factor rounded half up, at least 1 where they were."""
    result = _rounded(values, factor)
    return readonly(np.maximum(result, values > 0, out=result))


def _rounded(values: Int64, factor: Fraction) -> Int64:
    """Return values x factor rounded half up.

    A float64 product is off by at most 2^-51 of itself, so it decides all but the near-ties;
    those are decided in Python's integers. Compared with integers for all: 0.8 instead of 10 ms for
    77,222.
    """
    product = values * float(factor)
    rest = np.floor(product)
    result: Int64 = rest.astype(np.int64)
    # In place: half of the time goes into fresh memory otherwise.
    np.subtract(product, rest, out=rest)
    result += rest >= 0.5
    rest -= 0.5
    product *= 2.0**-50
    near = np.abs(rest, out=rest) <= product
    up, down = factor.numerator, factor.denominator
    for j in np.flatnonzero(near).tolist():
        result[j] = (2 * int(values[j]) * up + down) // (2 * down)
    return result
