"""Axes of a campaign: the traces and policies that they are expanded to, and refusals."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedfarm.core.errors import InputError
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.samples import Samples

MODEL = {"name": "m", "model": "lublin", "processors": 64, "jobs": 40}


def campaign(
    axes: Any, policies: list[str] | None = None, named: Any = None, **keys: Any
) -> Campaign:
    """Return a campaign of one trace; keys of `Campaign` are its own, others the trace's."""
    given = {"name": "c", "policies": policies or ["fcfs+easy"], "resamples": 2, "axes": axes}
    own = {key: keys.pop(key) for key in ("precision", "report") if key in keys}
    given |= own | ({"named": named} if named else {})
    return Campaign.from_dict({**given, "traces": [{**MODEL, **keys}]}, Path())


def test_each_combination_is_a_trace_or_a_policy() -> None:
    """Axes of traces multiply; a policy without a placeholder stays one policy."""
    c = campaign(
        {"processors": [64, 80], "depth": [1, 8], "limit": ["1h", "48h"]},
        ["fcfs+depth({depth})", "saf+easy,threshold={limit}", "spf+easy"],
    )
    assert [t.name for t in c.traces] == ["m.processors-64", "m.processors-80"]
    assert [t.resize for t in c.traces] == [64, 80]
    assert c.policies == (
        "fcfs+depth(1)", "fcfs+depth(8)", "saf+easy,threshold=1h", "saf+easy,threshold=2d",
        "spf+easy",
    )  # fmt: skip
    assert c.labels["policy"]["saf+easy,threshold=2d"] == {
        "of": "saf+easy,threshold={limit}",
        "at": {"limit": "48h"},
    }
    assert c.cells == 2 * 2 * 5


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ({"parameters.f": [2.0, 5.0]}, [{"f": 2.0}, {"f": 5.0}]),
        ({"parameters": {"double": {"f": 2.0}, "none": {}}}, [{"f": 2.0}, {}]),
    ],
)
def test_a_key_within_a_table_is_an_axis(axes: Any, expected: list[Any]) -> None:
    """By a dotted name, or by labels of whole tables."""
    assert [t.parameters for t in campaign(axes).traces] == expected


def test_a_campaign_with_axes_is_written_as_it_was_read() -> None:
    """Its text has the axes, not what they are expanded to; copies are expanded again."""
    c = campaign({"processors": [64, 80], "k": [1, 8]}, ["fcfs+depth({k})", "fcfs+easy"])
    plain = c.to_dict()
    assert plain["policies"] == ["fcfs+depth({k})", "fcfs+easy"]
    assert [t["name"] for t in plain["traces"]] == ["m"]
    assert Campaign.from_dict(plain, Path()) == c == replace(c) == c.located()
    more = replace(c, axes={"processors": [64], "k": [1, 8, 9]})
    assert more.policies == ("fcfs+depth(1)", "fcfs+depth(8)", "fcfs+depth(9)", "fcfs+easy")
    assert [t.name for t in more.traces] == ["m.processors-64"]
    assert "axes" not in campaign({}).to_dict()


@pytest.mark.parametrize("load", ["original", "0.9"])
def test_all_sizes_have_the_same_jobs(load: str) -> None:
    """A load is that of the machine that the samples are drawn for, whatever the size."""
    c = campaign({"processors": [64, 96]})
    at = [Samples(t, None, c.settings).at(1, load) for t in c.traces]
    assert [jobs.platform for jobs in at] == [Pool(64), Pool(96)]
    for column in ("submit", "run", "estimate", "procs", "user"):
        np.testing.assert_array_equal(getattr(at[0], column), getattr(at[1], column))


