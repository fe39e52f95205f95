"""The compiler of kernels: what it leaves out of their code."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from core.arrays import Int64
from core.kernels.compiler import KernelCompiler


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
