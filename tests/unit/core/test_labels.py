"""What a user writes, and the label that is meant."""

from __future__ import annotations

import re

import numpy as np
import pytest

from schedfarm.core.errors import InputError
from schedfarm.core.labels import find_label

LOADS = ["original", "0.9", "0.95", "1.0"]
POLICIES = ["fcfs+easy", "spf+easy", "saf+easy,threshold=3d", "mine:even+easy"]


@pytest.mark.parametrize(
    ("given", "label"),
    [(0.95, "0.95"), ("0.950", "0.95"), (1, "1.0"), ("original", "original")]
    + [(np.float64(0.9), "0.9"), (np.str_("0.9"), "0.9")],
)
def test_a_load_is_found_by_its_number(given: object, label: str) -> None:
    """As a number, or as a text of another form."""
    assert find_label("load", given, LOADS) == label


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ("sjf+easy", "spf+easy"),
        ("SPF+EASY", "spf+easy"),
        ("saf+easy,threshold=72h", "saf+easy,threshold=3d"),
        ("saf+easy,threshold=259200s", "saf+easy,threshold=3d"),
        ("mine:even+easy", "mine:even+easy"),
    ],
)
def test_a_policy_is_found_by_every_spelling(given: str, label: str) -> None:
    """All that name the same policy; one's own by its label, without its module."""
    assert find_label("policy", given, POLICIES) == label


@pytest.mark.parametrize(
    ("axis", "given", "known", "said"),
    [
        ("load", 0.8, LOADS, "unknown load 0.8; known: original, 0.9, 0.95, 1.0"),
        ("load", "orginal", LOADS, "unknown load 'orginal'; did you mean 'original'? known: or"),
        ("load", True, LOADS, "unknown load True; known"),
        ("load", "nan", LOADS, "unknown load 'nan'; known"),
        ("policy", "saf+esay", ["saf+easy"], "unknown policy 'saf+esay'; did you mean 'saf+easy'?"),
        ("policy", "sqf+easy", POLICIES[:1], "unknown policy 'sqf+easy'; known: fcfs+easy"),
        ("trace", 0.9, ["0.9"], "unknown trace 0.9; did you mean '0.9'? known: 0.9"),
        ("resample", 500, range(100), "unknown resample 500; did you mean '50'? known: 0, 1, "),
        ("resample", 777, range(100), "17, 18, 19 and 80 more"),
        ("policy", "easy", [], "unknown policy 'easy'; known: "),
    ],
)
def test_an_unknown_label_is_refused(axis: str, given: object, known: list[str], said: str) -> None:
    """In one sentence with what is there, however many that are."""
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        find_label(axis, given, known)
    assert len(str(caught.value)) < 200
