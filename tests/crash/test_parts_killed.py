"""Parts as processes, some of them killed: the bytes of one run."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.support.paths import IMPORTED, ROOT


def parts(*words: str) -> str:
    """Run the script in a process of its own: it forks, and may have no threads."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.parts", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": IMPORTED},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_parts_in_random_order_a_third_killed__are_one_run() -> None:
    said = parts("--parts", "6", "--resamples", "5")
    assert re.match("6 parts of 10 cells, [0-2] killed", said), said


def test_parts_in_a_bucket__are_one_run(bucket: str) -> None:
    said = parts("--parts", "6", "--resamples", "5", "--store", f"{bucket}/s")
    assert re.match("6 parts of 10 cells, [0-2] killed", said), said
