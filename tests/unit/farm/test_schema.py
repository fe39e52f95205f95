"""The JSON Schema of campaign files accepts what `Campaign` accepts, and names wrong types."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.plain import keys
from schedfarm.farm.campaign.schema import campaign_schema
from schedfarm.farm.campaign.shipped import find, shipped
from schedfarm.farm.campaign.trace import Trace
from tests.support.refusals import GOOD, other_trace

VALIDATOR = Draft202012Validator(campaign_schema())


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(campaign_schema())


@pytest.mark.parametrize("name", shipped())
def test_shipped_campaigns_are_valid(name: str) -> None:
    VALIDATOR.validate(find(name).to_dict())


def test_each_key_has_a_meaning() -> None:
    schema = campaign_schema()
    for kind, table in ((Campaign, schema), (Trace, schema["$defs"]["Trace"])):
        properties = table["properties"]
        assert {one.name for one in keys(kind)} <= properties.keys()
        assert [name for name, one in properties.items() if not one.get("description")] == []


PRECISION = {"metric": "wait", "policy": "saf+easy", "relative": 0.02}


@pytest.mark.parametrize(
    "changes",
    [
        {"loads": [0.9, "original", "0.8"]},
        {"precision": PRECISION},
        {"precision": [PRECISION, {**PRECISION, "over": "fcfs+easy", "level": 0.95}]},
        {"warmup": "2w"},
        {"warmup": 0.01},
        {"cluster": {"on": "slurm", "workers": 20}},
        {"traces": other_trace(platform={"name": "pool", "configuration": {"processors": 9}})},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_good_campaigns_are_valid(changes: dict[str, Any]) -> None:
    VALIDATOR.validate({**GOOD, **changes})


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"resamples": -1}, ["resamples"]),
        ({"resamples": "10"}, ["resamples"]),
        ({"resample": 10}, []),
        ({"policies": []}, ["policies"]),
        ({"policies": "easy"}, ["policies"]),
        ({"loads": [True]}, ["loads", 0]),
        ({"loads": [100]}, ["loads", 0]),
        ({"precision": {"metric": "wait"}}, ["precision"]),
        ({"traces": other_trace(jobs=0)}, ["traces", 0, "jobs"]),
        ({"traces": other_trace(procesors=9)}, ["traces", 0]),
        ({"traces": other_trace(log="KTH-SP2")}, ["traces", 0]),
        ({"traces": [{"name": "m", "jobs": 9}]}, ["traces", 0]),
        ({"cluster": "slurm"}, ["cluster"]),
    ],
    ids=str,
)
def test_wrong_values_are_found_at_their_place(
    changes: dict[str, Any], place: list[str | int]
) -> None:
    errors = list(VALIDATOR.iter_errors({**GOOD, **changes}))
    assert [list(error.absolute_path) for error in errors] == [place]
