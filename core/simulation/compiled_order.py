"""From the name of a queue order to what the kernels know of it."""

from __future__ import annotations

import numpy as np

from core.kernels.moving_order import (
    KEYED,
    LARGEST_CUBE,
    LARGEST_RATIO,
    LARGEST_SHARE,
    SMALLEST_RATIO,
    Order,
)
from core.policy.orders import SERIAL_LOG2, OrderFunction, fixed_key, order_function
from core.workload.workload import Workload

CODES = {
    "lxf": LARGEST_RATIO,
    "sxf": SMALLEST_RATIO,
    "wfp3": LARGEST_CUBE,
    "unicef": LARGEST_SHARE,
}
"""Orders that the kernels evaluate anew at each pass by themselves."""


def named_order(workload: Workload, name: str) -> tuple[Order, OrderFunction | None]:
    """Return an order of a workload's jobs, and the function that is to fill in its key, if any.

    Parameters
    ----------
    workload : Workload
        The jobs.
    name : str
        A queue order's name.

    Returns
    -------
    order : Order
        Its key is that of an order that stays as it is; else zeros.
    function : OrderFunction or None
        A user's function to be called at each pass.

    Raises
    ------
    InputError
        If the order's function cannot be used.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 7], estimate=[9, 7], procs=[1, 2],
    ...                           processors=2)
    >>> order, function = named_order(w, "spf")
    >>> order.code == KEYED, order.key.tolist(), function
    (True, [9, 7], None)
    >>> named_order(w, "lxf")[0].code == LARGEST_RATIO
    True
    """
    width = workload.procs.astype(np.float64)
    if name == "unicef":
        width = np.maximum(np.log2(workload.procs), SERIAL_LOG2)
    if (key := fixed_key(workload, name)) is not None:
        return Order(KEYED, key, width), None
    order = Order(CODES.get(name, KEYED), np.zeros(len(workload), np.int64), width)
    return order, None if name in CODES else order_function(name)
