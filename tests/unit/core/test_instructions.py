"""Instructions of expressions: a quotient takes the elapsed time that it divides."""

from __future__ import annotations

import pytest

from schedfarm.core import Workload
from schedfarm.core.engine.expressions import program_of
from schedfarm.core.engine.instructions import (
    ADD,
    AFTER,
    BEFORE,
    DIVIDE,
    ELAPSED_QUOTIENT,
    FILL,
    LEAST,
    MULTIPLY,
    SUBTRACT,
)
from schedfarm.core.policy.expression import Expression
from schedfarm.core.policy.functions import COLUMNS

TAKEN = [
    ("(now - submit) / procs", [(ELAPSED_QUOTIENT, AFTER)]),
    ("(submit - now) / procs", [(ELAPSED_QUOTIENT, BEFORE)]),
    ("procs * (now - submit)", [FILL, SUBTRACT, MULTIPLY]),
    ("(submit - now) * procs", [FILL, SUBTRACT, MULTIPLY]),
    ("-(now - submit) / procs", [(ELAPSED_QUOTIENT, AFTER)]),
    ("((now - submit) / procs) ** 2", [(ELAPSED_QUOTIENT, AFTER), MULTIPLY]),
    ("procs / (now - submit)", [FILL, SUBTRACT, DIVIDE]),
    ("(now - submit) ** 2", [FILL, SUBTRACT, MULTIPLY]),
    ("(now - submit) / (now - submit)", [FILL, SUBTRACT, DIVIDE]),
    ("(now - submit) * (now - estimate)", [FILL, SUBTRACT, SUBTRACT, MULTIPLY]),
    ("(now - submit) / now", [FILL, (ELAPSED_QUOTIENT, AFTER)]),
    ("(now - submit) / procs + now", [FILL, (ELAPSED_QUOTIENT, AFTER), ADD]),
    ("(now - now) / procs", [FILL, SUBTRACT, DIVIDE]),
    ("min(now - submit, 9)", [FILL, SUBTRACT, LEAST]),
    ("submit - now", [FILL, SUBTRACT]),
]
"""Expressions, and codes of their steps: of those with an elapsed time, with its sign."""


def jobs() -> Workload:
    return Workload.from_columns(
        submit=[0, 0, 5], run=[9, 7, 0], estimate=[9, 8, 0], procs=[1, 2, 2], queue=[0, 1, 2],
        processors=2,
    )  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TAKEN)
def test_a_quotient_takes_an_elapsed_time_that_no_other_step_reads(
    text: str, expected: list[int | tuple[int, int]]
) -> None:
    """The instant has a register only for the steps that read it."""
    program = program_of(jobs(), Expression.parse(text, (*COLUMNS, "now")))
    steps = program.steps.reshape(-1, 5).tolist()
    found = [(code, c) if code == ELAPSED_QUOTIENT else code for code, _, _, _, c in steps]
    assert found == expected
