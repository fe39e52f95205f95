"""Hypothesis strategies for workloads and policies of every platform, awkward cases made common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from hypothesis import strategies as st

from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.network.reference.rules import best_split
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.machines.resources.platform import UNITS as UNITS_OF, Resources
from schedfarm.core.policy.orders import ORDERS
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import Job, jobs_of
from schedfarm.core.reference.orders import KEYS
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

# Policies.

MODULE = "tests.support.strategies"

CALLED = (f"{MODULE}:by_share", f"{MODULE}:by_width_then_wait")
"""Plug-in orders that depend on the waiting jobs."""

ASKING = (f"{MODULE}:heaviest", f"{MODULE}:least_served")
"""Plug-in orders that depend on users' usage."""

WRITTEN = (
    "(-(now - submit) * procs / max(estimate, 1))",
    "(min(estimate % 5, procs) if now - submit > 3 and procs < 3 else -user**2)",
)
"""Orders that are expressions."""

FIXED = ("fcfs", "lcfs", "spf", "lpf", "sqf", "lqf", "saf", "laf")
"""Orders in which a job's place never changes and no float decides."""

LOGARITHMIC = frozenset({"unicef", "f1", "f2", "f3", "f4"})
"""Orders whose floats may differ in the last place from one library, or machine, to the next."""

SHARING = tuple(name for name, row in ORDERS.items() if row.shares)
"""Orders by users' usage."""

POOL_RULES = ("none", "aggressive", "easy", "depth", "conservative", "planned", "tabu")

RULES = {
    "pool": POOL_RULES,
    "grid": POOL_RULES,
    "nodes": ("conservative", "demt"),
    "network": ("isolated", "ics", "icsb"),
    "resources": ("none", "aggressive", "easy", "depth", "conservative", "planned"),
    "partitions": ("none", "aggressive", "easy", "depth", "conservative", "planned"),
    "hosts": ("none", "aggressive", "easy", "depth", "conservative"),
}
"""Rules that a kind of platform supports, without the K of rules with a number."""

COMPILED_LAST = (
    ("pool", "depth"),
    ("pool", "planned"),
    ("pool", "tabu"),
    ("grid", "tabu"),
    *(("nodes", rule) for rule in RULES["nodes"]),
    *(
        (platform, rule)
        for platform in ("grid", "resources", "partitions", "hosts")
        for rule in RULES[platform]
        if rule != "tabu"
    ),
)
"""Rules whose kernels take longest to compile for every order: a tier that is not run by default
compares them on random workloads. Hand-written cases do so by default, run by Python."""

BACKFILLING = ("aggressive", "easy", "depth")
"""Rules that look for jobs to backfill, perhaps in an order of its own."""

HOLDERS = {"depth": (1, 2, 3), "isolated": (1, 2), "icsb": (1, 2, 3, 10)}
"""Values of K."""

THRESHOLDS = ("0s", "3s", "12s", "1x", "3x")
"""Starvation thresholds in every unit that matters to small jobs."""

INTERVALS = ("1s", "4s", "9s", "2h")
"""Refreshes and half-lives that fall upon the ends of small jobs."""

OPTIONS: dict[str, Sequence[str | None]] = {
    "threshold": (None, None, *THRESHOLDS),
    "events": ("instant", "per-event"),
    "backfill": (*[None] * len(ORDERS), *ORDERS, *CALLED, *WRITTEN),
    "refresh": (None, None, *INTERVALS),
    "halflife": (None, None, *INTERVALS),
    "walk": ("start", "arrival", "queue", "queue"),
    "every": ("1s", "2s", "3s", "5s", "7s", "10s"),
    "iterations": (None, "0", "1", "3", "1x", "5x", "20"),
    "tenure": (None, None, "0", "1", "2", "3"),
    "seed": (None, "1", "2", "99", "999999999"),
    "weights": (None, "0:0:0:1", "1:0:0:0", "0.5:2:0:10", "0:1:0:0.25", "0:0:0:0", "1:1:1:10"),
    "jobs": (None, "all"),
    "users": (None, "plan"),
    "fairness": (None, "raised"),
    "search": (None, "random", "gap"),
    "shelf": ("1s", "2s", "3s", "5s", "16s"),
    "resets": ("3s", "5s:10s:20s", "7s:8s", "4s:9s:14s:19s:24s:29s:34s", "8h:13h"),
    "utc": (None, None, "3s", "16h"),
    "worth": (None, "procs", "area"),
    "budget": (None, None, "0", "3", "9"),
    "to": (None, "least", "first"),
    "links": (None, "ignored", "ignored", "unused"),
    "queue": (None, "global"),
}
"""Values of each option, None where it is left out."""

