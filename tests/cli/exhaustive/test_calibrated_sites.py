"""Sites with known parameters: their intervals hold them, and other rules are noticed."""

from __future__ import annotations

import pytest

from schedfarm.farm.site.judgement import AGREEMENT
from tests.oracles.calibrated import NAMES, UNOFFERED, judged, known_site


def test_intervals_contain_the_truth() -> None:
    """The larger run is ``python -m tests.oracles.calibrated``."""
    held = [known_site(seed, jobs=3000).held for seed in (1, 2)]
    assert [sum(one[name] for one in held) for name in NAMES] == [2, 2, 2]


def test_a_site_of_the_configured_rule_is_matched() -> None:
    found = judged("", 2, jobs=3000)
    assert found.matched
    assert found.error.value < 0.1


@pytest.mark.parametrize("kind", UNOFFERED)
def test_a_site_of_another_rule_is_not_matched(kind: str) -> None:
    found = judged(UNOFFERED[kind], 2, jobs=3000)
    assert not found.matched
    assert found.agreement.value < AGREEMENT - 0.1
