"""Instructions of expressions: an elapsed time is a part of the step that takes it."""

from __future__ import annotations

import pytest

from schedfarm.core import Workload
from schedfarm.core.engine.expressions import program_of
from schedfarm.core.engine.instructions import (
    ADD,
    AFTER,
    BEFORE,
    DIVIDE,
    ELAPSED_PRODUCT,
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
    ("procs * (now - submit)", [(ELAPSED_PRODUCT, AFTER)]),
    ("(submit - now) * procs", [(ELAPSED_PRODUCT, BEFORE)]),
    ("-(now - submit) / procs", [(ELAPSED_QUOTIENT, AFTER)]),
    ("((now - submit) / procs) ** 2", [(ELAPSED_QUOTIENT, AFTER), MULTIPLY]),
    ("procs / (now - submit)", [FILL, SUBTRACT, DIVIDE]),
    ("(now - submit) ** 2", [FILL, SUBTRACT, MULTIPLY]),
    ("(now - submit) / (now - submit)", [FILL, SUBTRACT, DIVIDE]),
    ("(now - submit) * (now - estimate)", [FILL, SUBTRACT, (ELAPSED_PRODUCT, AFTER)]),
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
def test_a_product_or_quotient_takes_an_elapsed_time_that_no_other_step_reads(
    text: str, expected: list[int | tuple[int, int]]
) -> None:
    """The instant has a register only for the steps that read it."""
    steps = (
        program_of(jobs(), Expression.parse(text, (*COLUMNS, "now"))).steps.reshape(-1, 5).tolist()
    )
    elapsed = (ELAPSED_QUOTIENT, ELAPSED_PRODUCT)
    assert [(code, c) if code in elapsed else code for code, _, _, _, c in steps] == expected
