"""DEMT with batches of doubling length, each filled by the dual approximation."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.offline.dual import dual, is_small
from schedfarm.offline.instance import Instance
from schedfarm.offline.list_schedules import by_ratio
from schedfarm.offline.plan import Plan
from schedfarm.offline.shelves import lengths

TOO_MUCH = 2**60
"""Work of a job that does not fit, s x processors: it exceeds any guess x machine, and the sum of
two such numbers fits int64."""


def batches(instance: Instance, estimate: int) -> Plan:
    """Fill batch after batch, schedule each by the dual approximation, and compact the whole.

    The estimate, in s, must be a guess that the dual approximation accepts. A batch takes jobs by
    weight over work as long as the dual approximation accepts the batch's length as a guess. A
    batch therefore lasts at most 3/2 of this length. The selection is greedy: the published
    guarantee of 6 for the weighted sum of completion times needs the selection of greatest weight,
    and does not hold here. The guarantee for the makespan holds: batches of at most 3/2 of the
    estimate, of half the estimate, and so on take at most 3 estimates together.

    References
    ----------
    P.-F. Dutot, D. Trystram, A best-compromise bicriteria scheduling algorithm for malleable
    tasks; G. Mounie, C. Rapine, D. Trystram, SIAM Journal on Computing 37, 2007.

    Examples
    --------
    >>> plan = batches(Instance([[12, 7, 5], [4, 4, 4], [2, 2, 2]], [3, 1, 9]), 7)
    >>> plan.start.tolist(), plan.procs.tolist()
    ([0, 2, 0], [2, 1, 1])
    """
    start, procs = np.zeros(instance.jobs, np.int64), np.ones(instance.jobs, np.int64)
    waiting, at = np.arange(instance.jobs), 0
    for length in lengths(instance, estimate):
        here = waiting[selected(instance.only(waiting), length)]
        if here.size:
            plan = dual(instance.only(here), length)
            assert plan is not None, "the dual approximation accepts a selection"
            start[here], procs[here] = at + plan.start, plan.procs
            at += plan.makespan
        waiting = np.setdiff1d(waiting, here)
    if waiting.size:
        raise InputError(
            f"estimate={estimate}: the dual approximation rejects it; give a guess that it takes"
        )
    return Plan(instance, start, procs).compacted()


def selected(instance: Instance, guess: int) -> Int64:
    """Return the jobs, ascending, that the dual approximation accepts together for a guess in s.

    Jobs are tried by weight over work, greatest first.

    Examples
    --------
    >>> selected(Instance([[12, 7], [4, 4], [8, 8]], [1, 1, 9]), 8).tolist()
    [1, 2]
    """
    size = instance.processors
    high, low = instance.fewest(guess), instance.fewest(guess // 2)
    work, folded = (
        np.where(procs <= size, procs * instance.time(np.minimum(procs, size)), TOO_MUCH)
        for procs in (high, low)
    )
    small = is_small(instance, guess)
    # The array has the least work of the selected jobs for each number of processors of shelf 1.
    least = np.zeros(size + 1, np.int64)
    chosen = []
    for job in by_ratio(instance, work).tolist():
        if high[job] > size:
            continue
        if small[job]:
            grown = least + instance.times[job, 0]
        else:
            grown = least + folded[job]
            rest = size + 1 - high[job]
            grown[high[job] :] = np.minimum(grown[high[job] :], least[:rest] + work[job])
        if grown[-1] <= size * guess:
            least = np.minimum(grown, TOO_MUCH)
            chosen.append(job)
    return np.sort(np.array(chosen, np.int64))
