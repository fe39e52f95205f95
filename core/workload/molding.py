"""How long a moldable job takes on another number of nodes than it asked for."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.workload.workload import MILLION


def molded(seconds: int, asked: int, serial: int, most: int) -> Int64:
    """Return how long a job takes on 1 to so many nodes, rounded up (Amdahl's law).

    Parameters
    ----------
    seconds : int
        On the nodes asked for, s.
    asked : int
        How many those are.
    serial : int
        Part of the work that is not parallel, in millionths.
    most : int
        Up to how many nodes.

    Returns
    -------
    int64[most]
        On 1 to `most` nodes, s, never ascending; on `asked` it is `seconds`.

    Examples
    --------
    >>> molded(100, 4, 0, 5).tolist(), molded(100, 4, 1_000_000, 2).tolist()
    ([400, 200, 134, 100, 80], [100, 100])
    """
    # Whole numbers of any size: seconds x nodes x millionths need more than 64 bits.
    whole = serial * asked + MILLION - serial
    times = (
        -(-seconds * asked * (serial * k + MILLION - serial) // (k * whole))
        for k in range(1, most + 1)
    )
    return np.array(list(times), np.int64)
