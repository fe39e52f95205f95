"""The schedule of a log: each job starts at its logged time."""

from __future__ import annotations

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload


def logged(workload: Workload, policy: Policy) -> Schedule:
    """Return the schedule of the log: each start is the submission plus the logged wait.

    Run times are those of the workload. The machine's size is not enforced: the real machine gained
    and lost nodes, and some logs lack jobs. A job counts as backfilled if it started before a job
    with an earlier submission.

    Parameters
    ----------
    workload : Workload
        A log, or a part of one, at its own load.
    policy : Policy
        The policy that names the schedule.

    Returns
    -------
    Schedule
        The schedule of the log.

    Raises
    ------
    InputError
        If the wait of a job is unknown.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1], run=[5, 5], estimate=[5, 5], procs=[1, 1],
    ...                           logged_wait=[3, 0], processors=1)
    >>> s = logged(w, Policy.parse("fcfs+logged"))
    >>> s.start.tolist(), s.backfilled.tolist()
    ([3, 1], [False, True])
    """
    unknown = int(np.count_nonzero((workload.logged_wait < 0) & (workload.leave < 0)))
    if unknown:
        what = f"{unknown:,} of the {len(workload):,} jobs of workload {workload.name!r}"
        right = (
            "it takes a log as it is, no sample, model or other load"
            if unknown == len(workload)
            else 'leave them out with no_wait = "drop" of [traces.clean]'
        )
        raise InputError(f"rule {policy.rule!r}: the log lacks the wait of {what}; {right}")
    # Jobs that left the queue did not start.
    start = np.where(workload.leave < 0, workload.submit + workload.logged_wait, -1)
    latest = np.maximum.accumulate(start)
    return Schedule(workload, policy.name, start, (start >= 0) & (start < latest))
