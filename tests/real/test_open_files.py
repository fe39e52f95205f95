"""A scheduler of many workers has files for all of them."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import resource
from schedfarm.cluster.opening import lift_file_limit

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 96))
lift_file_limit()
files = [open("/dev/null") for _ in range(80)]
print(resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def test_as_many_as_the_system_grants() -> None:
    """80 files are more than the process had been given, and fewer than it may ask for."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout == "(96, 96)\n"
