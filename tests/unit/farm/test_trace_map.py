"""A map of a log's columns as a key of a campaign's trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedfarm.core.errors import InputError
from schedfarm.farm.campaign.trace import Trace

MAP = """
processors = 8
[about]
acknowledge = "the site"
[columns]
submit = { column = "t", unit = "s" }
run = { column = "r", unit = "min" }
procs = "p"
"""


def test_a_campaign_keeps_the_table_of_a_maps_file(tmp_path: Path) -> None:
    """So it is read in the same way where the file is not, and says whom to thank."""
    (tmp_path / "site.csv").write_text("t,r,p\n5,2,3\n")
    (tmp_path / "columns.toml").write_text(MAP)
    trace = Trace.from_dict({"file": "site.csv", "map": "columns.toml"}, tmp_path)
    (tmp_path / "columns.toml").unlink()
    again = Trace.from_dict(trace.to_dict(), tmp_path)
    assert again == trace
    work = again.read()
    assert work is not None
    assert (work.run.tolist(), work.processors) == ([120], 8)
    assert again.acknowledgement() == "the site"
    assert Trace(file=str(tmp_path / "site.csv"), map="pm100").map == "pm100"


def test_the_map_next_to_a_log_needs_no_key(tmp_path: Path) -> None:
    (tmp_path / "site.csv").write_text("t,r,p\n5,2,3\n")
    (tmp_path / "site.toml").write_text(MAP)
    trace = Trace(file=str(tmp_path / "site.csv"), select={"widths": [3, 3]})
    assert trace.acknowledgement() == "the site"
    work = trace.read()
    assert work is not None
    assert work.procs.tolist() == [3]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"file": "a.csv", "map": "none"}, "trace 'a': there is no ready map 'none'"),
        ({"file": "a.csv", "map": "none.toml"}, "none.toml: cannot read the map"),
        ({"file": "a.csv", "map": {"columns": {"run": "r"}}}, "map: columns: run has no unit"),
        ({"file": "a.csv", "map": 5}, "map"),
        ({"file": "a.csv", "map": "a\0.toml"}, "give the name of a file, without NUL"),
        (
            {"model": "lublin", "processors": 8, "jobs": 9, "map": "pm100", "name": "m"},
            "'map' gives the columns of a log",
        ),
    ],
)
def test_bad_maps_of_a_campaign_are_refused(
    tmp_path: Path, keys: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError) as error:
        Trace.from_dict(keys, tmp_path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
