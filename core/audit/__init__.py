"""The auditor: prove or refute that a schedule keeps its rules, from the schedule alone.

*Checks from the columns* hold for every policy: every job starts, and no job starts before its
submission; no job runs longer than its estimate; the processors in use at a place never exceed its
size. On a grid every job is inside one cluster of at least its width. On nodes every job has the
requested number of nodes of its set. Every job ends after its run time or when one of its nodes
goes down, and never runs on a node that is down. An accepted advance reservation starts on time. On
a network every job has all its processors, in parts on different clusters, and does not end too
early. If the policy keeps links, no link is overloaded.

*Passes on a pool and a grid* are checked by a program that shares nothing with the simulators, not
even the formulas of the orders. The given starts and runs determine the state of machine and queue
at every instant. In every pass, the rule either starts a job of the queue or does not, given all
earlier decisions of the pass. The auditor compares each of these decisions with the schedule. If
all decisions of all passes agree, the rule permits exactly this schedule. A start at an instant
without a pass is also a fault. If an instant has several passes (a job with run 0, or the per-event
clock), a start belongs to the first pass in which the rule permits the start. Under
``events=per-event``, the clock of the pyss family, the times also determine the passes of an
instant: first the submissions, then the completions in the order of the jobs' starts. A schedule
that breaks its policy is also checked by the other clock.

*Passes on nodes, on networks and on pools of several resources* are checked by the reference
simulator, because only this project makes such schedules. The reference simulator decides at each
pass, and its first difference from the schedule is the fault.

A rule without an auditor, such as `tabu`, is checked by the columns only; a schedule does not
contain the draws of `tabu`. An order without a formula in the auditor, such as a plug-in function,
supplies the values by which passes are checked. The verdict lists such rules and orders as
unaudited.
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
        Whether the schedule holds, the names of the checks, and the first job by time that breaks a
        rule. If this rule is the policy itself, the verdict also names the same policy by another
        clock, provided that the schedule satisfies that policy.

    Raises
    ------
    InputError
        If the policy's name is not understood, or the platform has several places and the schedule
        lacks the places of its jobs.

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
    """Return a policy with another clock; None if its rule supports only one clock."""
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
    # If a job waits for ever, no other rule can be checked.
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
"""Precedence of rules at one instant; a pass of the replay has precedence 3, any other check 4."""


def _first(plain: list[Fault], replayed: Fault | None) -> Fault | None:
    """Return the earliest fault; of faults at one instant, the fault of the most specific rule.

    If a check and a replayed pass name the same job, the check has precedence. A replayed end is as
    specific as a checked one.
    """
    decided = replayed.job if replayed is not None and replayed.rule not in _RANK else None

    def key(fault: Fault) -> tuple[int, int]:
        rank = _RANK.get(fault.rule, 3 if fault is replayed else 4)
        checked = fault is not replayed and fault.job == decided
        return fault.instant, min(rank, 1) if checked else rank

    return min([*plain, *([replayed] if replayed else [])], key=key, default=None)
