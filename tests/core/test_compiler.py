"""The compiler of kernels: what it leaves out of their code."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from core.arrays import Int64
from core.kernels.jit import kernel


@kernel
def _swapped(array: Int64, i: int) -> int:
    found = array[i]
    array[i] = array[-1]
    return found


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="Python asks for itself")
def test_nobody_asks_whether_a_place_is_counted_from_the_end() -> None:
    """Neither to read nor to write; the place that is written down so is still the last one."""
    array = np.array([7, 8, 9])
    assert (_swapped(array, 1), array.tolist()) == (8, [7, 9, 9])
    (compiled,) = _swapped.overloads.values()
    code = compiled.library.get_llvm_str()
    body = code[code.index("define ") : code.index("\n}", code.index("define "))]
    assert "getelementptr" in body
    assert "select" not in body
    assert "icmp slt" not in body
