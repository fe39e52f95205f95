"""Starts that a rule promises to jobs at their arrival."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import NO_PROMISE, Int64
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload

__all__ = ["NO_PROMISE", "promises"]


def promises(workload: Workload, policy: Policy | str) -> Int64:
    """Return the start that a rule reserves for each job at its arrival.

    A conservative simulation omits the reservations behind the last job that fits now, which nearly
    halves its time. So this function simulates again with all reservations.

    Parameters
    ----------
    workload, policy
        As for `core.simulate`.

    Returns
    -------
    int64[n]
        Reserved starts, s; `NO_PROMISE` for jobs without a reservation.

    Raises
    ------
    InputError, Left
        As `core.simulate`.

    Examples
    --------
    >>> from schedfarm.core import Workload
    >>> w = Workload.from_columns(submit=[0, 1], run=[4, 2], estimate=[9, 2], procs=[2, 2],
    ...                           processors=2)
    >>> promises(w, "fcfs+conservative").tolist()
    [0, 9]
    """
    chosen = Policy.parse(policy) if isinstance(policy, str) else policy
    if chosen.row.promise is None:
        return np.full(len(workload), NO_PROMISE, np.int64)
    if what := chosen.without_leaving(workload.platform.name):
        workload.refuse_leaving(what)
    promised: Int64 = chosen.row.find("promise", workload.platform.name)(workload, chosen)
    return promised
