"""Orders as expressions: what is read, its canonical text, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from schedfarm.core import simulate
from schedfarm.core.engine import expressions, priority, rank, user_ranking
from schedfarm.core.engine.ranking import Rankings
from schedfarm.core.errors import InputError
from schedfarm.core.policy.expression import DEEPEST, LONGEST, SHOWN, Expression
from schedfarm.core.policy.functions import ARGUMENTS
from schedfarm.core.policy.policy import Policy, whole_name
from schedfarm.core.workload.workload import Workload
from tests.oracles.expressions import cases, tried

JOBS = Workload.from_columns(
    submit=[0, 0, 0, 5],
    run=[10, 20, 30, 5],
    estimate=[10, 20, 30, 5],
    procs=[4, 3, 2, 1],
    queue=[0, 1, 2, 2],
    group=[9, 9, 8, 7],
    processors=4,
)


def value_of(text: str, **given: float) -> float:
    """Return the value of an expression for one job."""
    columns = {name: np.array([value]) for name, value in {"submit": 0.0, **given}.items()}
    return float(Expression.parse(text, ARGUMENTS)(**columns)[0])


@pytest.mark.parametrize(
    ("text", "canonical", "value"),
    [
        ("2+3 * 4", "2 + 3 * 4", 14),
        ("(2+3)*4", "(2 + 3) * 4", 20),
        ("2 - (3 - 4)", "2 - (3 - 4)", 3),
        ("2**3**2", "2**3**2", 512),
        ("(2**3)**2", "(2**3)**2", 64),
        ("-2**2", "-2**2", -4),
        ("(-2)**2", "(-2)**2", 4),
        ("2**-1", "2**-1", 0.5),
        ("+7 % 4", "7 % 4", 3),
        ("-7 % 4", "-7 % 4", 1),
        (".5e1", "5", 5),
        ("1e300", "1e+300", 1e300),
        ("min(3, 1, 2)", "min(3, 1, 2)", 1),
        ("max(abs(-2), floor(1.5))", "max(abs(-2), floor(1.5))", 2),
        ("log2(8) + log10(100) + log(exp(1)) + sqrt(4)", None, 8),
        ("1 if 2 < 3 else 4 if 5 > 6 else 7", None, 1),
        ("(1 if 2 > 3 else 4) + 1", "(1 if 2 > 3 else 4) + 1", 5),
        ("1 if not 2 == 3 and (4 != 4 or 5 >= 5) else 0", None, 1),
        ("1 if (2 < 3 and 3 < 4) or 1 > 2 else 0", "1 if 2 < 3 and 3 < 4 or 1 > 2 else 0", 1),
        ("1 / 0", "1 / 0", np.inf),
    ],
)
def test_texts_are_read_as_in_python(text: str, canonical: str | None, value: float) -> None:
    """The canonical text has the same tree, and a value is that of float64."""
    read = Expression.parse(text, ARGUMENTS)
    assert read.text == (text if canonical is None else canonical)
    assert Expression.parse(read.text, ARGUMENTS).tree == read.tree
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "at", "why"),
    [
        ("", 1, "the end where a value is needed"),
        ("procs +", 8, "the end where a value is needed"),
        ("prcos * 2", 1, "did you mean 'procs'"),
        ("2 * procs.size", 10, "'.' is not part of the language"),
        ("__import__('os')", 12, '"\'" is not part of the language'),
        ("open(procs)", 1, "'open' is not a known function"),
        ("sqrt", 1, "write sqrt"),
        ("sqrt(1, 2)", 1, "sqrt takes 1, but has 2 values"),
        ("min(1)", 1, "min takes at least 2, but has 1 value"),
        ("(procs", 7, "closes the '.' of character 1"),
        ("procs)", 6, "follows a complete expression"),
        ("procs > 4", 1, "procs > 4 is a condition"),
        ("1 < procs < 4", 11, "join conditions with and"),
        ("1 if procs else 2", 3, "needs a condition such as procs > 4, not procs"),
        ("1 if procs > 4", 15, "comes after a condition"),
        ("procs = 4", 7, "write =="),
        ("procs ^ 2", 7, "write [*][*]"),
        ("1e999", 1, "too large"),
        ("(" * (DEEPEST + 1), DEEPEST + 1, "nested"),
        ("1" + " + 1" * DEEPEST, 4 * DEEPEST - 1, "nested"),
        ("1" * (LONGEST + 1), LONGEST + 1, f"at most {LONGEST}"),
    ],
)
def test_mistakes_are_pointed_at(text: str, at: int, why: str) -> None:
    """An error names the character, and its last line has a caret below it."""
    with pytest.raises(InputError, match=why) as caught:
        Expression.parse(text, ARGUMENTS)
    said, shown, caret = str(caught.value).split("\n")
    assert said.startswith(f"character {at} of the order's expression: ")
    assert caret == "  " + " " * min(at - 1, SHOWN) + "^"
    assert shown[len(caret) - 1 :] == text[at - 1 :][:SHOWN]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("(procs*estimate)+easy", "(procs * estimate)+easy"),
        (" (max(procs,2)+1) + easy", "(max(procs, 2) + 1)+easy"),
        ("SJF+easy,backfill=(now-submit)", "spf+easy,backfill=(now - submit)"),
        ("(qos+account)+depth(2),threshold=72h", "(queue + group)+depth(2),threshold=3d"),
    ],
)
def test_policies_have_canonical_names(text: str, name: str) -> None:
    """An expression in parentheses is an order, whatever commas and plus signs it has."""
    assert Policy.parse(text).name == whole_name(name) == name
    assert Policy.parse(name) == Policy.parse(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(procs", "closes the '.' of character 1"),
        ("(procs) easy", "follows a complete expression"),
        ("(procs)", "a rule is missing"),
        ("procs*2+easy", r"a formula in parentheses such as \(estimate \* procs\)"),
        ("fcfs+easy,backfill=(prcs)", "character 2 of the backfill order's expression"),
        ("(waited)+demt", "changes while jobs wait"),
    ],
)
def test_bad_policies_are_refused(text: str, why: str) -> None:
    """What is wrong with the expression or around it is named."""
    with pytest.raises(InputError, match=why):
        Policy.parse(text)


def test_columns_of_the_log_order_jobs() -> None:
    """Queues and groups are columns; ties go by submission."""
    assert simulate(JOBS, "(-queue)+none").start.tolist() == [50, 30, 0, 5]
    assert simulate(JOBS, "(group)+none").start.tolist() == [30, 40, 0, 5]


def test_a_key_that_is_not_a_number_is_refused() -> None:
    """The sentence names the order and the job."""
    with pytest.raises(InputError, match=r"'\(sqrt\(2 - procs\)\)' returned NaN for job 1;"):
        simulate(JOBS, "(sqrt(2 - procs))+easy")


@pytest.mark.parametrize("order", ["({})+easy", "fcfs+easy,backfill=({})"])
def test_a_key_that_is_not_a_number_at_a_pass_is_refused(order: str) -> None:
    """The first job and its instant are named."""
    order = order.format("log(procs - 3 - 0 * now)")
    with pytest.raises(InputError, match=r"gave NaN for job 3 at 0 s; it must give a number"):
        simulate(JOBS, order)


def test_random_texts_give_a_sentence_or_a_policy() -> None:
    """A small part of what `python -m tests.oracles.expressions` tries."""
    assert {tried(text) for text in cases(300, seed=1)} == {True, False}


@pytest.mark.parametrize(
    "step",
    [
        *(rank.begun_by, rank.follow_up, rank.rank_queue),
        *(rank.set_keys, rank.may_come_first, rank.follow_removal),
        *(rank.rank_list, rank.settled_until, rank.copy_usage),
    ],
)
def test_each_kind_of_order_has_each_step(step: Any) -> None:
    """A rule that uses one more step of an order than others must not fail for one of the kinds."""
    kinds = {
        *(Rankings, expressions.ExpressionRankings),
        *(user_ranking.SharedRankings, priority.WeighedRankings),
    }
    assert step.variants.keys() == kinds
