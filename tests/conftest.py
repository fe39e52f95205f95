"""Fixtures that more than one package's tests use."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

collect_ignore = ["benchmarks"]
"""Measured only when asked for: see tests/benchmarks/table.py."""

HERE = Path(__file__).resolve().parent

TRACES_VARIABLE = "SCHEDFARM_TRACES"
"""Environment variable that names the folder of the archive's logs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--runslow", action="store_true", help="also run tests marked slow")


def pytest_configure() -> None:
    # A shell starts what it runs in the background with SIGINT ignored, and programs hand that on.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--runslow"):
        return
    skip = pytest.mark.skip(reason="slow; run with --runslow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def traces() -> Path:
    """Folder of the archive's logs, which are not ours to hand on."""
    named = os.environ.get(TRACES_VARIABLE)
    folder = Path(named) if named else HERE.parents[1] / "shared" / "traces"
    if not folder.is_dir():
        where = f"{TRACES_VARIABLE}={named} is no folder" if named else f"{TRACES_VARIABLE} unset"
        pytest.skip(f"the archive's logs are not beside the project, and {where}")
    return folder


@pytest.fixture(scope="session")
def golden() -> Path:
    """Folder of the schedules that are known to be right."""
    return HERE / "data" / "golden"
