"""Calibration of planned costs on this machine by brief simulations of some cells.

The rates for the layout of a store (`farm.planning.cost`) depend only on the campaign, and not on
its queues. Calibration simulates one cell of each kind: a trace, the log itself or a sample, a
load, and policies of equal cost. A simulation is cut off after a moment. Its remaining cost follows
from the queues of the same jobs under EASY backfilling, which is cheap to simulate.
"""

from __future__ import annotations

import math
import threading
import time
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np

from schedfarm.core import own
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.cancel import Underway
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError, Left
from schedfarm.core.format.geometry import Block, Span
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.metrics.summary import summarise
from schedfarm.core.policy.cost import CALLED, Rate
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.samples import Samples
from schedfarm.farm.planning.cost import CELL_SECONDS, SECONDS, cell_seconds, load_value, rate_of
from schedfarm.farm.planning.design import Design
from schedfarm.farm.store.store import Store

BUDGET_SECONDS = 8.0
"""CPU time of a calibration, s, in addition to compiling kernels that are new to this machine."""

MOMENT_SECONDS = 0.3
"""Most CPU time for the simulation of one cell, s. In a test, 36 simulations of 0.3 to 15 s (six
logs, loads 0.7, 0.95 and 1.1, six policies) were extrapolated from 0.3 s: 83 % were within a factor
of 2 and 97 % within 3 (ratios of 0.30 to 2.9). From 0.1 s, 79 % of 52 simulations were within a
factor of 2 and 92 % within 3 (ratios of 0.29 to 5.8)."""

SHORT_SECONDS = 0.1
"""Least CPU time for each cell, s; if there are too many kinds, some are skipped."""

POLL_SECONDS = 0.01
"""Interval at which the CPU time of a simulation is checked, s."""

QUEUE_SECONDS = 1.0
"""Time after which EASY backfilling, which determines the queue, is cut off, s."""

QUEUE_POLICY = "fcfs+easy"

FEW = 50
"""Number of jobs that are simulated first, to compile kernels."""

SHARE = 0.1
"""Largest share of the run's expected cost that a calibration takes."""

PER_JOB_SECONDS = 0.12e-6
"""CPU time of a job outside of the simulation, s: metrics, weeks, compression. Measured: 0.06 to
0.14 us over four campaigns of 0.8 to 18 million jobs."""

CALLED_JOBS = 1000.0
"""Scale of the queue in the cost of an order in Python: an arrival that finds q waiting jobs costs
1 + q / CALLED_JOBS, since the call dominates. Among 10, 100, 300, 1,000 and no such term, this
value gave the most accurate extrapolations from a twelfth of 16 simulations (KTH-SP2, loads 0.7 to
1.0, easy and conservative): ratios of 0.92 to 1.11. `QUEUE_JOBS` gave 0.51 to 3.35."""

QUEUE_JOBS, QUEUE_POWER = 10.0, 1.5
"""Scale and power of the queue: an arrival that finds q waiting jobs costs (1 + q / QUEUE_JOBS) to
this power. Of the powers 0.5, 1, 1.5 and 2, only this power gave unbiased extrapolations: their
ratios have the geometric mean 1.01."""

Kind = tuple[str, bool, str, Rate]
"""Trace, whether it is the log itself, load, and the rates of policies of equal cost."""

Met = tuple[str, bool, str]
"""The first three entries of a kind, which determine its jobs."""


@dataclass(frozen=True)
class Calibration:
    """Hold measured costs relative to the plan.

    factors: measured CPU time of a cell per planned second. whole: number of kinds with a cell that
    was simulated to its end. kinds: number of all kinds. seconds: duration of the calibration, s.
    """

    factors: Mapping[Kind, float]
    whole: int
    kinds: int
    seconds: float

    def __str__(self) -> str:
        cut, rest = len(self.factors) - self.whole, self.kinds - len(self.factors)
        parts = [f"{self.whole} to the end"]
        parts += [f"{cut} in part and extrapolated by their queues"] * bool(cut)
        parts += [f"{rest} estimated from the others"] * bool(rest)
        return (
            f"CPU time as measured here in {self.seconds:.0f} s on {self.kinds} kinds of cells "
            f"(trace, load, rule): {', '.join(parts)}"
        )

    def factor(self, kind: Kind) -> float:
        """Return the factor of a kind, or of the most similar one; 1 without measurements.

        The same trace matters most, then the same rule, then the nearest load.
        """
        if kind in self.factors or not self.factors:
            return self.factors.get(kind, 1.0)
        keys = product((kind[0], None), (kind[3], None))
        alike = next(self._alike[key] for key in keys if key in self._alike)
        # Only similar kinds are compared: there may be 100,000 loads.
        at = bisect_left(alike, load_value(kind[2]), key=_load)
        near = sorted({_load(one) for one in alike[max(0, at - 1) : at + 1]})
        runs = ((bisect_left(alike, x, key=_load), bisect_right(alike, x, key=_load)) for x in near)
        found = [one for first, last in runs for one in alike[first:last]]
        return self.factors[min(found, key=lambda one: _difference(one, kind))]

    @cached_property
    def _alike(self) -> dict[tuple[str | None, Rate | None], list[Kind]]:
        """Kinds of each trace and rule, of each trace, of each rule, and of all, sorted by load."""
        found: dict[tuple[str | None, Rate | None], list[Kind]] = defaultdict(list)
        for kind in sorted(self.factors, key=_load):
            for key in product((kind[0], None), (kind[3], None)):
                found[key].append(kind)
        return dict(found)

    def costs(self, store: Store, blocks: Iterable[Block]) -> dict[Block, float]:
        """Return the CPU time of blocks, s: `farm.planning.tasks.block_costs` times the factors."""
        with own.sources(store.own):
            cost = cache(self._cost)
            return {block: math.fsum(_cells(store, block, cost)) for block in blocks}

    def _cost(self, kind: str, jobs: int, cell: int, met: Met, policy: str) -> float:
        planned = SECONDS[kind](jobs, policy, met[2], cell)
        return planned * self.factor((*met, rate_of(policy))) if planned else 0.0


