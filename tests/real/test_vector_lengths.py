"""Kernels that look at eight places at once and at sixteen decide alike."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib

import pytest

from schedfarm.core import lublin, simulate
from tests.support.paths import ROOT

POLICIES = ("fcfs+easy", "lxf+easy", "sxf+none", "lxf+conservative", "fcfs+planned,walk=queue")


def starts() -> list[int]:
    """Return check sums of starts under some policies."""
    jobs = lublin(64, jobs=300, seed=2)
    return [zlib.crc32(simulate(jobs, policy).start.tobytes()) for policy in POLICIES]


@pytest.mark.parametrize(("features", "places"), [("+avx2", 8), ("+avx2,+avx512f", 16)])
def test_starts_are_the_same_for_every_length_of_vectors(features: str, places: int) -> None:
    """A machine compiles for one length only, so the other one runs without the JIT."""
    program = (
        "from schedfarm.core.engine.lanes import WORD\n"
        "from tests.real.test_vector_lengths import starts\n"
        "print(WORD, *starts())"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "NUMBA_CPU_FEATURES": features}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [int(word) for word in done.stdout.split()] == [places, *starts()]
