"""Regression of orders on scores of first choices (Carastan-Santos and de Camargo 2017).

A tuple is a window of consecutive jobs of a trace. The first jobs of the window start in their
order, and the other jobs in each of many random permutations, without backfilling. The score of a
job is a share of the summed mean bounded slowdowns: the sum over the permutations that begin with
the job, divided by the sum over all permutations. Functions of run time, width and submission are
fitted to the scores; jobs with smaller values start first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from schedfarm.core.arrays import Float64
from schedfarm.core.engine.permutations import run_trials
from schedfarm.core.errors import InputError
from schedfarm.core.philox import philox
from schedfarm.core.policy.expression import (
    OPERATIONS,
    Applied,
    Constant,
    Expression,
    Tree,
)
from schedfarm.core.policy.functions import ARGUMENTS
from schedfarm.farm.search.cells import Runner, Sampling, sample_of
from schedfarm.farm.search.journal import Journal
from schedfarm.farm.search.orders import number, order_text
from schedfarm.farm.search.spec import Regression, Spec

TUPLES_AT_ONCE = 50
"""Number of tuples after which the journal is written."""

IDENTITY, INVERSE = "x", "1 / x"

BASES: dict[str, Callable[[Float64], Float64]] = {
    IDENTITY: lambda x: x,
    "log10(x)": np.log10,
    "sqrt(x)": np.sqrt,
    INVERSE: lambda x: 1 / x,
}
"""Functions of one characteristic of a job, by their text."""

JOINTS = ("+", "*", "/")
"""Operations between the terms of a function."""

INPUTS = ("max(estimate, 1)", "procs", "max(submit, 1)")
"""Expressions of a job's characteristics in orders: run time r, width n and submission s."""


@dataclass(frozen=True)
class Family:
    """Hold a family of functions: A(r), B(n) and C(s) with coefficients, and two operations."""

    bases: tuple[str, str, str]
    joints: tuple[str, str]

    @property
    def terms(self) -> list[list[tuple[int, bool]]]:
        """Factors of each term of the sum: the index of a base, and whether it is a divisor."""
        found: list[list[tuple[int, bool]]] = [[(0, False)]]
        for place, joint in enumerate(self.joints, 1):
            if joint == "+":
                found.append([(place, False)])
            else:
                found[-1].append((place, joint == "/"))
        return found

    def columns(self, columns: tuple[Float64, ...]) -> Float64:
        """Return the value of each term without its coefficient, float64[jobs, terms]."""
        bases = [BASES[name](one) for name, one in zip(self.bases, columns, strict=True)]
        found = []
        with np.errstate(divide="ignore", invalid="ignore"):
            for term in self.terms:
                value = np.ones_like(bases[0])
                for place, divides in term:
                    value = value / bases[place] if divides else value * bases[place]
                found.append(value)
        return np.stack(found, axis=1)


FAMILIES = tuple(
    Family((a, b, c), (one, two))
    for a, b, c in product(BASES, repeat=3)
    for one, two in product(JOINTS, repeat=2)
)
"""All families; the best coefficients of a family solve a linear least-squares problem."""


@dataclass(frozen=True)
class Fit:
    """Hold a fitted function: its order, and its mean absolute error."""

    order: str
    error: float

    @property
    def text(self) -> str:
        """The error of the fit as text."""
        return f"mean absolute error of the scores {self.error:.3g}"


def fitted(
    spec: Spec,
    samplings: Sequence[Sampling],
    journal: Journal,
    runner: Runner,
    say: Callable[[str], None],
) -> list[Fit]:
    """Return the functions with the best fits to the scores, the best first."""
    how = Regression(**(spec.regression or {}))
    rows: list[list[float]] = []
    for first in range(0, how.tuples, TUPLES_AT_ONCE):
        last = min(first + TUPLES_AT_ONCE, how.tuples)
        asked = {"tuples": [first, last]}
        found = journal.recall(asked)
        if found is None:
            given = [(samplings[k % len(samplings)], how, k) for k in range(first, last)]
            found = runner(scores, given)
            journal.add(asked, found)
        rows += [row for one in found for row in one]
        say(f"{last} of {how.tuples} tuples: {how.trials} permutations of {how.queued} jobs each")
    r, n, s, score = np.array(rows).T
    return best_fits(r, n, s, score, how.keep)


