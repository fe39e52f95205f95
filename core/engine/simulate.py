"""Entry point of the simulator: from a workload and a policy to a schedule."""

from __future__ import annotations

import inspect

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import HORIZON, Int64
from schedfarm.core.engine.cancel import underway
from schedfarm.core.errors import InputError
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload


def simulate(workload: Workload, policy: Policy | str) -> Schedule:
    """Run the jobs of a workload through a scheduler and return when each starts.

    Parameters
    ----------
    workload : Workload
        The jobs and their machine.
    policy : Policy or str
        The policy, or its name.

    Returns
    -------
    Schedule
        Start, s, of each job and whether it was backfilled.

    Raises
    ------
    InputError
        If the policy is unknown or a function, if its rule does not support the platform or jobs
        that leave the queue, or if its plug-in cannot be used.
    Left
        If the simulation was cancelled; see `core.engine.cancel`.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[10, 10, 5], estimate=[10, 10, 5],
    ...                           procs=[2, 4, 2], processors=4)
    >>> simulate(w, "fcfs+easy").start.tolist()
    [0, 10, 2]
    """
    chosen = _chosen(policy)
    if what := chosen.without_leaving(workload.platform.name):
        workload.refuse_leaving(what)
    here = underway()
    here.check()
    outcome = chosen.row.find("simulate", workload.platform.name)(workload, chosen)
    here.check()
    if isinstance(outcome, Schedule):
        return outcome
    start = _checked(workload, chosen, outcome)
    return Schedule(workload, chosen.name, start, np.zeros(len(workload), np.bool_))


def _chosen(policy: Policy | str) -> Policy:
    """Return the policy for a name or a policy; refuse other values."""
    if isinstance(policy, str):
        return Policy.parse(policy)
    if isinstance(policy, Policy):
        return policy
    if not inspect.isroutine(policy):
        raise InputError(
            f"policy {policy!r} is neither a Policy nor the name of one, such as 'saf+easy'"
        )
    module, name = policy.__module__, policy.__qualname__
    if name.isidentifier():
        raise InputError(
            f"function {name!r} is an order and not yet a policy; "
            f"name it with a rule, such as '{module}:{name}+easy'"
        )
    raise InputError(
        f"function {policy.__name__!r} cannot be found by its name; define it with def at the top "
        f"of a module, and name it with a rule, such as '{module}:my_order+easy'"
    )


def _checked(workload: Workload, policy: Policy, starts: npt.ArrayLike) -> Int64:
    """Return the starts of a plug-in rule; raise an error if they are invalid."""
    start, n, rule = np.asarray(starts), len(workload), f"rule {policy.rule!r}"
    if workload.platform.keeps:
        raise InputError(
            f"{rule} returned only starts; on platform {workload.platform.name!r} they do not show "
            "where jobs run: rules that return starts are for platform 'pool'"
        )
    if start.shape != (n,) or start.dtype.kind not in "iu":
        raise InputError(
            f"{rule} returned {start.dtype} of shape {start.shape}; it must return the starts "
            f"of all jobs, an integer array of shape ({n},)"
        )
    start = start.astype(np.int64)
    if (early := start < workload.submit).any():
        j = int(early.argmax())
        raise InputError(
            f"{rule} starts job {workload.job[j]} at {start[j]} s; it is submitted at "
            f"{workload.submit[j]} s, and every job must start then or later"
        )
    if (late := start >= HORIZON).any():
        j = int(late.argmax())
        raise InputError(
            f"{rule} starts job {workload.job[j]} at {start[j]} s, past the clock's {HORIZON} s"
        )
    # At one instant processors are released before they are taken.
    times = np.concatenate((start + workload.run, start))
    change = np.concatenate((-workload.procs, workload.procs))
    order = np.lexsort((change, times))
    times, used = times[order], np.cumsum(change[order])
    if n and used.max() > workload.processors:
        worst = int(used.argmax())
        raise InputError(
            f"{rule} has {used[worst]} processors in use at {times[worst]} s; "
            f"the machine has {workload.processors}"
        )
    return start
