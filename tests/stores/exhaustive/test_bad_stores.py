"""What is no store, or not the campaign's, is refused with one sentence and stays as it is."""

from __future__ import annotations

import json
import math
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedfarm import farm
from schedfarm.core import InputError
from schedfarm.core.format.names import ARRAYS, CHUNKS
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.store.records import read_headers, read_record
from schedfarm.farm.store.store import Store
from schedfarm.farm.verify import repair, verify
from tests.support.harness import snapshot
from tests.support.made import MadeStores
from tests.support.refusals import GOOD, Said, other_trace, write


@pytest.fixture
def store(made_store: MadeStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the finished store of the good campaign to where its file would have it."""
    monkeypatch.chdir(tmp_path)
    return made_store.copy(Campaign.from_dict(GOOD, tmp_path), tmp_path / "tiny.farm")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "other"}, ("tiny.farm", "'tiny'", "'other'", "--store")),
        ({"seed": 4}, ("tiny.farm", "seed = 3", "4", "--store")),
        ({"tau": 1}, ("tiny.farm", "tau = 10", "1", "--store")),
        ({"draw": "permute"}, ("tiny.farm", "draw", "'permute'", "--store")),
        ({"resamples": 1}, ("tiny.farm", "resample 2", "grow, not shrink")),
        ({"loads": ["original"]}, ("tiny.farm", "load '0.9'", "grow, not shrink")),
        ({"policies": ["saf+easy"]}, ("tiny.farm", "policy 'fcfs+easy'", "grow, not shrink")),
        ({"traces": other_trace(name="n")}, ("tiny.farm", "trace 'm'", "grow, not shrink")),
        ({"traces": other_trace(jobs=41)}, ("tiny.farm", "trace 'm'", "--store")),
    ],
    ids=lambda value: re.sub(r"\W+", " ", str(value))[:40].strip(),
)
def test_store__of_another_campaign(
    store: Path, said: Said, changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    """A store is not used for what it was not made for, nor made smaller."""
    write({**GOOD, **changes}, Path("c.toml"))
    text = said("run", "c.toml", "--store", "tiny.farm")
    for word in words:
        assert word in text


def alter(store: Path, **changes: Any) -> None:
    """Write other values into store.json under a right seal, as another program would."""
    plain = {**json.loads((store / "store.json").read_bytes()), **changes}
    plain.pop("crc32", None)
    plain["crc32"] = zlib.crc32(json.dumps(plain, sort_keys=True).encode())
    (store / "store.json").write_text(json.dumps(plain))


@pytest.mark.parametrize("command", ["run", "status", "bands", "compare"])
def test_store__newer_version(store: Path, said: Said, command: str) -> None:
    """A store of a newer format is for a newer program."""
    alter(store, version=7)
    write(GOOD, Path("c.toml"))
    arguments = ("run", "c.toml") if command == "run" else (command, "tiny.farm")
    text = said(*arguments)
    assert "version 7" in text
    assert "newer" in text


@pytest.mark.parametrize("command", ["run", "status"])
def test_store__older_version(store: Path, said: Said, command: str) -> None:
    """A store of an older format is not taken for one of this format."""
    alter(store, version=1)
    write(GOOD, Path("c.toml"))
    text = said(*(("run", "c.toml") if command == "run" else (command, "tiny.farm")))
    assert "version 1" in text
    assert "a new folder" in text


@pytest.mark.parametrize("content", [b"{}", b"[]", b"junk", b"", b"\xff\xfe", b"null"])
@pytest.mark.parametrize("command", ["run", "status"])
def test_store__description_is_rubbish(
    store: Path, said: Said, command: str, content: bytes
) -> None:
    """A store.json that describes no store is named."""
    (store / "store.json").write_bytes(content)
    write(GOOD, Path("c.toml"))
    assert "store.json" in said(
        *(("run", "c.toml") if command == "run" else (command, "tiny.farm"))
    )


@pytest.mark.parametrize("content", [b"", b"junk", b"{}", b"[]\n[]\n[]\n", b"\xff\n\n\n"])
@pytest.mark.parametrize("command", ["run", "status"])
def test_store__record_is_rubbish(store: Path, said: Said, command: str, content: bytes) -> None:
    """A record that is none is named, with the remedy."""
    path = store / "records" / "m" / "cells" / "00000-00000-00000.00000.json"
    assert path.is_file()
    path.write_bytes(content)
    write(GOOD, Path("c.toml"))
    text = said(*(("run", "c.toml") if command == "run" else (command, "tiny.farm")))
    assert str(path.relative_to(Path.cwd())) in text
    assert "delete it" in text


@pytest.mark.parametrize("other", ["another campaign", "a larger campaign", "another block"])
def test_store__record_of_something_else(
    store: Path, made_store: MadeStores, said: Said, other: str
) -> None:
    """A record that was copied here is named and left alone, and so is every array."""
    changes = {
        "another campaign": {"seed": 4},
        "a larger campaign": {"loads": ["original", 0.8]},
        "another block": {},
    }
    folder = Path("m/cells/00000-00000-00000.00000.json")
    theirs = made_store(Campaign.from_dict({**GOOD, **changes[other]}, Path()))
    place = folder.with_name("00007-00000-00000.00000.json") if "block" in other else folder
    path = store / "records" / place
    path.write_bytes((theirs / "records" / folder).read_bytes())
    before = snapshot(store)
    write(GOOD, Path("c.toml"))
    for words in (("run", "c.toml"), ("status", "tiny.farm")):
        text = said(*words)
        assert str(path.relative_to(Path.cwd())) in text
        assert "delete it" in text
    assert snapshot(store) == before
    faults = list(verify(store))
    assert path.relative_to(store).as_posix() in [fault.name for fault in faults]
    repair(store, faults)
    assert not path.exists()
    assert list(verify(store)) == []
    farm.run(Campaign.from_dict(GOOD, Path()), store)
    assert farm.status(store).done == 8


def test_store__is_a_file(said: Said) -> None:
    """A file is not made into a folder."""
    Path("file").write_text("precious")
    write(GOOD, Path("c.toml"))
    assert "file is a file" in said("run", "c.toml", "--store", "file")
    assert "file/below" in said("run", "c.toml", "--store", "file/below")


def test_store__folder_of_something_else(said: Said) -> None:
    """A folder that holds other things is not a place for a store."""
    Path("folder").mkdir()
    Path("folder/thesis.tex").write_text("precious")
    write(GOOD, Path("c.toml"))
    assert "folder is not a store" in said("run", "c.toml", "--store", "folder")
    write(GOOD, Path("folder/campaign.toml"))
    assert "folder is not a store" in said("run", "c.toml", "--store", "folder")


@pytest.mark.parametrize("command", ["status", "bands", "compare"])
@pytest.mark.parametrize("place", ["none", "file", "folder"])
def test_reading__no_store(said: Said, command: str, place: str) -> None:
    """What is not a store is named as such."""
    Path("file").write_text("x")
    Path("folder").mkdir()
    text = said(command, place)
    assert place in text
    assert "stor" in text


@pytest.mark.parametrize("command", ["bands", "compare"])
def test_bands__unknown_metric(store: Path, said: Said, command: str) -> None:
    """An unknown metric lists the known ones."""
    text = said(command, "tiny.farm", "--metric", "wiat")
    assert "'wiat'" in text
    assert "bounded_slowdown" in text


@pytest.mark.parametrize("command", ["run", "status"])
@pytest.mark.parametrize("place", ["../../outside", "a/b", "..", ""])
def test_store__names_that_lead_out_of_it(
    store: Path, said: Said, command: str, place: str
) -> None:
    """Files are written, and by a repair deleted, under these names: none outside is touched."""
    outside = store.parent.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "0-0-0.json").touch()
    plain = json.loads((store / "store.json").read_bytes())
    axes, sources = plain["axes"], plain["sources"]
    renamed = {**axes, "trace": [place]}
    alter(store, axes=renamed, sources={place: sources["m"]})
    (store / "store.copy.json").write_bytes((store / "store.json").read_bytes())
    write(GOOD, Path("c.toml"))
    given = ("run", "c.toml", "--store") if command == "run" else (command,)
    assert repr(place) in said(*given, "tiny.farm")
    with pytest.raises(InputError, match="not a name of a trace, a log or an array"):
        repair(store, list(verify(store)))
    assert (outside / "0-0-0.json").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"axes": 3},
        {"axes": {"trace": 3}},
        {"axes": {"trace": ["n"], "resample": [1], "load": ["original"], "policy": ["x"]}},
        {"sources": 7},
        {"layouts": {}},
        {"layouts": {"m": {}}},
        {"holds": []},
        {"holds": {"cells": {"arrays": [{"name": "../../outside"}], "figures": []}}},
    ],
    ids=str,
)
def test_store__of_another_form(store: Path, said: Said, changes: dict[str, Any]) -> None:
    """Under a right seal: whoever asks, it is one sentence, and a repair deletes nothing."""
    alter(store, **changes)
    (store / "store.copy.json").write_bytes((store / "store.json").read_bytes())
    write(GOOD, Path("c.toml"))
    before = snapshot(store)
    for words in (("status",), ("run", "c.toml", "--store")):
        assert "store.json" in said(*words, "tiny.farm")
    with pytest.raises(InputError, match=r"store\.json"):
        repair(store, list(verify(store)))
    assert snapshot(store) == before


@pytest.mark.parametrize("variable", ["wait", "week_wait"])
def test_store__file_of_values_is_gone(store: Path, variable: str) -> None:
    """Zarr would read fill; a record says that the values were others."""
    assert "m" in farm.open(store)
    folder = store / ARRAYS / "m" / variable / CHUNKS
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    for file in files:
        data = file.read_bytes()
        file.unlink()
        with pytest.raises(InputError, match=f"files of {variable} of .* are missing; .*--repair"):
            farm.open(store)
        file.write_bytes(data)
    assert "m" in farm.open(store)


def test_record__has_no_number_that_is_none(store: Path) -> None:
    """JSON has none, and a reader that takes NaN all the same compares it with nothing."""
    opened = Store.open(store)
    record = read_record(opened.place, next(iter(read_headers(opened))))
    assert record is not None
    with pytest.raises(ValueError, match="JSON compliant"):
        replace(record, payload=replace(record.payload, seconds=math.nan)).to_bytes()


def test_trace_may_be_called_as_a_record_is(tmp_path: Path) -> None:
    campaign = Campaign.from_dict({**GOOD, "traces": other_trace(name="x.json")}, tmp_path)
    farm.run(campaign, tmp_path / "s")
    assert farm.run(campaign, tmp_path / "s").done == 0
    assert list(verify(tmp_path / "s")) == []
