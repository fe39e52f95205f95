"""Times of moldable jobs on other numbers of nodes than requested."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.workload.workload import MILLION


def molded(seconds: int, asked: int, serial: int, most: int) -> Int64:
    """Return a job's run times on 1 to `most` nodes by Amdahl's law, in s, rounded up.

    `seconds` is the run time on the `asked` nodes, and `serial` is the serial part of the work, in
    millionths.

    Examples
    --------
    >>> molded(100, 4, 0, 5).tolist(), molded(100, 4, 1_000_000, 2).tolist()
    ([400, 200, 134, 100, 80], [100, 100])
    """
    # Python's integers are used, because seconds x nodes x millionths need more than 64 bits.
    whole = serial * asked + MILLION - serial
    times = (
        -(-seconds * asked * (serial * k + MILLION - serial) // (k * whole))
        for k in range(1, most + 1)
    )
    return np.array(list(times), np.int64)
