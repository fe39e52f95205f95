"""Hypothesis strategies for workloads and policies, with the awkward cases made common."""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from core.platform.grid import Grid
from core.platform.nodes import Nodes
from core.policy.orders import ORDERS
from core.policy.policy import Policy
from core.reference.job import Job, jobs_of
from core.reference.order import KEYS
from core.schedule import Schedule
from core.workload.workload import Workload

# The default is the same at every run and quick. `random` draws anew at every run; the seed
# that pytest is given (--hypothesis-seed) repeats one, and HYPOTHESIS_EXAMPLES says how many.
settings.register_profile(
    "default",
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("few", settings.get_profile("default"), max_examples=2)
settings.register_profile(
    "random",
    settings.get_profile("default"),
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "15")),
    derandomize=False,
    print_blob=True,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

RULES = ("none", "aggressive", "easy", "depth(1)", "depth(2)", "depth(3)", "conservative")
"""Rules that any order goes with."""

BACKFILLING = ("aggressive", "easy", "depth(1)", "depth(2)", "depth(3)")
"""Rules that look for jobs to backfill, perhaps in an order of its own."""

THRESHOLDS = ("0s", "3s", "12s", "1x", "3x")
"""Starvation thresholds in every unit that matters to small jobs."""

INTERVALS = ("1s", "4s", "9s", "2h")
"""Refreshes and half-lives that fall upon the ends of small jobs."""

PLANNED = tuple(
    Policy(order, "planned", events=events, walk=walk, threshold=threshold)
    for events in ("instant", "per-event")
    for order, walk, threshold in (
        ("fcfs", "start", None),
        ("fcfs", "arrival", None),
        ("fcfs", "queue", None),
        ("spf", "queue", None),
        ("lxf", "queue", None),
        ("saf", "queue", "3s"),
        ("lcfs", "queue", "12s"),
    )
)
"""Forms of the rule that keeps a plan."""


@st.composite
def workloads(draw: st.DrawFn, max_jobs: int = 14, exact: bool = False) -> Workload:
    """Draw a few jobs, given in any order, on a small machine; exact estimates if asked for.

    Small ranges make ties, bursts and jobs that end together common; run 0, estimate 0 and
    jobs as wide as the machine are among them; a unit of time stretches some beyond 32 bits.
    """
    processors = draw(st.integers(1, 7))
    count = draw(st.integers(0, max_jobs))
    span = draw(st.sampled_from((0, 6, 25)))
    unit = draw(st.sampled_from((1, 1, 1, 3600, 2**33)))

    def column(values: st.SearchStrategy[int]) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=count, max_size=count)), np.int64)

    estimate = column(st.integers(0, 12))
    early = column(st.sampled_from((0, 0, 0, 1, 2, 5, 12)))
    width = st.integers(1, processors) | st.sampled_from((1, processors))
    return Workload.from_columns(
        submit=unit * column(st.integers(0, span)),
        run=unit * (estimate if exact else np.maximum(estimate - early, 0)),
        estimate=unit * estimate,
        procs=column(width),
        user=column(st.integers(-1, 3)),
        processors=processors,
        max_estimate=draw(st.sampled_from((-1, -1, 5, 20))),
    )


@st.composite
def policies(draw: st.DrawFn, order: str | None = None, rule: str | None = None) -> Policy:
    """Draw a policy of any order and rule, or of the given ones, with any of its options."""
    rule = rule or draw(st.sampled_from((*RULES, "planned")))
    if rule == "planned" and order in (None, "fcfs"):
        return draw(st.sampled_from(PLANNED))
    orders = st.sampled_from(tuple(ORDERS))
    order = order or draw(orders)
    backfill = draw(st.none() | orders) if rule in BACKFILLING else None
    shares = any(ORDERS[name].shares for name in (order, backfill) if name in ORDERS)
    interval = st.none() | st.sampled_from(INTERVALS) if shares else st.none()
    return Policy(
        order,
        rule,
        threshold=draw(st.none() | st.sampled_from(THRESHOLDS)),
        backfill=backfill,
        walk="queue" if rule == "planned" else "start",
        events=draw(st.sampled_from(("instant", "per-event"))),
        refresh=draw(interval),
        halflife=draw(interval),
    )


