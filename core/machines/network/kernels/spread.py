"""Running co-allocated jobs: their processors, demands on links, and speed.

Source: Jones and Ligon (2005), section 2.2: the most saturated link determines a job's speed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Bool, Float64, Int64
from schedfarm.core.engine.jit import NEVER, routine, verb
from schedfarm.core.engine.record import Records, records

WHOLE = 2**30
"""Parts of work per second of run time: the rate of an undelayed job, parts/s."""

LEAST = 2.0**-30
"""Least share: a smaller share does not slow a job further."""


class SpreadJob:
    """State of a co-allocated job.

    job: its index. number: its number among the co-allocated jobs. rate: its rate, parts/s. since:
    the instant at which the remaining parts were counted, s. left, left_by_estimate: remaining
    parts until its end, and until its end by the estimate. end, predicted: the instants of these
    two ends, s.
    """

    job: int
    number: int
    rate: int
    since: int
    left: int
    left_by_estimate: int
    end: int
    predicted: int


class Spread(NamedTuple):
    """Hold the running jobs by slot; ``line[:count[0]]`` has the slots in order of starts.

    state: of each slot. parts: int64[n, clusters], processors of each job, by number, including
    completed jobs; number: int64[1], the number of co-allocated jobs so far. demand: int64[slots,
    clusters], on each link, kbit/s. share: float64[slots]. link: int64[clusters], capacity, kbit/s,
    NEVER for unlimited.
    asked: int64[clusters], the sum of demands. used: float64[clusters], the use by jobs whose share
    is known. known: bool[slots].
    """

    line: Int64
    count: Int64  # type: ignore[assignment]
    state: Records[SpreadJob]
    parts: Int64
    number: Int64
    demand: Int64
    share: Float64
    link: Int64
    asked: Int64
    used: Float64
    known: Bool


def nobody_spread(n: int, slots: int, link: Int64) -> Spread:
    """Return empty room for n jobs over some links, at most `slots` jobs at a time.

    Examples
    --------
    >>> nobody_spread(9, 4, np.array([100, 100])).demand.shape
    (4, 2)
    """
    clusters = link.size
    return Spread(
        np.arange(slots),
        np.zeros(1, np.int64),
        records(SpreadJob, slots),
        # The system allocates memory on the first write: only rows of co-allocated jobs.
        np.zeros((n, clusters), np.int64),
        np.zeros(1, np.int64),
        np.zeros((slots, clusters), np.int64),
        np.zeros(slots),
        link,
        np.zeros(clusters, np.int64),
        np.zeros(clusters),
        np.zeros(slots, np.bool_),
    )


@verb
def soonest_end(spread: Spread) -> int:
    """Return the next instant at which a co-allocated job ends, s, or NEVER."""
    soonest = NEVER
    for p in range(spread.count[0]):
        soonest = min(soonest, spread.state[spread.line[p]].end)
    return soonest


@verb
def put(spread: Spread, j: int, now: int, run: int, estimate: int) -> int:
    """Start a co-allocated job at full speed; return its slot."""
    s, state = spread.line[spread.count[0]], spread.state
    spread.count[0] += 1
    state[s].job, state[s].number, state[s].rate = j, spread.number[0], WHOLE
    spread.number[0] += 1
    state[s].since, state[s].left, state[s].left_by_estimate = now, run * WHOLE, estimate * WHOLE
    state[s].end, state[s].predicted = now + run, now + estimate
    return int(s)


@verb
def drop(spread: Spread, p: int) -> None:
    """Remove the p-th job, and release its demand."""
    line, last = spread.line, spread.count[0] - 1
    s = line[p]
    for k in range(p, last):
        line[k] = line[k + 1]
    line[last] = s
    spread.count[0] = last
    for c in range(spread.link.size):
        spread.asked[c] -= spread.demand[s, c]


@verb
def fullest(spread: Spread) -> tuple[int, float]:
    """Return the first link that saturates as unknown shares rise, and its share; -1 for none."""
    found, least = -1, 1.0
    for c in range(spread.link.size):
        asked = 0
        for p in range(spread.count[0]):
            s = spread.line[p]
            if not spread.known[s]:
                asked += spread.demand[s, c]
        if asked > 0 and spread.link[c] < NEVER:
            share = max(LEAST, (spread.link[c] - spread.used[c]) / asked)
            if share < least:
                found, least = c, share
    return found, least


@verb
def share_links(spread: Spread) -> None:
    """Compute each job's share of its demand by max-min fairness."""
    line, known, used = spread.line, spread.known, spread.used
    for p in range(spread.count[0]):
        known[line[p]], spread.share[line[p]] = False, 1.0
    for c in range(used.size):
        used[c] = 0.0
    link, share = fullest(spread)
    while link >= 0:
        for p in range(spread.count[0]):
            s = line[p]
            if not known[s] and spread.demand[s, link] > 0:
                known[s], spread.share[s] = True, share
                for c in range(used.size):
                    used[c] += share * spread.demand[s, c]
        link, share = fullest(spread)


@verb
def rate_of(communication: int, share: float) -> int:
    """Return the rate of a job with a share of its demand, parts/s."""
    if communication == 0 or share == 1.0:
        return WHOLE
    slowed = (1000 - communication) + communication / share
    return math.ceil(WHOLE * 1000 / slowed)


@verb
def change_rate(spread: Spread, s: int, rate: int, now: int) -> None:
    """Set a job's speed from now on, after counting the work done until now."""
    state = spread.state
    done = state[s].rate * (now - state[s].since)
    state[s].rate, state[s].since = rate, now
    state[s].left -= done
    state[s].left_by_estimate -= done
    state[s].end = now + (state[s].left + rate - 1) // rate
    state[s].predicted = now + (state[s].left_by_estimate + rate - 1) // rate


@routine
def reshare(spread: Spread, communication: Int64, now: int, slid: Int64) -> None:
    """Recompute shares; mark the clusters with moved predicted ends in `slid`, int64[clusters]."""
    share_links(spread)
    for p in range(spread.count[0]):
        s = spread.line[p]
        rate = rate_of(communication[spread.state[s].job], spread.share[s])
        if rate == spread.state[s].rate:
            continue
        change_rate(spread, s, rate, now)
        for c in range(slid.size):
            slid[c] |= spread.parts[spread.state[s].number, c] > 0
