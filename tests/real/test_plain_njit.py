"""Kernels compiled by plain `njit`, as with an untested version of numba, decide alike."""

from __future__ import annotations

import os
import subprocess
import sys

from schedfarm.core.engine.toolchain import VARIABLE
from tests.oracles.cases import CASES
from tests.support.paths import ROOT

PLATFORM, POLICY = "grid", "fcfs+easy"
"""A kernel that is made of generic steps. Plain `njit` takes 15 to 80 s of CPU for one kernel, so
that pools, nodes and networks are left out."""

PROGRAM = """
import sys
from schedfarm.core.engine.toolchain import PLAIN
from tests.oracles.test_hand_cases import differing
assert PLAIN
print(differing("kernel", sys.argv[1], sys.argv[2]))
"""

EXPRESSIONS = """
import numpy as np
from schedfarm.core.engine.toolchain import PLAIN
from tests.oracles.test_expressions import (
    INPUTS, NOW, Expression, float_of, jobs_of, program_of, rank_once
)
assert PLAIN
work, key = jobs_of(3), np.zeros(23, np.int64)
for text in ("max(now, 1) / 4", "(now - now) ** -1", "1 / (now - now) - exp(9 * now)"):
    rank_once(program_of(work, Expression.parse(text, INPUTS)), NOW, np.arange(23), key)
    print(set(float_of(key).astype(str).tolist()))
"""
"""A kernel of the instructions of expressions alone."""


def printed_by(program: str, *arguments: str) -> str:
    """Return the output of a program whose kernels plain `njit` compiles, without optimisation."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env=os.environ | {VARIABLE: "1", "NUMBA_OPT": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_hand_cases() -> None:
    """Starts, places, ends and promises are those expected."""
    assert POLICY in {case.parsed.name for case in CASES[PLATFORM]}
    assert printed_by(PROGRAM, PLATFORM, POLICY) == "{}\n"


def test_expressions_of_the_instant() -> None:
    """Values are those of IEEE 754: 90 / 4, 1 / 0, and infinity minus infinity."""
    assert printed_by(EXPRESSIONS) == "{'22.5'}\n{'inf'}\n{'nan'}\n"
