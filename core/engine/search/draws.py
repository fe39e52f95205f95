"""Random numbers of a search: MRG32k3a in whole numbers, the same on every machine.

Source: P. L'Ecuyer (1999), Good parameters and implementations for combined multiple recursive
random number generators, Operations Research 47(1), figure 1. Every product fits int64.
"""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb

M1 = 4_294_967_087
M2 = 4_294_944_443
"""The moduli of the two recurrences."""

SEED = 12_345
"""The generator's own seed, to which a given seed is added."""

LEAST, MOST = 0, 2**31 - 1
"""Range of valid seeds."""

SIZE = 6
"""Numbers of a stream's state: three of each recurrence, the oldest first."""


@verb
def draw(stream: Int64, places: int) -> int:
    """Return the next random place, from 0 to `places` - 1."""
    x = (1_403_580 * stream[1] - 810_728 * stream[0]) % M1
    y = (527_612 * stream[5] - 1_370_589 * stream[3]) % M2
    stream[0], stream[1], stream[2] = stream[1], stream[2], x
    stream[3], stream[4], stream[5] = stream[4], stream[5], y
    return int((x - y) % M1 * places // M1)
