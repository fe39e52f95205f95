"""Values of expressions against Python's own reading of them, and orders against the built-in."""

from __future__ import annotations

import math
import random

import numba
import numpy as np
import pytest

from schedfarm.core.arrays import Int64
from schedfarm.core.engine import expressions
from schedfarm.core.engine.evaluation import Program, by_ieee
from schedfarm.core.engine.expressions import program_of, rank_in_list
from schedfarm.core.engine.jit import kernel
from schedfarm.core.engine.lanes import WORD, take_less, take_more
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.engine.trends import FALLS, RISES, UNKNOWN
from schedfarm.core.policy.expression import Expression
from schedfarm.core.policy.functions import COLUMNS
from schedfarm.core.workload.workload import Workload
from tests.oracles.expressions import by_python, written
from tests.support.strategies import crowd

INPUTS = (*COLUMNS, "now")

NOW = 90

ROUNDED = ("log", "exp", "**")
"""Functions that libraries may round otherwise in the last place."""

SUDDEN = ("%", "floor", "if")
"""Operations after which the last place may decide everything."""


@kernel
def rank_once(program: Program, now: int, jobs: Int64, key: Int64) -> None:
    """Set the keys of some jobs."""
    rank_in_list(program, now, jobs, jobs.size, key)


def jobs_of(seed: int) -> Workload:
    """Return some jobs, with zeros and negative numbers among their columns."""
    dice = np.random.default_rng(seed)
    columns = {name: dice.integers(-1, 9, 23) for name in ("user", "group", "queue", "partition")}
    return Workload.from_columns(
        submit=dice.integers(0, 80, 23),
        run=np.zeros(23, np.int64),
        estimate=dice.integers(0, 500, 23),
        procs=dice.integers(1, 65, 23),
        processors=64,
        **columns,
    )


def float_of(key: Int64) -> np.ndarray:
    """Return the floats of keys."""
    return (key ^ ((key >> 63) & np.int64(2**63 - 1))).view(np.float64)


def test_values_are_those_of_python_by_numpy_and_by_kernels() -> None:
    """Of random expressions, for jobs of which one in a few has 0 or -1 in a column."""
    dice, work, moving = random.Random(3), jobs_of(3), 0
    jobs = np.arange(len(work))
    columns = {name: getattr(work, name) for name in COLUMNS}
    for _ in range(400):
        text = written(dice, dice.randrange(1, 5), (*INPUTS, *("now",) * 3))
        order = Expression.parse(text, INPUTS)
        with np.errstate(all="ignore"):
            expected = [
                by_python(text, {**{name: c[j] for name, c in columns.items()}, "now": NOW})
                for j in jobs
            ]
        rounded = any(name in text for name in ROUNDED)
        if rounded and any(name in text for name in SUDDEN):
            continue
        near = 1e-9 if rounded else 0
        np.testing.assert_allclose(order(**columns, now=NOW), expected, near, err_msg=text)
        program = program_of(work, order)
        if "now" in order.tree.names and program.steps.size:
            moving, key = moving + 1, np.zeros(len(work), np.int64)
            rank_once(program, NOW, jobs, key)
            np.testing.assert_allclose(float_of(key), expected, near, err_msg=text)
    assert moving > 100


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("exp(9 * now)", np.inf),
        ("(now - now) ** -1", np.inf),
        ("(-now) ** 301", -np.inf),
        ("1 / exp(9 * now)", 0),
        ("(1e308 * now) % 3", np.nan),
        ("(-now) ** .5", np.nan),
        ("1e308 * now - 1e308 * now", np.nan),
    ],
)
def test_values_without_a_finite_number_are_those_of_ieee_754(text: str, value: float) -> None:
    """With the JIT off too, where functions of `math` raise and numpy warns."""
    work, key = jobs_of(3), np.zeros(23, np.int64)
    rank_once(program_of(work, Expression.parse(text, INPUTS)), NOW, np.arange(23), key)
    np.testing.assert_array_equal(float_of(key), np.full(23, value))


@pytest.mark.parametrize("now", [0, 5, 2**53])
@pytest.mark.parametrize(
    "text",
    [
        "(now - submit) / procs", "(submit - now) / procs", "procs * (now - submit)",
        "(submit - now) * procs", "(-queue - now) * procs", "((submit - now) / procs) ** 2",
        "(now - submit) / (now - submit)", "(now - submit) * (now - estimate)", "submit - now",
    ],
)  # fmt: skip
def test_elapsed_times_have_the_values_of_numpy(text: str, now: int) -> None:
    """At the first instant too, at which they are zeros of either sign."""
    work, key = jobs_of(3), np.zeros(23, np.int64)
    order = Expression.parse(f"1 / ({text})", INPUTS)
    with np.errstate(all="ignore"):
        expected = order(**{name: getattr(work, name) for name in COLUMNS}, now=now)
    rank_once(program_of(work, order), now, np.arange(23), key)
    np.testing.assert_array_equal(float_of(key), expected)


