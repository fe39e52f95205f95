"""Queue orders: what comes first among the waiting jobs, as a number of each job.

A user's own order is a plain function `(submit, estimate, procs, user, now)` on the arrays of
the waiting jobs that returns one number each, smallest first; ties go by (submit, position).
With the attribute ``static = True`` it is called once, on all jobs and with now = 0. The orders
of the literature below are written in just that way.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from core.arrays import Float64, Int64
from core.errors import InputError
from core.policy.policy import ORDER_GROUP
from core.workload.workload import Workload

OrderFunction = Callable[[Int64, Int64, Int64, Int64, int], npt.NDArray[Any]]

SERIAL_LOG2 = 2.0**-40
"""Stands for log2 of one processor in UNICEF: serial jobs go first, by wait / estimate."""

FIXED: dict[str, Callable[[Workload], Int64]] = {
    "fcfs": lambda w: np.arange(len(w)),
    "lcfs": lambda w: -w.submit,
    "spf": lambda w: w.estimate.copy(),
    "lpf": lambda w: -w.estimate,
    "sqf": lambda w: w.procs.copy(),
    "lqf": lambda w: -w.procs,
    "saf": lambda w: w.estimate * w.procs,
    "laf": lambda w: -(w.estimate * w.procs),
}
"""Orders by a number known at submission: a new array each time, smallest first."""

MOVING = ("lxf", "sxf", "wfp3", "unicef")
"""Orders of our own that change as time passes."""


def wfp3(submit: Int64, estimate: Int64, procs: Int64, user: Int64, now: int) -> Float64:
    """Order by (wait / estimate)^3 x procs, largest first.

    An estimate of 0 counts as 1 s. W. Tang, Z. Lan, N. Desai and D. Buettner, "Fault-aware,
    utility-based job scheduling on Blue Gene/P systems", IEEE Cluster 2009.

    Examples
    --------
    >>> import numpy as np
    >>> wfp3(np.array([0, 90]), np.array([50, 10]), np.array([2, 4]), np.array([1, 1]), 100)
    array([-16.,  -4.])
    """
    ratio = (now - submit) / np.maximum(estimate, 1)
    return -(ratio * ratio * ratio * procs)


def unicef(submit: Int64, estimate: Int64, procs: Int64, user: Int64, now: int) -> Float64:
    """Order by wait / (log2(procs) x estimate), largest first (Tang et al. 2009).

    An estimate of 0 counts as 1 s; log2 of a serial job as `SERIAL_LOG2`.

    Examples
    --------
    >>> import numpy as np
    >>> unicef(np.array([0, 90]), np.array([50, 10]), np.array([2, 4]), np.array([1, 1]), 100)
    array([-2. , -0.5])
    """
    width = np.maximum(np.log2(procs), SERIAL_LOG2)
    return cast(Float64, -((now - submit) / (width * np.maximum(estimate, 1))))


def f1(submit: Int64, estimate: Int64, procs: Int64, user: Int64, now: int) -> Float64:
    """Order by log10(estimate) procs + 870 log10(submit), smallest first.

    0 counts as 1 under a logarithm. D. Carastan-Santos and R. Y. de Camargo, "Obtaining dynamic
    scheduling policies with simulation and machine learning", SC'17.

    Examples
    --------
    >>> import numpy as np
    >>> f1(np.array([0, 10]), np.array([100, 1]), np.array([2, 4]), np.array([1, 1]), 0)
    array([  4., 870.])
    """
    return _log10(estimate) * procs + 870.0 * _log10(submit)


def f2(submit: Int64, estimate: Int64, procs: Int64, user: Int64, now: int) -> Float64:
    """Order by sqrt(estimate) procs + 25600 log10(submit), smallest first (as `f1`).

    Examples
    --------
    >>> import numpy as np
    >>> f2(np.array([0, 10]), np.array([4, 1]), np.array([2, 4]), np.array([1, 1]), 0)
    array([4.0000e+00, 2.5604e+04])
    """
    return np.sqrt(estimate) * procs + 25_600.0 * _log10(submit)


def f3(submit: Int64, estimate: Int64, procs: Int64, user: Int64, now: int) -> Float64:
    """Order by estimate procs + 6860000 log10(submit), smallest first (as `f1`).

    Examples
    --------
    >>> import numpy as np
    >>> f3(np.array([0, 10]), np.array([4, 1]), np.array([2, 4]), np.array([1, 1]), 0)
    array([8.000000e+00, 6.860004e+06])
    """
    return estimate.astype(np.float64) * procs + 6_860_000.0 * _log10(submit)


def f4(submit: Int64, estimate: Int64, procs: Int64, user: Int64, now: int) -> Float64:
    """Order by estimate sqrt(procs) + 530000 log10(submit), smallest first (as `f1`).

    Examples
    --------
    >>> import numpy as np
    >>> f4(np.array([0, 10]), np.array([4, 1]), np.array([4, 1]), np.array([1, 1]), 0)
    array([8.00000e+00, 5.30001e+05])
    """
    return estimate * np.sqrt(procs) + 530_000.0 * _log10(submit)


def _log10(values: Int64) -> Float64:
    return np.log10(np.maximum(values, 1))


for _function in (f1, f2, f3, f4):
    _function.static = True  # type: ignore[attr-defined]

FUNCTIONS: dict[str, OrderFunction] = {
    "wfp3": wfp3,
    "unicef": unicef,
    "f1": f1,
    "f2": f2,
    "f3": f3,
    "f4": f4,
}
"""The ready-made functions by name."""


def order_function(order: str) -> OrderFunction:
    """Find the function of an order: ready-made, an entry point, or ``module:function``.

    Raises
    ------
    InputError
        If there is none, or it is not a function.

    Examples
    --------
    >>> order_function("core.policy.orders:wfp3") is wfp3
    True
    """
    if order in FUNCTIONS:
        return FUNCTIONS[order]
    module, colon, name = order.partition(":")
    if not colon:
        found = list(entry_points(group=ORDER_GROUP, name=order))
        if not found:
            raise InputError(f"order {order!r} is no entry point of group {ORDER_GROUP!r}")
        module, _, name = found[0].value.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"order {order!r} cannot be imported ({error})") from error
    if not callable(function):
        raise InputError(f"order {order!r} is {type(function).__name__}; it must be a function")
    return cast(OrderFunction, function)


def fixed_key(workload: Workload, order: str) -> Int64 | None:
    """Return a number of each job by which a fixed order sorts, or None if the order moves.

    Returns
    -------
    int64[n] or None
        New and writable; smallest first, ties by index.

    Raises
    ------
    InputError
        As `order_function` and `as_key`.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 5], run=[10, 3], estimate=[20, 3], procs=[2, 4],
    ...                           processors=4)
    >>> fixed_key(w, "saf").tolist(), fixed_key(w, "lpf").tolist(), fixed_key(w, "lxf")
    ([40, 12], [-20, -3], None)
    """
    if order in MOVING:
        return None
    if order in FIXED:
        return FIXED[order](workload)
    function = order_function(order)
    if not getattr(function, "static", False):
        return None
    values = function(workload.submit, workload.estimate, workload.procs, workload.user, 0)
    return as_key(values, len(workload), order)


def moving_key(
    workload: Workload, function: OrderFunction, order: str, waiting: Int64, now: int
) -> Int64:
    """Evaluate an order's function on the jobs that wait at an instant.

    Returns
    -------
    int64[k]
        A number of each of the k waiting jobs, smallest first.

    Raises
    ------
    InputError
        As `as_key`.
    """
    values = function(
        workload.submit[waiting],
        workload.estimate[waiting],
        workload.procs[waiting],
        workload.user[waiting],
        now,
    )
    return as_key(values, waiting.size, order)


def as_key(values: npt.ArrayLike, n: int, order: str) -> Int64:
    """Turn what an order's function returned into int64 that sort in the same way.

    Raises
    ------
    InputError
        If it is not n real numbers, or one is NaN.

    Examples
    --------
    >>> key = as_key([0.5, -2.0, 1e300, -0.0], 4, "mine")
    >>> key.argsort(kind="stable").tolist()
    [1, 3, 0, 2]
    """
    array = np.asarray(values)
    if array.shape != (n,):
        raise InputError(
            f"order {order!r} returned shape {array.shape} for {n} jobs; it must return ({n},)"
        )
    if array.dtype.kind not in "iuf":
        raise InputError(
            f"order {order!r} returned {array.dtype}; it must return whole or floating numbers"
        )
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InputError(
            f"order {order!r} returned NaN for job {int(np.isnan(array).argmax())}; "
            "it must return a number for each job"
        )
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return _sortable(array.astype(np.float64))
    if array.dtype.kind == "i" and array.min(initial=0) > np.iinfo(np.int64).min:
        return array.astype(np.int64)
    return cast(Int64, np.unique(array, return_inverse=True)[1].astype(np.int64))


def _sortable(values: Float64) -> Int64:
    # IEEE 754: the bits of floats sort as integers do, backwards among the negative ones.
    bits = (values + 0.0).view(np.int64)
    return cast(Int64, bits ^ ((bits >> 63) & np.int64(2**63 - 1)))
