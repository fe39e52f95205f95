"""Checks of the report of a paper that a campaign asks for, before the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedfarm.farm.campaign.campaign import Campaign


def check_report(campaign: Campaign) -> None:
    """Refuse a paper's report that is unknown or needs what the campaign lacks."""
    if not campaign.report:
        return
    from schedfarm.analysis.papers import needs_of
    from schedfarm.core.errors import InputError

    why = needs_of(campaign.report).lacking(
        policies=campaign.policies,
        fairness=campaign.fairness,
        loads=campaign.loads,
        samples=campaign.resamples,
        log=campaign.log,
        keep=campaign.keep,
    )
    if why:
        raise InputError(f"report {campaign.report!r} needs what the campaign lacks: {why}")
