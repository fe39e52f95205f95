"""Selection of waiting jobs for a shelf: the set of greatest worth, or a greedy choice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.engine.record import record
from schedfarm.core.machines.nodes.kernels import selection as kernels
from schedfarm.core.machines.nodes.kernels.selection import (
    FULL,
    GIVEN_UP,
    PRIME,
    Candidates,
    Classes,
    Greedy,
    Progress,
    Search,
    States,
    Ways,
)

ROOM = 256
"""Initial room for states."""


class Wish(NamedTuple):
    """Hold the requests of the candidates, in queue order, int64[k] each.

    row: row of `members`. need: number of nodes. weight: processors on each node. worth:
    contribution to the total. rank: precedence in the greedy choice, the smallest first.
    """

    row: Int64
    need: Int64
    weight: Int64
    worth: Int64
    rank: Int64


def select(members: Bool, room: Int64, wish: Wish, budget: int) -> tuple[Bool, bool]:
    """Choose the jobs of greatest total worth that together fit the nodes' free processors.

    Parameters
    ----------
    members : bool[rows, nodes]
        Whether each node is in each set; nodes are in order of preference.
    room : int64[nodes]
        Free processors of each node.
    wish : Wish
        Requests of the candidates.
    budget : int
        Largest number of examined ways to omit or place a job.

    Returns
    -------
    chosen : bool[k]
        Mask of the chosen jobs. Among sets of equal worth, sets with the first candidate are
        preferred, then sets with the second candidate, and so on.
    given_up : bool
        Whether there were more ways than `budget`; the choice is then greedy.

    Examples
    --------
    >>> asked = np.array([[0, 0, 0], [2, 1, 1], [1, 1, 1], [1, 1, 1], [2, 1, 1]])
    >>> members, room = np.ones((1, 2), np.bool_), np.array([1, 1])
    >>> [x.tolist() if i == 0 else x
    ...  for i, x in enumerate(select(members, room, Wish(*asked), 100))]
    [[False, True, True], False]
    """
    order, greedy = np.argsort(wish.rank, kind="stable"), np.zeros(wish.need.size, np.bool_)
    asked, found = Greedy(wish.row, wish.need, wish.weight), np.zeros(room.size, np.int64)
    if kernels.choose_greedily(members, room.copy(), asked, order, greedy, found):
        return greedy, False
    search = _begin(members, room, wish)
    while (end := kernels.expand(search, budget)) == FULL:
        search = _grown(search)
    if end == GIVEN_UP:
        return greedy, True
    layer, states = search.ways.layer, int(search.progress[0].states)
    value = np.zeros(int(layer[-1]), np.int64)
    kernels.appraise(search, value)
    chosen = np.zeros(wish.need.size, np.bool_)
    kernels.trace(search, value, chosen, np.zeros(states, np.int64), np.zeros(2 * states, np.int64))
    return chosen, False


def _begin(members: Bool, room: Int64, wish: Wish) -> Search:
    """Return the search with its initial state."""
    sets, group = np.unique(members, axis=1, return_inverse=True)
    here = room > 0
    pairs, nodes = np.unique(
        np.stack((group.reshape(-1)[here], room[here])), axis=1, return_counts=True
    )
    weights, kind = np.unique(wish.weight, return_inverse=True)
    candidates = Candidates(
        wish.need,
        wish.weight,
        kind.reshape(-1).astype(np.int64),
        wish.worth,
        np.ascontiguousarray(sets[wish.row]),
    )
    count, most = nodes.size, max(2 * nodes.size, 16)
    usable, have, take = (np.zeros(most, np.int64) for _ in range(3))
    search = Search(
        candidates,
        _classes(most, weights.size),
        _states(ROOM),
        Ways(np.zeros(wish.need.size + 2, np.int64), *(np.zeros(ROOM, np.int64) for _ in range(2))),
        usable,
        have,
        take,
        record(Progress),
    )
    classes, states, progress = search.classes, search.states, search.progress
    classes.group[:count], classes.room[:count] = pairs
    states.part[:count], states.nodes[:count] = np.arange(count), nodes
    states.first[1], states.total[0] = count, nodes.sum()
    states.hashed[0] = int((nodes * classes.draw[:count] % PRIME).sum() % PRIME)
    kernels.sort_in(states, 1)
    progress[0].states, progress[0].cells, progress[0].classes = 1, count, count
    search.ways.layer[1] = 1
    return search


def _classes(most: int, kinds: int) -> Classes:
    group, room, own = (np.zeros(most, np.int64) for _ in range(3))
    draw = np.ones(most, np.int64)
    for c in range(most):
        draw[c] = draw[c - 1] * 48271 % PRIME if c else 48271
    return Classes(group, room, draw, np.full(most * kinds, -2, np.int64), own)


def _states(most: int, cells: int = 16 * ROOM) -> States:
    first, part, nodes = (np.zeros(k, np.int64) for k in (most + 1, cells, cells))
    total, hashed = np.zeros(most, np.int64), np.zeros(most, np.int64)
    return States(first, part, nodes, total, hashed, np.full(4 * most, -1, np.int64))


def _grown(search: Search) -> Search:
    """Return the search with twice the room for all arrays."""
    old, ways = search.states, search.ways
    most = 2 * search.classes.group.size
    classes = _classes(most, search.classes.less.size // search.classes.group.size)
    states = _states(2 * old.total.size, 2 * old.part.size)
    longer = Ways(ways.layer, *(np.zeros(2 * a.size, np.int64) for a in ways[1:]))
    for before, after in ((search.classes, classes), (old, states), (ways, longer)):
        for name in set(before._fields) - {"draw", "slot"}:
            array = getattr(before, name)
            getattr(after, name)[: array.size] = array
    kernels.sort_in(states, int(search.progress[0].states))
    usable, have, take = (np.zeros(most, np.int64) for _ in range(3))
    return Search(search.candidates, classes, states, longer, usable, have, take, search.progress)
