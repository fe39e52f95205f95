"""The simplest rule, and the hooks that the others fill: strict order."""

from __future__ import annotations

from core.arrays import Int64
from core.audit.machine import Machine, Pass
from core.policy.policy import Policy


class Rule:
    """Judge each pass; by itself this is the rule `none`, that nobody overtakes.

    A rule keeps nothing from one pass to the next but what it keeps through these hooks.
    """

    def __init__(self, policy: Policy) -> None:
        """Keep what of the policy's options the rule needs."""

    def completed(self, machine: Machine, ended: list[int]) -> None:
        """Take note of completions, before the arrivals of the instant."""

    def arrived(self, machine: Machine, jobs: list[int]) -> None:
        """Take note of arrivals, before the pass."""

    def due(self, now: int) -> int | None:
        """Return the next instant after now at which the rule itself calls for a pass, s."""
        return None

    def check(self, step: Pass) -> None:
        """Tell the pass of every right to start and of every lack of it."""
        for place, job in enumerate(step.queue.tolist()):
            if not step.fits(job):
                step.may_not(job, step.lacks(job))
                self.behind_head(step, job, step.queue[place + 1 :])
                return
            step.may(job, step.room(job))

    def behind_head(self, step: Pass, head: int, rest: Int64) -> None:
        """Judge the jobs behind the first that does not start."""
        why = f"{step.machine.says(head)}, before it in the queue, waits"
        for job in rest[step.is_given(rest)].tolist():
            step.may_not(job, why)
