"""Room of nodes in an interval, and the nodes that a job takes."""

from __future__ import annotations

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.engine.jit import NEVER, routine, verb
from schedfarm.core.machines.nodes.kernels.holds import Holds, held
from schedfarm.core.machines.nodes.kernels.machine import Booked, Machine


@verb
def booked_at(booked: Booked, v: int, t: int) -> int:
    """Return the processors of node `v` that advance reservations hold at t."""
    i, procs = booked.top[v], 0
    while i >= 0:
        if booked.record[i].begin <= t < booked.record[i].end:
            procs += booked.record[i].taken
        i = booked.record[i].next
    return procs


@verb
def room_beside(capacity: int, holds: Holds, booked: Booked, v: int, t: int, length: int) -> int:
    """Return the room over [t, t + length) of a node with advance reservations."""
    least = capacity - held(holds, v, t) - booked_at(booked, v, t)
    i = booked.top[v]
    while i >= 0:
        begin = booked.record[i].begin
        # After t, holds only end, so the room is least at t or at the begin of a reservation.
        if t < begin < t + length:
            there = capacity - held(holds, v, begin) - booked_at(booked, v, begin)
            least = min(least, there)
        i = booked.record[i].next
    return int(max(least, 0))


@verb
def measure(
    machine: Machine, holds: Holds, booked: Booked, row: int, t: int, length: int, room: Int64
) -> None:
    """Write the room over [t, t + length) of the nodes of a row; all holds have begun by t."""
    capacity, _, up, members = machine
    for v in range(capacity.size):
        if not (members[row, v] and up[v]):
            room[v] = 0
        elif booked.top[v] < 0:
            room[v] = capacity[v] - held(holds, v, t)
        else:
            room[v] = room_beside(capacity[v], holds, booked, v, t, length)


@routine
def raise_limit(members: Bool, room: Int64, row: int, weight: int, need: int) -> tuple[int, int]:
    """Return the largest room of a job's nodes, and the number of nodes with it; else 0, 0."""
    limit, below = weight, 0
    while True:
        level, larger = 0, NEVER
        for v in range(room.size):
            if room[v] >= limit and members[row, v]:
                if room[v] == limit:
                    level += 1
                else:
                    larger = min(larger, room[v])
        if below + level >= need:
            return limit, need - below
        if larger == NEVER:
            return 0, 0
        below, limit = below + level, larger


@routine
def pick(members: Bool, room: Int64, row: int, weight: int, need: int, found: Int64) -> bool:
    """Write the nodes of a job in ascending order; return whether there are enough."""
    limit, left = raise_limit(members, room, row, weight, need)
    k = 0
    for v in range(room.size):
        if weight <= room[v] <= limit and members[row, v]:
            if room[v] == limit:
                if left == 0:
                    continue
                left -= 1
            found[k] = v
            k += 1
    return limit > 0
