"""Orders by what users had, on a whole log."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracles.test_shares import KTH, assert_audited
from tests.support.golden import read_log
from tests.support.strategies import SHARING


@pytest.mark.parametrize("order", SHARING)
@pytest.mark.parametrize("rule", ["aggressive", "easy", "conservative"])
def test_a_whole_log_passes_and_a_second_does_not(traces: Path, rule: str, order: str) -> None:
    """Of 28,475 jobs of 214 users each start is right, and the auditor names a later one."""
    assert_audited(read_log(traces, KTH), f"{order}+{rule}", 500)
