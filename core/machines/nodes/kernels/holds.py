"""Held processors of each node with their ends, as a stack.

A plan is replayed often, each time with a difference from some entry on. Holds are pushed in order
of their begins: the state before an entry is the stack up to a mark; later holds remain above the
mark until they are overwritten.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.record import Records


class Hold:
    """Processors of a node that are held.

    node: the node. until: the end, s. held: number of processors. below: the next hold of the node,
    -1 for none. latest: the latest end among it and the holds below it on the node, s.
    """

    node: int
    until: int
    held: int
    below: int
    latest: int


class Holds(NamedTuple):
    """The stack, and the topmost hold of each node.

    top: int64[nodes], -1 for none. size: int64[1], the valid holds.
    """

    record: Records[Hold]
    top: Int64
    size: Int64


@verb
def push(holds: Holds, v: int, until: int, weight: int) -> None:
    """Hold processors of node `v` from the present begin on."""
    i, below = holds.size[0], holds.top[v]
    hold = holds.record[i]
    hold.node, hold.until, hold.held, hold.below = v, until, weight, below
    hold.latest = max(until, holds.record[below].latest) if below >= 0 else until
    holds.top[v] = i
    holds.size[0] = i + 1


@verb
def settle(holds: Holds, size: int) -> None:
    """Unwind to the first `size` holds, or restore those that are still above."""
    for i in range(holds.size[0] - 1, size - 1, -1):
        holds.top[holds.record[i].node] = holds.record[i].below
    for i in range(holds.size[0], size):
        holds.top[holds.record[i].node] = i
    holds.size[0] = size


@verb
def held(holds: Holds, v: int, t: int) -> int:
    """Return the processors of node `v` that are held at t, after the begins of all holds, s."""
    i, procs = holds.top[v], 0
    while i >= 0 and holds.record[i].latest > t:
        if holds.record[i].until > t:
            procs += holds.record[i].held
        i = holds.record[i].below
    return procs
