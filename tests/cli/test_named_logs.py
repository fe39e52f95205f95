"""A campaign and a command may name a log where a file is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedfarm.core import InputError
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace, named
from tests.support.logs import KTH, LOG, Server

pytestmark = pytest.mark.usefixtures("traces_cache")


TEXT = """
name = "named"
log = true
policies = ["fcfs+easy"]

[[traces]]
log = "kth-sp2"

[[traces]]
log = "METACENTRUM-2009-2"
name = "meta"
processors = 900
"""


def test_a_campaign_names_logs_without_having_them(tmp_path: Path, server: Server) -> None:
    """Reading, listing and writing a campaign touches no log; the full name is kept."""
    path = tmp_path / "named.toml"
    path.write_text(TEXT)
    campaign = Campaign.from_toml(path)
    assert [(t.name, t.log, t.file) for t in campaign.traces] == [
        ("kth-sp2", KTH, None),
        ("meta", "METACENTRUM-2009-2", None),
    ]
    path.write_text(campaign.to_toml())
    assert Campaign.from_toml(path) == campaign
    assert f'log = "{KTH}"' in campaign.to_toml()


def test_a_located_campaign_reads_the_right_files(tmp_path: Path, traces: Path) -> None:
    """Files are found once; the machine is the registry's unless the campaign gives it."""
    path = tmp_path / "named.toml"
    path.write_text(TEXT)
    campaign = Campaign.from_toml(path)
    located = campaign.located(traces)
    assert [t.file for t in located.traces] == [
        str(traces / f"{KTH}.swf.gz"),
        str(traces / "METACENTRUM-2009-2.swf.gz"),
    ]
    assert located.to_toml() == campaign.to_toml()
    meta = located.traces[1].read()
    assert meta is not None
    assert meta.processors == 900


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        ({"log": "KTH-SP2", "file": "a.swf"}, "give either file = 'a.swf' or log"),
        ({"log": 5, "name": "a"}, "log is 5; it must be a name, such as 'KTH-SP2'"),
        ({"log": "KTH-SP2", "model": "lublin", "processors": 4, "jobs": 5}, "give one of 'file'"),
    ],
)
def test_contradictions_are_refused(trace: dict[str, object], said: str) -> None:
    """A trace has one source."""
    with pytest.raises(InputError, match=said):
        Trace.from_dict(trace, Path())


def test_a_word_means_a_file_before_a_name(
    tmp_path: Path, tiny: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file of that name is here, it is meant, whatever the registry knows."""
    monkeypatch.chdir(tmp_path)
    assert named("Tiny", name="log").log == tiny
    Path("Tiny").write_bytes(LOG)
    assert (named("Tiny", name="log").file, named("Tiny", name="log").log) == ("Tiny", None)
    assert named("none.swf", name="log").file == "none.swf"


def test_thanks_stay_with_the_results(tmp_path: Path, tiny: str) -> None:
    """A trace's group in the store says whom to thank, by the registry or by the log's header."""
    import xarray as xr

    from schedfarm.farm import run

    (tmp_path / "plain.swf").write_bytes(LOG)
    campaign = Campaign(
        name="thanks",
        traces=(
            Trace(log="Tiny"),
            Trace(file=str(tmp_path / "plain.swf")),
            Trace(name="model", model="lublin", processors=8, jobs=9),
        ),
        policies=("fcfs+easy",),
        log=True,
    )
    assert run(campaign, tmp_path / "store").done == 3
    attributes = {
        t.name: xr.open_zarr(tmp_path / "store" / "results.zarr", group=t.name).attrs
        for t in campaign.traces
    }
    assert attributes["Tiny"]["acknowledge"] == "Ann Example"
    assert attributes["plain"]["acknowledge"] == "Ann Example"
    assert "acknowledge" not in attributes["model"]