def _load(kind: Kind) -> float:
    return load_value(kind[2])


def _difference(one: Kind, other: Kind) -> tuple[bool, bool, float, bool]:
    loads = abs(load_value(one[2]) - load_value(other[2]))
    return one[0] != other[0], one[3] != other[3], loads, one[1] != other[1]


class _Budget:
    """Compute the CPU time that a calibration may take: a share of the run's expected cost.

    costs: planned CPU time of each kind, s. fixed: CPU time of the run outside of its cells, s.
    most: upper bound of the result, s.
    """

    def __init__(self, costs: Mapping[tuple[Met, Rate], float], fixed: float, most: float) -> None:
        self._costs, self._fixed, self._most = costs, fixed, most
        self._factors: dict[tuple[Met, Rate], float] = {}

    def learn(self, met: Met, rate: Rate, factor: float) -> None:
        """Record the factor of a kind."""
        self._factors[met, rate] = factor

    @property
    def seconds(self) -> float:
        """Largest CPU time of the whole calibration, s."""
        known = sum(self._costs[key] for key in self._factors)
        measured = sum(self._costs[key] * factor for key, factor in self._factors.items())
        # The ratio of cost to plan is expected to be the same for unmeasured kinds as for measured
        # kinds, but at most 1.
        usual = min(1.0, measured / known) if known else 1.0
        rest = (sum(self._costs.values()) - known) * usual
        return min(self._most, SHARE * (self._fixed + measured + rest))


def calibrate(
    design: Design,
    blocks: Iterable[Block],
    seconds: float = BUDGET_SECONDS,
    fixed: float = math.inf,
) -> Calibration:
    """Briefly simulate a cell of each kind of the missing blocks, the costliest kinds first.

    seconds: most CPU time, s. fixed: CPU time of the run outside of its cells, s, which the limit
    `SHARE` needs; without it there is no such limit. The store need not exist.
    """
    begun, store = time.monotonic(), design.store
    with own.sources(store.own):
        work, costs = _kinds(store, blocks)
        budget = _Budget(costs, fixed, seconds)
        factors: dict[Kind, float] = {}
        count = left = sum(len(policies) for _, policies in work)
        whole, spent, drawing = 0, 0.0, 0.0
        warm: set[tuple[str, str]] = set()
        for met, policies in work:
            if spent + drawing >= budget.seconds:
                break
            start = time.process_time()
            jobs = _jobs(design, met)
            drawing += time.process_time() - start
            if jobs is None:
                continue
            queued = _as_queued(jobs)
            # Each kind of platform has its own kernels.
            for met_by, names in ((queued, [QUEUE_POLICY]), (jobs, policies.values())):
                kind = met_by.platform.name
                _warm_up(met_by, {name for name in names if (kind, name) not in warm})
                warm |= {(kind, name) for name in names}
            start = time.process_time()
            queue = _queue(queued)
            for rate, policy in policies.items():
                # Each kind is simulated briefly, even after the budget has been spent.
                share = (budget.seconds - spent - drawing) / left
                moment = min(MOMENT_SECONDS, max(SHORT_SECONDS, share))
                took, ended = _measured(jobs, policy, queue, moment)
                if took:
                    took += CELL_SECONDS + PER_JOB_SECONDS * len(jobs)
                    planned = cell_seconds(store.jobs[met[0]], policy, met[2])
                    factors[*met, rate] = took / planned
                    budget.learn(met, rate, took / planned)
                    whole += ended
                left -= 1
            spent += time.process_time() - start
    return Calibration(factors, whole, count, time.monotonic() - begun)


