"""Steps of machines on which the need of a job is the number of a kind of request.

Kinds are numbered so that their processors do not fall. Lanes of needs therefore discard the jobs
with too many processors, and a step of the machine tests the remaining kinds one by one. A machine
implements the four generic steps, and takes the functions behind them as its implementations of the
engine's steps.
"""

from __future__ import annotations

from schedfarm.core.engine.jit import NEVER, generic
from schedfarm.core.engine.lanes import WORD, first_places, highest, lowest, up_to
from schedfarm.core.engine.machine import Hold, Machine
from schedfarm.core.engine.planning import AnyPlan
from schedfarm.core.engine.queue import Queue
from schedfarm.core.engine.record import Record

FREE, EXTRA = 0, 1
"""Amounts of a machine: the free ones, and those that the reservation of a head leaves free."""


@generic
def narrow_enough(machine: Machine, amounts: int) -> int:
    """Return the last kind with at most the processors of FREE or EXTRA."""
    raise NotImplementedError


@generic
def fits(machine: Machine, need: int, now: int) -> bool:
    """Return whether a job of this kind fits from now until its predicted end."""
    raise NotImplementedError


@generic
def fits_beside(machine: Machine, need: int) -> bool:
    """Return whether a job of this kind, which fits now, also fits into the extra amounts."""
    raise NotImplementedError


@generic
def may_start(machine: Machine, plan: AnyPlan, now: int, i: int) -> bool:
    """Return whether the job at place i of the queue fits now next to the reservations so far."""
    raise NotImplementedError


def most_free(machine: Machine) -> int:
    """Return the last kind with at most the free processors."""
    return narrow_enough(machine, FREE)


def candidates(machine: Machine, queue: Queue, hold: Record[Hold], now: int, cell: int) -> int:
    """Return the lane mask of the jobs that fit without affecting the reservation."""
    beside = 0
    if hold[0].shadow < NEVER:
        beside = up_to(queue.need, cell, narrow_enough(machine, EXTRA))
    short = up_to(queue.estimate, cell, hold[0].shadow - now)
    word = up_to(queue.need, cell, narrow_enough(machine, FREE)) & (short | beside)
    # Lanes behind the last job are arbitrary, so their kinds are not read.
    kept, left = 0, word
    while left != 0:
        at = lowest(left)
        left &= left - 1
        need = queue.need[cell + at]
        if need <= 0:
            continue
        is_short = now + queue.estimate[cell + at] <= hold[0].shadow
        if fits(machine, need, now) and (is_short or fits_beside(machine, need)):
            kept |= 1 << at
    return kept


def within_reach(machine: Machine, queue: Queue, hold: Record[Hold], now: int, b: int) -> bool:
    """Return whether a block's minima are short or narrow enough."""
    soon = now + queue.least_estimate[b] <= hold[0].shadow
    return bool(soon or queue.least_need[b] <= narrow_enough(machine, EXTRA))


def place_now(machine: Machine, plan: AnyPlan, now: int, i: int) -> int:
    """Return 0 if the job may start now, else -1."""
    return 0 if may_start(machine, plan, now, i) else -1


def last_candidate(
    machine: Machine, plan: AnyPlan, now: int, first: int, last: int
) -> tuple[int, int]:
    """Return the last job that may start now; lanes discard jobs with too many processors."""
    if last < first or may_start(machine, plan, now, last):
        return last, 0
    narrow, front = narrow_enough(machine, FREE), plan.front[0]
    lowest_place, stop = front + first, front + last
    while stop > lowest_place:
        begin = max(stop - WORD, lowest_place)
        word = up_to(plan.need, begin, narrow) & first_places(stop - begin)
        while word != 0:
            at = highest(word)
            if may_start(machine, plan, now, begin + at - front):
                return int(begin + at - front), 0
            word ^= 1 << at
        stop = begin
    return first - 1, 0
