"""Queue orders: the keys of ours, the published formulas, and what a user's function may return."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.own import load, sources
from schedfarm.core.policy.cost import CALLED, FREE
from schedfarm.core.policy.functions import as_key, f1, f2, f3, f4, own_function, unicef, wfp3
from schedfarm.core.policy.orders import ORDERS, find_order
from schedfarm.core.workload.workload import Workload

WORK = Workload.from_columns(
    submit=[0, 5, 5], run=[1, 2, 3], estimate=[30, 20, 40], procs=[3, 4, 1], processors=4
)

COLUMNS = (np.array([0, 100]), np.array([100, 4]), np.array([1, 4]))


@pytest.mark.parametrize(
    ("order", "first_to_last"),
    [
        ("fcfs", [0, 1, 2]),
        ("lcfs", [1, 2, 0]),
        ("spf", [1, 0, 2]),
        ("lpf", [2, 0, 1]),
        ("sqf", [2, 0, 1]),
        ("lqf", [1, 0, 2]),
        ("saf", [2, 1, 0]),
        ("laf", [0, 1, 2]),
    ],
)
def test_fixed_orders(order: str, first_to_last: list[int]) -> None:
    """Smallest or largest first, equals by (submit, position)."""
    key = find_order(order).fixed_key(WORK)
    assert key is not None
    assert np.argsort(key, kind="stable").tolist() == first_to_last


@pytest.mark.parametrize("order", ["spf", "sqf", "saf", "fcfs", "lcfs"])
def test_keys_belong_to_the_caller(order: str) -> None:
    """Starving jobs are marked in the key, so it is never a column of the workload."""
    key = find_order(order).fixed_key(WORK)
    assert key is not None
    key[:] = -1
    assert WORK.submit.tolist() == [0, 5, 5]


@pytest.mark.parametrize(
    "order", ["lxf", "sxf", "wfp3", "unicef", "schedfarm.core.policy.functions:wfp3"]
)
def test_moving_orders_have_no_fixed_key(order: str) -> None:
    """What changes with time has no key at submission."""
    assert find_order(order).fixed_key(WORK) is None


def test_published_formulas() -> None:
    """Each formula at round arguments, worked by hand."""
    assert wfp3(*COLUMNS, 200).tolist() == [-8.0, -62500.0]
    assert unicef(*COLUMNS, 200).tolist() == [-(2.0**41), -12.5]
    assert f1(*COLUMNS).tolist() == pytest.approx([2.0, 4 * np.log10(4) + 1740])
    assert f2(*COLUMNS).tolist() == [10.0, 51_208.0]
    assert f3(*COLUMNS).tolist() == [100.0, 13_720_016.0]
    assert f4(*COLUMNS).tolist() == [100.0, 1_060_008.0]


@given(st.lists(st.floats(allow_nan=False)))
def test_float_keys_sort_like_the_floats(values: list[float]) -> None:
    """Infinities, subnormals and both zeros included."""
    key = as_key(np.array(values, np.float64), np.arange(len(values)), "mine")
    expected = np.argsort(np.array(values, np.float64), kind="stable")
    assert np.argsort(key, kind="stable").tolist() == expected.tolist()


@pytest.mark.parametrize(
    "values",
    [
        np.array([2**64 - 1, 0, 2**63], np.uint64),
        np.array([-(2**63), 5, 2**63 - 1]),
        np.array([1.5, -1.5, 0.0], np.longdouble),
        np.array([3, 1, 2], np.int8),
    ],
)
def test_any_real_numbers_will_do(values: np.ndarray) -> None:
    """Keys keep the order of every width of number, and stay above the mark of the starving."""
    key = as_key(values, np.arange(3), "mine")
    assert np.argsort(key).tolist() == np.argsort(values).tolist()
    assert key.min() > -(2**63)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1.0, 2.0], r"'mine' returned shape \(2,\) for 3 jobs; it must return \(3,\)"),
        (1.0, r"returned shape \(\) for 3 jobs"),
        ([1.0, float("nan"), 2.0], "returned NaN for job 1"),
        ([True, False, True], "returned bool; it must return whole or floating numbers"),
        (["a", "b", "c"], "returned <U1"),
        ([1j, 2j, 3j], "returned complex128"),
    ],
)
def test_what_is_no_number_of_each_job_is_refused(values: object, sentence: str) -> None:
    """One sentence with the order, what it returned and what would be right."""
    with pytest.raises(InputError, match=sentence):
        as_key(values, np.arange(3), "mine")  # type: ignore[arg-type]


def write_order(folder: Path, module: str, body: str) -> None:
    (folder / f"{module}.py").write_text(
        f"import numpy as np\n\ndef mine(submit, estimate, procs, user, now):\n    {body}\n"
    )


def test_nan_during_a_simulation_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0 / 0 at the first pass: the sentence names the order."""
    write_order(tmp_path, "order_of_nan", "return np.full(submit.size, np.nan)")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="order 'order_of_nan:mine' returned NaN"):
        simulate(WORK, "order_of_nan:mine+easy")


