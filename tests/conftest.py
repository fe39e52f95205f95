"""Fixtures that more than one package's tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

collect_ignore = ["benchmarks"]
"""Measured only when asked for: see tests/benchmarks/table.py."""

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--runslow", action="store_true", help="also run tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--runslow"):
        return
    skip = pytest.mark.skip(reason="slow; run with --runslow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


def _folder(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"the folder {name}/ of real data is not beside the project")
    return folder


@pytest.fixture(scope="session")
def traces() -> Path:
    """Folder of the archive's logs."""
    return _folder("traces")


@pytest.fixture(scope="session")
def golden() -> Path:
    """Folder of the independent program's schedules."""
    return _folder("golden")
