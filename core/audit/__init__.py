"""The auditor: prove or refute, from the times alone, that a schedule keeps its rules.

What is proved. From the given starts and runs the state of the machine and of the queue is known
at every instant: who runs and until when by estimate, who waits, how many processors are free.
The auditor walks through the instants and looks at every pass of the scheduler as a given
decision: each job in the queue either has by the rule the right to start there or not, given
everything decided before it in that pass, and must have started in the first case and not in the
second. If all passes are so, the schedule is exactly one that the rule permits. A job that starts
where there is no pass is a fault too. Where an instant has several passes (a job with run 0, or
the per-event clock) a start belongs to the first pass that gives it the right.

Under the clock of the pyss family, ``events=per-event``, the passes of an instant are known from
the times as well: the submissions, then the completions in the order in which the passes before
started the jobs. A schedule that breaks its policy is asked whether it keeps it by another clock.

Beside this, and without the replay, straight from the columns: every job starts, none before its
submission, no run past its estimate, never more processors in use than the machine has. Where a
schedule says in which of several clusters each job ran, every job is inside one that is as wide,
no cluster is ever over its size, and a job that starts in a pass must do so on the cluster on
which the rule starts it.

On nodes the same is said of each node, and beside it: every job has as many nodes of its set as it
asks for, ends when its run time there is over or when one of them goes down, and is on none that is
down; a reservation in advance that was accepted starts on time. In each pass the plan, and under
`demt` the shelves, are made again from who arrived, started and ended before.

On a network it is said of each cluster: every job has all its processors, in parts of which each is
on a cluster of its own, and ends when its work is done at the shares of links that follow from who
runs beside it. In each pass it is judged who had the right to start, where, and in which parts; so
no link is asked for more than it has where links are kept, and no reservation is delayed.

Of a rule that no auditor is written for, such as `tabu`, whose draws are in no schedule, this alone
is judged, and the verdict says so.

Nothing is shared with the simulators, not even the formulas of the orders. Those in floats are
evaluated in double precision from left to right, so that ties fall as they do in the simulator.
"""

from __future__ import annotations

from dataclasses import replace

from schedfarm.core.arrays import HORIZON
from schedfarm.core.audit.kinds import KINDS
from schedfarm.core.audit.verdict import CLOCKS, Fault, Verdict
from schedfarm.core.errors import InputError
from schedfarm.core.logs.read import read_schedule
from schedfarm.core.logs.schedules import LoggedSchedule
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule

__all__ = ["CLOCKS", "LoggedSchedule", "Verdict", "audit", "read_schedule"]


def audit(schedule: Schedule, policy: Policy | str) -> Verdict:
    """Prove or refute that a schedule is one that a policy makes.

    Parameters
    ----------
    schedule : Schedule
        The jobs and their starts, of ours or by `read_schedule` of anyone's.
    policy : Policy or str
        The policy that is to have made it.

    Returns
    -------
    Verdict
        Whether it holds, what was checked, and the first job by time that breaks a rule; where
        that rule is the policy itself, the same policy by another clock if that holds.

    Raises
    ------
    InputError
        If the policy's name is not understood, or the schedule does not say where its jobs ran
        on a platform where that matters.

    Examples
    --------
    >>> import dataclasses, numpy as np
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0], run=[9, 5], estimate=[9, 5], procs=[2, 2],
    ...                           processors=2)
    >>> good = simulate(w, "fcfs+easy")
    >>> audit(good, "fcfs+easy").ok
    True
    >>> bad = dataclasses.replace(good, start=np.array([0, 8]))
    >>> audit(bad, "fcfs+easy").why
    'job 2 (2 processors) started at 8 s, when the jobs that run need 4 of 2 processors'
    """
    policy = Policy.parse(policy) if isinstance(policy, str) else policy
    _check_given(schedule)
    verdict = _judge(schedule, policy)
    if verdict.rule != policy.name:
        return verdict
    if schedule.workload.platform.keeps:
        # By the clock of the pyss family there is one pool.
        return verdict
    others = (replace(policy, events=events) for events in CLOCKS)
    kept = (other for other in others if other != policy and _judge(schedule, other).ok)
    return replace(verdict, keeps=next(kept, None))


def _check_given(schedule: Schedule) -> None:
    platform = schedule.workload.platform
    for name in platform.keeps:
        if name not in schedule.given:
            raise InputError(
                f"the schedule does not give the {name} of each job; on platform "
                f"{platform.name!r} nothing can be said of one without it"
            )


def _judge(schedule: Schedule, policy: Policy) -> Verdict:
    kind = KINDS[schedule.workload.platform.name]
    judged = policy.row.audit is not None
    checked = (*kind.checks, *([policy.name] if judged else []))
    missing = kind.unstarted(schedule)
    if missing:
        # Of a queue in which a job waits for ever nothing can be said.
        return _refuted(checked, missing)
    plain = [fault for fault in (proof(schedule) for proof in kind.proofs) if fault]
    until = min((fault.instant for fault in plain), default=HORIZON)
    replayed = kind.replay(schedule, policy).first_fault(until) if judged else None
    fault = _first(plain, replayed)
    if fault is None:
        n = len(schedule.workload)
        why = f"every one of the {n} jobs keeps {', '.join(checked[:-1])} and {checked[-1]}"
        if not judged:
            why += f"; what rule {policy.rule!r} decides cannot be told from the times: not judged"
        return Verdict(True, checked, None, None, None, why)
    return _refuted(checked, fault)


def _refuted(checked: tuple[str, ...], fault: Fault) -> Verdict:
    return Verdict(False, checked, fault.rule, fault.job, fault.instant, fault.why)


def _first(plain: list[Fault], replayed: Fault | None) -> Fault | None:
    """Return the earliest fault; of one instant and job, what holds for every policy goes first."""
    rank = {"submit": 0, "reserved": 0, "place": 0, "segments": 0, "kills": 3, "capacity": 3}

    def key(fault: Fault) -> tuple[int, int]:
        same = replayed is not None and fault.job == replayed.job
        return fault.instant, min(rank.get(fault.rule, 2), 1 if same and fault in plain else 3)

    return min(plain + ([replayed] if replayed else []), key=key, default=None)
