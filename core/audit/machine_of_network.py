"""Clusters and links as the auditor knows them: who runs where, who is how fast, who ends when."""

from __future__ import annotations

from bisect import bisect_left, insort
from functools import lru_cache
from math import ceil, inf, isqrt

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.audit.profile import Profile
from schedfarm.core.errors import InputError
from schedfarm.core.machines.network.platform import THOUSAND, Network
from schedfarm.core.workload.workload import Workload

Parts = tuple[tuple[int, int], ...]
"""Indices of clusters, ascending, and the processors of each."""

WIDEST = 2_000
"""Most processors of a job whose splits are judged: all its parts take 8 x procs^2 bytes."""

WORK = 2**30
"""Parts of work of a second of a job that no link holds up."""

LEAST = 1 / 2**30
"""Least share of what a job asks for."""

PLENTY = 2**62
"""What a link without a limit has, kbit/s."""


def demand(
    procs: npt.ArrayLike,
    first: npt.ArrayLike,
    last: npt.ArrayLike,
    bandwidth: npt.ArrayLike,
    alltoall: npt.ArrayLike,
) -> Int64:
    """Return what jobs ask of a link for the processors of their mesh from `first` up to `last`.

    Parameters
    ----------
    procs : int64[k]
        Processors of each job in all, n.
    first, last : int64[k]
        Which of them are on the cluster, counted row by row through the mesh; the last excluded.
    bandwidth, alltoall : int64[k]
        As the columns of the same names.

    Returns
    -------
    int64[k]
        In each direction, kbit/s.

    Examples
    --------
    >>> demand(4, 0, 2, 1000, 1000).tolist(), demand([4, 4], [0, 1], [2, 3], 1000, 0).tolist()
    (1334, [500, 1000])
    """
    n, a, b = (np.asarray(numbers, np.int64) for numbers in (procs, first, last))
    widths = {int(size): isqrt(int(size) - 1) + 1 for size in np.unique(n)}
    sizes = np.array([*widths], np.int64)
    rows = np.array([*widths.values()], np.int64)[np.searchsorted(sizes, n)]
    # Along rows a stretch is cut at its ends alone, unless these are ends of rows.
    cut = ((a > 0) & (a % rows != 0)).astype(np.int64) + ((b < n) & (b % rows != 0))
    # Across rows: i is above i + rows, for i from 0 up to n - rows.
    below = np.maximum(np.minimum(b, n - rows) - a, 0)
    above = np.maximum(np.minimum(b - rows, n - rows) - np.maximum(a - rows, 0), 0)
    inside = np.maximum(np.minimum(b - rows, n - rows) - a, 0)
    cut = np.where(b > a, cut + below + above - 2 * inside, 0)
    k, to_all = b - a, np.asarray(alltoall, np.int64)
    # Over the denominator 4 x 1000 x (n - 1); the numerator is below 2^62.
    weighed = 4 * to_all * k * (n - k) + (THOUSAND - to_all) * cut * (n - 1)
    numerator = np.asarray(bandwidth, np.int64) * weighed
    asked: Int64 = -(-numerator // (4 * THOUSAND * np.maximum(n - 1, 1)))
    return asked


@lru_cache(32)
def demands_of(procs: int, bandwidth: int, alltoall: int) -> Int64:
    """Return what a job asks of a link for any of its processors in a row, int64[n + 1, n + 1]."""
    edges = np.arange(procs + 1)
    return demand(procs, edges[:, None], edges[None, :], bandwidth, alltoall)


class Spread:
    """Follow one job on several clusters: the work that is left, and how fast it goes on."""

    def __init__(self, now: int, run: int, estimate: int, asks: list[int]) -> None:
        self.since, self.speed = now, WORK
        self.left, self.left_by_estimate = run * WORK, estimate * WORK
        # What it asks of each link, kbit/s.
        self.asks = asks

    def go_on(self, now: int, speed: int) -> None:
        """Count what was done until now; from now on it has another speed."""
        done = self.speed * (now - self.since)
        self.left, self.left_by_estimate = self.left - done, self.left_by_estimate - done
        self.since, self.speed = now, speed

    @property
    def end(self) -> int:
        """When its work is done as things stand, s."""
        return self.since - (-self.left // self.speed)

    @property
    def predicted(self) -> int:
        """When it would be done if it took its estimate, s."""
        return self.since - (-self.left_by_estimate // self.speed)


class Clusters:
    """Know the jobs, and follow who runs on which cluster, and until when."""

    def __init__(self, work: Workload) -> None:
        assert isinstance(work.platform, Network)
        self.platform = work.platform
        self.work = work
        self.procs: list[int] = work.procs.tolist()
        self.run: list[int] = work.run.tolist()
        self.estimate: list[int] = work.estimate.tolist()
        self.origin: list[int] = work.origin.tolist()
        self.sizes = work.platform.sizes
        self.capacities = list(work.platform.links) or [PLENTY] * len(self.sizes)
        self.now = -1
        self.free = list(self.sizes)
        # On each cluster, in order of predicted ends: these, the job, and its processors there.
        self.running: list[list[tuple[int, int, int]]] = [[] for _ in self.sizes]
        # Of those inside one cluster, their ends, in order.
        self.ending: list[tuple[int, int]] = []
        # Of those on several, in the order in which they started.
        self.spread: dict[int, Spread] = {}
        self.parts: dict[int, Parts] = {}
        # What is asked of each link in all, kbit/s; and whether that changed since links were
        # shared out.
        self.asked = [0] * len(self.sizes)
        self.changed = False

    def begin(self, job: int, parts: Parts) -> None:
        """Give a job its processors."""
        self.parts[job] = parts
        predicted = self.now + self.estimate[job]
        for place, procs in parts:
            self.free[place] -= procs
            insort(self.running[place], (predicted, job, procs))
        if len(parts) == 1:
            insort(self.ending, (self.now + self.run[job], job))
            return
        asks = self.asks(job, parts)
        self.spread[job] = Spread(self.now, self.run[job], self.estimate[job], asks)
        self._ask(asks, 1)

    def complete(self) -> list[int]:
        """Take back the processors of whoever ends now; return them."""
        count = bisect_left(self.ending, (self.now + 1, -1))
        ended = [(job, self.now_predicted(job)) for _, job in self.ending[:count]]
        del self.ending[:count]
        ended += [(job, one.predicted) for job, one in self.spread.items() if one.end <= self.now]
        for job, predicted in ended:
            for place, procs in self.parts.pop(job):
                self.free[place] += procs
                del self.running[place][bisect_left(self.running[place], (predicted, job, procs))]
            if job in self.spread:
                self._ask(self.spread.pop(job).asks, -1)
        return [job for job, _ in ended]

    def share_out(self) -> None:
        """Share links out anew if a job on several clusters has started or ended."""
        if not self.changed:
            return
        self.changed = False
        shares = self.shares()
        for job, one in self.spread.items():
            before = one.predicted
            one.go_on(self.now, _speed(int(self.work.communication[job]), shares.get(job, 1.0)))
            if one.predicted != before:
                for place, procs in self.parts[job]:
                    there = self.running[place]
                    del there[bisect_left(there, (before, job, procs))]
                    insort(there, (one.predicted, job, procs))

    def shares(self) -> dict[int, float]:
        """Return the share of each job that gets less than it asks for."""
        if all(asked <= there for asked, there in zip(self.asked, self.capacities, strict=True)):
            return {}
        shares: dict[int, float] = {}
        used, asked = [0.0] * len(self.asked), self.asked.copy()
        left = {job: one.asks for job, one in self.spread.items()}
        while True:
            levels = [
                max((there - taken) / wanted, LEAST) if wanted else inf
                for there, taken, wanted in zip(self.capacities, used, asked, strict=True)
            ]
            level = min(levels)
            if level >= 1.0:
                return shares
            full = levels.index(level)
            for job in [job for job, asks in left.items() if asks[full]]:
                shares[job] = level
                for link, wants in enumerate(left.pop(job)):
                    used[link] += level * wants
                    asked[link] -= wants

    def next_end(self) -> int | None:
        """Return when the next job ends as things stand, s."""
        ends = [end for end, _ in self.ending[:1]] + [one.end for one in self.spread.values()]
        return min(ends, default=None)

    def profile(self, place: int) -> Profile:
        """Return the free processors of a cluster by the predicted ends of who runs there."""
        ends = ((end, procs) for end, _, procs in self.running[place])
        return Profile(self.now, self.free[place], ends)

    def now_predicted(self, job: int) -> int:
        """Return when a job inside one cluster, that ends now, was predicted to end, s."""
        return self.now - self.run[job] + self.estimate[job]

    # Links.

    def asks(self, job: int, parts: Parts) -> list[int]:
        """Return what a job with these parts asks of each link, kbit/s."""
        asks, first = [0] * len(self.sizes), 0
        if len(parts) > 1:
            of_job = self.demands(job)
            for place, procs in parts:
                asks[place] = int(of_job[first, first + procs])
                first += procs
        return asks

    def demands(self, job: int) -> Int64:
        """Return what a job asks of a link for any of its processors in a row, kbit/s."""
        work = self.work
        if self.procs[job] > WIDEST:
            raise InputError(
                f"job {work.job[job]} has {self.procs[job]} processors; on networks splits of jobs "
                f"with up to {WIDEST} are judged"
            )
        return demands_of(self.procs[job], int(work.bandwidth[job]), int(work.alltoall[job]))

    def spare(self) -> list[int]:
        """Return what of each link nobody asks for, kbit/s."""
        return [there - asked for there, asked in zip(self.capacities, self.asked, strict=True)]

    def _ask(self, asks: list[int], sign: int) -> None:
        self.changed = True
        for link, wants in enumerate(asks):
            self.asked[link] += sign * wants

    # Words.

    def says(self, job: int) -> str:
        """Name a job in a sentence."""
        origin = self.platform.places[self.origin[job]]
        return f"job {self.work.job[job]} ({self.procs[job]} processors, of {origin})"

    def names(self, parts: Parts) -> str:
        """Name parts in a sentence."""
        last = len(self.sizes)
        return " and ".join(
            f"{procs} of {self.platform.places[place] if 0 <= place < last else f'place {place}'}"
            for place, procs in parts
        )


def _speed(communication: int, share: float) -> int:
    """Return the parts of work that a job does in a second."""
    if share == 1.0 or not communication:
        return WORK
    return ceil(WORK * THOUSAND / (THOUSAND - communication + communication / share))
