"""Held processors of each node with their ends, as a stack.

A plan is replayed often, each time with a difference from some entry on. Holds are pushed in order
of their begins: the state before an entry is the stack up to a mark; later holds remain above the
mark until they are overwritten.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb

NODE, UNTIL, HELD, BELOW, LATEST, HOLDS = range(6)
"""Rows of a stack: the node, the end, s, and the processors of each hold; the next hold of its
node, -1 for none; the latest end among it and the holds below it on the node, s. The number of
rows."""


class Holds(NamedTuple):
    """The stack, and the topmost hold of each node.

    record: int64[HOLDS, room]. top: int64[nodes], -1 for none. size: int64[1], the valid holds.
    """

    record: Int64
    top: Int64
    size: Int64


@verb
def push(holds: Holds, v: int, until: int, weight: int) -> None:
    """Hold processors of node `v` from the present begin on."""
    i, below = holds.size[0], holds.top[v]
    record = holds.record
    record[NODE, i], record[UNTIL, i], record[HELD, i], record[BELOW, i] = v, until, weight, below
    record[LATEST, i] = max(until, record[LATEST, below]) if below >= 0 else until
    holds.top[v] = i
    holds.size[0] = i + 1


@verb
def settle(holds: Holds, size: int) -> None:
    """Unwind to the first `size` holds, or restore those that are still above."""
    for i in range(holds.size[0] - 1, size - 1, -1):
        holds.top[holds.record[NODE, i]] = holds.record[BELOW, i]
    for i in range(holds.size[0], size):
        holds.top[holds.record[NODE, i]] = i
    holds.size[0] = size


@verb
def held(holds: Holds, v: int, t: int) -> int:
    """Return the processors of node `v` that are held at t, after the begins of all holds, s."""
    i, procs = holds.top[v], 0
    while i >= 0 and holds.record[LATEST, i] > t:
        if holds.record[UNTIL, i] > t:
            procs += holds.record[HELD, i]
        i = holds.record[BELOW, i]
    return procs
