"""What an auditor must know of any backfilling rule: how it judges a pass, and what it keeps."""

from __future__ import annotations

from schedfarm.core.audit.machine import Machine, Pass
from schedfarm.core.policy.policy import Policy


class Discipline:
    """Judge each pass by one rule.

    A discipline keeps nothing from one pass to the next but what it keeps through these hooks.
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
        raise NotImplementedError