def crowd(seed: int, count: int) -> Workload:
    """Build a burst of jobs, most of which wait together: queues longer than any drawn one."""
    random = np.random.default_rng(seed)
    estimate = random.integers(0, 40, count)
    return Workload.from_columns(
        submit=random.integers(0, count // 2, count),
        run=np.where(random.random(count) < 0.5, estimate, random.integers(0, estimate + 1)),
        estimate=estimate,
        procs=np.minimum(random.geometric(0.15, count), 16),
        user=random.integers(0, 9, count),
        processors=16,
    )


def by_share(
    submit: np.ndarray, estimate: np.ndarray, procs: np.ndarray, user: np.ndarray, now: int
) -> np.ndarray:
    """Order the jobs of those first who have the fewest waiting: a function of the whole queue."""
    return np.array([np.count_nonzero(user == one) for one in user], np.int64)


def by_width_then_wait(
    submit: np.ndarray, estimate: np.ndarray, procs: np.ndarray, user: np.ndarray, now: int
) -> np.ndarray:
    """Order by a float that changes as time passes."""
    return procs - np.sqrt(now - submit)


SERIAL = Fraction(1, 2**40)
"""What stands for log2 of one processor in UNICEF."""


def _of_logarithms(job: Job, order: str, now: int) -> object:
    """Return what a key is made of: of the same parts every program makes the same float."""
    if order == "unicef":
        wait, length = now - job.submit, max(job.estimate, 1)
        if job.procs.bit_count() == 1:
            # A whole logarithm is exact, and of equal quotients the rounding is the same.
            return Fraction(wait, length) / (Fraction(job.procs.bit_length() - 1) or SERIAL)
        return 0 if wait == 0 else (wait, length, job.procs)
    asked: object = (job.estimate, job.procs)
    if order == "f3":
        asked = job.estimate * job.procs
    elif job.estimate == 0 or (order, job.estimate) == ("f1", 1):
        asked = 0
    return asked, max(job.submit, 1)


LOGARITHMIC = frozenset({"unicef", "f1", "f2", "f3", "f4"})
"""Orders whose floats may differ in the last place from one library, or machine, to the next."""


def is_close_call(schedule: Schedule, policy: Policy) -> bool:
    """Whether the last place of a logarithm decides between two jobs that wait together.

    numpy and Python's math differ there (log10 of one whole number in fifty), so two programs
    may part without either being wrong. Told of by the times of either.
    """
    orders = {policy.order, policy.backfill} & LOGARITHMIC
    starts = dict(zip(jobs_of(schedule.workload), schedule.start.tolist(), strict=True))
    instants = {*schedule.workload.submit.tolist(), *schedule.end.tolist()} if orders else set()
    for order, now in product(orders, instants):
        waiting = [job for job, start in starts.items() if job.submit <= now <= start]
        for one, other in combinations(waiting, 2):
            a, b = KEYS[str(order)](one, now), KEYS[str(order)](other, now)
            near = abs(a - b) <= 1e-12 * max(abs(a), abs(b))
            if near and _of_logarithms(one, str(order), now) != _of_logarithms(
                other, str(order), now
            ):
                return True
    return False


def grid_of(*clusters: int) -> Grid:
    """Name clusters c0, c1 and so on."""
    return Grid(clusters, [f"c{i}" for i in range(len(clusters))])


@st.composite
def grid_workloads(draw: st.DrawFn, max_jobs: int = 14, exact: bool = False) -> Workload:
    """Draw jobs of which none is wider than the widest of one to four clusters."""
    work = draw(workloads(max_jobs, exact))
    widest = int(work.procs.max(initial=1))
    others = draw(st.lists(st.integers(1, 7), max_size=3))
    clusters = draw(st.permutations([widest + draw(st.integers(0, 1)), *others]))
    return replace(work, platform=grid_of(*clusters))


@st.composite
def grid_policies(draw: st.DrawFn) -> Policy:
    """Draw a policy of any order and of a rule that makes its reservations anew, by instants."""
    rule = draw(st.sampled_from(RULES))
    called = tuple(f"tests.strategies:{f.__name__}" for f in (by_share, by_width_then_wait))
    orders = st.sampled_from((*ORDERS, *called))
    return Policy(
        draw(orders),
        rule,
        threshold=draw(st.none() | st.sampled_from(THRESHOLDS)),
        backfill=draw(st.none() | orders) if rule in BACKFILLING else None,
    )


def nodes_of(*capacities: int, sets: tuple[str, ...] = (), down: object = ()) -> Nodes:
    """Name nodes a, b and so on, and sets, which are words of these letters, s0, s1 and so on."""
    named = {f"s{i}": list(word) for i, word in enumerate(sets)}
    return Nodes(capacities, list("abcdefgh"[: len(capacities)]), named, down)  # type: ignore[arg-type]


@st.composite
def node_platforms(draw: st.DrawFn) -> Nodes:
    """Draw one to four nodes of one to three processors, up to three sets and a few outages."""
    capacities = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    letters = st.sets(st.sampled_from("abcd"[: len(capacities)]), min_size=1)
    sets = draw(st.lists(letters.map(lambda chosen: "".join(sorted(chosen))), max_size=3))
    down, up = [], dict.fromkeys("abcd"[: len(capacities)], 0)
    for node in draw(st.lists(st.sampled_from([*up]), max_size=4)):
        begin = up[node] + draw(st.integers(0, 15))
        up[node] = begin + draw(st.integers(1, 12))
        down.append((node, begin, up[node]))
    return nodes_of(*capacities, sets=tuple(sets), down=down)


@st.composite
def node_workloads(draw: st.DrawFn, max_jobs: int = 9) -> Workload:
    """Draw jobs that nodes can run: sets, weights, reservations in advance, moldable ones.

    Bursts and ties are common, run 0 and estimate 0 among them.
    """
    platform = draw(node_platforms())
    span = draw(st.sampled_from((0, 6, 25)))
    rows: list[dict[str, int]] = []
    for _ in range(draw(st.integers(0, max_jobs))):
        properties = draw(st.integers(-1, len(platform.sets) - 1))
        most = max(
            capacity
            for node, capacity in enumerate(platform.capacities)
            if properties < 0 or platform.members[properties, node]
        )
        weight = draw(st.integers(1, most))
        wide = int(platform.candidates(properties, weight).sum())
        estimate = draw(st.integers(0, 12))
        rows.append(
            {
                "submit": draw(st.integers(0, span)),
                "run": max(estimate - draw(st.sampled_from((0, 0, 0, 1, 2, 12))), 0),
                "estimate": estimate,
                "procs": weight * draw(st.integers(1, wide) | st.just(wide)),
                "weight": weight,
                "properties": properties,
                "reserved": draw(st.sampled_from((-1, -1, -1, 0, 2, 7, 20))),
                "serial": draw(st.sampled_from((-1, -1, 0, 300_000, 1_000_000))),
                "user": draw(st.integers(-1, 2)),
            }
        )
    names = ("submit", "run", "estimate", "procs", "weight", "properties", "reserved", "serial")
    columns = {name: [row[name] for row in rows] for name in (*names, "user")}
    epoch = draw(st.sampled_from((-1, 0, 86_395)))
    return Workload.from_columns(**columns, platform=platform, epoch=epoch)  # type: ignore[arg-type]


@st.composite
def node_policies(draw: st.DrawFn) -> Policy:
    """Draw `conservative` of any order, or `demt` with shelves and resets for small jobs."""
    if draw(st.booleans()):
        known = [name for name, row in ORDERS.items() if not row.shares]
        threshold = draw(st.none() | st.sampled_from(THRESHOLDS))
        return Policy(draw(st.sampled_from(known)), "conservative", threshold=threshold)
    return Policy(
        draw(st.sampled_from(("fcfs", "lcfs", "spf", "lqf", "saf"))),
        "demt",
        shelf=draw(st.sampled_from(("1s", "2s", "3s", "5s", "16s"))),
        resets=draw(st.sampled_from(("3s", "5s:10s:20s", "4s:9s:14s:19s:24s:29s", "8h:13h"))),
        utc=draw(st.sampled_from(("0s", "3s", "16h"))),
        worth=draw(st.sampled_from(("jobs", "procs", "area"))),
        budget=draw(st.sampled_from(("20000", "0", "3", "9"))),
    )
