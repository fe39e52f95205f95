"""Notes on plug-in rules that run as plain Python, which slows simulations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schedfarm.core import own
from schedfarm.core.policy.policy import Policy


def plain_rules(policies: Iterable[str | Policy], sources: Mapping[str, str]) -> list[str]:
    """Return a sentence for each rule of the policies that runs as plain Python at each pass.

    Examples
    --------
    >>> plain_rules(["fcfs+easy"], {})
    []
    """
    reasons = {}
    with own.sources(sources):
        for one in policies:
            policy = Policy.parse(one) if isinstance(one, str) else one
            if policy.row.plain is not None:
                reasons[policy.rule] = policy.row.find("plain")(policy)
    return [
        f"rule {rule!r} runs as plain Python, some 50 times as slow as compiled: {why}"
        for rule, why in reasons.items()
        if why
    ]
