"""Workloads of a few jobs on a few nodes, with many ties, and what is simpler than each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple, TypeVar

from core.audit import audit
from core.platform.nodes import Nodes
from core.reference.order import KEYS
from core.schedule import Schedule
from core.workload.workload import Workload
from tests.core.reference_cases import (
    LENGTHS,
    QUESTIONS,
    AnyCase,
    Question,
    compiled,
    reference,
    shorter_policies,
)
from tests.strategies import LOGARITHMIC, THRESHOLDS

T = TypeVar("T")

NAMES = "abcdefgh"
"""What nodes are called."""


class Row(NamedTuple):
    """One job: how many nodes it asks for, and what beside; its columns' defaults last."""

    submit: int
    run: int
    estimate: int
    nodes: int
    weight: int = 1
    properties: int = -1
    reserved: int = -1
    serial: int = -1

    def __repr__(self) -> str:
        beside = [
            f"{name}={value}"
            for name, value in self._asdict().items()
            if value != Row._field_defaults.get(name)
        ]
        return f"({', '.join(beside)})"


class NodeCase(NamedTuple):
    """A workload small enough to be worked out by hand, and a policy; sets are words of names."""

    capacities: tuple[int, ...]
    sets: tuple[str, ...]
    down: tuple[tuple[str, int, int], ...]
    rows: tuple[Row, ...]
    policy: str
    epoch: int = -1

    def workload(self) -> Workload:
        names = list(NAMES[: len(self.capacities)])
        sets = {f"s{i}": list(word) for i, word in enumerate(self.sets)}
        column = {name: [getattr(r, name) for r in self.rows] for name in Row._fields}
        column["procs"] = [row.nodes * row.weight for row in self.rows]
        del column["nodes"]
        return Workload.from_columns(
            **column,  # type: ignore[arg-type]
            platform=Nodes(self.capacities, names, sets, self.down),
            epoch=self.epoch,
        )

    def simpler(self) -> Iterator[NodeCase]:
        """Cases that are simpler by one thing; some of them are no workload."""
        for i in range(len(self.rows)):
            if len(self.rows) > 1:
                yield self._replace(rows=_without(self.rows, i))
        for i in range(len(self.down)):
            yield self._replace(down=_without(self.down, i))
        for policy in shorter_policies(self.policy):
            yield self._replace(policy=policy)
        for i in range(len(self.sets)):
            rows = tuple(_without_set(row, i) for row in self.rows)
            yield self._replace(sets=_without(self.sets, i), rows=rows)
        if self.epoch >= 0:
            yield self._replace(epoch=-1)
        yield from self._narrower()
        for i, row in enumerate(self.rows):
            for one in _simpler_rows(row):
                rows = (*self.rows[:i], one, *self.rows[i + 1 :])
                if [r.submit for r in rows] == sorted(r.submit for r in rows):
                    yield self._replace(rows=rows)

    def _narrower(self) -> Iterator[NodeCase]:
        last = NAMES[len(self.capacities) - 1]
        if all(last not in word for word in (*self.sets, *(node for node, _, _ in self.down))):
            yield self._replace(capacities=self.capacities[:-1])
        for i, capacity in enumerate(self.capacities):
            if capacity > 1:
                fewer = (*self.capacities[:i], capacity - 1, *self.capacities[i + 1 :])
                yield self._replace(capacities=fewer)

    @property
    def weight(self) -> tuple[int, ...]:
        """How much there is to work out by hand."""
        numbers = sum(sum(row) for row in self.rows) + sum(self.capacities)
        asked = sum(
            value != Row._field_defaults[name]
            for row in self.rows
            for name, value in row._asdict().items()
            if name in Row._field_defaults
        )
        early = sum(row.run != row.estimate for row in self.rows)
        parts = len(self.rows), len(self.down), len(self.capacities), len(self.sets)
        return (*parts, self.policy.count("="), asked, early, int(self.epoch >= 0), numbers)


def _without(items: tuple[T, ...], i: int) -> tuple[T, ...]:
    return (*items[:i], *items[i + 1 :])


def _without_set(row: Row, i: int) -> Row:
    if row.properties == i:
        return row._replace(properties=-1)
    return row._replace(properties=row.properties - (row.properties > i))


def _simpler_rows(row: Row) -> Iterator[Row]:
    for name, value in Row._field_defaults.items():
        if getattr(row, name) != value:
            yield row._replace(**{name: value})
    if row.run != row.estimate:
        yield row._replace(run=row.estimate)
    if row.estimate > 0:
        yield row._replace(run=min(row.run, row.estimate - 1), estimate=row.estimate - 1)
    for name in ("run", "submit", "nodes", "weight", "reserved"):
        if getattr(row, name) > (name in ("nodes", "weight")):
            yield row._replace(**{name: getattr(row, name) - 1})


# Drawing.

ORDERS = sorted({*KEYS} - LOGARITHMIC)
"""Orders in which no last place of a float decides."""

FIXED = ["fcfs", "lcfs", "spf", "lpf", "sqf", "lqf", "saf", "laf"]
"""Those of them in which a job's place stays as it is."""


