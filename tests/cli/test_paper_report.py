"""A report that does not fit its campaign is refused before a cell runs."""

from __future__ import annotations

import pytest

from schedfarm.farm.campaign.shipped import find, shipped
from schedfarm.farm.cli.paper_report import check_report
from tests.support.refusals import Said, refused

SABIN = ("fcfs", "spf", "lxf"), ("aggressive", "easy", "planned,walk=queue")


def test_every_shipped_campaign_fits_its_report() -> None:
    """What ships is what a report is for."""
    reports = {name: find(name).report for name in shipped()}
    assert {"saf-2019", "sabin-2005", "klusacek-2012"} <= set(reports.values())
    for name in reports:
        check_report(find(name))


def test_all_that_is_missing_is_said_at_once(said: Said) -> None:
    """Orders, resamples and the log for the one; policies, fairness and loads for the other."""
    text = refused(said, report="saf-2019")
    assert text == (
        "farm: the campaign does not meet the requirements of report 'saf-2019': "
        "a policy of order spf, such as "
        "spf+easy; a policy of order sqf, such as sqf+easy; resamples = 4 or more, not 2; log = "
        "true"
    )
    nine = [f"{order}+{rule}" for order in SABIN[0] for rule in SABIN[1]]
    text = refused(said, report="sabin-2005", policies=nine[1:], resamples=0, log=True)
    assert text == (
        "farm: the campaign does not meet the requirements of report 'sabin-2005': "
        "policies fcfs+aggressive; "
        "fairness strict, relaxed, resource; loads 0.8, 0.95"
    )
    assert "loads" not in refused(said, report="sabin-2005", policies=nine)
    four = [f"fcfs+{rule}" for rule in ("none", "aggressive", "easy", "planned")]
    text = refused(said, report="klusacek-2012", policies=four)
    assert text == (
        "farm: the campaign does not meet the requirements of report 'klusacek-2012': "
        "policies "
        "fair-share+aggressive, fcfs+tabu; fairness promise"
    )


@pytest.mark.parametrize("command", ["run", "plan"])
def test_it_is_refused_whoever_asks(said: Said, command: str) -> None:
    """A plan of what cannot be shown is no plan."""
    refused(said, report="saf-2019")
    assert "requirements of report 'saf-2019'" in said(command, "c.toml")
