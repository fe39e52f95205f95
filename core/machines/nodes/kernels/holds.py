"""Stack of holds: held processors of nodes, with their ends.

A plan is often replayed with changes from some entry on. Holds are pushed in order of their begins,
so the state before an entry is the stack up to a mark. Later holds remain above the mark until
other holds overwrite them.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb

NODE, UNTIL, HELD, BELOW, LATEST, HOLDS = range(6)
"""Rows of a stack.

NODE, UNTIL, HELD: node, end, s, and processors of each hold. BELOW: the next lower hold of the same
node, or -1. LATEST: latest end of this hold and the lower holds of its node, s. HOLDS: number of
rows.
"""


class Holds(NamedTuple):
    """Hold the stack, and the topmost hold of each node.

    record: int64[HOLDS, room]. top: int64[nodes], -1 for none. size: int64[1], number of valid
    holds.
    """

    record: Int64
    top: Int64
    size: Int64


@verb
def push(holds: Holds, v: int, until: int, weight: int) -> None:
    """Push a hold of processors of node `v`, from the present begin on."""
    i, below = holds.size[0], holds.top[v]
    record = holds.record
    record[NODE, i], record[UNTIL, i], record[HELD, i], record[BELOW, i] = v, until, weight, below
    record[LATEST, i] = max(until, record[LATEST, below]) if below >= 0 else until
    holds.top[v] = i
    holds.size[0] = i + 1


@verb
def settle(holds: Holds, size: int) -> None:
    """Go back to the first `size` holds, or restore holds that are still stored above."""
    for i in range(holds.size[0] - 1, size - 1, -1):
        holds.top[holds.record[NODE, i]] = holds.record[BELOW, i]
    for i in range(holds.size[0], size):
        holds.top[holds.record[NODE, i]] = i
    holds.size[0] = size


@verb
def held(holds: Holds, v: int, t: int) -> int:
    """Return the held processors of node `v` at t, s; all holds have begun by t."""
    i, procs = holds.top[v], 0
    while i >= 0 and holds.record[LATEST, i] > t:
        if holds.record[UNTIL, i] > t:
            procs += holds.record[HELD, i]
        i = holds.record[BELOW, i]
    return procs
