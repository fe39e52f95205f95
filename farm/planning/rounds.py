"""Rounds of samples of a campaign with requested precision, and their stopping rule.

Each round has a number of samples, numbered from 1. At the end of a round, each request is judged
at every trace and load by the interval of all samples so far. The interval is widened
(`core.bootstrap.stopped_widening`), since it decides when sampling ends. If an interval is too
long, the next round has as many samples as the longest interval needs, within limits. The rounds
are a function of the finished cells alone, so that every run derives the same rounds from a store,
on any cluster and after any interruption.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from schedfarm.core.arrays import Float64
from schedfarm.core.bootstrap import Block, Interval, differing, ratio_interval
from schedfarm.core.errors import InputError
from schedfarm.core.numerals import counted
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.precision import Precision
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.summary import folded

FIRST = 20
"""Number of samples of the first round. With 10 samples, only 83 to 89 % of the 90 % intervals held
the true ratio, since samples that end the sampling at once vary too little by chance."""

LEAST_PAIRS = 2
"""Least number of pairs with an interval."""

EXPECTED = 1 / 200
"""Prior mean of the share of samples with another ratio. If no sample has another ratio, 141
samples bound the share by 2 %; with a mean of 1/50, 193 samples do, and with 1/1000, 120 samples.
If some samples have another ratio, a smaller mean takes more samples."""

LEAST_GROWTH, MOST_GROWTH = 1.1, 2.0
"""Least and largest factor by which the number of samples grows from a round to the next."""

Pairs = Callable[[Precision, str, str], Block]
"""Returns the finished pairs of a request at a trace and load, each float64[pairs, 1]."""


class NoIntervalError(InputError):
    """Report a request that has no interval, such as a ratio to a mean of 0."""


@dataclass(frozen=True)
class Estimate:
    """Hold the interval of one request at one trace and load after a round.

    low, ratio, high: interval and estimate of the policy's metric divided by the other policy's.
    half: half of the length as a share of the ratio. If most pairs have one ratio, there is no
    interval: low and high are NaN, and half is the bound `unseen` on the share of samples with
    another ratio. samples: number of samples for the requested length, predicted from the present
    variance.
    """

    request: Precision
    trace: str
    load: str
    low: float
    ratio: float
    high: float
    half: float
    samples: float

    @property
    def is_short(self) -> bool:
        """Whether the interval is as short as requested."""
        return self.half <= self.request.relative

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for the record of a store."""
        asked = {key: getattr(self.request, key) for key in ("metric", "policy", "over")}
        place = {"trace": self.trace, "load": self.load}
        ends = {"low": self.low, "ratio": self.ratio, "high": self.high}
        found = {key: one if math.isfinite(one) else None for key, one in ends.items()}
        return {**asked, **place, **found, "half": self.half, "short": self.is_short}

    def __str__(self) -> str:
        length = f"± {100 * self.half:.3g} %"
        if math.isnan(self.low):
            length = f"(most pairs have one ratio, up to {100 * self.half:.2g} % another)"
        return (
            f"{self.request} at {self.trace}, load {self.load}: ratio {self.ratio:.3g} "
            f"{length}, {100 * self.request.relative:g} % requested"
        )


@dataclass(frozen=True)
class Round:
    """Hold the number of samples of a round, and the estimates at its end."""

    samples: int
    estimates: tuple[Estimate, ...]

    @property
    def is_short(self) -> bool:
        """Whether every interval is as short as requested."""
        return all(one.is_short for one in self.estimates)

    @property
    def widest(self) -> Estimate:
        """The estimate that is farthest from its request."""
        return max(self.estimates, key=lambda one: one.samples)

    def next_samples(self, most: int) -> int:
        """Return the number of samples of the next round, up to a limit.

        Examples
        --------
        >>> request = Precision(metric="wait", policy="spf+easy", over="fcfs+easy", relative=0.1)
        >>> def need(samples: float) -> Round:
        ...     return Round(20, (Estimate(request, "m", "0.9", 0.6, 0.8, 1.0, 0.2, samples),))
        >>> need(20.5).next_samples(500), need(31.2).next_samples(500), need(80).next_samples(500)
        (22, 32, 40)
        """
        least, upper = (math.ceil(self.samples * by) for by in (LEAST_GROWTH, MOST_GROWTH))
        wanted = math.ceil(min(upper, self.widest.samples))
        return min(most, max(least, wanted))


