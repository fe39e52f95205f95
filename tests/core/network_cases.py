"""Workloads of a few jobs on a few clusters with links, and what is simpler than each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st

import core
from core.audit import audit
from core.platform.network import Network
from core.policy.policy import Policy
from core.reference.links import demands
from core.reference.network import splits
from core.schedule import Schedule
from core.workload.workload import Workload
from tests.core.node_cases import FIXED, segments
from tests.core.reference_cases import (
    LENGTHS,
    QUESTIONS,
    AnyCase,
    Question,
    compiled,
    reference,
    shorter_policies,
)

NAMES = "abcdefgh"
"""What clusters are called."""


class Row(NamedTuple):
    """One job; what it asks of a network has the columns' defaults."""

    submit: int
    run: int
    estimate: int
    procs: int
    origin: int = 0
    communication: int = 0
    bandwidth: int = 0
    alltoall: int = 0

    def __repr__(self) -> str:
        beside = [
            f"{name}={value}"
            for name, value in self._asdict().items()
            if value != Row._field_defaults.get(name)
        ]
        return f"({', '.join(beside)})"


def on_network(clusters: Sequence[int], links: Sequence[int], rows: Sequence[Row]) -> Workload:
    """Return jobs on clusters called a, b and so on."""
    return Workload.from_columns(
        **{name: [getattr(row, name) for row in rows] for name in Row._fields},  # type: ignore[arg-type]
        platform=Network(clusters, list(NAMES[: len(clusters)]), links),
    )


def can_run(row: Row, clusters: Sequence[int], links: Sequence[int], policy: Policy) -> bool:
    """Whether a job starts on the idle machine, so that it does not wait for ever."""
    if policy.rule.startswith("isolated"):
        return row.procs <= clusters[row.origin]
    if row.procs <= max(clusters) or policy.links == "ignored":
        return row.procs <= sum(clusters)
    if policy.links == "unused":
        return False
    asked = (
        demands(parts, row.bandwidth, row.alltoall) for parts in splits(row.procs, [*clusters])
    )
    return any(all(d <= c for d, c in zip(one, links, strict=False)) for one in asked)