def test_functions_without_the_jit_keep_the_bits_of_math(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have values of numpy only where `math` has none."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    exponential, power = by_ieee(math.exp, np.exp), by_ieee(math.pow, np.power)
    dice = random.Random(5)
    for _ in range(300):
        a, b = dice.uniform(0, 50), dice.uniform(-50, 50)
        assert (exponential(b), power(a, b)) == (math.exp(b), math.pow(a, b))
    assert exponential(1000.0) == power(0.0, -1.0) == power(10.0, 400.0) == math.inf
    assert math.isnan(power(-2.0, 0.5))


def test_the_first_of_equal_zeros_is_taken_without_the_jit() -> None:
    """As by kernels; NaN of either place stays."""
    pairs = [(0.0, -0.0), (-0.0, 0.0), (np.nan, 1.0), (1.0, np.nan)]
    for take in (take_less, take_more):
        words = np.zeros((3, WORD))
        words[1:, : len(pairs)] = np.transpose(pairs)
        take(words.reshape(-1), 0, WORD, 2 * WORD)
        assert np.signbit(words[0, :2]).tolist() == [False, True]
        assert np.isnan(words[0, 2:4]).all()


@pytest.mark.parametrize(
    "policy", ["{}+aggressive", "{}+easy,threshold=900s", "fcfs+easy,backfill={}"]
)
def test_a_formula_of_a_built_in_order_gives_its_starts(policy: str) -> None:
    """In queues of many blocks, of which jobs leave from the middle and which are joined."""
    for formula in ("((submit - now) / max(estimate, 1))", "(-(now - submit) / max(estimate, 1))"):
        work = crowd(5, 100 if numba.config.DISABLE_JIT else 400)
        expected = simulate(work, policy.format("lxf"))
        found = simulate(work, policy.format(formula))
        np.testing.assert_array_equal(found.start, expected.start)


def test_a_proven_trend_is_that_of_the_values() -> None:
    """At ever later instants no key goes the other way, and none is missing."""
    dice, work, found = random.Random(8), jobs_of(8), {FALLS: 0, RISES: 0, UNKNOWN: 0}
    columns = {name: getattr(work, name) for name in COLUMNS}
    first = int(work.submit.max())
    for _ in range(1500):
        text = written(dice, dice.randrange(1, 4), (*INPUTS, *("now",) * 3))
        text = text.replace("now", "(now - submit)") if dice.random() < 0.5 else text
        order = Expression.parse(text, INPUTS)
        program = program_of(work, order)
        if "now" not in order.tree.names or not program.steps.size:
            continue
        found[program.trend] += 1
        if program.trend == UNKNOWN:
            continue
        instants = [*range(first, first + 40), 10**5, 10**5 + 1, 10**9, 2**40]
        keys = np.zeros((len(instants), len(work)), np.int64)
        for now, key in zip(instants, keys, strict=True):
            rank_once(program, now, np.arange(len(work)), key)
        assert not np.isnan(float_of(keys)).any(), text
        later, earlier = float_of(keys[1:]), float_of(keys[:-1])
        assert (later <= earlier if program.trend == FALLS else later >= earlier).all(), text
        with np.errstate(all="ignore"):
            assert np.isfinite(order(**columns, now=first)).all(), text
    assert min(found.values()) > 20, found


@pytest.mark.parametrize(
    ("text", "trend"),
    [
        ("(submit - now) / max(estimate, 1)", FALLS),
        ("-(((now - submit) / max(estimate, 1)) ** 3 * procs)", FALLS),
        ("-(now - submit + estimate) / max(estimate, 1)", FALLS),
        ("procs - sqrt(now - submit)", FALLS),
        ("estimate * procs / (now - submit + 1)", FALLS),
        ("max(now - submit, 600) * procs", RISES),
        ("(now - submit) / queue", UNKNOWN),
        ("abs(now - submit - 600)", UNKNOWN),
        ("log(now)", UNKNOWN),
        ("now % 7", UNKNOWN),
        ("estimate if now > 90 else procs", UNKNOWN),
        ("1e308 * now", UNKNOWN),
    ],
)
def test_trends(text: str, trend: int) -> None:
    """A queue of 0 may be a divisor, a sign may change, and an overflow is no number."""
    work = jobs_of(3)
    assert 0 in work.queue
    assert program_of(work, Expression.parse(text, INPUTS)).trend == trend


@pytest.mark.parametrize(
    "formula",
    [
        "(submit - now) / max(estimate, 1)",
        "-((now - submit) ** 2) * procs / max(estimate, 1)",
        "procs * sqrt(now - submit + 1) - estimate",
        "estimate - 20 * (now - submit)",
        "-floor((now - submit) / 500)",
    ],
)
@pytest.mark.parametrize(
    "policy", ["{}+easy", "fcfs+easy,backfill={}", "{}+aggressive,backfill=spf"]
)
def test_bounds_of_keys_change_no_start(
    formula: str, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks whose bounds exclude them have no job that goes first."""
    work = crowd(7, 100 if numba.config.DISABLE_JIT else 500)
    name = policy.format(f"({formula})")
    found = simulate(work, name).start
    assert program_of(work, Expression.parse(formula, INPUTS)).trend != UNKNOWN
    monkeypatch.setattr(expressions, "trend_of", lambda *_: UNKNOWN)
    np.testing.assert_array_equal(found, simulate(work, name).start)
