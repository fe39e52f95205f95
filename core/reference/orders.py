"""Queue orders of the reference: the key of a job at an instant; the smallest comes first.

Each formula is written independently in this module, in Python's own numbers, from the sentence or
paper that defines it. So a wrong formula in one of the programs shows as a disagreement.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.policy.multifactor import is_multifactor, read_multifactor
from schedfarm.core.policy.orders import order_function
from schedfarm.core.reference.criteria import normalised_wait
from schedfarm.core.reference.job import Job
from schedfarm.core.reference.multifactor import priorities
from schedfarm.core.workload.workload import Workload

Key = Any
"""A value that Python can compare: an integer, a fraction or a float."""


def _length(job: Job) -> int:
    return max(job.expected, 1)


def _expansion(job: Job, now: int) -> Fraction:
    return Fraction(now - job.submit + _length(job), _length(job))


def _wfp3(job: Job, now: int) -> float:
    # The cube is computed as two products, so that ties are equal everywhere.
    ratio = (now - job.submit) / _length(job)
    return -(ratio * ratio * ratio * job.procs)


def _unicef(job: Job, now: int) -> float:
    # Tang et al. do not treat serial jobs, for which log2 is 0; 2^-40 puts them first.
    width = math.log2(job.procs) if job.procs > 1 else 2**-40
    return -(now - job.submit) / (width * _length(job))


def _log10(seconds: int) -> float:
    return math.log10(seconds) if seconds > 0 else 0.0


KEYS: dict[str, Callable[[Job, int], Key]] = {
    "fcfs": lambda job, now: job.submit,
    "lcfs": lambda job, now: -job.submit,
    "spf": lambda job, now: job.expected,
    "lpf": lambda job, now: -job.expected,
    "sqf": lambda job, now: job.procs,
    "lqf": lambda job, now: -job.procs,
    "saf": lambda job, now: job.expected * job.procs,
    "laf": lambda job, now: -job.expected * job.procs,
    "lxf": lambda job, now: -_expansion(job, now),
    "sxf": _expansion,
    # W. Tang, Z. Lan, N. Desai, D. Buettner, IEEE Cluster 2009.
    "wfp3": _wfp3,
    "unicef": _unicef,
    # D. Carastan-Santos, R. Y. de Camargo, SC'17: r is the estimate, n the width, s the submission.
    "f1": lambda job, now: _log10(job.expected) * job.procs + 870 * _log10(job.submit),
    "f2": lambda job, now: math.sqrt(job.expected) * job.procs + 25_600 * _log10(job.submit),
    "f3": lambda job, now: job.expected * job.procs + 6_860_000 * _log10(job.submit),
    "f4": lambda job, now: job.expected * math.sqrt(job.procs) + 530_000 * _log10(job.submit),
}
"""Orders by the columns of a job."""


SHARES: dict[str, Callable[[int, int], Key]] = {
    "fair-share": lambda waited, worked: -normalised_wait(waited, worked),
    "fair-usage": lambda waited, worked: worked,
}
"""Orders by the history of a job's user: waits, s, and processor-seconds."""


def keys(
    order: str,
    everyone: list[Job],
    waiting: list[Job],
    completed: list[Job],
    now: int,
    refresh: int | None = None,
    halflife: int | None = None,
    workload: Workload | None = None,
) -> dict[Job, Key]:
    """Return a key for each waiting job; the smallest comes first, and ties go by position.

    The order is in `KEYS` or `SHARES`, or is a plug-in. `refresh` is the interval at which orders
    in `SHARES` read the history of users, s. `halflife` is the time after which the history counts
    half, s. Slurm's priority needs the machine and the names of `workload`.
    """
    if is_multifactor(order):
        assert workload is not None
        found = priorities(read_multifactor(order), workload, everyone, waiting, now)
        return {job: -priority for job, priority in found.items()}
    if order in KEYS:
        return {job: KEYS[order](job, now) for job in waiting}
    if order in SHARES:
        first = min(job.submit for job in everyone)
        seen = now if refresh is None else _last_multiple(refresh, first, now)
        users = {job.user for job in waiting}
        had = {user: had_by(user, completed, first, seen, halflife) for user in users}
        return {job: SHARES[order](*had[job.user]) for job in waiting}
    function = order_function(order)
    if getattr(function, "static", False):
        values = _ask(order, function, everyone, [], 0)
        return {job: values[job.position] for job in waiting}
    waiting = sorted(waiting, key=lambda job: job.position)
    return dict(zip(waiting, _ask(order, function, waiting, completed, now), strict=True))


def _last_multiple(interval: int, first: int, now: int) -> int:
    """Return the last instant, at most now, that is whole intervals after the first."""
    return first + (now - first) // interval * interval


def had_by(
    user: int, completed: list[Job], first: int, until: int, halflife: int | None
) -> tuple[int, int]:
    """Return the sums of wait and of run x procs over a user's completed jobs.

    The sums include the completions at `until`. At each multiple of the half-life after the first
    submission, both sums are halved and rounded down, before the completions of the same instant
    are added.

    Examples
    --------
    >>> job = Job(position=0, number=1, submit=0, run=5, estimate=5, procs=3, user=7, start=2)
    >>> had_by(7, [job], 0, 7, None), had_by(7, [job], 0, 7, 7), had_by(7, [job], 0, 16, 8)
    ((2, 15), (2, 15), (0, 3))
    >>> had_by(7, [job], 0, 6, None)
    (0, 0)
    """
    theirs = [job for job in completed if job.user == user and job.end <= until]
    waited = worked = halved = 0
    for job in sorted(theirs, key=lambda job: job.end):
        # A shift by k equals k halvings, each rounded down.
        times = _halvings(first, job.end, halflife)
        waited, worked = waited >> times - halved, worked >> times - halved
        waited, worked = waited + job.wait, worked + job.run * job.procs
        halved = times
    times = _halvings(first, until, halflife)
    return waited >> times - halved, worked >> times - halved


def _halvings(first: int, instant: int, halflife: int | None) -> int:
    return 0 if halflife is None else (instant - first) // halflife


def _ask(
    order: str, function: Callable[..., Any], jobs: list[Job], completed: list[Job], now: int
) -> list[Key]:
    """Call a plug-in order with its inputs, by the names of its parameters."""
    known: dict[str, Callable[[], Any]] = {
        "submit": lambda: [job.submit for job in jobs],
        "estimate": lambda: [job.expected for job in jobs],
        "procs": lambda: [job.procs for job in jobs],
        "user": lambda: [job.user for job in jobs],
        "group": lambda: [job.group for job in jobs],
        "queue": lambda: [job.queue for job in jobs],
        "partition": lambda: [job.partition for job in jobs],
        "waited": lambda: [sum(o.wait for o in completed if o.user == j.user) for j in jobs],
        "worked": lambda: [
            sum(o.run * o.procs for o in completed if o.user == j.user) for j in jobs
        ],
    }
    wanted = [name for name in inspect.signature(function).parameters if name in {*known, "now"}]
    given = {n: now if n == "now" else np.array(known[n](), np.int64) for n in wanted}
    values = list(np.asarray(function(**given)).tolist())
    if len(values) != len(jobs):
        raise InputError(f"order {order!r} must return one number for each of {len(jobs)} jobs")
    for job, value in zip(jobs, values, strict=True):
        if value != value:
            raise InputError(
                f"order {order!r} returned NaN for job {job.number}; "
                "it must return a number for each job"
            )
    return values
