"""Queue orders for the reference alone: the key of one job at one instant, smallest first.

Each formula is written again here, in Python's own numbers, from the sentence or the paper that
defines it: a wrong formula in one of the programs shows as a disagreement.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from core.errors import InputError
from core.policy.orders import order_function
from core.reference.job import Job

Key = Any
"""Whatever Python can compare: whole numbers, fractions, floats."""


def _length(job: Job) -> int:
    return max(job.estimate, 1)


def _expansion(job: Job, now: int) -> Fraction:
    return Fraction(now - job.submit + _length(job), _length(job))


def _wfp3(job: Job, now: int) -> float:
    # A cube as two products, so that ties fall alike everywhere.
    ratio = (now - job.submit) / _length(job)
    return -(ratio * ratio * ratio * job.procs)


def _unicef(job: Job, now: int) -> float:
    # Tang et al. leave open what a serial job's log2 of 0 divides by; 2^-40 puts it first.
    width = math.log2(job.procs) if job.procs > 1 else 2**-40
    return -(now - job.submit) / (width * _length(job))


def _log10(seconds: int) -> float:
    return math.log10(seconds) if seconds > 0 else 0.0


KEYS: dict[str, Callable[[Job, int], Key]] = {
    "fcfs": lambda job, now: job.submit,
    "lcfs": lambda job, now: -job.submit,
    "spf": lambda job, now: job.estimate,
    "lpf": lambda job, now: -job.estimate,
    "sqf": lambda job, now: job.procs,
    "lqf": lambda job, now: -job.procs,
    "saf": lambda job, now: job.estimate * job.procs,
    "laf": lambda job, now: -job.estimate * job.procs,
    "lxf": lambda job, now: -_expansion(job, now),
    "sxf": _expansion,
    # W. Tang, Z. Lan, N. Desai, D. Buettner, IEEE Cluster 2009.
    "wfp3": _wfp3,
    "unicef": _unicef,
    # D. Carastan-Santos, R. Y. de Camargo, SC'17: r is the estimate, n the width, s the submit.
    "f1": lambda job, now: _log10(job.estimate) * job.procs + 870 * _log10(job.submit),
    "f2": lambda job, now: math.sqrt(job.estimate) * job.procs + 25_600 * _log10(job.submit),
    "f3": lambda job, now: job.estimate * job.procs + 6_860_000 * _log10(job.submit),
    "f4": lambda job, now: job.estimate * math.sqrt(job.procs) + 530_000 * _log10(job.submit),
}
"""The project's own orders."""


def keys(
    order: str, everyone: list[Job], waiting: list[Job], completed: list[Job], now: int
) -> dict[Job, Key]:
    """Return a key of each waiting job.

    Parameters
    ----------
    order : str
        A key of `KEYS`, or a user's own order.
    everyone, waiting, completed : list of Job
        All jobs of the workload; those in the queue; those that have ended.
    now : int
        The instant, s.

    Returns
    -------
    dict of Job to key
        Smallest first; ties go by position.

    Raises
    ------
    InputError
        If a user's own order does not return one number for each job.
    """
    if order in KEYS:
        return {job: KEYS[order](job, now) for job in waiting}
    function = order_function(order)
    if getattr(function, "static", False):
        values = _ask(order, function, everyone, [], 0)
        return {job: values[job.position] for job in waiting}
    waiting = sorted(waiting, key=lambda job: job.position)
    return dict(zip(waiting, _ask(order, function, waiting, completed, now), strict=True))


def _ask(
    order: str, function: Callable[..., Any], jobs: list[Job], completed: list[Job], now: int
) -> list[Key]:
    """Call a user's own order with what it asks for, by the names of its parameters."""
    known: dict[str, Callable[[], Any]] = {
        "submit": lambda: [job.submit for job in jobs],
        "estimate": lambda: [job.estimate for job in jobs],
        "procs": lambda: [job.procs for job in jobs],
        "user": lambda: [job.user for job in jobs],
        "waited": lambda: [sum(o.wait for o in completed if o.user == j.user) for j in jobs],
        "worked": lambda: [
            sum(o.run * o.procs for o in completed if o.user == j.user) for j in jobs
        ],
    }
    wanted = [name for name in inspect.signature(function).parameters if name in {*known, "now"}]
    given = {n: now if n == "now" else np.array(known[n](), np.int64) for n in wanted}
    values = list(np.asarray(function(**given)).tolist())
    if len(values) != len(jobs) or any(value != value for value in values):
        raise InputError(f"order {order!r} must return one number for each of {len(jobs)} jobs")
    return values
