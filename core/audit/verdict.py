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
        The checked rules: ``start``, ``submit``, ``kills``, ``place`` (on a grid), ``capacity`` and
        the name of the policy; `core.audit.kinds` lists those of nodes and networks.
    rule : str, optional
        The first broken rule by time.
    job : int, optional
        Index in the workload of the job that breaks the rule.
    instant : int, optional
        Instant at which the job breaks the rule, s.
    why : str
        A sentence that states the fault with its numbers.
    keeps : Policy, optional
        The same policy by another clock, if the schedule satisfies only this one.
    unaudited : tuple of str
        Parts of the policy that are not checked. ``rule NAME``: the rule has no auditor, and no
        pass is checked. ``order NAME``: the order has no formula in the auditor, and the order's
        own function supplies the values for checking passes.

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
    """Hold the first breach of a rule: its instant, s, its job, and a sentence with the numbers."""

    instant: int
    job: int
    rule: str
    why: str
