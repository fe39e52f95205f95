"""Compiled rules that are called at each pass, with every kind of order, and on whole logs."""

from __future__ import annotations

import time
from pathlib import Path

import numba
import pytest

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.pool.custom import why_plain
from schedfarm.core.policy.policy import Policy
from tests.oracles.custom_rules import MODULE, RULES, compare, make_mistakes
from tests.oracles.test_custom_rules import WORK
from tests.support.golden import logged, policy_of, read_log

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled without it")


def test_copies_equal_the_kernels_in_every_order() -> None:
    assert compare(150, 7) is None


def test_mistakes() -> None:
    assert make_mistakes(150, 7)[0] is None


@pytest.mark.parametrize("rule", sorted(RULES.keys() & {"easy", "conservative"}))
def test_schedules_of_the_logs(traces: Path, rule: str) -> None:
    """Hash of the starts of every run of the rule on the golden logs, thresholds included."""
    for run in (run for run in logged()["runs"] if run["backfill"] == rule):
        work = read_log(traces, run["file"], processors=run["machine"], jobs=run["first"])
        policy = policy_of(run).name.replace(f"+{rule}", f"+{MODULE}:{rule}")
        assert simulate(work, policy).digest() == run["sha256_starts"], policy


def test_reasons_for_plain_python() -> None:
    at = f"fcfs+{__name__}:"
    assert why_plain(Policy.parse(f"fcfs+{MODULE}:depth_2")) is None
    assert why_plain(Policy.parse(f"{at}Kept")) == "it is a class or an object, not a function"
    assert "unsupported opcode" in str(why_plain(Policy.parse(f"{at}in_python")))
    assert simulate(WORK, f"{at}in_python").start.tolist() == [0, 9, 1, 14]


def test_errors_of_compiled_rules() -> None:
    with pytest.raises(InputError, match=r"ZeroDivisionError.*at 0 s, with 2 jobs in the queue"):
        simulate(WORK, f"fcfs+{__name__}:dividing")
    with pytest.raises(InputError, match="IndexError"):
        simulate(WORK, f"fcfs+{__name__}:outside")
    with pytest.raises(InputError, match="it must return nothing"):
        simulate(WORK, f"fcfs+{__name__}:returning")


def test_a_compiled_loop_is_left() -> None:
    began = time.monotonic()
    with pytest.raises(InputError, match=r"more than 0.1 s of CPU for its pass at 0 s"):
        simulate(WORK, f"fcfs+{__name__}:lasting")
    assert time.monotonic() - began < 60


class Kept:
    """Start the first job while it fits, and count the passes."""

    def __init__(self) -> None:
        self.passes = 0

    def __call__(self, state):
        self.passes += 1
        in_python(state)


def in_python(state):
    """Start the first job while it fits; numba knows no such context."""
    from contextlib import suppress

    from schedfarm.rule import fits, start

    with suppress(StopIteration):
        for j in state.waiting:
            if not fits(state, j):
                return
            start(state, j)


def dividing(state):
    """Divide by 0."""
    state.memory[0] = 1 // (state.now - state.now)


def outside(state):
    """Read past the end of an array."""
    state.book.tally[0] = state.waiting[state.waiting.size]


def returning(state):
    """Return jobs."""
    return state.waiting


def lasting(state):
    """Take a few seconds."""
    x = state.now + 1
    while x != 7:
        x = (x * 1103515245 + 12345) % 2147483648
        if x % 1000003 == 5:
            state.book.tally[1] += 1


lasting.seconds = 0.1
