"""The result of an audit: a verdict, and its fault."""

from __future__ import annotations

from dataclasses import dataclass

from schedfarm.core.policy.policy import Policy

CLOCKS = {
    "instant": "at one instant completions come before submissions, then one pass",
    "per-event": "as pyss: at one instant submissions come before completions, a pass follows each "
    "single event, and jobs that are predicted to have ended by then count as gone",
}
"""Meaning of each clock of a policy, as a clause."""


@dataclass(frozen=True)
class Verdict:
    """Hold whether a schedule satisfies every checked rule, or the first job that breaks one.

    Parameters
    ----------
    ok : bool
        Whether every rule in `checked` holds for the whole schedule.
    checked : tuple of str
        The rules: ``start``, ``submit``, ``kills``, on a grid ``place``, ``capacity`` and the name
        of the policy; on nodes and networks those of `core.audit.kinds`.
    rule : str, optional
        The rule that is broken first by time.
    job : int, optional
        Index in the workload of the job that breaks it.
    instant : int, optional
        Instant at which it is broken, s.
    why : str
        A sentence with the numbers.
    keeps : Policy, optional
        If the policy is broken: the same policy by another clock, if the schedule satisfies it.
    unaudited : tuple of str
        Parts of the policy that are not checked: ``rule NAME`` without an auditor, whose passes are
        not judged, and ``order NAME`` without a formula in the auditor, whose passes are judged by
        the order's own function.

    Examples
    --------
    >>> from schedfarm.core.audit import audit
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0], run=[3], estimate=[3], procs=[1], processors=1)
    >>> audit(simulate(w, "fcfs+none"), "fcfs+none").why
    'every one of the 1 jobs keeps start, submit, kills, capacity and fcfs+none'
    """

    ok: bool
    checked: tuple[str, ...]
    rule: str | None
    job: int | None
    instant: int | None
    why: str
    keeps: Policy | None = None
    unaudited: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fault:
    """A broken rule: the instant, s, the job, and a sentence with the numbers."""

    instant: int
    job: int
    rule: str
    why: str