def _kinds(
    store: Store, blocks: Iterable[Block]
) -> tuple[list[tuple[Met, dict[Rate, str]]], dict[tuple[Met, Rate], float]]:
    """Return a policy of each kind, grouped by jobs, costliest first; and planned costs, s."""
    found: dict[Met, dict[Rate, str]] = defaultdict(dict)
    each: dict[tuple[Met, Rate], float] = defaultdict(float)
    costs: dict[Met, float] = defaultdict(float)
    rate, seconds, parsed = cache(rate_of), cache(cell_seconds), cache(Policy.parse)
    for block in blocks:
        span = store.span_of(block)
        if not block.product.policies:
            continue
        for met, count in _met(block.trace, span):
            for policy in span.policies:
                planned = count * seconds(store.jobs[block.trace], policy, met[2])
                costs[met] += planned
                each[met, rate(policy)] += planned
                # The cost of a plug-in rule is unknown, and its simulation cannot be cut off.
                if parsed(policy).row.cost is not CALLED:
                    found[met].setdefault(rate(policy), policy)
    return sorted(found.items(), key=lambda one: -costs[one[0]]), each


def _met(trace: str, span: Span) -> Iterator[tuple[Met, int]]:
    """Yield the jobs of a block's cells, each with the number of cells per policy."""
    logs = sum(number == 0 for number in span.resamples)
    for load in span.loads:
        for log, count in ((True, logs), (False, len(span.resamples) - logs)):
            if count:
                yield (trace, log, load), count


def _cells(store: Store, block: Block, cost: Callable[..., float]) -> Iterator[float]:
    span, places = store.span_of(block), store.job_range(block)
    for met, count in _met(block.trace, span):
        for policy in span.policies:
            jobs = places.stop - places.start
            yield count * cost(block.kind, jobs, store.jobs[block.trace], met, policy)


def _jobs(design: Design, met: Met) -> Workload | None:
    """Return the jobs of a kind of cells; None if it has no jobs."""
    name, log, load = met
    trace = next(t for t in design.campaign.traces if t.name == name)
    number = 0 if log else max(1, min(design.campaign.resample_axis))
    try:
        return Samples(trace, design.logs[name], design.store.settings).at(number, load)
    except InputError:
        return None


def _warm_up(jobs: Workload, policies: Iterable[str]) -> None:
    """Compile all kernels of a cell, so that the run on this host need not compile."""
    few = jobs.take(slice(FEW))
    for policy in policies:
        summarise(simulate(few, policy))


def _run(jobs: Workload, policy: str, seconds: float) -> tuple[float, Int64, bool]:
    """Simulate for a CPU time, s; return the elapsed time, the starts, and whether it ended."""
    with Underway() as under:
        begun, over = time.process_time(), threading.Event()

        def wait() -> None:
            # The limit is in CPU time, so that a busy machine does not cut a measurement short.
            while not over.wait(POLL_SECONDS) and time.process_time() - begun < seconds:
                pass
            under.leave()

        threading.Thread(target=wait, daemon=True).start()
        ended = True
        try:
            simulate(jobs, policy)
        except Left:
            ended = False
        finally:
            took = time.process_time() - begun
            over.set()
        return took, under.started, ended


def _as_queued(jobs: Workload) -> Workload:
    """Return the jobs on a machine that `QUEUE_POLICY` supports; on one pool, if necessary."""
    return jobs.take(slice(None), platform=Pool(jobs.processors)) if jobs.platform.asks else jobs


def _queue(jobs: Workload) -> Float64:
    """Return the number of waiting jobs at each arrival under EASY backfilling, float64[n].

    All values are 0 if the simulation takes too long.
    """
    _, start, ended = _run(jobs, QUEUE_POLICY, QUEUE_SECONDS)
    if not ended:
        return np.zeros(len(jobs))
    begun = np.searchsorted(np.sort(start), jobs.submit, side="right")
    waiting: Float64 = np.maximum(np.arange(len(jobs)) - begun, 0).astype(np.float64)
    return waiting


def _weight(policy: str, queue: Float64) -> Float64:
    """Return the relative cost of each arrival, given the queue that it finds."""
    parsed = Policy.parse(policy)
    names = {parsed.order, parsed.backfill or parsed.order}
    if any(find_order(name).cost is CALLED for name in names):
        return 1 + queue / CALLED_JOBS
    weight: Float64 = (1 + queue / QUEUE_JOBS) ** QUEUE_POWER
    return weight


def _measured(jobs: Workload, policy: str, queue: Float64, moment: float) -> tuple[float, bool]:
    """Return the CPU time of a simulation, s, and whether it was simulated to its end."""
    took, start, ended = _run(jobs, policy, moment)
    if ended:
        return took, True
    arrived = int(np.searchsorted(jobs.submit, start.max(initial=-1), side="right"))
    weight = _weight(policy, queue)
    done = float(weight[:arrived].sum())
    if not done:
        return 0.0, False
    return took * float(weight.sum()) / done, False
