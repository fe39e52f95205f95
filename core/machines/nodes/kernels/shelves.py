"""Shelves of waiting jobs: choice of the shelf and of the number of nodes of a new job.

Source: Eyraud (2006), section 4: online DEMT, after Dutot, Eyraud, Mounie and Trystram (2004).
"""

from __future__ import annotations

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import kernel, routine, verb
from schedfarm.core.engine.record import Records
from schedfarm.core.machines.nodes.kernels.machine import Ask, Site
from schedfarm.core.machines.nodes.kernels.plan import Plan
from schedfarm.core.machines.nodes.kernels.rooms import pick
from schedfarm.core.machines.nodes.kernels.world import Shelves, Waiting


@verb
def fewest(shelves: Shelves, asks: Records[Ask], j: int, length: int) -> int:
    """Return the fewest nodes on which job `j` fits the length of a shelf, 0 if impossible."""
    first = shelves.first[j]
    if first < 0:
        return int(asks[j].nodes) if asks[j].length <= length else 0
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
    shelves: Shelves, asks: Records[Ask], jobs: Int64, length: int, nodes: Int64, estimate: Int64
) -> None:
    """Write the least number of nodes with which each job fits a shelf, and the estimate there."""
    for p in range(jobs.size):
        nodes[p] = fewest(shelves, asks, jobs[p], length)
        first = shelves.first[jobs[p]]
        estimate[p] = asks[jobs[p]].length
        if first >= 0 and nodes[p] > 0:
            estimate[p] = shelves.estimate[first + nodes[p] - 1]


@verb
def give_nodes(shelves: Shelves, asks: Records[Ask], j: int, nodes: int) -> None:
    """Set the number of nodes of job `j`."""
    first = shelves.first[j]
    asks[j].nodes = nodes
    if first >= 0:
        asks[j].length = shelves.estimate[first + nodes - 1]
        asks[j].run = shelves.run[first + nodes - 1]


@kernel
def give_each(shelves: Shelves, asks: Records[Ask], jobs: Int64, nodes: Int64) -> None:
    """Set the number of nodes of each job."""
    for p in range(jobs.size):
        give_nodes(shelves, asks, jobs[p], nodes[p])


@verb
def fill(site: Site, plan: Plan, j: int, nodes: int) -> bool:
    """Subtract the nodes of job `j` from the room; return whether there are enough."""
    asks, members = site.asks, site.machine.members
    if not pick(members, plan.room, asks[j].row, asks[j].weight, nodes, plan.found):
        return False
    for i in range(nodes):
        plan.room[plan.found[i]] -= asks[j].weight
    return True


@routine
def fits_into(
    site: Site, plan: Plan, shelves: Shelves, waiting: Waiting, s: int, j: int, nodes: int
) -> bool:
    """Return whether the jobs of shelf `s` and job `j` can run at the same time.

    The machine counts as idle, except for nodes that are down.
    """
    machine = site.machine
    for v in range(plan.room.size):
        plan.room[v] = machine.capacity[v] if machine.up[v] else 0
    for p in range(waiting.count[0]):
        i = waiting.job[p]
        if shelves.of[i] == s and not fill(site, plan, i, site.asks[i].nodes):
            return False
    return fill(site, plan, j, nodes)


@verb
def long_enough(shelves: Shelves, asks: Records[Ask], waiting: Waiting, length: int) -> bool:
    """Return whether a shelf is long enough for all waiting jobs."""
    everybody = True
    for p in range(waiting.count[0]):
        everybody &= fewest(shelves, asks, waiting.job[p], length) > 0
    return everybody


@verb
def length_of_new(shelves: Shelves, asks: Records[Ask], waiting: Waiting, j: int) -> int:
    """Return the length of a new last shelf for job `j`, s."""
    length = shelves.smallest[0]
    if shelves.count[0] > 0:
        length = shelves.length[shelves.count[0] - 1]
        if not (
            long_enough(shelves, asks, waiting, length) and fewest(shelves, asks, j, length) > 0
        ):
            length *= 2
    while fewest(shelves, asks, j, length) == 0:
        length *= 2
    return int(length)


@routine
def shelve(site: Site, plan: Plan, shelves: Shelves, waiting: Waiting, j: int) -> None:
    """Put a new job into the first suitable shelf, or into a new shelf."""
    asks = site.asks
    if shelves.smallest[0] == 0:
        return
    for s in range(shelves.count[0]):
        nodes = fewest(shelves, asks, j, shelves.length[s])
        if nodes > 0 and fits_into(site, plan, shelves, waiting, s, j, nodes):
            shelves.of[j] = s
            give_nodes(shelves, asks, j, nodes)
            return
    s = shelves.count[0]
    shelves.length[s], shelves.waiting[s] = length_of_new(shelves, asks, waiting, j), 0
    shelves.count[0] += 1
    shelves.of[j] = s
    give_nodes(shelves, asks, j, fewest(shelves, asks, j, shelves.length[s]))
