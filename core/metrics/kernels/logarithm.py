"""Natural logarithms that are the same to the bit on every processor.

numpy's differ from the C library's in 0.2 to 0.5 % of the bounded slowdowns of CTC, depending on
the vector instructions.
"""

from __future__ import annotations

import math

import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.jit import kernel


def logarithms(values: Float64) -> Float64:
    """Return the natural logarithm of each positive number, float64[n]."""
    found = np.zeros(values.size)
    find_logarithms(values, np.empty(values.size, np.int64), found)
    return found


@kernel
def find_logarithms(values: Float64, others: Int64, found: Float64) -> None:
    """Fill in the natural logarithm of each positive number where it is not 0.

    others: int64[n], overwritten. Half of all jobs are not slowed down, in an unpredictable order:
    finding the others first takes 0.6 of the time.
    """
    count = 0
    for i in range(values.size):
        others[count] = i
        count += values[i] != 1.0
    for k in range(count):
        found[others[k]] = math.log(values[others[k]])
