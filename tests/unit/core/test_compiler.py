"""The compiler of kernels: what it leaves out of their code."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import pytest

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.compiler import KernelCompiler
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.machine import most_free


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="Python asks for itself")
def test_nobody_asks_whether_a_place_is_counted_from_the_end() -> None:
    """Neither to read nor to write; the place that is written down so is still the last one."""

    # Not cached as kernels are: what comes from there cannot be looked at.
    @numba.njit(pipeline_class=KernelCompiler, no_cfunc_wrapper=True, _nrt=False)
    def swapped(array: Int64, i: int) -> int:
        found = array[i]
        array[i] = array[-1]
        return found

    array = np.array([7, 8, 9])
    assert (swapped(array, 1), array.tolist()) == (8, [7, 9, 9])
    (code,) = swapped.inspect_llvm().values()
    begin = code.index("define ")
    body = code[begin : code.index("\n}", begin)]
    assert "getelementptr" in body
    assert "select" not in body
    assert "icmp slt" not in body


NUMBERS = [
    (3, -5),
    (-5, 3),
    (4, 4),
    (2**62, -(2**62)),
    (1.5, -2.5),
    (-2.5, 1.5),
    (float("nan"), 1.0),
    (1.0, float("nan")),
    (0.0, -0.0),
    (3, 2.5),
    (True, 0),
]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="they are Python's own")
def test_min_and_max_are_those_of_python() -> None:
    """Of equal numbers they return the first; a comparison with NaN is false."""

    @verb
    def extremes(a: float, b: float) -> tuple[float, float]:
        return min(a, b), max(a, b)

    for a, b in NUMBERS:
        found, right = extremes(a, b), (min(a, b), max(a, b))
        assert np.array(found, float).tobytes() == np.array(right, float).tobytes(), (a, b)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="they are Python's own")
def test_int_is_that_of_python() -> None:
    @verb
    def whole(x: float) -> int:
        return int(x)

    for x in (-3, 2.9, -2.9, True):
        assert whole(x) == int(x), x


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="Python has them of any kind")
@pytest.mark.parametrize(
    ("a", "b"), [(np.float32(2.5), 3), (np.uint64(2**63 + 5), np.uint64(7)), (np.float32(2.5),) * 2]
)
def test_numbers_that_kernels_do_not_have_are_refused(a: float, b: float) -> None:
    """Made int64, they would be other numbers."""

    @verb
    def least(a: float, b: float) -> float:
        return min(a, b)

    @verb
    def whole(a: float) -> int:
        return int(a)

    with pytest.raises(numba.TypingError):
        least(a, b)
    with pytest.raises(numba.TypingError):
        whole(a)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_functions_that_numba_has_in_python_are_refused() -> None:
    """To compile them numba would read all of its modules, and scipy.linalg with them."""

    @verb
    def ordered(array: Int64) -> Int64:
        return np.sort(array)

    with pytest.raises(numba.TypingError):
        ordered(np.array([2, 1]))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_debug_information_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """With it numba reads each variable from a place, and values have none."""
    monkeypatch.setattr(numba.config, "DEBUGINFO_DEFAULT", 1)

    @verb
    def larger(a: int, b: int) -> int:
        return a if a > b else b

    @verb
    def write(array: Int64) -> None:
        for i in range(1, array.size):
            array[i] = larger(array[i], array[i - 1])

    array = np.array([3, 1, 5, 2])
    write(array)
    assert array.tolist() == [3, 3, 5, 5]
    assert larger(4, 7) == 7


def test_a_missing_step__is_named() -> None:
    """The error for a machine without an implementation names the type of the machine."""

    class Pair(NamedTuple):
        free: Int64

    with pytest.raises(KeyError, match="has no implementation for Pair"):
        most_free(Pair(np.zeros(1, np.int64)))
