"""Campaign files and values: what they say, and that both say the same."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from core import InputError
from farm.campaign.campaign import Campaign, load_label
from farm.campaign.shipped import find, shipped
from farm.campaign.trace import Trace

TEXT = """
name = "small"
resamples = 2
log = true
loads = ["original", 0.90, 1]
policies = ["SJF+easy,threshold=72h", "fcfs+bf"]

[[traces]]
file = "logs/KTH-SP2.swf.gz"
rows = [0, 500]

[[traces]]
name = "model"
model = "lublin"
processors = 64
jobs = 100
[traces.parameters]
f = 2.0
"""


def written(folder: Path, text: str = TEXT) -> Path:
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_file_is_read_in_canonical_form(tmp_path: Path) -> None:
    """Names of policies and loads become canonical; a trace's file is relative to the campaign."""
    campaign = Campaign.from_toml(written(tmp_path))
    assert campaign.policies == ("spf+easy,threshold=3d", "fcfs+aggressive")
    assert campaign.loads == ("original", "0.9", "1.0")
    assert campaign.resample_axis == (0, 1, 2)
    assert campaign.cells == 2 * 3 * 3 * 2
    assert campaign.traces[0].name == "KTH-SP2"
    assert campaign.traces[0].file == str(tmp_path / "logs" / "KTH-SP2.swf.gz")
    assert campaign.traces[0].rows == (0, 500)
    assert campaign.traces[1].parameters == {"f": 2.0}


def test_toml_and_value_are_the_same_thing(tmp_path: Path) -> None:
    """Writing a campaign and reading it back gives an equal one."""
    campaign = Campaign.from_toml(written(tmp_path))
    again = Campaign.from_toml(written(tmp_path, campaign.to_toml()))
    assert again == campaign
    assert again.to_toml() == campaign.to_toml()


def test_ends_left_out_are_settings_only_if_they_leave_something_out() -> None:
    """A store made before there were such keys stays the store of a campaign without them."""
    plain = find("quickstart")
    assert set(plain.settings) == {"seed", "tau", "draw", "load_by"}
    cut = dataclasses.replace(plain, warmup="14d", cooldown=True)
    assert {k: cut.settings[k] for k in ("warmup", "cooldown")} == {
        "warmup": "2w",
        "cooldown": True,
    }
    assert dataclasses.replace(cut, warmup="0w", cooldown=False).settings == plain.settings
    with pytest.raises(InputError, match="warmup is 2; it must be a share"):
        dataclasses.replace(plain, warmup=2)
    with pytest.raises(InputError, match="key 'cooldown' is '2w'; it must be of type bool"):
        dataclasses.replace(plain, cooldown="2w")


@pytest.mark.parametrize("name", shipped())
def test_shipped_campaign_is_valid_and_titled(name: str) -> None:
    """A campaign that ships has its file's name and says what it is."""
    campaign = find(name)
    assert campaign.name == name
    assert campaign.title


@pytest.mark.parametrize("load", [0, -0.5, 100, True, "fast", float("nan"), None])
def test_load_that_is_none_is_refused(load: object) -> None:
    """A load is `original` or a number above 0; 100 is a percentage by mistake."""
    with pytest.raises(InputError, match="neither 'original' nor an offered load"):
        load_label(load)  # type: ignore[arg-type]


def test_trace_needs_exactly_one_source() -> None:
    """A trace is a file or a model."""
    with pytest.raises(InputError, match="one of 'file', 'log' and 'model'"):
        Trace(name="both", file="a.swf", model="lublin", processors=4, jobs=5)
    with pytest.raises(InputError, match="one of 'file', 'log' and 'model'"):
        Trace(name="none")
