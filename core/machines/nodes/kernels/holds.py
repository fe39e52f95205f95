"""Stack of holds: held processors of nodes, with their ends.

A plan is often replayed with changes from some entry on. Holds are pushed in order of their begins,
so the state before an entry is the stack up to a mark. Later holds remain above the mark until
other holds overwrite them.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.record import Records


class Hold:
    """Processors of a node that are held.

    node: the node. until: the end, s. held: number of processors. below: the next hold of the node,
    -1 for none. latest: the latest end of this hold and of the holds below it on the node, s.
    """

    node: int
    until: int
    held: int
    below: int
    latest: int


class Holds(NamedTuple):
    """Hold the stack, and the topmost hold of each node.

    top: int64[nodes], -1 for none. size: int64[1], the valid holds.
    """

    record: Records[Hold]
    top: Int64
    size: Int64


@verb
def push(holds: Holds, v: int, until: int, weight: int) -> None:
    """Push a hold of processors of node `v`, from the present begin on."""
    i, below = holds.size[0], holds.top[v]
    hold = holds.record[i]
    hold.node, hold.until, hold.held, hold.below = v, until, weight, below
    hold.latest = max(until, holds.record[below].latest) if below >= 0 else until
    holds.top[v] = i
    holds.size[0] = i + 1


@verb
def settle(holds: Holds, size: int) -> None:
    """Go back to the first `size` holds, or restore holds that are still stored above."""
    for i in range(holds.size[0] - 1, size - 1, -1):
        holds.top[holds.record[i].node] = holds.record[i].below
    for i in range(holds.size[0], size):
        holds.top[holds.record[i].node] = i
    holds.size[0] = size


@verb
def held(holds: Holds, v: int, t: int) -> int:
    """Return the held processors of node `v` at t, s; all holds have begun by t."""
    i, procs = holds.top[v], 0
    while i >= 0 and holds.record[i].latest > t:
        if holds.record[i].until > t:
            procs += holds.record[i].held
        i = holds.record[i].below
    return procs
