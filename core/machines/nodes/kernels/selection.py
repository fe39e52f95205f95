"""Exact selection of the jobs with the greatest total worth that fit the nodes at once.

Source: Eyraud (2006), section 4.4. Nodes in the same sets and with the same room form a class. A
state is the number of nodes in each class. Each candidate may be left out, so a state that is
reachable with some candidates remains reachable with further candidates. So one list holds all
states, and the states reached by the first candidates are at its front.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.engine.jit import kernel, routine, verb
from schedfarm.core.engine.record import Record
from schedfarm.core.machines.nodes.kernels.rooms import pick

DONE, GIVEN_UP, FULL = 0, 1, 2
"""Outcomes of an expansion: all ways are known, the budget is exceeded, or arrays are full."""

PRIME = 2**31 - 1
"""Bound of hashes; the product of a hash and a number of nodes fits int64."""


class Candidates(NamedTuple):
    """Hold the requests of candidates, in queue order, int64[k].

    The requests are nodes, processors on each node, and worth. kind: index of the weight among the
    distinct weights. member: bool[k, groups], whether the nodes of a group are in the candidate's
    set.
    """

    need: Int64
    weight: Int64
    kind: Int64
    worth: Int64
    member: Bool


class Greedy(NamedTuple):
    """Hold the requests of candidates, in queue order, int64[k]: row of members, nodes, weight."""

    row: Int64
    need: Int64
    weight: Int64


class Classes(NamedTuple):
    """Hold the known classes of nodes: group of nodes in the same sets, room, random number.

    less: int64[classes * kinds], the class of the nodes after a job with some weight has taken
    them; -1 without room, -2 if not yet computed. own: int64[classes], number of nodes in the
    present state.
    """

    group: Int64
    room: Int64
    draw: Int64
    less: Int64
    own: Int64


class States(NamedTuple):
    """Hold the reached states, as cells of a class and its number of nodes, above 0.

    first: int64[states + 1], first cell of each state. total, hashed: int64[states], number of
    nodes with room, and a hash of all cells. slot: int64[a power of 2], states by their hash, -1
    for none.
    """

    first: Int64
    part: Int64
    nodes: Int64
    total: Int64
    hashed: Int64
    slot: Int64


class Ways(NamedTuple):
    """Hold the target state of each way, grouped by candidate and state.

    layer: int64[k + 2], the begin in `first` of each candidate's states, and of the states behind
    the last candidate. first: the begin in `target` of the ways from each state, with one entry
    more at the end.
    """

    layer: Int64
    first: Int64
    target: Int64


class Progress:
    """Progress of an expansion.

    layer, state: the next candidate and state. counted: number of ways counted. states, cells,
    classes, targets: number of states, of cells of states, of classes, and of ends of ways.
    """

    layer: int
    state: int
    counted: int
    states: int
    cells: int
    classes: int
    targets: int


class Search(NamedTuple):
    """Hold the state of an expansion.

    open, have, take: int64[classes], classes that the present candidate can use, their numbers of
    nodes, and the numbers of taken nodes.
    """

    candidates: Candidates
    classes: Classes
    states: States
    ways: Ways
    open: Int64
    have: Int64
    take: Int64
    progress: Record[Progress]


@verb
def class_below(search: Search, c: int, kind: int, weight: int) -> int:
    """Return the class to which nodes of class `c` belong once they run the job.

    Return -1 if the job leaves no room on the nodes, and -2 if the table of classes is full.
    """
    classes, progress = search.classes, search.progress
    room, kinds = classes.room[c] - weight, classes.less.size // classes.room.size
    if room == 0:
        return -1
    known = classes.less[c * kinds + kind]
    if known != -2:
        return int(known)
    d = 0
    while d < progress[0].classes:
        if classes.group[d] == classes.group[c] and classes.room[d] == room:
            break
        d += 1
    if d == progress[0].classes:
        if d == classes.room.size:
            return -2
        classes.group[d], classes.room[d] = classes.group[c], room
        classes.own[d] = 0
        progress[0].classes += 1
    classes.less[c * kinds + kind] = d
    return d


@verb
def unfold(search: Search, s: int) -> None:
    """Make state `s` the present state."""
    own, states = search.classes.own, search.states
    for c in range(search.progress[0].classes):
        own[c] = 0
    for i in range(states.first[s], states.first[s + 1]):
        own[states.part[i]] = states.nodes[i]


@verb
def is_state(search: Search, s: int, total: int, hashed: int) -> bool:
    """Return whether state `s` equals the present state, given number of nodes and hash."""
    own, states = search.classes.own, search.states
    if states.hashed[s] != hashed or states.total[s] != total:
        return False
    for i in range(states.first[s], states.first[s + 1]):
        if own[states.part[i]] != states.nodes[i]:
            return False
    return True


@routine
def place_of(search: Search, total: int, hashed: int) -> int:
    """Return the index of the present state; add a new state; return -1 if arrays are full."""
    own, states, progress = search.classes.own, search.states, search.progress
    mask = states.slot.size - 1
    at = hashed & mask
    while states.slot[at] >= 0:
        if is_state(search, states.slot[at], total, hashed):
            return int(states.slot[at])
        at = (at + 1) & mask
    s, cell = progress[0].states, progress[0].cells
    if s == states.total.size or cell + progress[0].classes > states.part.size:
        return -1
    states.first[s] = cell
    for c in range(progress[0].classes):
        if own[c] > 0:
            states.part[cell], states.nodes[cell] = c, own[c]
            cell += 1
    states.first[s + 1], states.total[s], states.hashed[s] = cell, total, hashed
    states.slot[at] = s
    progress[0].states, progress[0].cells = s + 1, cell
    return int(s)


@verb
def spread(search: Search, begin: int, classes: int, need: int) -> int:
    """Take nodes from the first classes from `begin` on; return the number of missing nodes."""
    for e in range(begin, classes):
        search.take[e] = min(search.have[e], need)
        need -= search.take[e]
    return need


@verb
def next_way(search: Search, classes: int) -> bool:
    """Go to the next way to take the same number of nodes; return whether there is one."""
    take, have = search.take, search.have
    behind, room = 0, 0
    for e in range(classes - 1, -1, -1):
        if take[e] > 0 and room > 0:
            take[e] -= 1
            spread(search, e + 1, classes, behind + 1)
            return True
        behind += take[e]
        room += have[e] - take[e]
    return False


@routine
def follow(search: Search, i: int, s: int, classes: int) -> int:
    """Return the state after candidate `i` takes its nodes from `s`; -1 if arrays are full."""
    own, draw, candidates = search.classes.own, search.classes.draw, search.candidates
    kind, weight = candidates.kind[i], candidates.weight[i]
    total, hashed = search.states.total[s], search.states.hashed[s]
    for e in range(classes):
        if search.take[e] > 0 and class_below(search, search.open[e], kind, weight) == -2:
            return -1
    for e in range(classes):
        c, many = search.open[e], search.take[e]
        if many > 0:
            d = class_below(search, c, kind, weight)
            own[c] -= many
            hashed -= many * draw[c]
            if d >= 0:
                own[d] += many
                hashed += many * draw[d]
            else:
                total -= many
            hashed %= PRIME
    target = place_of(search, total, hashed)
    for e in range(classes):
        c, many = search.open[e], search.take[e]
        if many > 0:
            d = class_below(search, c, kind, weight)
            own[c] += many
            if d >= 0:
                own[d] -= many
    return target


@routine
def expand_state(search: Search, i: int, s: int, budget: int) -> int:
    """Enumerate the ways for candidate `i` to take nodes from state `s`."""
    candidates, classes, ways, progress = (
        search.candidates,
        search.classes,
        search.ways,
        search.progress,
    )
    progress[0].counted += 1
    if progress[0].counted > budget:
        return GIVEN_UP
    unfold(search, s)
    count = 0
    for c in range(progress[0].classes):
        if (
            classes.own[c] > 0
            and classes.room[c] >= candidates.weight[i]
            and candidates.member[i, classes.group[c]]
        ):
            search.open[count], search.have[count] = c, classes.own[c]
            count += 1
    more = spread(search, 0, count, candidates.need[i]) == 0
    while more:
        progress[0].counted += 1
        if progress[0].counted > budget:
            return GIVEN_UP
        target = follow(search, i, s, count)
        if target < 0 or progress[0].targets == ways.target.size:
            return FULL
        ways.target[progress[0].targets] = target
        progress[0].targets += 1
        more = next_way(search, count)
    return DONE


@kernel
def expand(search: Search, budget: int) -> int:
    """Enumerate the ways of all candidates, or continue an earlier call; return the outcome."""
    ways, progress = search.ways, search.progress
    while progress[0].layer < search.candidates.need.size:
        i, s = progress[0].layer, progress[0].state
        at = ways.layer[i] + s
        if at == ways.layer[i + 1]:
            # States that this candidate reaches count from the next candidate on.
            ways.layer[i + 2] = at + progress[0].states
            progress[0].layer, progress[0].state = i + 1, 0
            continue
        if at + 1 == ways.first.size:
            return FULL
        ways.first[at] = progress[0].targets
        counted, targets = progress[0].counted, progress[0].targets
        end = expand_state(search, i, s, budget)
        if end != DONE:
            if end == FULL:
                progress[0].counted, progress[0].targets = counted, targets
            return end
        ways.first[at + 1] = progress[0].targets
        progress[0].state = s + 1
    return DONE


@kernel
def sort_in(states: States, count: int) -> None:
    """Assign a slot to each of the first states; all slots are empty."""
    mask = states.slot.size - 1
    for s in range(count):
        at = states.hashed[s] & mask
        while states.slot[at] >= 0:
            at = (at + 1) & mask
        states.slot[at] = s


@kernel
def choose_greedily(
    members: Bool, room: Int64, asked: Greedy, line: Int64, chosen: Bool, found: Int64
) -> bool:
    """Mark the candidates that find nodes, one after the other; return whether all do.

    line: int64[k], the order of the candidates. room: int64[nodes], the remaining room.
    """
    everyone = True
    for i in line:
        weight = asked.weight[i]
        if pick(members, room, asked.row[i], weight, asked.need[i], found):
            chosen[i] = True
            for k in range(asked.need[i]):
                room[found[k]] -= weight
        else:
            everyone = False
    return everyone


@kernel
def appraise(search: Search, value: Int64) -> None:
    """Write the greatest worth of the candidates from each candidate on, in each state.

    value: int64[layer[k + 1]], initially 0. Each candidate has an entry for each state reached by
    earlier candidates; the position behind the last candidate has an entry for each state.
    """
    worth, (layer, first, target) = search.candidates.worth, search.ways
    for i in range(worth.size - 1, -1, -1):
        for at in range(layer[i], layer[i + 1]):
            best = value[layer[i + 1] + at - layer[i]]
            for k in range(first[at], first[at + 1]):
                best = max(best, worth[i] + value[layer[i + 1] + target[k]])
            value[at] = best


@kernel
def trace(search: Search, value: Int64, chosen: Bool, seen: Int64, here: Int64) -> None:
    """Mark the set of greatest worth; of several such sets, the set with the first candidates.

    seen: int64[states], and here: int64[2 * states], initially 0, hold the states on the way to the
    best sets.
    """
    worth, (layer, first, target) = search.candidates.worth, search.ways
    count = 1
    for i in range(worth.size):
        rest, ahead = value[layer[i] + here[0]] - worth[i], 0
        for p in range(count):
            at = layer[i] + here[p]
            for k in range(first[at], first[at + 1]):
                s = target[k]
                if value[layer[i + 1] + s] == rest and seen[s] != i + 1:
                    seen[s] = i + 1
                    # Next states are written at the other end, since the present states are still
                    # read.
                    ahead += 1
                    here[here.size - ahead] = s
        if ahead > 0:
            chosen[i] = True
            for p in range(ahead):
                here[p] = here[here.size - 1 - p]
            count = ahead
