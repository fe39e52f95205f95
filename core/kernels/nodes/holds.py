"""Who holds how many processors of which node until when, as a stack that can be wound back.

A plan is carried out again and again, each time a little differently from some entry on. Holds are
pushed in order of their begins, so that the state before any entry is the stack up to a mark, and
what was pushed later lies above until something else is pushed there.
"""

from __future__ import annotations

from typing import NamedTuple

from core.arrays import Int64
from core.kernels.jit import verb


class Holds(NamedTuple):
    """The stack, and the topmost hold of each node.

    node, until, weight: int64[room], the node, the end, s, and the processors of each hold. below:
    the next hold of its node, -1 for none. latest: the latest end of it and of those below it on
    its node, s. top: int64[nodes], -1 for none. size: int64[1], how many holds count.
    """

    node: Int64
    until: Int64
    weight: Int64
    below: Int64
    latest: Int64
    top: Int64
    size: Int64


@verb
def push(holds: Holds, v: int, until: int, weight: int) -> None:
    """Hold processors of node `v` from the present begin on."""
    i, below = holds.size[0], holds.top[v]
    holds.node[i], holds.until[i], holds.weight[i], holds.below[i] = v, until, weight, below
    holds.latest[i] = max(until, holds.latest[below]) if below >= 0 else until
    holds.top[v] = i
    holds.size[0] = i + 1


@verb
def settle(holds: Holds, size: int) -> None:
    """Go back to the first `size` holds, or on to those that still lie above."""
    for i in range(holds.size[0] - 1, size - 1, -1):
        holds.top[holds.node[i]] = holds.below[i]
    for i in range(holds.size[0], size):
        holds.top[holds.node[i]] = i
    holds.size[0] = size


@verb
def held(holds: Holds, v: int, t: int) -> int:
    """Return the processors of node `v` that are held at t, after the begins of all holds, s."""
    i, procs = holds.top[v], 0
    while i >= 0 and holds.latest[i] > t:
        if holds.until[i] > t:
            procs += holds.weight[i]
        i = holds.below[i]
    return procs