SEARCH = ("every", "iterations", "tenure", "seed", "weights", "jobs", "users", "fairness", "search")


def orders_of(platform: str, rule: str) -> tuple[str, ...]:
    """Return every order that a rule supports on a kind of platform."""
    if rule == "tabu" or (platform, rule) == ("grid", "planned"):
        return ("fcfs",)
    if platform == "network" or rule == "demt":
        return FIXED
    if platform == "nodes":
        return (*(name for name, row in ORDERS.items() if not row.remembers), *CALLED, *WRITTEN)
    return (*ORDERS, *CALLED, *ASKING, *WRITTEN)


def options_of(platform: str, rule: str) -> tuple[str, ...]:
    """Return the options that a rule supports on a kind of platform, except those of orders."""
    if rule == "tabu":
        return SEARCH
    if rule == "demt":
        return ("shelf", "resets", "utc", "worth", "budget")
    if platform == "network":
        return {"isolated": (), "ics": ("to", "links", "queue")}.get(rule, ("to", "links"))
    if (platform, rule) == ("grid", "planned"):
        return ()
    found = ["threshold"]
    found += ["events"] * (platform == "pool")
    found += ["walk"] * (rule == "planned")
    found += ["backfill"] * (rule in BACKFILLING)
    return tuple(found)


def _policy(order: str, rule: str, options: dict[str, str | None]) -> Policy | None:
    """Return a policy, if rules that keep their plan support this order; shares have their
    options."""
    given = dict(options)
    if given.get("walk", "queue") != "queue":
        given["threshold"] = None
        if order != "fcfs":
            return None
    if not {order, given.get("backfill")} & {*SHARING}:
        given |= {"refresh": None, "halflife": None}
    return Policy(order, rule, **{name: value for name, value in given.items() if value})


@st.composite
def _choices(draw: st.DrawFn, platform: str, rule: str) -> tuple[str, dict[str, str | None]]:
    """Draw the K of a rule that takes one, and its options."""
    held = HOLDERS.get(rule)
    names = (*options_of(platform, rule), "refresh", "halflife")
    options = {name: draw(st.sampled_from(OPTIONS[name])) for name in names}
    return f"{rule}({draw(st.sampled_from(held))})" if held else rule, options


@st.composite
def every_order(draw: st.DrawFn, platform: str, rule: str) -> list[Policy]:
    """Draw options, and combine them with every order that the rule supports.

    For a rule that supports one order only, options are drawn four times.
    """
    orders = orders_of(platform, rule)
    drawn = [draw(_choices(platform, rule)) for _ in range(1 if len(orders) > 1 else 4)]
    found = (_policy(order, named, options) for named, options in drawn for order in orders)
    return [policy for policy in found if policy]


@st.composite
def policies(
    draw: st.DrawFn, order: str | None = None, rule: str | None = None, platform: str = "pool"
) -> Policy:
    """Draw a policy of any order and rule, or of the given ones, with any of its options.

    A search, which ticks for as long as a job waits, is drawn only if its rule is given.
    """
    rules = [one for one in RULES[platform] if one != "tabu"]
    known = [one for one in rules if order in (None, *orders_of(platform, one))]
    rule = rule or draw(st.sampled_from(known))
    order = order or draw(st.sampled_from(orders_of(platform, rule)))
    named, options = draw(_choices(platform, rule))
    if rule == "planned" and order != "fcfs":
        options["walk"] = "queue"
    found = _policy(order, named, options)
    assert found is not None
    return found


# Workloads.

LENGTHS = (
    tuple(range(13)),
    (0, 1, 2),
    (0, 1, 2, 3, 5, 8),
    (0, 7, 14),
    (0, 2, 20),
    (2, 5, 10, 20),
    (6,),
)
"""Estimates: short ones that end together, long ones that stand across several ticks, all alike."""

UNITS = (1, 1, 1, 3600, 2**33)
"""Factors of all times, some of which make them longer than 32 bits."""

EARLY = (0, 0, 0, 1, 2, 5, 12)
"""Seconds by which jobs end before their estimates."""