def conservative(random: Random) -> str:
    """Draw an order and a threshold."""
    order = random.choice(["fcfs", random.choice(ORDERS)])
    threshold = f",threshold={random.choice(THRESHOLDS)}" if random.random() < 0.2 else ""
    return f"{order}+conservative{threshold}"


def demt(random: Random) -> str:
    """Draw an order, small shelves, and resets upon the instants of small jobs."""
    resets = random.choice(["3s", "5s:10s:20s", "7s:8s", "4s:9s:14s:19s:24s:29s:34s", "1h"])
    options = [f"shelf={random.choice(['1s', '2s', '3s', '5s', '16s'])}", f"resets={resets}"]
    if random.random() < 0.2:
        options.append(f"utc={random.choice(['3s', '5s', '16h'])}")
    if random.random() < 0.6:
        options.append(f"worth={random.choice(['procs', 'area'])}")
    if random.random() < 0.3:
        options.append(f"budget={random.choice([0, 1, 2, 4, 7, 15])}")
    return ",".join([f"{random.choice(['fcfs', random.choice(FIXED)])}+demt", *options])


def draw_nodes(
    random: Random, policy: Callable[[Random], str], most: int = 10, least: int = 1
) -> NodeCase:
    """Draw nodes, sets, outages and jobs; half of the cases lack one or more of these kinds."""
    count = random.randint(1, 5)
    alike = random.random() < 0.3
    capacities = tuple(1 if alike else random.choice([1, 2, 2, 3]) for _ in range(count))
    names = NAMES[:count]
    sets = tuple(
        "".join(sorted(random.sample(names, random.randint(1, count))))
        for _ in range(random.choice([0, 0, 1, 2, 3]))
    )
    latest = random.choice([0, 2, 5, 9, 20, 40])
    lengths = random.choice(LENGTHS)
    shares = [random.choice([0.0, 0.0, 0.2, 0.5]) for _ in range(2)]
    submits = sorted(random.randint(0, latest) for _ in range(random.randint(least, most)))
    rows = tuple(_draw_row(random, submit, capacities, sets, lengths, shares) for submit in submits)
    epoch = random.choice([-1, -1, 0, 86_390, 7])
    return NodeCase(
        capacities, sets, _draw_down(random, names, latest), rows, policy(random), epoch
    )


def _draw_row(
    random: Random,
    submit: int,
    capacities: tuple[int, ...],
    sets: tuple[str, ...],
    lengths: Sequence[int],
    shares: Sequence[float],
) -> Row:
    properties = random.randint(-1, len(sets) - 1) if random.random() < 0.6 else -1
    members = [NAMES.index(n) for n in sets[properties]] if properties >= 0 else None
    allowed = [c for i, c in enumerate(capacities) if members is None or i in members]
    weight = random.choice([1, 1, random.randint(1, max(allowed))])
    wide = sum(capacity >= weight for capacity in allowed)
    nodes = random.choice([1, wide, random.randint(1, wide)])
    estimate = random.choice(lengths)
    run = random.choice([estimate, estimate, random.randint(0, estimate)])
    reserved = random.choice([0, 1, 3, 8, 20]) if random.random() < shares[0] else -1
    serials = [0, 100_000, 500_000, 1_000_000]
    serial = random.choice(serials) if random.random() < shares[1] else -1
    return Row(submit, run, estimate, nodes, weight, properties, reserved, serial)


def _draw_down(random: Random, names: str, latest: int) -> tuple[tuple[str, int, int], ...]:
    down: list[tuple[str, int, int]] = []
    for node in names if random.random() < 0.4 else "":
        at = 0
        for _ in range(random.choice([0, 1, 1, 2])):
            begin = at + random.randint(0, latest + 5)
            at = begin + random.choice([1, 2, 5, 10, 30])
            down.append((node, begin, at))
    return tuple(down)


# Asking.


def segments(schedule: Schedule) -> list[tuple[int, int, int]]:
    """Return the parts of all jobs: job, node, processors."""
    parts = schedule.segments
    assert parts is not None
    return list(zip(parts.job.tolist(), parts.place.tolist(), parts.procs.tolist(), strict=True))


def _verdict(case: AnyCase) -> list[str]:
    verdict = audit(compiled(case), case.policy)
    return [] if verdict.ok else [verdict.why]


NODE_QUESTIONS = {
    "start": QUESTIONS["start"],
    "end": Question(
        lambda case: compiled(case).end.tolist(), lambda case: reference(case).end.tolist()
    ),
    "state": Question(
        lambda case: compiled(case).state.tolist(), lambda case: reference(case).state.tolist()
    ),
    "segments": Question(
        lambda case: segments(compiled(case)), lambda case: segments(reference(case))
    ),
    "counts": Question(
        lambda case: sorted(compiled(case).counts.items()),
        lambda case: sorted(reference(case).counts.items()),
    ),
    "backfilled": QUESTIONS["backfilled"],
    "promises": QUESTIONS["promises"],
    "audit": Question(_verdict, lambda case: []),
}
"""What both are asked of nodes; and what the auditor has to say of the compiled schedule."""
