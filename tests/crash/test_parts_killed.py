"""Parts as processes, some of them killed: the bytes of one run."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.support.paths import IMPORTED, ROOT


def test_parts_in_random_order_a_third_killed__are_one_run() -> None:
    """A small version of the script, in a process of its own: it forks, and may have no threads."""
    words = [sys.executable, "-m", "tests.crash.parts", "--parts", "9", "--resamples", "8"]
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": IMPORTED},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.match("9 parts of 16 cells, [1-3] killed", done.stdout), done.stdout
