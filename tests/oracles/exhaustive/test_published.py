"""Published orders written as expressions, against the built-in ones on five logs."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest

from schedfarm.core.engine.simulate import simulate
from tests.support.golden import read_log

pytestmark = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="whole logs take hours without the JIT"
)

LOGS = (
    "KTH-SP2-1996-2.1-cln.swf.gz",
    "CTC-SP2-1996-3.1-cln.swf.gz",
    "SDSC-SP2-1998-4.2-cln.swf.gz",
    "HPC2N-2002-2.2-cln.swf.gz",
    "SDSC-BLUE-2000-4.2-cln.swf.gz",
)

WRITTEN = {
    "f1": "log10(max(estimate, 1)) * procs + 870 * log10(max(submit, 1))",
    "f2": "sqrt(estimate) * procs + 25600 * log10(max(submit, 1))",
    "f3": "estimate * procs + 6860000 * log10(max(submit, 1))",
    "f4": "estimate * sqrt(procs) + 530000 * log10(max(submit, 1))",
    "saf": "estimate * procs",
    "wfp3": "-((now - submit) / max(estimate, 1))**3 * procs",
    "unicef": "-(now - submit) / (max(log2(procs), 2**-40) * max(estimate, 1))",
}
"""The built-in orders, in which 0 counts as 1 where it is a divisor or under a logarithm."""


@pytest.mark.parametrize("log", LOGS)
def test_starts_are_those_of_the_built_in_orders(traces: Path, log: str) -> None:
    """Start for start, with and without a starvation threshold."""
    work = read_log(traces, log)
    for name, text in WRITTEN.items():
        for options in ("", ",threshold=3d"):
            expected = simulate(work, f"{name}+easy{options}")
            found = simulate(work, f"({text})+easy{options}")
            assert (found.start == expected.start).all(), name
            assert (found.backfilled == expected.backfilled).all(), name
