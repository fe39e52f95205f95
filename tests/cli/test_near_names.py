"""A misspelt name is answered with the nearest one, wherever it is one of a list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedfarm.core.errors import InputError
from schedfarm.core.metrics.declared import find_metric
from schedfarm.core.policy.policy import Policy
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.logs.fetch import locate
from tests.support.refusals import GOOD, LOG, Said, other_trace, refused, unlike


def test_parts_of_policies() -> None:
    """Orders by their other names, too."""
    for policy, near in (
        ("saf+esay", "easy"),
        ("sfj+easy", "sjf"),
        ("fcfs+conservativ", "conservative"),
        ("saf+easy,treshold=3d", "threshold"),
        ("saf+easy,events=perevent", "per-event"),
        ("fcfs+planned,walk=que", "queue"),
        ("saf+easy,backfill=sfp", "spf"),
    ):
        with pytest.raises(InputError, match=f"did you mean '{near}'. known: "):
            Policy.parse(policy)


def test_options_of_policies() -> None:
    """An option's own fault is named, not the options that there are."""
    for option, why in (
        ("threshold", "is incomplete"),
        ("threshold=3d,threshold=4d", "is given twice"),
    ):
        with pytest.raises(InputError, match=why):
            Policy.parse(f"saf+easy,{option}")


def test_values_of_campaigns(said: Said) -> None:
    """Before anything is written."""
    rows: list[tuple[dict[str, Any], str]] = [
        ({"draw": "replase"}, "replace"),
        ({"load_by": "runtimes"}, "runtime"),
        ({"fairness": ["stricd"]}, "strict"),
        ({"traces": other_trace(model="lubin")}, "lublin"),
        ({"traces": other_trace(parameters={"user": 3})}, "users"),
        ({"traces": other_trace(procesors=3)}, "processors"),
        ({"report": "saf-2091"}, "saf-2019"),
    ]
    near = [(changes, [f"did you mean '{name}'? known: "]) for changes, name in rows]
    assert unlike(near, lambda changes: refused(said, **changes)) == []


def test_a_table_of_a_trace(said: Said) -> None:
    """Criteria of a selection, and ways to clean."""
    Path("a.swf").write_text(LOG)
    for key, given, near in (("select", "week", "weeks"), ("clean", "kil", "kill")):
        trace = {"file": "a.swf", key: {given: 3}}
        assert f"did you mean '{near}'? known: " in refused(said, traces=[trace])


def test_names_of_things(said: Said) -> None:
    """Logs, metrics, campaigns, commands and their options."""
    with pytest.raises(InputError, match="did you mean 'KTH-SP2'"):
        locate("kth-sp")
    with pytest.raises(InputError, match="did you mean 'wait_max'"):
        find_metric("waitmax")
    assert "did you mean 'quickstart'?" in said("run", "quikstart")
    assert "did you mean 'status'?" in said("stauts")
    assert "'--metric'" in said("bands", "x.farm", "--metrik", "wait")


def test_what_is_near_nothing_is_only_listed() -> None:
    """A guess has to be likely."""
    with pytest.raises(InputError, match="unknown rule 'xyz'; known: none"):
        Policy.parse("saf+xyz")
    with pytest.raises(InputError, match="fairness 'zzz' is unknown; known: "):
        Campaign.from_dict({**GOOD, "fairness": ["zzz"]}, Path())
