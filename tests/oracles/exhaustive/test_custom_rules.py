"""Compiled rules that are called at each pass, with every kind of order, and on whole logs."""

from __future__ import annotations

import time
from pathlib import Path

import numba
import pytest

from schedfarm.core.engine.custom_code import in_python as copy_in_python
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.pool.custom import why_plain
from schedfarm.core.policy.policy import Policy
from schedfarm.rule import reserve, start
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


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("helped", "IndexError: index 10000000000 is out of bounds"),
        ("forging", "starts no job at 0 s"),
        ("stretching", "IndexError: index 999999999999 is out of bounds"),
        ("late", "reserves processors for job 2 from -1 s on, which is before 0 s"),
        ("no_instant", "ValueError: reserve: the clock has no such instant"),
        ("at_first", "ValueError: at first"),
        ("generating", "returns a generator; it must return nothing"),
    ],
)
def test_mistakes_of_compiled_rules(rule: str, sentence: str) -> None:
    """None of them writes outside the arrays of its pass; the same words come from Python."""
    with pytest.raises(InputError) as compiled:
        simulate(WORK, f"fcfs+{__name__}:{rule}")
    assert sentence in str(compiled.value)
    if rule != "generating":
        with pytest.raises(InputError) as plain:
            simulate(WORK, f"fcfs+{__name__}:PLAIN.{rule}")
        assert str(plain.value).replace("PLAIN.", "") == str(compiled.value)


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


@numba.njit
def far_off(array):
    """Write far outside of an array."""
    array[10**10] = 1


def helped(state):
    """Write outside of an array by a function that is compiled without checks."""
    far_off(state.memory)


def forging(state):
    """Turn back the number of starts."""
    state.book.tally[0] = -(10**9)
    start(state, state.waiting[0])


def stretching(state):
    """Make the profile longer than its arrays."""
    state.profile.size[0] = 10**12
    reserve(state, state.waiting[0], state.now)


def late(state):
    """Reserve at the instant that stands for none."""
    start(state, state.waiting[0])
    reserve(state, state.waiting[1], -1)


def no_instant(state):
    """Reserve at no instant."""
    reserve(state, state.waiting[0], float("nan"))


def at_first(state):
    """Raise at the first call, and start jobs at the second."""
    if state.memory[0] == 0:
        state.memory[0] = 1
        start(state, state.waiting[0])
        raise ValueError("at first")
    start(state, state.waiting[0])


at_first.memory = 1


def generating(state):
    """Be a generator."""
    yield state.waiting


class PLAIN:
    """The rules above, as rules of plain Python."""


for _rule in (helped, forging, stretching, late, no_instant, at_first):
    _copy = copy_in_python(_rule)
    _copy.__dict__.update(_rule.__dict__, compiled=False)
    setattr(PLAIN, _rule.__name__, _copy)


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