@dataclass(frozen=True)
class Verdict:
    """Hold the finished rounds, and the resulting number of samples of the campaign.

    stopped: whether sampling ends, because all intervals are short enough or the campaign has its
    largest number of samples.
    """

    rounds: tuple[Round, ...]
    samples: int
    stopped: bool

    @property
    def is_met(self) -> bool:
        """Whether every interval is as short as requested."""
        return bool(self.rounds) and self.rounds[-1].is_short

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a store: the rounds, and the intervals of the last round."""
        return {
            "requests": [
                one.to_dict() for one in dict.fromkeys(e.request for e in self.rounds[-1].estimates)
            ],
            "rounds": [one.samples for one in self.rounds],
            "met": self.is_met,
            "stopped": self.stopped,
            "intervals": [one.to_dict() for one in self.rounds[-1].estimates],
        }

    def __str__(self) -> str:
        last = self.rounds[-1]
        ends = "stop" if self.is_met else "the most samples" if self.stopped else ""
        then = f"; {ends}" if ends else f"; next round: {counted(self.samples, 'sample')}"
        return f"round {len(self.rounds)}, {counted(last.samples, 'sample')}: {last.widest}{then}"


def first_samples(campaign: Campaign) -> int:
    """Return the number of samples of the first round."""
    return min(FIRST, campaign.resamples)


def judge(campaign: Campaign, pairs: Callable[[int], Pairs], samples: int) -> Verdict:
    """Judge the rounds of a campaign by the samples up to a number.

    pairs: returns the finished pairs of the first n samples. Raises `NoIntervalError` if a request
    has no interval.
    """
    rounds: list[Round] = []
    wanted = first_samples(campaign)
    while wanted <= samples:
        rounds.append(judged_round(campaign, pairs(wanted), wanted))
        if rounds[-1].is_short or wanted == campaign.resamples:
            return Verdict(tuple(rounds), wanted, stopped=True)
        wanted = rounds[-1].next_samples(campaign.resamples)
    return Verdict(tuple(rounds), wanted, stopped=False)


def judged_round(campaign: Campaign, pairs: Pairs, samples: int) -> Round:
    """Return the estimates of all requests from the given number of samples."""
    places = product(campaign.precision, [t.name for t in campaign.traces], campaign.loads)
    return Round(samples, tuple(_estimate(pairs(*place), *place) for place in places))


def _estimate(pairs: Block, request: Precision, trace: str, load: str) -> Estimate:
    found = interval_of(pairs, request, trace, load)
    if np.isnan(found.value):
        few = len(pairs[0]) < LEAST_PAIRS
        raise NoIntervalError(
            f"precision: {request} at trace {trace!r}, load {load}, has no interval: of "
            f"{counted(len(pairs[0]), 'finished pair')} the ratio of means is not a number; "
            + ("run the failed cells with --retry-failed" if few else "request another metric")
        )
    low, ratio, high = np.exp(found[:3]).tolist()
    if math.isnan(low):
        # Pairs with another ratio are assumed to change the mean by about their share.
        other = differing(pairs)
        half = unseen(other, len(pairs[0]), request.level)
        samples = float(needed(request.relative, request.level))
        if other:
            samples = len(pairs[0]) * half / request.relative
    else:
        half = (high - low) / 2 / ratio
        log_half = found.high - found.value
        samples = len(pairs[0]) * (log_half / math.asinh(request.relative)) ** 2
    return Estimate(request, trace, load, low, ratio, high, half, samples)


def unseen(others: int, pairs: int, level: float) -> float:
    """Return an upper bound on the share of samples with another ratio, given `others` such pairs.

    The level holds for all numbers of samples together, because sampling continues until the share
    is small (Robbins 1970, with a Beta distribution of the share with the mean `EXPECTED`). Clopper
    and Pearson's bound holds only at a single number: with this bound, 29 % of the samplings ended
    with a share slightly above the requested 2 %.

    Examples
    --------
    >>> [round(unseen(0, pairs, 0.9), 3) for pairs in (20, 141)], round(unseen(3, 141, 0.9), 3)
    ([0.113, 0.02], 0.075)
    """
    from scipy.optimize import brentq
    from scipy.special import betaln

    same, wide = pairs - others, 1 / EXPECTED
    least = math.log1p(-level) + betaln(1 + others, wide + same) - betaln(1, wide)

    def above(share: float) -> float:
        return float(others * math.log(share) + same * math.log1p(-share) - least)

    return float(brentq(above, max(others / pairs, 1e-12), 1 - 1e-12))


def needed(relative: float, level: float) -> int:
    """Return the number of samples with one ratio that bounds the share of others by `relative`.

    Examples
    --------
    >>> needed(0.02, 0.9), needed(0.05, 0.9)
    (141, 50)
    """
    most = 2
    while unseen(0, most, level) > relative:
        most *= 2
    numbers = range(1, most + 1)
    return numbers[bisect_left(numbers, -relative, key=lambda n: -unseen(0, n, level))]


def interval_of(pairs: Block, request: Precision, trace: str, load: str) -> Interval:
    """Return the interval of a log ratio, as in a comparison of the store."""
    cell = request.metric, trace, load, request.policy
    return ratio_interval(pairs, cell, level=request.level, stopped=True)


def judge_store(store: Store, campaign: Campaign) -> Verdict:
    """Judge the rounds of a campaign by a store in which no cell is missing."""
    wanted = {one.metric for one in campaign.precision}
    values = dict(folded(store, only=wanted))
    axes = {axis: {label: i for i, label in enumerate(store.axes[axis])} for axis in store.axes}

    def first(samples: int) -> Pairs:
        rows = [axes["resample"][number] for number in range(1, samples + 1)]

        def pairs(request: Precision, trace: str, load: str) -> Block:
            found = values[request.metric][axes["trace"][trace]][rows, axes["load"][load]]
            return paired(*(found[:, axes["policy"][p]] for p in (request.over, request.policy)))

        return pairs

    return judge(campaign, first, max(store.axes["resample"]))


def paired(base: Float64, other: Float64) -> Block:
    """Return the pairs in which neither value is missing, each float64[pairs, 1]."""
    there = np.isfinite(base) & np.isfinite(other)
    return base[there, np.newaxis], other[there, np.newaxis]


def can_judge(store: Store, campaign: Campaign) -> bool:
    """Return whether a store has the axes and metrics that the requests of a campaign need."""
    needs: Mapping[str, Sequence[str]] = {
        "trace": [t.name for t in campaign.traces],
        "load": campaign.loads,
        "policy": [name for one in campaign.precision for name in (one.policy, one.over)],
    }
    metrics = {one.metric for one in campaign.precision}
    held = {v.name for v in store.figures}
    return metrics <= held and all(set(labels) <= set(store.axes[a]) for a, labels in needs.items())