@st.composite
def workloads(
    draw: st.DrawFn, max_jobs: int = 14, exact: bool = False, units: tuple[int, ...] = UNITS
) -> Workload:
    """Draw a few jobs, given in any order, on a small machine; exact estimates if asked for.

    Small ranges make ties, bursts and jobs that end together common; run 0, estimate 0 and
    jobs as wide as the machine are among them; a unit of time stretches some beyond 32 bits.
    """
    processors = draw(st.integers(1, 7))
    count = draw(st.integers(0, max_jobs))
    span = draw(st.sampled_from((0, 6, 25)))
    unit = draw(st.sampled_from(units))

    def column(values: st.SearchStrategy[int]) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=count, max_size=count)), np.int64)

    estimate = column(st.sampled_from(draw(st.sampled_from(LENGTHS))))
    early = column(st.sampled_from(EARLY))
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


def grid_of(*clusters: int) -> Grid:
    """Name clusters c0, c1 and so on."""
    return Grid(clusters, [f"c{i}" for i in range(len(clusters))])


NAMES = "abcdefgh"
"""Names of nodes, and of the clusters of a network."""


@st.composite
def grid_workloads(
    draw: st.DrawFn, max_jobs: int = 14, exact: bool = False, units: tuple[int, ...] = UNITS
) -> Workload:
    """Draw jobs of which none is wider than the widest of one to four clusters."""
    work = draw(workloads(max_jobs, exact, units))
    widest = int(work.procs.max(initial=1))
    others = draw(st.lists(st.integers(1, 7), max_size=3))
    clusters = draw(st.permutations([widest + draw(st.integers(0, 1)), *others]))
    return replace(work, platform=grid_of(*clusters))


@st.composite
def resource_workloads(
    draw: st.DrawFn, max_jobs: int = 14, exact: bool = False, units: tuple[int, ...] = UNITS
) -> Workload:
    """Draw jobs that request some of one to four other resources, none of them or unknown amounts.

    Capacities of 0, amounts near 2^62, jobs that request everything, and resources that no job
    competes for are among them.
    """
    work = draw(workloads(max_jobs, exact, units))
    names = draw(st.lists(st.sampled_from([*UNITS_OF]), min_size=1, unique=True))
    capacities = {name: draw(st.integers(0, 6)) for name in names}
    columns = {}
    for name, amount in capacities.items():
        values = st.integers(-1, amount) | st.sampled_from((0, 0, amount))
        drawn = draw(st.lists(values, min_size=len(work), max_size=len(work)))
        unit = draw(st.sampled_from((1, 1, 2**58)))
        columns[name] = np.array(drawn, np.int64) * unit
        capacities[name] = amount * unit + draw(st.sampled_from((0, 0, 1, 100)))
    columns = {name: np.maximum(column, -1) for name, column in columns.items()}
    for column in columns.values():
        column.flags.writeable = False
    return replace(work, platform=Resources(work.processors, capacities), **columns)


@st.composite
def partition_workloads(
    draw: st.DrawFn, max_jobs: int = 14, exact: bool = False, units: tuple[int, ...] = UNITS
) -> Workload:
    """Draw jobs in some of up to four partitions, some of which may be nested, apart, or equal.

    Nodes of no partition, lists of partitions and other resources are among them. A job that is
    larger than its partition takes all of it.
    """
    work = draw(resource_workloads(max_jobs, exact, units))
    names = "abcd"[: draw(st.integers(1, 4))]
    sets = st.sets(st.sampled_from(names), min_size=1).map(lambda one: ",".join(sorted(one)))
    regions = draw(st.dictionaries(sets, st.integers(1, 5), min_size=1, max_size=5))
    known = sorted({name for label in regions for name in label.split(",")})
    if len(known) > 1 and draw(st.booleans()):
        known.append(",".join(known[:2]))
    numbers = dict(zip(known, draw(st.permutations(range(3, 3 + len(known)))), strict=True))
    size = sum(regions.values()) + draw(st.sampled_from((0, 0, 2)))
    stocks = work.platform.stocks if draw(st.booleans()) else ()
    others = {name: amount for name, _, amount in stocks}
    platform = Partitions(size, others, regions, numbers)
    of = st.sampled_from(known)
    labels = draw(st.lists(of, min_size=len(work), max_size=len(work)))
    room = [
        sum(n for label, n in regions.items() if {*label.split(",")} & {*one.split(",")})
        for one in labels
    ]
    columns = {
        "partition": np.array([numbers[one] for one in labels], np.int64),
        "procs": np.minimum(work.procs, np.array(room, np.int64)),
    }
    for column in columns.values():
        column.flags.writeable = False
    return replace(work, platform=platform, **columns)


