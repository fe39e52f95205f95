"""Fields of a table, each a task that two checkouts are measured at in turn."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.benchmarks.checkout import Checkout, stand
from tests.benchmarks.table import grid, rounded

T = TypeVar("T")


@dataclass
class Field:
    """Hold a field of a table: the task behind it, and what each round measured.

    Parameters
    ----------
    row, column : str
        Where it is.
    task : dict
        What `stand.py` is to measure.
    before, after : list of dict
        Its answers, of the other checkout and of this one.
    """

    row: str
    column: str
    task: dict[str, Any]
    before: list[dict[str, Any]] = field(default_factory=list)
    after: list[dict[str, Any]] = field(default_factory=list)

    @property
    def jobs(self) -> int:
        return int(self.after[0]["jobs"])

    @property
    def seconds(self) -> tuple[float, float]:
        """Best CPU times, s: of the other and of this checkout."""
        return best(self.before), best(self.after)

    @property
    def agrees(self) -> bool:
        """Whether all answers have the same starts."""
        return len({answer["starts"] for answer in self.before + self.after}) == 1

    def speed(self) -> str:
        """Write millions of jobs a second before and after, and their ratio."""
        before, after = (self.jobs / seconds / 1e6 for seconds in self.seconds)
        return between(before, after)


def best(answers: Sequence[dict[str, Any]]) -> float:
    return float(min(answer["seconds"] for answer in answers))


def between(before: float, after: float) -> str:
    """Write a figure of both checkouts, and their ratio."""
    return f"{rounded(before)} to {rounded(after)} ({after / before:.2f})"


def fill(found: Sequence[Field], other: Checkout, this: Checkout, rounds: int) -> None:
    """Measure every field so many times in both checkouts, in turn."""
    with ExitStack() as both:
        before, after = (both.enter_context(stand(one)) for one in (other, this))
        for turn in range(rounds):
            for one in found:
                for process, answers in swapped([(before, one.before), (after, one.after)], turn):
                    answers.append(process.measure(one.task))


def swapped(pair: Sequence[T], turn: int) -> Iterator[T]:
    """Give both of a pair, the second one first in every other turn."""
    return iter(pair) if turn % 2 == 0 else reversed(pair)


def laid_out(title: str, found: Sequence[Field], cell: Callable[[Field], str]) -> str:
    """Lay fields out in a table."""
    runs = [{"row": one.row, "column": one.column, "field": one} for one in found]
    return grid(title, runs, "row", "column", lambda run: cell(run["field"]))


def noise(found: Sequence[Field]) -> str:
    """Say by how much other rounds were slower than the best one of the same checkout."""
    worse = [
        answer["seconds"] / best(answers) - 1
        for one in found
        for answers in (one.before, one.after)
        for answer in answers
    ]
    return (
        f"Rounds were slower than the best one by {100 * statistics.median(worse):.0f} % in the "
        f"median, {100 * max(worse):.0f} % at most."
    )


def differing(found: Sequence[Field]) -> str:
    """Say where the two checkouts do not agree."""
    where = [f"{one.row} on {one.column}" for one in found if not one.agrees]
    if where:
        return f"Starts differ in {len(where)} of {len(found)} fields: {', '.join(where)}."
    return f"Starts are the same in all {len(found)} fields."
