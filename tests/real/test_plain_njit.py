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


def test_hand_cases() -> None:
    """Starts, places, ends and promises are those expected."""
    assert POLICY in {case.parsed.name for case in CASES[PLATFORM]}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, PLATFORM, POLICY],
        cwd=ROOT,
        env=os.environ | {VARIABLE: "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "{}\n"