def scores(sampling: Sampling, how: Regression, index: int) -> list[list[float]]:
    """Return run time, width, submission and score of the queued jobs of a tuple."""
    jobs = sample_of(sampling, 1)
    length = how.running + how.queued
    if len(jobs) < length:
        raise InputError(
            f"trace {sampling.trace.name!r} has {len(jobs)} jobs in a sample; a tuple needs "
            f"{length}"
        )
    random = np.random.Generator(philox("search", sampling.seed, "tuple", index))
    begin = int(random.integers(len(jobs) - length + 1))
    window = slice(begin, begin + length)
    submit = jobs.submit[window] - jobs.submit[begin]
    run, procs = np.maximum(jobs.run[window], 1), jobs.procs[window]
    queue = np.tile(np.arange(how.running, length), (how.trials, 1))
    order = random.permuted(queue, axis=1)
    slowdown, (end, width) = np.empty(how.trials), np.empty((2, length), np.int64)
    run_trials(submit, run, procs, jobs.processors, order, sampling.tau, end, width, slowdown)
    sums = np.bincount(order[:, 0], weights=slowdown, minlength=length)[how.running :]
    share = sums / slowdown.sum()
    columns = (run[how.running :], procs[how.running :], np.maximum(submit[how.running :], 1))
    found: list[list[float]] = np.column_stack([*columns, share]).tolist()
    return found


def best_fits(r: Float64, n: Float64, s: Float64, score: Float64, keep: int) -> list[Fit]:
    """Return the fits of least mean absolute error, one for each order.

    Squared errors are weighted by (r n)^2, so that the few large jobs count.
    """
    weight = r * n
    fits = []
    for family in FAMILIES:
        columns = family.columns((r, n, s))
        if not np.isfinite(columns).all():
            continue
        # Columns are scaled to length one, since products of inputs differ by a factor of 10^12.
        size = np.sqrt(((columns * weight[:, None]) ** 2).sum(axis=0))
        scaled = columns * (weight[:, None] / size)
        factors = np.linalg.lstsq(scaled, score * weight, rcond=None)[0] / size
        error = float(np.abs(columns @ factors - score).mean())
        fits.append(Fit(order_text(as_tree(family, factors)), error))
    fits.sort(key=lambda one: (one.error, one.order))
    different = {one.order: one for one in reversed(fits)}
    return sorted(different.values(), key=lambda one: (one.error, one.order))[:keep]


def as_tree(family: Family, factors: Float64) -> Tree:
    """Return a function as an order: its first coefficient becomes 1 or -1.

    Examples
    --------
    >>> family = Family(("log10(x)", "x", "log10(x)"), ("*", "+"))
    >>> order_text(as_tree(family, np.array([2.0, 1740.0])))
    '(log10(max(estimate, 1)) * procs + 870 * log10(max(submit, 1)))'
    """
    first = abs(float(factors[0])) or 1.0
    found: Tree | None = None
    for term, factor in zip(family.terms, factors, strict=True):
        value = _product(family, term)
        size = float(factor) / first
        if abs(size) != 1:
            value = Applied(OPERATIONS["*"], (number(abs(size)), value))
        if found is None:
            found = value if size > 0 else Applied(OPERATIONS["negative"], (value,))
        else:
            found = Applied(OPERATIONS["+" if size > 0 else "-"], (found, value))
    assert found is not None, "a family has a term"
    return found


def _product(family: Family, term: list[tuple[int, bool]]) -> Tree:
    """Return a term without its coefficient: its factors, divided by its divisors."""
    above: list[Tree] = []
    below: list[Tree] = []
    for place, divides in term:
        name, inverse = family.bases[place], family.bases[place] == INVERSE
        text = (IDENTITY if inverse else name).replace("x", INPUTS[place], 1)
        (below if divides != inverse else above).append(Expression.parse(text, ARGUMENTS).tree)
    found, *others = above or [Constant(1.0)]
    for one in others:
        found = Applied(OPERATIONS["*"], (found, one))
    for one in below:
        found = Applied(OPERATIONS["/"], (found, one))
    return found
