"""Kernels compiled by plain `njit`, as with an untested version of numba, decide alike."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from schedfarm.core.engine.toolchain import VARIABLE
from tests.oracles.cases import CASES
from tests.support.paths import ROOT

POLICIES = {"pool": "fcfs+easy", "grid": "fcfs+easy"}
"""A kernel that is chosen by generic steps, for two platforms: plain `njit` takes 15 to 80 s of CPU
for one. `fcfs+conservative` on nodes and `fcfs+ics` on networks are left out for their time."""

PROGRAM = """
import sys
from schedfarm.core.engine.toolchain import PLAIN
from tests.oracles.test_hand_cases import differing
assert PLAIN
print(differing("kernel", sys.argv[1], sys.argv[2]))
"""


@pytest.mark.parametrize("platform", POLICIES)
def test_hand_cases(platform: str) -> None:
    """Starts, places, ends and promises are those expected."""
    policy = POLICIES[platform]
    assert policy in {case.parsed.name for case in CASES[platform]}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, platform, policy],
        cwd=ROOT,
        env=os.environ | {VARIABLE: "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "{}\n"