@st.composite
def host_workloads(
    draw: st.DrawFn, max_jobs: int = 14, exact: bool = False, units: tuple[int, ...] = UNITS
) -> Workload:
    """Draw jobs for up to three groups of hosts, shared or exclusive, with GPUs, memory or neither.

    Half of the machines have up to three partitions, and a list of two. Jobs request a number of
    hosts or as few as possible. One that could not run there requests a processor only.
    """
    work = draw(workloads(max_jobs, exact, units))
    names = draw(st.lists(st.sampled_from(("gpus", "memory")), unique=True))
    group = {"count": st.integers(1, 3), "processors": st.integers(1, 5)}
    group |= {name: st.integers(0, 4) for name in names}
    groups = draw(st.lists(st.fixed_dictionaries(group), min_size=1, max_size=3))
    count = sum(one["count"] for one in groups)
    known = "abc"[: draw(st.sampled_from((0, 0, 1, 2, 3)))]
    parts = {
        name: draw(st.sets(st.integers(0, count - 1), min_size=1).map(sorted)) for name in known
    }
    labels = [*parts, *(["a,b"] if len(known) > 1 else [])]
    numbers = dict(zip(labels, draw(st.permutations(range(3, 3 + len(labels)))), strict=True))
    platform = Hosts(groups, draw(st.booleans()), partitions=parts, numbers=numbers)
    n = len(work)

    def drawn(values: st.SearchStrategy[int]) -> np.ndarray:
        column = np.array(draw(st.lists(values, min_size=n, max_size=n)), np.int64)
        column.flags.writeable = False
        return column

    few = st.sampled_from((-1, -1, 0))
    columns = {
        "hosts": drawn(st.sampled_from((-1, -1, 1, 2, 3, 4))),
        "partition": drawn(st.sampled_from([*numbers.values()] or [-1])),
        "procs": drawn(st.integers(1, platform.size)),
        "estimate": np.maximum(work.estimate, 1),
        **{name: drawn(few | st.integers(1, 8)) for name in names},
    }
    asked = replace(work, platform=Pool(platform.size), **columns)
    fits = platform.admits(asked)
    less = {"hosts": -1, "procs": 1, **dict.fromkeys(names, -1)}
    for name, value in less.items():
        columns[name] = np.where(fits, columns[name], value)
    for column in columns.values():
        column.flags.writeable = False
    return replace(work, platform=platform, **columns)


def nodes_of(*capacities: int, sets: tuple[str, ...] = (), down: object = ()) -> Nodes:
    """Name nodes a, b and so on, and sets, which are words of these letters, s0, s1 and so on."""
    named = {f"s{i}": list(word) for i, word in enumerate(sets)}
    return Nodes(capacities, list(NAMES[: len(capacities)]), named, down)  # type: ignore[arg-type]


