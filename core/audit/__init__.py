"""The auditor: prove or refute that a schedule keeps its rules, from the schedule alone.

*Checks from the columns* hold for every policy: every job starts, none before its submission; no
run lasts past its estimate; no place has more processors in use than it has. On a grid every job
is inside one cluster that is as wide. On nodes every job has the requested number of nodes of
its set, ends with its run time or when one of them goes down, and is on no node that is down; a
reservation in advance that was accepted starts on time. On a network every job has all its
processors, in parts on different clusters, does not end too early, and, where the policy keeps
links, no link is overloaded.

*Passes on a pool and a grid* are judged by a program that shares nothing with the simulators, not
even the formulas of the orders. The given starts and runs determine the state of machine and queue
at every instant. The auditor checks every pass as a given decision: by the rule, each job in the
queue may or may not start there, given all earlier decisions of that pass; it must have started in
the first case and not in the second. If this holds for all passes, the schedule is exactly one that
the rule permits. A job that starts without a pass is also a fault. If
an instant has several passes (a job with run 0, or the per-event clock), a start belongs
to the first pass that gives it the right. Under ``events=per-event``, the clock of the pyss family,
the passes of an instant follow from the times as well: the submissions, then the completions in the
order in which earlier passes started the jobs. A schedule that breaks its policy is checked by the
other clock, too.

*Passes on nodes, on networks and on pools of several resources*, whose schedules come from this
project alone, are judged by the reference simulator: it decides at each pass, and the first
difference is the fault.

A rule without an auditor, such as `tabu`, whose draws are in no schedule, is judged by the columns
only. For an order without a formula in the auditor, such as a plug-in function, passes are judged
by its own numbers. The verdict lists both as unaudited.
"""

from __future__ import annotations

from dataclasses import replace

from schedfarm.core.arrays import HORIZON
from schedfarm.core.audit.kinds import KINDS
from schedfarm.core.audit.times import Evidence
from schedfarm.core.audit.verdict import CLOCKS, Fault, Verdict
from schedfarm.core.errors import InputError
from schedfarm.core.logs.read import read_schedule
from schedfarm.core.logs.schedules import LoggedSchedule
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule

__all__ = ["CLOCKS", "LoggedSchedule", "Verdict", "audit", "read_schedule"]


def audit(schedule: Schedule, policy: Policy | str) -> Verdict:
    """Prove or refute that a schedule follows a policy.

    Parameters
    ----------
    schedule : Schedule
        The jobs and their starts, from a simulation or from `read_schedule`.
    policy : Policy or str
        The policy that the schedule is checked against.

    Returns
    -------
    Verdict
        Whether it holds, what was checked, and the first job by time that breaks a rule; if that
        rule is the policy itself, the same policy by another clock if that one holds.

    Raises
    ------
    InputError
        If the policy's name is not understood, or the schedule lacks the places of its jobs on a
        platform with several.

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
    'job 2 (2 processors) started at 8 s, when the running jobs need 4 of 2 processors'
    """
    policy = Policy.parse(policy) if isinstance(policy, str) else policy
    _check_given(schedule)
    verdict = _judge(schedule, policy)
    if verdict.rule != policy.name:
        return verdict
    known = KINDS[schedule.workload.platform.name]().clocks
    others = (_by_clock(policy, events) for events in known)
    kept = (one for one in others if one not in (None, policy) and _judge(schedule, one).ok)
    return replace(verdict, keeps=next(kept, None))


def _by_clock(policy: Policy, events: str) -> Policy | None:
    """Return a policy with another clock; None if its rule supports one only."""
    try:
        return replace(policy, events=events)
    except InputError:
        return None


def _check_given(schedule: Schedule) -> None:
    platform = schedule.workload.platform
    for name in platform.keeps:
        if name not in schedule.given:
            raise InputError(
                f"the schedule does not give the {name} of each job; on platform "
                f"{platform.name!r} a schedule cannot be audited without it"
            )


def _judge(schedule: Schedule, policy: Policy) -> Verdict:
    kind = KINDS[schedule.workload.platform.name]()
    judged, unaudited = kind.judges(policy), kind.unaudited(policy)
    checked = (*kind.checks, *([policy.name] if judged else []))
    evidence = Evidence(schedule, policy, kind.naming)
    # In a queue with a job that waits for ever, nothing else can be judged.
    fault = kind.unstarted(evidence)
    if fault is None:
        plain = [found for found in kind.proofs(evidence) if found]
        until = min((found.instant for found in plain), default=HORIZON)
        fault = _first(plain, kind.replay(schedule, policy, until) if judged else None)
    if fault is not None:
        found = fault.rule, fault.job, fault.instant, fault.why
        return Verdict(False, checked, *found, unaudited=unaudited)
    n = len(schedule.workload)
    why = f"every one of the {n} jobs keeps {', '.join(checked[:-1])} and {checked[-1]}"
    if not judged:
        why += f"; rule {policy.rule!r} has no auditor: its passes are not judged"
    elif unaudited:
        why += f"; no formula of the auditor's own checks {' and '.join(unaudited)}"
    return Verdict(True, checked, None, None, None, why, unaudited=unaudited)


_RANK = {"submit": 0, "reserved": 0, "place": 0, "segments": 0, "start": 2, "end": 2, "down": 2}
"""Precedence of checks at one instant; a replayed fault has 3, and any other check 4."""


def _first(plain: list[Fault], replayed: Fault | None) -> Fault | None:
    """Return the earliest fault; at one instant, that of the most specific check.

    If a check and the replay name the same job, the check has precedence.
    """

    def key(fault: Fault) -> tuple[int, int]:
        if fault is replayed:
            return fault.instant, 3
        same = replayed is not None and fault.job == replayed.job
        return fault.instant, min(_RANK.get(fault.rule, 4), 1 if same else 4)

    return min([*plain, *([replayed] if replayed else [])], key=key, default=None)
