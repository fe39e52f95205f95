"""Races of candidates over paired samples: bad candidates are dropped before all samples are done.

First, all candidates simulate a quarter of the samples of each trace, at least `FEWEST`. After this
quarter and after half of the samples, a candidate is dropped if it is more than `ERRORS` standard
errors of the paired log ratio behind the best one. At most half of the other candidates continue.
Candidates are ranked by the round that they reached. Within a round, they are ranked by the
logarithm of the ratio of their mean to the baseline's, averaged over the traces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from schedfarm.core.arrays import Float64
from schedfarm.core.bootstrap import log_ratio, over_blocks
from schedfarm.farm.search.spec import FEWEST

ERRORS = 2.0
"""Number of standard errors of a paired difference at which a candidate is dropped: about 95 %."""

Simulate = Callable[[Sequence[str], range], Float64]
"""Maps policies and numbers of samples to values, float64[policies, traces, samples]."""


@dataclass(frozen=True)
class Ranked:
    """Hold a candidate after a race.

    place: index in the given order. score: mean log ratio to the baseline, negative if better.
    samples: number of simulated samples of each trace.
    """

    place: int
    score: float
    samples: int


def rounds_of(samples: int) -> list[int]:
    """Return the number of samples of each trace after each round of a race.

    Examples
    --------
    >>> rounds_of(32), rounds_of(8), rounds_of(5)
    ([8, 16, 32], [4, 8], [5])
    """
    found = sorted({max(FEWEST, samples // 4), samples // 2, samples})
    return [n for n in found if n >= FEWEST and (n == samples or 3 * n <= 2 * samples)]


def race(
    baseline: str, policies: Sequence[str], simulate: Simulate, first: int, samples: int
) -> list[Ranked]:
    """Return all candidates, the best first; the numbers of the samples begin at `first`."""
    alive = [*range(len(policies))]
    base = np.empty((0, 0))
    values: dict[int, Float64] = {}
    out: list[Ranked] = []
    done = 0
    rounds = rounds_of(samples)
    for reached in rounds:
        asked = [baseline, *(policies[k] for k in alive)]
        found = simulate(asked, range(first + done, first + reached))
        base = found[0] if not done else np.concatenate((base, found[0]), axis=1)
        for k, one in zip(alive, found[1:], strict=True):
            values[k] = one if not done else np.concatenate((values[k], one), axis=1)
        done = reached
        ranked = sorted(
            (Ranked(k, compared(base, values[k])[0], done) for k in alive),
            key=lambda one: (one.score, one.place),
        )
        stay = len(ranked) if reached == rounds[-1] else kept(ranked, values)
        out = ranked[stay:] + out
        alive = sorted(one.place for one in ranked[:stay])
    return ranked[:stay] + out


def kept(ranked: Sequence[Ranked], values: dict[int, Float64]) -> int:
    """Return the number of candidates, the best first, that simulate further samples."""
    best = values[ranked[0].place]
    near = [one for one in ranked if within(*compared(best, values[one.place]))]
    return min(len(near), max(2, len(ranked) // 2))


def within(value: float, error: float) -> bool:
    """Return whether a log ratio to the best candidate may be 0, given its standard error."""
    return value <= ERRORS * error


def compared(base: Float64, other: Float64) -> tuple[float, float]:
    """Return the mean log ratio over the traces and its standard error.

    A candidate without a number has an infinite ratio.
    """
    if not np.isfinite(other).all():
        return math.inf, 0.0
    blocks = [log_ratio(b[:, None], o[:, None]) for b, o in zip(base, other, strict=True)]
    value, error = over_blocks(blocks)
    return (float(value), float(error)) if np.isfinite(value) else (math.inf, 0.0)
