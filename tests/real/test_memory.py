"""Peak memory, measured in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from schedfarm.core.caches import ENVIRONMENT
from tests.support.swf_texts import HEADER

PEAK = """
import resource, sys
from schedfarm.core import read_swf
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
jobs = len(read_swf(sys.argv[1]))
print(jobs, before * 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def test_ten_million_rows_take_two_gibibytes(tmp_path: Path) -> None:
    """In proportion, plus one chunk of the text, the entry of the cache included."""
    rows, most = 500_000, 10**7
    text = (
        f"{j} {j} 3 {j % 999} 2 -1 -1 2 900 -1 1 5 4 -1 1 -1 -1 -1\n" for j in range(1, rows + 1)
    )
    (tmp_path / "long.swf").write_text(HEADER + "".join(text))
    run = subprocess.run(
        [sys.executable, "-c", PEAK, str(tmp_path / "long.swf")],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, ENVIRONMENT: str(tmp_path / "cache")},
    )
    jobs, before, after = map(int, run.stdout.split())
    assert jobs == rows
    assert after - before < 2**31 * rows / most + 2**25
