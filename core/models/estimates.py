"""The f-model of users' run time estimates."""

from __future__ import annotations

import math

import numpy as np

from core.checks import whole
from core.errors import InputError
from core.keyed import philox
from core.workload import Int64

GRAIN = 60
"""Users ask for whole minutes, s."""


def f_model(
    run: Int64,
    *,
    f: float = 5.0,
    seed: int = 0,
    index: int = 0,
    name: str = "f-model",
    max_estimate: int | None = None,
) -> Int64:
    """Draw an estimate for each run time, uniform in [run, (f + 1) x run].

    Estimates are rounded up to whole minutes, at least one, since users ask for round times; this
    rounding is ours. With f = 0 the estimates are exact but for the rounding.

    Parameters
    ----------
    run : int64[n]
        Run times, s.
    f : float
        How badly users overestimate, at least 0; Mu'alem and Feitelson try 0 to 300.
    seed, index : int
        Seed of the campaign, and which sample.
    name : str
        What the run times belong to; another name draws other numbers.
    max_estimate : int, optional
        Largest estimate that the platform allows, s; a longer run is then killed at it.

    Returns
    -------
    int64[n]
        Estimates, s. Below `run` only where `run` exceeds `max_estimate`.

    Raises
    ------
    InputError
        If `f` is negative or not finite, or `max_estimate` is below one minute.

    References
    ----------
    A. W. Mu'alem, D. G. Feitelson, Utilization, predictability, workloads, and user runtime
    estimates in scheduling the IBM SP2 with backfilling, IEEE TPDS 12(6), 2001, section 4.2.

    Examples
    --------
    >>> f_model(np.array([0, 59, 61]), f=0).tolist()
    [60, 60, 120]
    """
    if not (math.isfinite(f) and f >= 0):
        raise InputError(f"f={f!r}: the f-model's factor is a finite number, at least 0")
    if max_estimate is not None and max_estimate < GRAIN:
        raise InputError(f"max_estimate={max_estimate!r}: give at least one minute, {GRAIN} s")
    bits = philox(name, whole("seed", seed), whole("index", index), "estimates")
    uniform = np.random.Generator(bits).random(run.size)
    wished = run + (run * (f * uniform)).astype(np.int64)
    estimate = np.maximum(-(-wished // GRAIN), 1) * GRAIN
    return estimate if max_estimate is None else np.minimum(estimate, max_estimate)
