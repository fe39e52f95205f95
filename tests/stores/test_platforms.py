"""A machine given as a table of its own: from the campaign's file to the store and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedfarm import farm
from schedfarm.core import Pool, simulate
from schedfarm.core.errors import InputError
from schedfarm.core.format.names import MANIFEST
from schedfarm.core.logs.swf import write_swf
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.store.reading import schedule_of
from tests.support.command_line import farm_in
from tests.support.harness import assert_same_results, counts
from tests.support.refusals import Said

TOML = """
name = "machines"
resamples = 2
policies = ["fcfs+easy"]

[[traces]]
name = "model"
model = "lublin"
jobs = 60
{model}

[[traces]]
name = "log"
file = "a.swf"
{log}
"""

TABLE = """
[traces.platform]
name = "{name}"
configuration = {{ {configuration} }}
"""

SHORT = "processors = {}"


def pool(processors: int | str, name: str = "pool") -> str:
    return TABLE.format(name=name, configuration=f"processors = {processors}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A campaign whose machines are tables: the model's, and one larger than the log's."""
    write_swf(lublin(32, jobs=50, seed=1), tmp_path / "a.swf")
    path = tmp_path / "c.toml"
    path.write_text(TOML.format(model=pool(64), log=pool(40)))
    return path


def test_from_the_file_to_the_store(path: Path, tmp_path: Path) -> None:
    """The table's machine runs the jobs, and is in store.json in its plain form."""
    farm.run(Campaign.from_toml(path), tmp_path / "machines.farm")
    store = tmp_path / "machines.farm"
    sources = json.loads((store / MANIFEST).read_bytes())["sources"]
    for trace, size in (("model", 64), ("log", 40)):
        assert sources[trace]["platform"] == Pool(size).to_dict()
        cell = schedule_of(store, trace=trace, policy="fcfs+easy", resample=2)
        assert cell.workload.platform == Pool(size)
        assert (simulate(cell.workload, "fcfs+easy").start == cell.start).all()
    expected = simulate(lublin(64, jobs=60, seed=0, index=2), "fcfs+easy")
    model = schedule_of(store, trace="model", policy="fcfs+easy", resample=2)
    assert (model.start == expected.start).all()
    sound = farm_in(tmp_path, "verify", "machines.farm", "--sample", "100")
    assert sound.exit_code == 0, sound
    again = farm_in(tmp_path, "run", "c.toml")
    assert counts(again.stdout) == {"cells": 4, "before": 4, "done": 0, "failed": 0}


def test_its_short_form_is_the_same_campaign(path: Path, tmp_path: Path) -> None:
    """A pool's table and `processors` are one machine: one text, one store."""
    table = Campaign.from_toml(path)
    path.write_text(TOML.format(model=SHORT.format(64), log=SHORT.format(40)))
    short = Campaign.from_toml(path)
    assert (table, table.to_toml()) == (short, short.to_toml())
    farm.run(table, tmp_path / "table")
    assert farm.run(short, tmp_path / "table").before == 4
    farm.run(short, tmp_path / "short")
    assert_same_results(tmp_path / "table", tmp_path / "short")


def test_another_machine__is_another_trace(path: Path, tmp_path: Path) -> None:
    """A store of one machine is not gone on with on another."""
    farm.run(Campaign.from_toml(path), tmp_path / "s")
    for model, log, trace in ((128, 40, "model"), (64, 48, "log")):
        path.write_text(TOML.format(model=pool(model), log=pool(log)))
        with pytest.raises(InputError, match=f"trace '{trace}' differs from the one of the store"):
            farm.run(Campaign.from_toml(path), tmp_path / "s")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pool(64, "pond"), ("'model'", "'pond'", "known: pool, grid")),
        (pool(0), ("'model'", "processors is 0", "at least 1")),
        (pool('"64"'), ("'model'", "processors is '64'")),
        (TABLE.format(name="pool", configuration="processor = 64"), ("'model'", "'processor'")),
        (TABLE.format(name="pool", configuration=""), ("'model'", "processors")),
        ("platform = 64", ("'model'", "platform is 64", "table")),
        (SHORT.format(64) + pool(64), ("'model'", "not both")),
    ],
)
def test_a_wrong_table__is_refused(
    said: Said, path: Path, table: str, words: tuple[str, ...]
) -> None:
    """One sentence with the trace and what is wrong; no store."""
    path.write_text(TOML.format(model=table, log=""))
    text = said("run", "c.toml")
    for word in ("c.toml", *words):
        assert word in text, text
