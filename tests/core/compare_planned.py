"""Compare `planned` as compiled with its second-by-second reference on random tiny workloads.

    python -m tests.core.compare_planned --cases 100000 --seed 1

prints for each kind of difference how many cases have it and the smallest case found, and exits
with 1 if there is any.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import NamedTuple

import core
from core.policy.policy import Policy
from core.reference.order import KEYS
from core.schedule import Schedule
from core.workload.workload import Workload
from tests.core.planned_by_seconds import fair_starts_planned, promises_planned, simulate_planned

Row = tuple[int, int, int, int]
"""Submit, run, estimate, processors of one job."""

Answer = list[int] | str
"""One number for each job, or what went wrong."""


class Case(NamedTuple):
    """A workload small enough to be worked out by hand, and a policy."""

    processors: int
    rows: tuple[Row, ...]
    policy: str

    def workload(self) -> Workload:
        submit, run, estimate, procs = zip(*self.rows, strict=True)
        return Workload.from_columns(
            submit=submit, run=run, estimate=estimate, procs=procs, processors=self.processors
        )

    def __str__(self) -> str:
        return f"{self.processors} processors, {self.policy}, jobs {list(self.rows)}"


class Question(NamedTuple):
    """What both are asked, and whom."""

    compiled: Callable[[Case], list[int]]
    reference: Callable[[Case], list[int]]

    def answers(self, case: Case) -> tuple[Answer, Answer]:
        """Answer of the compiled simulator, then of the reference."""
        return _asked(self.compiled, case), _asked(self.reference, case)

    def differs(self, case: Case) -> bool:
        compiled, reference = self.answers(case)
        return compiled != reference


@lru_cache(2)
def _compiled(case: Case) -> Schedule:
    return core.simulate(case.workload(), case.policy)


@lru_cache(2)
def _reference(case: Case) -> Schedule:
    return simulate_planned(case.workload(), case.policy)


QUESTIONS = {
    "starts": Question(
        lambda case: _compiled(case).start.tolist(),
        lambda case: _reference(case).start.tolist(),
    ),
    "backfilled": Question(
        lambda case: _compiled(case).backfilled.tolist(),
        lambda case: _reference(case).backfilled.tolist(),
    ),
    "promises": Question(
        lambda case: core.promises(case.workload(), case.policy).tolist(),
        lambda case: promises_planned(case.workload(), case.policy).tolist(),
    ),
    "strict": Question(
        lambda case: core.fair_start_times(case.workload(), case.policy, "strict").tolist(),
        lambda case: fair_starts_planned(case.workload(), case.policy, "strict").tolist(),
    ),
    "relaxed": Question(
        lambda case: core.fair_start_times(case.workload(), case.policy, "relaxed").tolist(),
        lambda case: fair_starts_planned(case.workload(), case.policy, "relaxed").tolist(),
    ),
}

FAIR = ("strict", "relaxed")
"""Questions that take the reference a simulation for each job."""


def _asked(answer: Callable[[Case], list[int]], case: Case) -> Answer:
    try:
        return answer(case)
    except Exception as error:  # Whatever goes wrong is a difference to show.
        return f"{type(error).__name__}: {error}"


# Drawing.


def draw_case(random: Random) -> Case:
    """Draw a workload with many ties and a policy."""
    processors = random.choice([1, 2, 2, 3, 4, 4, 5, 8])
    latest = random.choice([0, 2, 5, 9, 20])
    lengths = random.choice([[0, 1, 2], [0, 1, 2, 3, 5, 8], [1, 2, 3, 4, 5, 6], [2, 5, 10, 20]])
    draw_run = random.choice([_any_run, _mostly_exact, _mostly_early])
    submits = sorted(random.randint(0, latest) for _ in range(random.randint(1, 12)))
    rows = []
    for submit in submits:
        estimate = random.choice(lengths)
        procs = random.choice([1, processors, random.randint(1, processors)])
        rows.append((submit, draw_run(random, estimate), estimate, procs))
    return Case(processors, tuple(rows), draw_policy(random))


def _any_run(random: Random, estimate: int) -> int:
    return random.randint(0, estimate)


def _mostly_exact(random: Random, estimate: int) -> int:
    return estimate if random.random() < 0.7 else random.randint(0, estimate)


def _mostly_early(random: Random, estimate: int) -> int:
    return random.choice([0, estimate // 2, (estimate + 1) // 2])


def draw_policy(random: Random) -> str:
    """Draw an order, walk, threshold and clock that go together."""
    walk = random.choice(["start", "arrival", "queue", "queue"])
    options = [] if walk == "start" else [f"walk={walk}"]
    order = random.choice(sorted(KEYS)) if walk == "queue" else "fcfs"
    if walk == "queue" and random.random() < 0.4:
        options.append(f"threshold={random.choice(['0s', '1s', '3s', '8s', '1x', '3x'])}")
    if random.random() < 0.5:
        options.append("events=per-event")
    return ",".join([f"{order}+planned", *options])


# Kinds of differences, and the smallest case of each.


@dataclass
class Difference:
    """How often a kind of difference was found, and the smallest case that has it."""

    question: str
    cases: int = 0
    smallest: Case | None = None
    seen: list[Case] = field(default_factory=list)


def kind_of(question: str, case: Case) -> str:
    """Sort a differing case by what may explain it."""
    policy = Policy.parse(case.policy)
    compiled, _ = QUESTIONS[question].answers(case)
    words = [
        question,
        policy.events,
        "estimates of 0" if any(row[2] == 0 for row in case.rows) else "",
        compiled.partition(":")[0] if isinstance(compiled, str) else "",
    ]
    return ", ".join(word for word in words if word)


def smaller(case: Case) -> Iterator[Case]:
    """Cases that are simpler by one thing."""
    rows = case.rows
    for i in range(len(rows)):
        if len(rows) > 1:
            yield case._replace(rows=rows[:i] + rows[i + 1 :])
    for option in Policy.parse(case.policy).given:
        head, *options = case.policy.split(",")
        kept = [o for o in options if not o.startswith(f"{option}=")]
        order = "fcfs" if option == "walk" else head.partition("+")[0]
        yield case._replace(policy=",".join([f"{order}+planned", *kept]))
    yield from _narrower(case)
    for i, row in enumerate(rows):
        for simpler in _shorter(row):
            changed = (*rows[:i], simpler, *rows[i + 1 :])
            if [r[0] for r in changed] == sorted(r[0] for r in changed):
                yield case._replace(rows=changed)


def _narrower(case: Case) -> Iterator[Case]:
    if case.processors > max(row[3] for row in case.rows):
        yield case._replace(processors=case.processors - 1)
    elif case.processors > 1:
        rows = tuple((s, r, e, min(p, case.processors - 1)) for s, r, e, p in case.rows)
        yield case._replace(processors=case.processors - 1, rows=rows)


def _shorter(row: Row) -> Iterator[Row]:
    submit, run, estimate, procs = row
    if run != estimate:
        yield submit, estimate, estimate, procs
    if estimate > 0:
        yield submit, min(run, estimate - 1), estimate - 1, procs
    if run > 0:
        yield submit, run - 1, estimate, procs
    if submit > 0:
        yield submit - 1, run, estimate, procs
    if procs > 1:
        yield submit, run, estimate, procs - 1


def _weight(case: Case) -> tuple[int, int, int, int]:
    """How much there is to work out by hand."""
    options = len(Policy.parse(case.policy).given)
    early = sum(run != estimate for _, run, estimate, _ in case.rows)
    numbers = sum(s + r + e + p for s, r, e, p in case.rows) + case.processors
    return len(case.rows), options, early, numbers


def shrink(case: Case, still: Callable[[Case], bool]) -> Case:
    """Return a case from which nothing can be taken so that it still has what it had."""
    while True:
        tried = (s for s in smaller(case) if _valid(s) and _weight(s) < _weight(case) and still(s))
        simpler = next(tried, None)
        if simpler is None:
            return case
        case = simpler


def _valid(case: Case) -> bool:
    try:
        Policy.parse(case.policy)
    except core.InputError:
        return False
    return True


def compare(cases: int, seed: int, fair: float) -> dict[str, Difference]:
    """Ask both of random cases; about fair starts in this part of them."""
    random = Random(seed)
    found: dict[str, Difference] = {}
    for _ in range(cases):
        case = draw_case(random)
        asked = [q for q in QUESTIONS if q not in FAIR]
        if random.random() < fair:
            asked += FAIR
        for question in asked:
            if not QUESTIONS[question].differs(case):
                continue
            kind = kind_of(question, case)
            difference = found.setdefault(kind, Difference(question))
            difference.cases += 1
            if len(difference.seen) < 5:
                difference.seen.append(case)
    for kind, difference in found.items():
        _find_smallest(kind, difference)
    return found


def _find_smallest(kind: str, difference: Difference) -> None:
    question = difference.question

    def still(case: Case) -> bool:
        return QUESTIONS[question].differs(case) and kind_of(question, case) == kind

    difference.smallest = min((shrink(case, still) for case in difference.seen), key=_weight)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fair", type=float, default=0.1, help="part asked about fair starts")
    given = parser.parse_args()
    began = time.perf_counter()
    found = compare(given.cases, given.seed, given.fair)
    spent = time.perf_counter() - began
    write = sys.stdout.write
    for kind, difference in sorted(found.items(), key=lambda item: -item[1].cases):
        assert difference.smallest is not None
        compiled, reference = QUESTIONS[difference.question].answers(difference.smallest)
        write(f"{difference.cases} x {kind}\n  {difference.smallest}\n")
        write(f"  compiled  {compiled}\n  reference {reference}\n")
    write(f"{given.cases} cases of seed {given.seed}, {len(found)} kinds of difference, ")
    write(f"{spent:.0f} s\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
