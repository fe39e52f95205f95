"""Array types and common limits."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Array = TypeVar("Array", bound=npt.NDArray[Any])

Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]
Int8 = npt.NDArray[np.int8]
Int64 = npt.NDArray[np.int64]

HORIZON = 2**62
"""No instant of a simulation may lie beyond this, s: sums of two instants then fit int64."""

MOST_JOBS = 10**7
"""No model draws, and no campaign plans, more jobs in one workload: its columns take 570 MB."""

MOST_WEEKS = 5_218
"""No workload is drawn for longer than a century."""

NO_PROMISE = -1
"""Value of a promised start where a rule promises none."""


def readonly(values: Array) -> Array:
    """Return a new array as read-only, so that a workload shares instead of copying it.

    Examples
    --------
    >>> readonly(np.zeros(3, np.int64)).flags.writeable
    False
    """
    values.flags.writeable = False
    return values


def fixed(values: Int64) -> Int64:
    """Return values as a read-only contiguous array: kernels are compiled once per array type.

    Examples
    --------
    >>> fixed(np.zeros(3, np.int64)).flags.writeable
    False
    """
    view = values.view()
    view.flags.writeable = False
    return view
