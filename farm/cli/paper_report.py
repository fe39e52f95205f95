"""Checks of a campaign's paper report before the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedfarm.farm.campaign.campaign import Campaign


def check_report(campaign: Campaign) -> None:
    """Refuse a paper's report that is unknown or whose requirements the campaign does not meet."""
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
        raise InputError(
            f"the campaign does not meet the requirements of report {campaign.report!r}: {why}"
        )
