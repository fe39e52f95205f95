"""What the keys of a campaign may be: each check refuses with one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import InputError
from core.workload.resample_weeks import DRAWS as WEEKLY_DRAWS

if TYPE_CHECKING:
    from farm.campaign.campaign import Campaign

ORIGINAL = "original"
"""Label of the load that leaves a trace as it is."""

DRAWS = (*WEEKLY_DRAWS, "users")
"""How a log is resampled: each user's weeks drawn one by one, or whole users."""

LOAD_BY = ("runtime", "interarrival", "users")
"""How a load is reached: longer run times, shorter gaps, or more users in the resample."""

LONGEST_BLOCK = 3600.0
"""Longest block that can be asked for, s: an interruption would lose that much."""


def check_types(campaign: Campaign) -> None:
    """Refuse a value of the wrong type."""
    kinds: dict[str, type] = {
        "name": str,
        "resamples": int,
        "log": bool,
        "seed": int,
        "tau": int,
        "draw": str,
        "load_by": str,
        "cooldown": bool,
        "report": str,
        "title": str,
    }
    for key, kind in kinds.items():
        value = getattr(campaign, key)
        if type(value) is not kind:
            raise InputError(f"key {key!r} is {value!r}; it must be of type {kind.__name__}")
    for policy in campaign.policies:
        if not isinstance(policy, str):
            raise InputError(f"key 'policies' holds {policy!r}; it must be a list of names")


def check_load_by(campaign: Campaign) -> None:
    """Refuse a way to reach loads that the samples cannot go."""
    if campaign.load_by not in LOAD_BY:
        raise InputError(f"load_by {campaign.load_by!r} is unknown; known: {', '.join(LOAD_BY)}")
    if campaign.load_by != "users":
        return
    if campaign.draw != "users":
        raise InputError(
            f'load_by = "users" goes with draw = "users" only, since a resample by weeks '
            f"({campaign.draw}) has the users of the log"
        )
    models = [t.name for t in campaign.traces if t.model is not None]
    if campaign.loads != (ORIGINAL,) and (campaign.log or models):
        what = f"trace {models[0]!r}, a model," if models else "the log itself (log = true)"
        raise InputError(
            f'load_by = "users" cannot bring {what} to a load: only resamples draw users'
        )


def check_labels(what: str, labels: list[str]) -> None:
    """Refuse an axis without labels, or with one twice."""
    if not labels:
        raise InputError(f"key {what!r} is empty; give at least one")
    for i, label in enumerate(labels):
        if label in labels[:i]:
            raise InputError(f"key {what!r} names {label!r} twice")


def check_numbers(campaign: Campaign) -> None:
    """Refuse a number that is out of range."""
    if campaign.resamples < 0 or not campaign.resample_axis:
        raise InputError(
            f"resamples is {campaign.resamples}: give at least 1, or log = true for the log itself"
        )
    if not 0 <= campaign.seed < 2**63:
        raise InputError(f"seed is {campaign.seed}: it must be from 0 to 2^63 - 1")
    if campaign.tau < 1:
        raise InputError(f"tau is {campaign.tau}: it must be at least 1 s")
    seconds = campaign.block_seconds
    if type(seconds) not in (int, float) or not 0 <= seconds <= LONGEST_BLOCK:
        raise InputError(
            f"block_seconds is {seconds!r}: it must be a CPU time up to {LONGEST_BLOCK:.0f} s, "
            "or 0 to leave it to the planner"
        )