@st.composite
def node_platforms(draw: st.DrawFn) -> Nodes:
    """Draw one to five nodes of one to three processors, up to three sets and a few outages."""
    capacities = draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    if draw(st.sampled_from((True, False, False))):
        capacities = [1] * len(capacities)
    names = NAMES[: len(capacities)]
    letters = st.sets(st.sampled_from(names), min_size=1)
    sets = draw(st.lists(letters.map(lambda chosen: "".join(sorted(chosen))), max_size=3))
    down, up = [], dict.fromkeys(names, 0)
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
    lengths = st.sampled_from(draw(st.sampled_from(LENGTHS)))
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
        estimate = draw(lengths)
        rows.append(
            {
                "submit": draw(st.integers(0, span)),
                "run": max(estimate - draw(st.sampled_from(EARLY)), 0),
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


def network_of(*clusters: int, links: Sequence[int] = ()) -> Network:
    """Name clusters a, b and so on."""
    return Network(clusters, list(NAMES[: len(clusters)]), links)


BANDWIDTHS = (0, 1, 7, 10, 33, 100)
"""What processors send, kbit/s, beside links of `LINKS`."""

LINKS = (1, 3, 10, 25, 40, 100, 101, 250, 10**6)
"""Capacities that some jobs exceed alone, some together, and none."""


def can_run(row: dict[str, int], platform: Network, policy: Policy) -> bool:
    """Whether a job starts on the idle machine, so that it does not wait for ever."""
    procs, clusters = row["procs"], platform.sizes
    if policy.rule.startswith("isolated"):
        return procs <= clusters[row["origin"]]
    if procs <= max(clusters) or policy.links == "ignored":
        return procs <= sum(clusters)
    if policy.links == "unused":
        return False
    rooms, links = tuple(clusters), tuple(platform.links)
    return best_split(procs, rooms, links, row["bandwidth"], row["alltoall"]) is not None


def _able(row: dict[str, int], platform: Network, policy: Policy) -> dict[str, int]:
    """Return a job that does not wait for ever: with less to send, or less wide."""
    clusters = platform.sizes
    narrow = min(row["procs"], max(clusters))
    tries = row, row | {"bandwidth": 0}, row | {"procs": narrow}
    able = (one for one in tries if can_run(one, platform, policy))
    return next(able, row | {"procs": min(row["procs"], clusters[row["origin"]])})


@st.composite
def network_workloads(draw: st.DrawFn, policy: Policy, max_jobs: int = 9) -> Workload:
    """Draw clusters, links that are absent, tight or plenty, and jobs that a policy can start."""
    clusters = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    some = st.lists(st.sampled_from(LINKS), min_size=len(clusters), max_size=len(clusters))
    platform = network_of(*clusters, links=draw(st.just([]) | some))
    span = draw(st.sampled_from((0, 6, 25)))
    lengths = st.sampled_from(draw(st.sampled_from((*LENGTHS, (0, 60, 3600, 2**32 - 1)))))
    widths = st.integers(1, sum(clusters)) | st.sampled_from((1, max(clusters), sum(clusters)))
    thousandths = st.sampled_from((0, 500, 1000)) | st.integers(0, 1000)
    rows: list[dict[str, int]] = []
    for _ in range(draw(st.integers(0, max_jobs))):
        estimate = draw(lengths)
        row = {
            "submit": draw(st.integers(0, span)),
            "run": max(estimate - draw(st.sampled_from(EARLY)), 0),
            "estimate": estimate,
            "procs": draw(widths),
            "origin": draw(st.integers(0, len(clusters) - 1)),
            "communication": draw(thousandths),
            "bandwidth": draw(st.sampled_from(BANDWIDTHS)),
            "alltoall": draw(thousandths),
        }
        rows.append(_able(row, platform, policy))
    names = ("submit", "run", "estimate", "procs", "origin", "communication", "bandwidth")
    columns = {name: [row[name] for row in rows] for name in (*names, "alltoall")}
    return Workload.from_columns(**columns, platform=platform)  # type: ignore[arg-type]


def workloads_on(platform: str, policy: Policy) -> st.SearchStrategy[Workload]:
    """Return a strategy for jobs on a kind of platform, which a policy can start."""
    if platform == "network":
        return network_workloads(policy)
    if platform == "nodes":
        return node_workloads()
    # A search has a tick every so many seconds for as long as a job waits.
    units = (1,) if policy.rule == "tabu" else UNITS
    kinds = {
        "pool": workloads,
        "grid": grid_workloads,
        "resources": resource_workloads,
        "partitions": partition_workloads,
        "hosts": host_workloads,
    }
    return kinds[platform](units=units)


@st.composite
def simulations(draw: st.DrawFn, platform: str, rule: str | None = None) -> tuple[Workload, Policy]:
    """Draw a policy for a kind of platform, and at least one job that it can start."""
    policy = draw(policies(rule=rule, platform=platform))
    return draw(workloads_on(platform, policy).filter(len)), policy


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
"""Replacement of log2 of one processor in UNICEF."""


def _of_logarithms(job: Job, order: str, now: int) -> object:
    """Return the parts of a key, from which every program computes the same float."""
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


def by_submission(submit: np.ndarray, now: int) -> np.ndarray:
    """Order as fcfs does, at each pass."""
    return submit


def heaviest(worked: np.ndarray) -> np.ndarray:
    """Order by the work of the user's completed jobs."""
    return worked


def least_served(user: np.ndarray, waited: np.ndarray, worked: np.ndarray) -> np.ndarray:
    """Order by the normalised wait of the user's completed jobs, the largest first."""
    return -waited / np.maximum(worked, 1)


def is_close_call(schedule: Schedule, policy: Policy) -> bool:
    """Whether the last place of a logarithm decides between two jobs that wait together.

    numpy and Python's math differ there (log10 of one whole number in fifty), so two programs
    may part without either being wrong. The times of either program show it.
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
