"""Fixtures of every tier; options, tiers and their limits are in tests/support/plugin.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.paths import DATA, ROOT

pytest_plugins = [
    "tests.support.plugin",
    "tests.support.scheduling",
    "tests.support.fixtures",
    "tests.support.slurm_dumps",
]

collect_ignore = ["benchmarks", "mutation"]
"""Run only when asked for, as programs: docs/benchmarks.md, docs/testing.md."""

TRACES_VARIABLE = "SCHEDFARM_TRACES"
"""Environment variable that names the folder of the archive's logs."""


@pytest.fixture(scope="session")
def traces() -> Path:
    """Folder of the archive's logs, which are not ours to hand on."""
    named = os.environ.get(TRACES_VARIABLE)
    folder = Path(named) if named else ROOT.parent / "shared" / "traces"
    if not folder.is_dir():
        where = f"{TRACES_VARIABLE}={named} is no folder" if named else f"{TRACES_VARIABLE} unset"
        pytest.skip(f"the archive's logs are not beside the project, and {where}")
    return folder


@pytest.fixture(scope="session")
def golden() -> Path:
    """Folder of the schedules that are known to be right."""
    return DATA / "golden"
