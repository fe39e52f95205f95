"""Fair start times: the start of each job in a simulation without later jobs.

G. Sabin and P. Sadayappan, Unfairness metrics for space-sharing parallel job schedulers, JSSPP
2005, section 3.1; the definition is in docs/semantics.md, section Fairness.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import whole
from schedfarm.core.engine.cancel import underway
from schedfarm.core.engine.checkpoint import FAIR, checkpointed
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.policy.orders import find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.fair_start import fair_start_reference
from schedfarm.core.workload.workload import Workload

KINDS = ("strict", "relaxed")
"""Kinds of fair start time."""

ARRIVAL = "arrival"
"""The fair order of the paper, which is the order of arrival."""

NOT_ASKED = -1
"""Fair start time of a job that was not requested."""


def fair_start_times(
    workload: Workload,
    policy: Policy | str,
    kind: str = "strict",
    jobs: slice | Iterable[int] | None = None,
    later: str = ARRIVAL,
) -> Int64:
    """Return the start that each job would have without later jobs.

    Up to the arrival of a job, the schedule is the real schedule. It continues with true run times
    and the same policy, and without later jobs that are not running yet:

    - ``strict``: the job waits with the other jobs;
    - ``relaxed``: the job joins the queue, with its own submit time, only at the first instant at
      which all earlier jobs that have arrived have started.

    Parameters
    ----------
    workload : Workload
        The jobs and their machine.
    policy : Policy or str
        The policy, or its name.
    kind : {"strict", "relaxed"}
        Whether the job waits with the other jobs, or joins the queue after their starts.
    jobs : slice or iterable of int, optional
        Indices of the requested jobs; by default all. Besides the time
        for these jobs, a range takes the time of a simulation up to its end.
    later : str
        The fair order: ``arrival``, or a queue order that is fixed at submission, such as ``spf``.
        Job k is later than job j if its key is larger, or if the keys are equal and k comes after j
        by (submit, position). At the arrival of j, waiting jobs that are later than j vanish.
        Future jobs that are not later than j still arrive; under ``arrival`` no future job does.

    Returns
    -------
    int64[n]
        Fair start times, s; -1 for jobs that are not requested, and for refused jobs.

    Raises
    ------
    InputError
        If the kind, the policy or a job is unknown, or if the fair order changes with time. Also
        for a plug-in rule or a rule on nodes, unless the fair starts are strict and by arrival.
    Left
        As `core.simulate`.

    Notes
    -----
    Plug-in orders that change with time, and plug-in rules, are slow. Strict fair starts by arrival
    take one simulation for each job, and all other fair starts take the reference simulator.
    Request some hundreds of jobs at most.

    Examples
    --------
    >>> from schedfarm.core import Workload
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[6, 4, 9], estimate=[9, 4, 9],
    ...                           procs=[2, 3, 1], processors=3)
    >>> fair_start_times(w, "fcfs+aggressive").tolist()
    [0, 6, 2]
    >>> fair_start_times(w, "fcfs+aggressive", kind="relaxed").tolist()
    [0, 6, 10]
    """
    chosen = Policy.parse(policy) if isinstance(policy, str) else policy
    if kind not in KINDS:
        raise InputError(f"kind={kind!r} of fair start times is unknown; known: {', '.join(KINDS)}")
    workload.refuse_leaving("the definition of fair start times")
    asked = _asked(jobs, len(workload))
    rank = _rank(workload, later)
    fst, known = (np.full(len(workload), NOT_ASKED, np.int64) for _ in range(2))
    what = f"{kind} fair starts by {later}"
    # Each fair start is independent of the other requested ones, so a checkpoint holds the known
    # fair starts.
    with checkpointed(workload, chosen, what, {FAIR: known}, live=True):
        left = asked[known[asked] < 0]
        if left.size:
            _find(workload, chosen, kind, left, later, rank, known)
    underway().check()
    fst[asked] = known[asked]
    return fst


def _find(
    workload: Workload,
    chosen: Policy,
    kind: str,
    asked: Int64,
    later: str,
    rank: Int64,
    fst: Int64,
) -> None:
    """Fill in the fair starts of the requested jobs, at least one."""
    relaxed, plain, under = kind == "relaxed", later == ARRIVAL, underway()
    from schedfarm.core.engine.fair_order import fair_order, is_compiled, is_patient

    platform = workload.platform.name
    if is_compiled(chosen, platform, plain):
        find = chosen.row.find("fair_start", platform)
        fair = fair_order(asked, rank, relaxed, plain, plain and is_patient(chosen))
        fst[asked] = find(workload, chosen, fair)[asked]
    elif plain and not relaxed:
        for j in asked:
            fst[j] = simulate(workload.take(slice(j + 1)), chosen).start[j]
    elif workload.platform.asks:
        # A job with an advance reservation, or in a shelf, cannot join later.
        raise InputError(
            f"fair start times on a platform of kind {platform!r} are of kind 'strict', with "
            f"later='{ARRIVAL}'; kind={kind!r} with later={later!r} has no meaning there"
        )
    elif chosen.row.refer is None:
        raise InputError(
            f"rule {chosen.rule!r} has no reference simulation: its fair start times are of kind "
            f"'strict', with later='{ARRIVAL}'"
        )
    else:
        for j in asked.tolist():
            under.check()
            fst[j] = fair_start_reference(workload, chosen, relaxed, [j], rank)[0]


def _asked(jobs: slice | Iterable[int] | None, n: int) -> Int64:
    if jobs is None or isinstance(jobs, slice):
        return np.arange(n)[jobs or slice(None)]
    asked = [whole("jobs", j) for j in jobs]
    for j in asked:
        if not 0 <= j < n:
            raise InputError(f"jobs: there is no job {j}; the workload has jobs 0 to {n - 1}")
    return np.array(asked, np.int64)


def _rank(workload: Workload, later: str) -> Int64:
    rank = np.arange(len(workload))
    if later == ARRIVAL:
        return rank
    key = find_order(later).fixed_key(workload)
    if key is None:
        raise InputError(
            f"later={later!r} changes as time passes; a fair order is {ARRIVAL} or a queue order "
            "fixed at submission, such as fcfs or spf"
        )
    rank[np.argsort(key, kind="stable")] = np.arange(len(workload))
    return rank
