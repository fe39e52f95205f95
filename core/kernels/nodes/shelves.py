"""Shelves of jobs that wait: which one a newcomer joins, and with how many nodes.

Source: Eyraud (2006), section 4: DEMT on line, after Dutot, Eyraud, Mounie and Trystram (2004).
"""

from __future__ import annotations

from core.arrays import Int64
from core.kernels.jit import kernel, routine, verb
from core.kernels.nodes.machine import Asks
from core.kernels.nodes.rooms import pick
from core.kernels.nodes.world import Shelves, World


@verb
def fewest(shelves: Shelves, asks: Asks, j: int, length: int) -> int:
    """Return the fewest nodes with which job `j` is no longer than a shelf, 0 if there are none."""
    first = shelves.first[j]
    if first < 0:
        return int(asks.nodes[j]) if asks.length[j] <= length else 0
    low, high = 0, shelves.most[j]
    while low < high:
        middle = (low + high) >> 1
        if shelves.estimate[first + middle] <= length:
            high = middle
        else:
            low = middle + 1
    return low + 1 if low < shelves.most[j] else 0


@kernel
def fewest_each(
    shelves: Shelves, asks: Asks, jobs: Int64, length: int, nodes: Int64, estimate: Int64
) -> None:
    """Write the fewest nodes with which each job is no longer than a shelf, and its estimate."""
    for p in range(jobs.size):
        nodes[p] = fewest(shelves, asks, jobs[p], length)
        first = shelves.first[jobs[p]]
        estimate[p] = asks.length[jobs[p]]
        if first >= 0 and nodes[p] > 0:
            estimate[p] = shelves.estimate[first + nodes[p] - 1]


@verb
def give_nodes(shelves: Shelves, asks: Asks, j: int, nodes: int) -> None:
    """Let job `j` have so many nodes."""
    first = shelves.first[j]
    asks.nodes[j] = nodes
    if first >= 0:
        asks.length[j] = shelves.estimate[first + nodes - 1]
        asks.run[j] = shelves.run[first + nodes - 1]


@kernel
def give_each(shelves: Shelves, asks: Asks, jobs: Int64, nodes: Int64) -> None:
    """Let each job have so many nodes."""
    for p in range(jobs.size):
        give_nodes(shelves, asks, jobs[p], nodes[p])


@verb
def empty_room(world: World) -> None:
    """Write the room of the idle machine without the nodes that are down."""
    machine, room = world.site.machine, world.plan.room
    for v in range(room.size):
        room[v] = machine.capacity[v] if machine.up[v] else 0


@verb
def fill(world: World, j: int, nodes: int) -> bool:
    """Take the nodes that job `j` finds out of the room; return whether there are enough."""
    asks, plan = world.site.asks, world.plan
    members = world.site.machine.members
    if not pick(members, plan.room, asks.row[j], asks.weight[j], nodes, plan.found):
        return False
    for i in range(nodes):
        plan.room[plan.found[i]] -= asks.weight[j]
    return True


@verb
def fits_into(world: World, s: int, j: int, nodes: int) -> bool:
    """Tell whether the jobs of shelf `s`, then job `j`, find their nodes all at once."""
    of, asks = world.shelves.of, world.site.asks
    empty_room(world)
    for p in range(world.count[0]):
        i = world.queue[p]
        if of[i] == s and not fill(world, i, asks.nodes[i]):
            return False
    return fill(world, j, nodes)


@verb
def long_enough(world: World, length: int) -> bool:
    """Tell whether a shelf is long enough for everybody who waits."""
    shelves, asks = world.shelves, world.site.asks
    for p in range(world.count[0]):
        if fewest(shelves, asks, world.queue[p], length) == 0:
            return False
    return True


@verb
def open_shelf(world: World, length: int) -> None:
    """Add an empty last shelf."""
    shelves = world.shelves
    s = shelves.count[0]
    shelves.length[s], shelves.waiting[s] = length, 0
    shelves.count[0] += 1


@routine
def shelve(world: World, j: int) -> None:
    """Put a newcomer into the first shelf that it fits, or into a new one."""
    shelves, asks = world.shelves, world.site.asks
    if shelves.smallest[0] == 0:
        return
    for s in range(shelves.count[0]):
        nodes = fewest(shelves, asks, j, shelves.length[s])
        if nodes > 0 and fits_into(world, s, j, nodes):
            shelves.of[j] = s
            give_nodes(shelves, asks, j, nodes)
            return
    length = shelves.smallest[0]
    if shelves.count[0] > 0:
        length = shelves.length[shelves.count[0] - 1]
        if not (long_enough(world, length) and fewest(shelves, asks, j, length) > 0):
            length *= 2
    while fewest(shelves, asks, j, length) == 0:
        length *= 2
    shelves.of[j] = shelves.count[0]
    open_shelf(world, length)
    give_nodes(shelves, asks, j, fewest(shelves, asks, j, length))
