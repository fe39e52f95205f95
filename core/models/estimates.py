"""Estimates of run times for workload models without estimates: three ways to draw them."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from schedfarm.core.arrays import HORIZON, Int64
from schedfarm.core.checks import shown, whole
from schedfarm.core.errors import InputError
from schedfarm.core.models.tsafrir import tsafrir
from schedfarm.core.names import choices
from schedfarm.core.philox import philox

GRAIN = 60
"""Unit of drawn estimates, s, since users request whole minutes."""

HOUR = 3_600
"""One hour, s."""

LONGEST = 18 * HOUR
"""Largest estimate on the SP2 machines of CTC and SDSC, s."""


ESTIMATES = ("f-model", "tsafrir", "exact")
"""Ways to draw estimates: Mu'alem and Feitelson's, Tsafrir's, and the run times themselves."""


def draw_estimates(
    run: Int64,
    how: str,
    *,
    key: tuple[str, int, int],
    f: float = 5.0,
    max_estimate: int | None = None,
) -> tuple[Int64, int]:
    """Draw an estimate for each run time by a way in `ESTIMATES`; also return the limit.

    All times are in s. A limit of -1 means the largest estimate of the jobs. `key` is the name of
    the workload, the seed and the index. Tsafrir's model needs a limit: by default 18 hours, as on
    the SP2 machines, or more if the longest run takes more whole hours.

    Examples
    --------
    >>> draw_estimates(np.array([0, 90]), "exact", key=("x", 0, 0), max_estimate=60)
    (array([ 0, 60]), 60)
    """
    name, seed, index = key
    limit = -1 if max_estimate is None else max_estimate
    if how == "f-model":
        drawn = f_model(run, f=f, seed=seed, index=index, name=name, max_estimate=max_estimate)
        return drawn, limit
    if how == "tsafrir":
        if max_estimate is None:
            limit = max(LONGEST, -(-int(run.max(initial=0)) // HOUR) * HOUR)
        return tsafrir(run, limit, seed=seed, index=index, name=name), limit
    if how != "exact":
        raise InputError(f"estimates={how!r} is unknown; {choices(how, ESTIMATES)}")
    if max_estimate is None:
        return run, limit
    return np.minimum(run, whole("max_estimate", max_estimate, least=GRAIN)), limit


def f_model(
    run: Int64,
    *,
    f: float = 5.0,
    seed: int = 0,
    index: int = 0,
    name: str = "f-model",
    max_estimate: int | None = None,
) -> Int64:
    """Draw an estimate for each run time, s, uniform in [run, (f + 1) x run].

    Estimates are rounded up to whole minutes, at least one, since users request round times; this
    rounding is not part of the published model. With f = 0 the estimates are exact except for the
    rounding; Mu'alem and Feitelson use values of f from 0 to 300. An estimate is below its run time
    only if the run time exceeds `max_estimate`.

    References
    ----------
    A. W. Mu'alem, D. G. Feitelson, Utilization, predictability, workloads, and user runtime
    estimates in scheduling the IBM SP2 with backfilling, IEEE TPDS 12(6), 2001, section 4.2.

    Examples
    --------
    >>> f_model(np.array([0, 59, 61]), f=0).tolist()
    [60, 60, 120]
    """
    if isinstance(f, bool) or not isinstance(f, Real) or not 0 <= f < math.inf:
        raise InputError(f"f={shown(f)}: the f-model's factor is a finite number, at least 0")
    if (f + 1) * int(run.max(initial=0)) >= HORIZON:
        raise InputError(
            f"f={shown(f)}: estimates would pass the clock's {HORIZON} s; give a smaller factor"
        )
    if max_estimate is not None and max_estimate < GRAIN:
        raise InputError(f"max_estimate={max_estimate!r}: give at least one minute, {GRAIN} s")
    bits = philox(name, whole("seed", seed), whole("index", index), "estimates")
    uniform = np.random.Generator(bits).random(run.size)
    wished = run + (run * (f * uniform)).astype(np.int64)
    estimate = np.maximum(-(-wished // GRAIN), 1) * GRAIN
    return estimate if max_estimate is None else np.minimum(estimate, max_estimate)
