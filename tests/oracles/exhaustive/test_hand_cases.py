"""The hand-written cases by compiled kernels."""

from __future__ import annotations

import pytest

from tests.oracles.cases import CASES
from tests.oracles.test_hand_cases import assert_none, differing


@pytest.mark.parametrize("platform", CASES)
def test_hand_cases(platform: str) -> None:
    assert_none(differing("kernel", platform))
