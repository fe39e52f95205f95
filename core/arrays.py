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
"""Largest instant of a simulation, s: the sum of two instants fits int64."""

MOST_JOBS = 10**7
"""Largest number of jobs in a workload of a model or a campaign; its columns take 570 MB."""

MOST_WEEKS = 5_218
"""Largest number of weeks of a drawn workload: one century."""

NO_PROMISE = -1
"""Value of a promised start if the rule promises no start."""


def readonly(values: Array) -> Array:
    """Return a new array as read-only, so that a workload can share it without a copy.

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
