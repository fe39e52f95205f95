"""DEMT with batches: each twice as long as the one before, filled by the dual approximation."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.offline.dual import dual, is_small
from schedfarm.core.offline.instance import Instance
from schedfarm.core.offline.list_schedules import by_ratio
from schedfarm.core.offline.plan import Plan
from schedfarm.core.offline.shelves import lengths

TOO_MUCH = 2**60
"""Stands for the work of what does not fit; above that of any guess on any machine, s x processors,
and sums of two of it are int64."""


def batches(instance: Instance, estimate: int) -> Plan:
    """Fill batch after batch, schedule each by the dual approximation, and compact the whole.

    A batch takes jobs by weight over work, each with which the dual approximation still takes the
    batch's length for a guess; so it lasts at most 3/2 of that. This selection is greedy: its
    weight is not proved to be the greatest, as the published guarantee of 6 for the weighted sum
    of ends asks. That of the makespan stands: batches of at most 3/2 of the estimate, of half of
    it, and so on take at most 3 estimates together.

    Parameters
    ----------
    instance : Instance
        The jobs.
    estimate : int
        A guess that the dual approximation takes, s.

    Returns
    -------
    Plan
        Of at most 3 x the estimate.

    Raises
    ------
    InputError
        If the dual approximation does not take the estimate.

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
            assert plan is not None, "what is selected is what the dual approximation takes"
            start[here], procs[here] = at + plan.start, plan.procs
            at += plan.makespan
        waiting = np.setdiff1d(waiting, here)
    if waiting.size:
        raise InputError(
            f"estimate={estimate}: the dual approximation does not take it; give a guess that it "
            "takes"
        )
    return Plan(instance, start, procs).compacted()


def selected(instance: Instance, guess: int) -> Int64:
    """Return jobs, the greatest weight over work first, that the dual approximation takes together.

    Parameters
    ----------
    instance : Instance
        The jobs.
    guess : int
        How long a schedule of them might be, s.

    Returns
    -------
    int64[k]
        Their indices, ascending.

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
    # The least work of all that is selected, by how many processors shelf 1 may have.
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
