"""Fit of parameters, which no file contains, to the real starts in the first half of the period.

Each setting of the parameters is simulated, and its loss is the difference between simulated and
real waits. The search is scipy's differential evolution on the logarithms of the values. The
interval of a parameter contains every simulated value whose loss is not significantly larger than
the least loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from schedfarm.core.arrays import Bool, Float64, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.philox import philox
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.select import select_jobs
from schedfarm.farm.site.model import Site
from schedfarm.farm.site.parameters import PARAMETERS, Parameter, Setting, jobs_at, rounded, start

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

WEEK, DAY = 604_800, 86_400

TRIALS = 80
"""Number of simulations of a fit with one parameter; each further parameter adds half as many."""

LEVEL = 0.9
"""Level of all intervals."""

SHORT = 60.0
"""Wait above which waits count by their logarithm, s."""

ROUNDS = 999
"""Number of bootstrap resamples."""

SLACK = 2.0
"""Tolerated loss of a setting above the best one, in standard deviations of the roughness."""

WARMUP = 0.1
"""Part of the log that is simulated but not counted, while usage and the queue build up."""

LEAST_WEEKS = 3
"""Least number of weeks of a log: with fewer, its halves have too few days."""


@dataclass(frozen=True, eq=False)
class Period:
    """Hold the periods of a site's jobs: the fit and the judgement.

    first, middle, last: ends of the warm-up, of the first half and of the log, s. fitted, judged:
    whether a job counts in the fit and in the judgement, bool[n].
    """

    first: int
    middle: int
    last: int
    fitted: Bool
    judged: Bool


def period_of(site: Site, warmup: float | None = None) -> Period:
    """Split a log into halves after a warm-up in weeks, by default a tenth of the log.

    A job counts in the first half only if it also started there. Jobs that started later may have
    been overtaken by jobs of the second half, which the fit does not simulate.
    """
    if warmup is not None and not np.isfinite(warmup):
        raise InputError(f"--warmup {warmup}: give a finite number of weeks, at least 0")
    jobs = site.jobs
    begin, last = int(jobs.submit[0]), int(jobs.submit[-1]) + 1
    weeks = (last - begin) / WEEK
    skipped = WARMUP * (last - begin) if warmup is None else warmup * WEEK
    if (last - begin - skipped) < LEAST_WEEKS * WEEK:
        raise InputError(
            f"{site.log} has {weeks:.1f} weeks of jobs, of which {skipped / WEEK:.1f} are the "
            f"warm-up; a fit and its judgement need {LEAST_WEEKS} more: dump a longer period"
        )
    first = int(begin + skipped)
    middle = (first + last) // 2
    known = jobs.logged_wait >= 0
    fitted = known & (jobs.submit >= first) & (jobs.submit + jobs.logged_wait < middle)
    return Period(first, middle, last, fitted, known & (jobs.submit >= middle))


@dataclass(frozen=True)
class Fitted:
    """Hold a parameter's fitted value and interval, the searched range, and the dump's value.

    given: the dump's value, None without one. `LEVEL` is the level of the interval.
    """

    name: str
    value: int
    low: int
    high: int
    least: int
    most: int
    given: int | None

    @property
    def at_bound(self) -> bool:
        """Whether the interval reaches an end of the searched range."""
        return self.low <= self.least or self.high >= self.most


@dataclass(frozen=True, eq=False)
class Fit:
    """Hold the best setting, its parameters, and the number of simulated settings."""

    setting: Setting
    parameters: Mapping[str, Fitted]
    loss: float
    trials: int


def fit(
    site: Site,
    period: Period,
    names: Sequence[str] = ("processors",),
    *,
    trials: int | None = None,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Fit parameters to the starts of the first half of the period."""
    from scipy.optimize import Bounds, differential_evolution

    rows = [PARAMETERS[name] for name in names]
    bounds = [row.bounds(site) for row in rows]
    most = trials or TRIALS * (len(rows) + 1) // 2
    search = _Search(site, rows, bounds, _Losses(site, period), most, progress)
    low, high = np.log(np.array(bounds)).T
    given = np.array(
        [_begin(row.of(site), *bound) for row, bound in zip(rows, bounds, strict=True)]
    )

    if (high > low).any():
        size = max(5, most // 5)
        differential_evolution(
            search.loss, Bounds(low, high), x0=given, init="sobol",
            popsize=max(5, size // len(rows)), maxiter=40, rng=seed, polish=False, tol=0,
            callback=search.enough,
        )  # fmt: skip
    else:
        search.loss(given)
    values, found = search.results()
    best = int(found.sum(axis=1).argmin())
    places = np.log(values) / np.maximum(high - low, 1e-9)
    equal = _as_good(found, best, seed, _roughness(places, found.sum(axis=1)))
    setting = start(site)
    for row, value in zip(rows, values[best].tolist(), strict=True):
        setting = row.put(setting, value)
    fitted = {
        row.name: _fitted(row.name, values[:, k], equal, best, bounds[k], row.of(site))
        for k, row in enumerate(rows)
    }
    return Fit(setting, fitted, float(found[best].sum()), len(found))


def _begin(given: int | None, least: float, most: float) -> float:
    """Return the logarithm of the first value: the dump's value, or the middle of the range."""
    return float(np.log(np.sqrt(least * most) if given is None else np.clip(given, least, most)))


def _fitted(
    name: str,
    values: Int64,
    equal: Bool,
    best: int,
    bounds: tuple[float, float],
    given: int | None,
) -> Fitted:
    """Return a parameter with its interval: the values as good as the best, and their neighbours.

    The true value may lie between the last equivalent value and the next simulated one.
    """
    low, high = int(values[equal].min()), int(values[equal].max())
    below, above = values[values < low], values[values > high]
    least, most = int(bounds[0]), int(bounds[1])
    return Fitted(
        name, int(values[best]), int(below.max()) if below.size else least,
        int(above.min()) if above.size else most, least, most, given,
    )  # fmt: skip


def _as_good(losses: Float64, best: int, seed: int, roughness: float) -> Bool:
    """Return the mask of settings that are not significantly worse than the best one.

    The test is a one-sided bootstrap at `LEVEL` of the difference of both losses, over blocks of
    days. Since the best of many settings is better than its surroundings by chance, `SLACK` times
    the roughness is tolerated.
    """
    random = np.random.Generator(philox("as good", seed))
    blocks = losses.shape[1]
    counts = random.multinomial(blocks, np.full(blocks, 1 / blocks), ROUNDS)
    drawn = (losses - losses[best]) @ counts.T
    found: Bool = np.quantile(drawn, 1 - LEVEL, axis=1) <= SLACK * roughness
    return found


def _roughness(places: Float64, losses: Float64) -> float:
    """Return the standard deviation of the losses around a quadratic surface near the best.

    A schedule is chaotic: another position of one job in the queue changes the starts of all later
    jobs. places: logarithms of the parameters, scaled to 0 to 1.
    """
    count, rows = places.shape
    terms = 1 + rows + rows * (rows + 1) // 2
    good = np.argsort(losses, kind="stable")[: max(count // 3, 2 * terms)]
    x, y = places[good] - places[good[0]], losses[good]
    if good.size <= terms:
        return 0.0
    pairs = [x[:, i] * x[:, k] for i in range(rows) for k in range(i, rows)]
    surface = np.stack([np.ones(good.size), *x.T, *pairs], axis=1)
    rest = y - surface @ np.linalg.lstsq(surface, y, rcond=None)[0]
    return float(np.sqrt((rest**2).sum() / (good.size - terms)))


@dataclass(eq=False)
class _Search:
    """Hold the losses of the settings that scipy has tried, by the values of the parameters."""

    site: Site
    rows: Sequence[Parameter]
    bounds: Sequence[tuple[float, float]]
    losses: _Losses
    most: int
    progress: Callable[[int, int], None] | None
    tried: dict[tuple[int, ...], Float64] = field(default_factory=dict)
    refused: list[InputError] = field(default_factory=list)

    def loss(self, logs: Float64) -> float:
        """Return the loss at logarithms of the parameters; infinite after the end of the search."""
        values = tuple(
            row.near(self.site, int(np.clip(rounded(float(np.exp(x))), *bound)))
            for x, row, bound in zip(logs, self.rows, self.bounds, strict=True)
        )
        if values not in self.tried:
            if self.refused or len(self.tried) >= self.most:
                return np.inf
            setting = start(self.site)
            for row, value in zip(self.rows, values, strict=True):
                setting = row.put(setting, value)
            try:
                self.tried[values] = self.losses.of(setting)
            except InputError as error:
                # scipy turns a ValueError of the objective into a RuntimeError of its map.
                self.refused.append(error)
                return np.inf
            if self.progress:
                self.progress(len(self.tried), self.most)
        return float(self.tried[values].sum())

    def enough(self, intermediate_result: OptimizeResult) -> None:
        """Stop scipy when all trials are used, or after a refused setting."""
        if self.refused or len(self.tried) >= self.most:
            raise StopIteration

    def results(self) -> tuple[Int64, Float64]:
        """Return the values and losses of all trials; raise the error of a refused setting."""
        if self.refused:
            raise self.refused[0]
        return np.array(list(self.tried), np.int64), np.array(list(self.tried.values()))


class _Losses:
    """Simulate settings on the first half, and compare the waits of each user on each day."""

    def __init__(self, site: Site, period: Period) -> None:
        first = int(np.searchsorted(site.jobs.submit, period.middle))
        self._site, self._jobs = site, select_jobs(site.jobs, first)
        self._counted = period.fitted[:first]
        if not self._counted.any():
            raise InputError(f"{site.log}: no job started in the first half; dump a longer period")
        self._logged = self._jobs.logged_wait[self._counted]
        day = (self._jobs.submit[self._counted] - period.first) // DAY
        pairs = np.stack((day, self._jobs.user[self._counted]), axis=1)
        groups, place = np.unique(pairs, axis=0, return_inverse=True)
        self._group = place.ravel()
        span = block_days(period.middle - period.first)
        self._block = groups[:, 0] // span
        self._blocks = int(self._block.max()) + 1

    def of(self, setting: Setting) -> Float64:
        """Return the loss of each block of days, s per job: float64[blocks]."""
        from schedfarm.core import simulate

        schedule = simulate(
            jobs_at(self._site, setting, self._jobs),
            Policy.parse(setting.policy(self._site)),
        )
        error = np.log1p(schedule.wait[self._counted] / SHORT) - np.log1p(self._logged / SHORT)
        sums = np.abs(np.bincount(self._group, weights=error))
        found = np.bincount(self._block, weights=sums, minlength=self._blocks)
        return found / error.size


def block_days(span: float) -> int:
    """Return the number of days in a bootstrap block: a week from eight weeks on, else a day."""
    return 7 if span >= 8 * WEEK else 1