@pytest.mark.parametrize(
    ("axes", "policies", "message"),
    [
        ([64], None, "axes is \\[64\\]; it must be a table"),
        ({"processors": 64}, None, "axis 'processors' is 64; it must be a list of values"),
        ({"processors": []}, None, "axis 'processors' is \\[\\]; it must be a list of values"),
        ({"processors": [64, 64]}, None, "axis 'processors' has the value 64 twice"),
        ({"processors": [64, "80"]}, None, "give values of one kind"),
        ({"processors": ["big"]}, None, "axis 'processors' has the value 'big'; it must be a wh"),
        ({"processors": [80.0]}, None, "axis 'processors' has the value 80.0; it must be a whole"),
        ({"processors": [True]}, None, "axis 'processors' has the value True; it must be a whole"),
        ({"processors": [-3]}, None, "'processors' has the value -3; it must be a whole number"),
        ({"processors": [[64]]}, None, "other values in a table with labels: \\[axes.processors"),
        ({"procesors": [64]}, None, "neither a key of a trace nor named by a policy.* did you m"),
        ({"depth": [1, 8]}, None, "'depth' is neither a key .* as in 'fcfs\\+depth\\(\\{depth\\}"),
        ({}, ["fcfs+depth({depth})"], "names the axis {depth}; give \\[axes\\] depth = "),
        ({"dept": [1]}, ["fcfs+depth({depth})"], "names the axis {depth}; did you mean 'dept'"),
        ({"k": ["a"]}, ["fcfs+depth({k})"], "'fcfs\\+depth\\(a\\)'"),
        ({"k": ["1d", "24h"]}, ["fcfs+easy,threshold={k}"], "policies names .* twice"),
        ({"weeks": [1]}, ["fcfs+depth({weeks})"], "'weeks' is a key of traces; give the axis"),
        ({"load": [1]}, ["fcfs+depth({load})"], "axis 'load' has the name of a dimension"),
        ({"wait": [1]}, ["fcfs+depth({wait})"], "axis 'wait' has the name of a dimension"),
        ({"1k": [1]}, ["fcfs+depth({1k})"], "axis '1k': begin with a letter"),
        ({"model": ["lublin"]}, None, "'model' is neither a key"),
        ({"weeks": [0]}, None, "axes: trace 'm.weeks-0': weeks is 0; it must be a whole number"),
        ({"draft.x": [0]}, None, "'draft.x' is neither a key"),
        ({"parameters.uhi": ["a b"]}, None, "'a b' cannot be part of a trace's name; give it a"),
        ({"processors": [32]}, None, "resize is 32, and model 'lublin' draws jobs of up to 64"),
    ],
)
def test_wrong_axes_are_refused(axes: Any, policies: list[str] | None, message: str) -> None:
    """In one sentence that names the axis and the value."""
    with pytest.raises(InputError, match=message):
        campaign(axes, policies)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"processors": None, "platform": {"name": "grid", "configuration": {"clusters": [64, 8]}}},
         "'resize' is for a pool or hosts, and the platform is of kind 'grid'"),
        ({"nodes": {"nodes": 8}}, "'resize' is for a pool or hosts; leave it or 'nodes' out"),
    ],
)  # fmt: skip
def test_only_pools_and_hosts_have_another_size(keys: dict[str, Any], message: str) -> None:
    """Grids, nodes and networks have sizes of several parts."""
    trace = {key: value for key, value in {**MODEL, **keys}.items() if value is not None}
    given = {"name": "c", "policies": ["fcfs+easy"], "resamples": 1, "traces": [trace]}
    with pytest.raises(InputError, match=message):
        Campaign.from_dict({**given, "axes": {"processors": [96]}}, Path())


def test_a_named_policy_is_the_same_policy() -> None:
    """Its cells are those of its text; its name is a label, with values of axes where several."""
    axes = {"depth": [1, 8], "limit": ["1h"]}
    text = "saf+depth({depth}),threshold={limit}"
    c = campaign(axes, ["mine", "fcfs+easy"], {"mine": text})
    assert c.policies == (
        "saf+depth(1),threshold=1h", "saf+depth(8),threshold=1h", "fcfs+easy"
    )  # fmt: skip
    assert c.policy_names == {c.policies[0]: "mine,depth=1", c.policies[1]: "mine,depth=8"}
    assert c.labels["policy"][c.policies[1]] == {
        "of": "mine",
        "at": {"depth": 8, "limit": "1h"},
        "name": "mine,depth=8",
    }
    plain = c.to_dict()
    assert (plain["policies"], plain["named"]) == (["mine", "fcfs+easy"], {"mine": text})
    assert Campaign.from_dict(plain, Path()) == c
    assert replace(c, axes={**axes, "depth": [8]}).policy_names == {c.policies[1]: "mine"}
    assert "named" not in campaign({}).to_dict()


def test_a_requested_precision_takes_names() -> None:
    request = {"metric": "wait", "policy": "mine", "relative": 0.02}
    c = campaign({}, ["fcfs+easy", "mine"], {"mine": "SJF+easy"}, precision=request)
    assert [(one.policy, one.over) for one in c.precision] == [("spf+easy", "fcfs+easy")]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"other": "spf+easy"}, "named has 'other', which is not among the policies; add it"),
        ({"easy": "spf+easy"}, "named has 'easy', an order or a rule; give another name"),
        ({"a b": "spf+easy"}, "named: name 'a b': use letters, digits, '.', '_' and '-'"),
        ({"mine": 1}, "named is {'mine': 1}; it must be a table of policies by name"),
        ({"mine": "spf+esay"}, "policy 'spf+esay': unknown rule 'esay'"),
        ({"mine": "fcfs+easy"}, "policies names 'fcfs+easy' twice; give it once"),
    ],
)
def test_wrong_names_are_refused(named: Any, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        campaign({}, ["fcfs+easy", *(key for key in named if key != "other")], named)


def test_reports_of_papers_take_no_names() -> None:
    with pytest.raises(InputError, match="report 'saf-2019' knows policies by their full text"):
        campaign({}, ["mine"], {"mine": "saf+easy"}, report="saf-2019")