class NetworkCase(NamedTuple):
    """A workload small enough to be worked out by hand, and a policy."""

    clusters: tuple[int, ...]
    links: tuple[int, ...]
    rows: tuple[Row, ...]
    policy: str

    def workload(self) -> Workload:
        policy = Policy.parse(self.policy)
        for i, row in enumerate(self.rows):
            if not can_run(row, self.clusters, self.links, policy):
                raise core.InputError(f"row {i} of the case would wait for ever")
        return on_network(self.clusters, self.links, self.rows)

    def simpler(self) -> Iterator[NetworkCase]:
        """Cases that are simpler by one thing; some of them are no workload."""
        rows = self.rows
        for i in range(len(rows)):
            if len(rows) > 1:
                yield self._replace(rows=(*rows[:i], *rows[i + 1 :]))
        for policy in shorter_policies(self.policy):
            yield self._replace(policy=policy)
        yield self._replace(links=())
        yield from self._narrower()
        for i, row in enumerate(rows):
            for one in _simpler_rows(row):
                changed = (*rows[:i], one, *rows[i + 1 :])
                if [r.submit for r in changed] == sorted(r.submit for r in changed):
                    yield self._replace(rows=changed)

    def _narrower(self) -> Iterator[NetworkCase]:
        last = len(self.clusters) - 1
        if last > 0 and all(row.origin < last for row in self.rows):
            yield self._replace(clusters=self.clusters[:-1], links=self.links[:-1])
        for i, size in enumerate(self.clusters):
            if size > 1:
                fewer = (*self.clusters[:i], size - 1, *self.clusters[i + 1 :])
                yield self._replace(clusters=fewer)
        for i, link in enumerate(self.links):
            for less in {link // 2, link - 1} - {0}:
                yield self._replace(links=(*self.links[:i], less, *self.links[i + 1 :]))

    @property
    def weight(self) -> tuple[int, ...]:
        """How much there is to work out by hand."""
        numbers = sum(sum(row) for row in self.rows) + sum(self.clusters) + sum(self.links)
        asked = sum(
            value != Row._field_defaults[name]
            for row in self.rows
            for name, value in row._asdict().items()
            if name in Row._field_defaults
        )
        early = sum(row.run != row.estimate for row in self.rows)
        parts = len(self.rows), len(self.clusters), len(self.links), self.policy.count("=")
        return (*parts, asked, early, numbers)


def _simpler_rows(row: Row) -> Iterator[Row]:
    for name, value in Row._field_defaults.items():
        if getattr(row, name) != value:
            yield row._replace(**{name: value})
            yield row._replace(**{name: getattr(row, name) // 2})
    if row.run != row.estimate:
        yield row._replace(run=row.estimate)
    if row.estimate > 0:
        yield row._replace(run=min(row.run, row.estimate - 1), estimate=row.estimate - 1)
    for name in ("run", "submit", "procs", "origin"):
        if getattr(row, name) > (name == "procs"):
            yield row._replace(**{name: getattr(row, name) - 1})


# Drawing.

RULES = ("isolated(1)", "isolated(2)", "ics", "ics", "icsb(1)", "icsb(2)", "icsb(3)", "icsb(10)")
"""Without and with reservations, few of them and as many as jobs wait."""

BANDWIDTHS = (0, 1, 7, 10, 33, 100)
"""What processors send, kbit/s, beside links of `LINKS`."""

LINKS = (1, 3, 10, 25, 40, 100, 101, 250, 10**6)
"""Capacities that some jobs exceed alone, some together, and none."""


def draw_policy(random: Random) -> str:
    """Draw an order, a rule, and what it has of options."""
    rule = random.choice(RULES)
    options = []
    if not rule.startswith("isolated"):
        to, links = random.choice(["", "least", "first"]), random.choice(["", "ignored"])
        links = "unused" if random.random() < 0.1 else links
        options = [f"{name}={v}" for name, v in (("to", to), ("links", links)) if v]
    return ",".join([f"{random.choice(['fcfs', random.choice(FIXED)])}+{rule}", *options])


def draw_network(random: Random, most: int = 12, least: int = 1) -> NetworkCase:
    """Draw clusters, links that are absent, tight or plenty, and jobs of any communication."""
    policy = draw_policy(random)
    clusters = tuple(random.randint(1, 6) for _ in range(random.randint(1, 4)))
    some = random.sample(LINKS, 3)
    links = tuple(random.choice(some) for _ in clusters) if random.random() < 0.8 else ()
    latest = random.choice([0, 2, 5, 9, 20, 40])
    lengths = random.choice((*LENGTHS, [10, 33, 100], [0, 60, 3600, 2**32 - 1]))
    alike = random.random() < 0.2
    submits = sorted(random.randint(0, latest) for _ in range(random.randint(least, most)))
    rows = []
    for submit in submits:
        row = _draw_row(random, submit, clusters, lengths)
        if alike and rows:
            row = rows[0]._replace(submit=submit, origin=row.origin)
        rows.append(_able(row, clusters, links, Policy.parse(policy)))
    return NetworkCase(clusters, links, tuple(rows), policy)


def _draw_row(random: Random, submit: int, clusters: Sequence[int], lengths: Sequence[int]) -> Row:
    estimate = random.choice(lengths)
    widths = [1, max(clusters), sum(clusters), random.randint(1, sum(clusters))]
    return Row(
        submit=submit,
        run=random.choice([estimate, estimate, random.randint(0, estimate)]),
        estimate=estimate,
        procs=random.choice([*widths, random.randint(1, max(clusters))]),
        origin=random.randrange(len(clusters)),
        communication=random.choice([0, 300, 1000, random.randint(0, 1000)]),
        bandwidth=random.choice(BANDWIDTHS),
        alltoall=random.choice([0, 500, 1000, random.randint(0, 1000)]),
    )


def _able(row: Row, clusters: Sequence[int], links: Sequence[int], policy: Policy) -> Row:
    """Return a job that does not wait for ever: with less to send, or less wide."""
    tries = row, row._replace(bandwidth=0), row._replace(procs=min(row.procs, max(clusters)))
    able = (one for one in tries if can_run(one, clusters, links, policy))
    return next(able, row._replace(procs=min(row.procs, clusters[row.origin])))


@st.composite
def network_cases(draw: st.DrawFn, most: int = 9) -> NetworkCase:
    """Draw clusters, links, a policy, and jobs that it can start; bursts and ties are common."""
    policy = draw_policy(draw(st.randoms(use_true_random=False)))
    clusters = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    links = tuple(draw(st.sampled_from(LINKS)) for _ in clusters) if draw(st.booleans()) else ()
    span, rows = draw(st.sampled_from((0, 6, 25))), []
    for _ in range(draw(st.integers(1, most))):
        estimate = draw(st.integers(0, 12))
        row = Row(
            submit=draw(st.integers(0, span)),
            run=max(estimate - draw(st.sampled_from((0, 0, 0, 1, 2, 12))), 0),
            estimate=estimate,
            procs=draw(st.integers(1, sum(clusters))),
            origin=draw(st.integers(0, len(clusters) - 1)),
            communication=draw(st.integers(0, 1000)),
            bandwidth=draw(st.sampled_from(BANDWIDTHS)),
            alltoall=draw(st.integers(0, 1000)),
        )
        rows.append(_able(row, clusters, links, Policy.parse(policy)))
    return NetworkCase(clusters, links, tuple(sorted(rows)), policy)


# Asking.


def where(schedule: Schedule) -> list[str]:
    """Return of each job a letter for each of its processors, which says on which cluster it is."""
    words = [""] * len(schedule.workload)
    for job, place, procs in segments(schedule):
        words[job] += NAMES[place] * procs
    return words


def _verdict(case: AnyCase) -> list[str]:
    verdict = audit(compiled(case), case.policy)
    return [] if verdict.ok else [verdict.why]


NETWORK_QUESTIONS = {
    "start": QUESTIONS["start"],
    "end": Question(
        lambda case: compiled(case).end.tolist(), lambda case: reference(case).end.tolist()
    ),
    "segments": Question(
        lambda case: segments(compiled(case)), lambda case: segments(reference(case))
    ),
    "backfilled": QUESTIONS["backfilled"],
    "audit": Question(_verdict, lambda case: []),
}
"""What both are asked of networks; and what the auditor has to say of the compiled schedule."""
