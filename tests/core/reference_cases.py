"""Workloads of a few jobs on pools and grids, with many ties, and the smallest that differ."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple, Protocol

import core
from core.platform.grid import Grid
from core.platform.platform import Platform
from core.platform.pool import Pool
from core.policy.policy import Policy
from core.reference.simulation import promises_reference, simulate_reference
from core.schedule import Schedule
from core.workload.workload import Workload

Row = tuple[int, int, int, int, int]
"""Submit, run, estimate, processors and user of one job."""

Answer = Sequence[object] | str
"""One thing for each job, such as a number, or what went wrong."""


class Case(NamedTuple):
    """A workload small enough to be worked out by hand, and a policy; a pool has no clusters."""

    processors: int
    clusters: tuple[int, ...]
    rows: tuple[Row, ...]
    policy: str

    @property
    def platform(self) -> Platform:
        if not self.clusters:
            return Pool(self.processors)
        return Grid(self.clusters, [f"c{i}" for i in range(len(self.clusters))])

    @property
    def widest(self) -> int:
        return max(self.clusters, default=self.processors)

    def workload(self) -> Workload:
        submit, run, estimate, procs, user = zip(*self.rows, strict=True)
        return Workload.from_columns(
            submit=submit,
            run=run,
            estimate=estimate,
            procs=procs,
            user=user,
            platform=self.platform,
        )

    def __str__(self) -> str:
        machine = f"clusters {self.clusters}" if self.clusters else f"{self.processors} processors"
        return f"{machine}, {self.policy}, jobs {list(self.rows)}"

    def simpler(self) -> Iterator[Case]:
        """Cases that are simpler by one thing."""
        rows = self.rows
        for i in range(len(rows)):
            if len(rows) > 1:
                yield self._replace(rows=rows[:i] + rows[i + 1 :])
        for policy in shorter_policies(self.policy):
            yield self._replace(policy=policy)
        yield from _narrower(self)
        for i, row in enumerate(rows):
            for one in _shorter(row):
                changed = (*rows[:i], one, *rows[i + 1 :])
                if [r[0] for r in changed] == sorted(r[0] for r in changed):
                    yield self._replace(rows=changed)

    @property
    def weight(self) -> tuple[int, ...]:
        """How much there is to work out by hand."""
        early = sum(run != estimate for _, run, estimate, _, _ in self.rows)
        users = len({row[4] for row in self.rows})
        numbers = sum(s + r + e + p for s, r, e, p, _ in self.rows) + self.processors
        options = self.policy.count("=")
        return len(self.rows), len(self.clusters), options, users, early, numbers


class AnyCase(Protocol):
    """What is compared, and shrunk where it differs."""

    @property
    def policy(self) -> str: ...

    @property
    def weight(self) -> tuple[int, ...]: ...

    def workload(self) -> Workload: ...

    def simpler(self) -> Iterator[Any]: ...


# Drawing.

LENGTHS = (
    [0, 1, 2],
    [0, 1, 2, 3, 5, 8],
    [0, 7, 14],
    [0, 2, 20],
    [1, 2, 3, 4, 5, 6],
    [2, 5, 10, 20],
    [6],
)
"""Estimates: short ones that end together, long ones that stand across several ticks, all alike."""


def draw_machine(random: Random, grid: bool) -> tuple[int, tuple[int, ...]]:
    """Draw a pool, or clusters of which some are alike and some narrow."""
    if not grid:
        return random.choice([1, 2, 2, 3, 4, 4, 5, 8]), ()
    clusters = tuple(random.choice([1, 2, 2, 3, 4, 5]) for _ in range(random.randint(1, 4)))
    return sum(clusters), clusters


def draw_case(random: Random, policy: str, grid: bool, most: int = 12, least: int = 1) -> Case:
    """Draw jobs for a policy: bursts, equal jobs, run 0, estimate 0, users, exact or not."""
    processors, clusters = draw_machine(random, grid)
    widest = max(clusters, default=processors)
    latest = random.choice([0, 2, 5, 9, 20, 40])
    lengths = random.choice(LENGTHS)
    users = random.choice([[1], [1, 2], [1, 2, 3], [-1, 1, 2, 3, 4, 5]])
    alike = random.random() < 0.2
    width = random.randint(1, widest)
    draw_run = random.choice([_exact, _any_run, _mostly_exact, _mostly_early])
    rows = []
    for submit in sorted(random.randint(0, latest) for _ in range(random.randint(least, most))):
        estimate = lengths[0] if alike else random.choice(lengths)
        procs = width if alike else random.choice([1, widest, random.randint(1, widest)])
        rows.append((submit, draw_run(random, estimate), estimate, procs, random.choice(users)))
    return Case(processors, clusters, tuple(rows), policy)


def _exact(random: Random, estimate: int) -> int:
    return estimate


def _any_run(random: Random, estimate: int) -> int:
    return random.randint(0, estimate)


def _mostly_exact(random: Random, estimate: int) -> int:
    return estimate if random.random() < 0.7 else random.randint(0, estimate)


def _mostly_early(random: Random, estimate: int) -> int:
    return random.choice([0, estimate // 2, (estimate + 1) // 2])


def draw_tabu(random: Random) -> str:
    """Draw how a plan is searched; half of the options stay as they are by default."""
    choices = {
        "every": ["1s", "2s", "3s", "5s", "7s", "10s"],
        "iterations": ["0", "1", "3", "1x", "5x", "20"],
        "tenure": ["0", "1", "2", "3"],
        "seed": ["1", "2", "99", "999999999"],
        "weights": ["0:0:0:1", "1:0:0:0", "0.5:2:0:10", "0:1:0:0.25", "0:0:0:0", "1:1:1:10"],
        "jobs": ["all"],
        "users": ["plan"],
        "fairness": ["raised"],
        "search": ["random", "gap"],
    }
    options = [
        f"{name}={random.choice(values)}"
        for name, values in choices.items()
        if name == "every" or random.random() < 0.5
    ]
    return ",".join(["fcfs+tabu", *options])


# Asking.


@lru_cache(2)
def compiled(case: AnyCase) -> Schedule:
    return core.simulate(case.workload(), case.policy)


@lru_cache(2)
def reference(case: AnyCase) -> Schedule:
    return simulate_reference(case.workload(), case.policy)


class Question(NamedTuple):
    """What both are asked, and whom."""

    compiled: Callable[[Any], Sequence[object]]
    reference: Callable[[Any], Sequence[object]]

    def answers(self, case: AnyCase) -> tuple[Answer, Answer]:
        """Answer of the compiled simulator, then of the reference."""
        return _asked(self.compiled, case), _asked(self.reference, case)

    def differs(self, case: AnyCase) -> bool:
        one, other = self.answers(case)
        # What the reference refuses is nothing to agree on.
        return one != other or isinstance(other, str)


QUESTIONS = {
    "start": Question(
        lambda case: compiled(case).start.tolist(),
        lambda case: reference(case).start.tolist(),
    ),
    "backfilled": Question(
        lambda case: compiled(case).backfilled.tolist(),
        lambda case: reference(case).backfilled.tolist(),
    ),
    "place": Question(
        lambda case: compiled(case).place.tolist(),
        lambda case: reference(case).place.tolist(),
    ),
    "promises": Question(
        lambda case: core.promises(case.workload(), case.policy).tolist(),
        lambda case: promises_reference(case.workload(), case.policy).tolist(),
    ),
}


def _asked(answer: Callable[[Any], Sequence[object]], case: AnyCase) -> Answer:
    try:
        return answer(case)
    except Exception as error:  # Whatever goes wrong is a difference to show.
        return f"{type(error).__name__}: {error}"


# The smallest case of a difference.


def shorter_policies(policy: str) -> Iterator[str]:
    """Policies that lack one of the options."""
    head, *options = policy.split(",")
    for option in options:
        yield ",".join([head, *(o for o in options if o != option)])


def _narrower(case: Case) -> Iterator[Case]:
    clusters = case.clusters
    if not clusters and case.processors > 1:
        yield _clipped(case._replace(processors=case.processors - 1))
    for i, size in enumerate(clusters):
        if len(clusters) > 1:
            yield _clipped(case._replace(clusters=clusters[:i] + clusters[i + 1 :]))
        if size > 1:
            yield _clipped(case._replace(clusters=(*clusters[:i], size - 1, *clusters[i + 1 :])))


def _clipped(case: Case) -> Case:
    rows = tuple((s, r, e, min(p, case.widest), u) for s, r, e, p, u in case.rows)
    return case._replace(processors=sum(case.clusters) or case.processors, rows=rows)


def _shorter(row: Row) -> Iterator[Row]:
    submit, run, estimate, procs, user = row
    if run != estimate:
        yield submit, estimate, estimate, procs, user
    if estimate > 0:
        yield submit, min(run, estimate - 1), estimate - 1, procs, user
    if run > 0:
        yield submit, run - 1, estimate, procs, user
    if submit > 0:
        yield submit - 1, run, estimate, procs, user
    if procs > 1:
        yield submit, run, estimate, procs - 1, user
    if user > 1:
        yield submit, run, estimate, procs, 1


def shrink(case: AnyCase, question: Question) -> AnyCase:
    """Return a case from which nothing can be taken so that its answers still differ."""
    while True:
        simpler = next(
            (
                one
                for one in case.simpler()
                if one.weight < case.weight and _valid(one) and question.differs(one)
            ),
            None,
        )
        if simpler is None:
            return case
        case = simpler


def _valid(case: AnyCase) -> bool:
    try:
        Policy.parse(case.policy)
        case.workload()
    except core.InputError:
        return False
    return True


# Comparing.


def compare(
    cases: int,
    seed: int,
    draw: Callable[[Random], AnyCase],
    questions: Mapping[str, Question] = QUESTIONS,
) -> list[str]:
    """Return a text of each question whose answers differ, with the smallest case found."""
    random = Random(seed)
    found: dict[str, list[AnyCase]] = {}
    for _ in range(cases):
        case = draw(random)
        for name, question in questions.items():
            if question.differs(case):
                found.setdefault(name, []).append(case)
    return [_told(name, questions[name], differing) for name, differing in found.items()]


def _told(name: str, question: Question, differing: list[AnyCase]) -> str:
    smallest = min((shrink(case, question) for case in differing[:3]), key=lambda case: case.weight)
    one, other = question.answers(smallest)
    return f"{len(differing)} x {name}\n  {smallest}\n  compiled  {one}\n  reference {other}\n"


def main(
    description: str,
    draw: Callable[[Random], AnyCase],
    questions: Mapping[str, Question] = QUESTIONS,
) -> int:
    """Compare as the command line says; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began = time.perf_counter()
    found = compare(given.cases, given.seed, draw, questions)
    spent = time.perf_counter() - began
    sys.stdout.write("".join(found))
    kinds = f"{len(found)} kinds of difference"
    sys.stdout.write(f"{given.cases} cases of seed {given.seed}, {kinds}, {spent:.0f} s\n")
    return 1 if found else 0