def test_an_order_is_asked_once_a_pass() -> None:
    """Also under easy, where walk and backfill go by one order."""
    text = (
        "asked = []\n"
        "def mine(submit, estimate, procs, user, now):\n"
        "    asked.append(now)\n"
        "    return estimate\n"
    )
    with sources({"counts": text}):
        simulate(WORK, "counts:mine+easy")
        asked = load("counts:asked")
    assert asked == sorted(set(asked))
    assert asked


def test_entry_point_is_an_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution names its orders in the group schedfarm.orders."""
    write_order(tmp_path, "order_of_plugin", "return -procs")
    folder = tmp_path / "plugin-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[schedfarm.orders]\nwidest = order_of_plugin:mine\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert own_function("widest").key(WORK, np.array([0, 1])).tolist() == [-3, -4]
    assert simulate(WORK, "widest+easy").start.tolist() == simulate(WORK, "lqf+easy").start.tolist()


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ("no_such_module:mine", "'no_such_module:mine' cannot be imported"),
        ("schedfarm.core.own:ORDERS", "is str; it must be a function"),
        ("widest", "'widest' is not an entry point of group 'schedfarm.orders'"),
    ],
)
def test_what_is_no_function_is_refused(order: str, sentence: str) -> None:
    """Each way to miss a function says which."""
    with pytest.raises(InputError, match=sentence):
        own_function(order)


def test_an_order_of_no_value_is_named_with_the_instant_and_the_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a pass, or before the first one; the error itself stays the cause."""
    write_order(tmp_path, "order_of_no_value", "return [][int(now)]")
    (tmp_path / "static_that_raises.py").write_text("def mine(procs):\n    raise KeyError(7)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError) as told:
        simulate(WORK, "order_of_no_value:mine+easy")
    assert str(told.value) == (
        "order 'order_of_no_value:mine' raised IndexError: list index out of range "
        "(at 0 s, on job 1)"
    )
    assert isinstance(told.value.__cause__, IndexError)
    with pytest.raises(InputError, match=r"KeyError: 7 \(before the first pass, on 3 jobs, the"):
        simulate(WORK, "static_that_raises:mine+easy")


def test_nan_is_of_the_job_with_the_number_of_the_log() -> None:
    """And not of its place among the jobs that wait."""
    with pytest.raises(InputError, match="returned NaN for job 44"):
        as_key([1.0, np.nan], np.array([31, 44]), "mine")


def test_an_order_of_ones_own_that_moves_costs_calls() -> None:
    """One that is known at submission is evaluated once, whatever the number of passes."""
    moving, fixed = (
        find_order(f"schedfarm.core.policy.functions:{name}") for name in ("wfp3", "f1")
    )
    assert (moving.cost, fixed.cost) == (CALLED, FREE)


def test_planned_shares_are_of_jobs() -> None:
    """A share of waiting jobs that is not above 0 would make planned costs negative."""
    assert {name: row.share for name, row in ORDERS.items() if not row.share > 0} == {}
