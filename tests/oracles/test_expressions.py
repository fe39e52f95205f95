"""Values of expressions against Python's own reading of them, and orders against the built-in."""

from __future__ import annotations

import math
import random

import numba
import numpy as np
import pytest

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.expressions import Program, by_ieee, program_of, rank_in_list
from schedfarm.core.engine.jit import kernel
from schedfarm.core.engine.lanes import WORD, take_less, take_more
from schedfarm.core.engine.simulate import simulate
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
