"""What a command writes is whole or not there, replaces no input, and lies in no store."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import farm
from farm.campaign.campaign import Campaign
from farm.cli.command import READER_GONE
from farm.output import output
from tests.farm.harness import FARM, snapshot
from tests.farm.harness import farm as farm_process
from tests.farm.refusals import GOOD, LOG, Said, write

FOUR = {**GOOD, "resamples": 4}
"""Enough for a band."""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a finished campaign."""
    path = tmp_path_factory.mktemp("done") / "tiny.farm"
    farm.run(Campaign.from_dict(FOUR, path.parent), path)
    return path


@pytest.fixture
def here(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log, a link to it, and the store of a finished campaign."""
    monkeypatch.chdir(tmp_path)
    Path("a.swf").write_text(LOG)
    Path("link.swf").symlink_to("a.swf")
    os.link("a.swf", "hard.swf")
    Path("mine.py").write_text("def widest(procs): return -procs\n")
    shutil.copytree(done, "tiny.farm")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("simulate", "a.swf", "--policy", "easy", "--out", "a.swf"), "it is read from"),
        (("simulate", "a.swf", "--policy", "easy", "--out", "./link.swf"), "it is read from"),
        (("simulate", "link.swf", "--policy", "easy", "--out", "a.swf"), "it is read from"),
        (("simulate", "a.swf", "--policy", "easy", "--out", "hard.swf"), "it is read from"),
        (("simulate", "a.swf", "--policy", "mine:widest+easy", "--out", "mine.py"), "it is read"),
        (("simulate", "a.swf", "--policy", "easy", "--out", "tiny.farm/b.swf"), "store"),
        (("simulate", "a.swf", "--policy", "easy", "--out", "tiny.farm"), "is a folder"),
        (("simulate", "a.swf", "--policy", "easy", "--out", ""), "names no file"),
        (("simulate", "a.swf", "--policy", "easy", "--out", "no/b.swf"), "there is no folder no"),
        (("simulate", "a.swf", "--policy", "easy", "--out", f"{'b' * 300}.swf"), "too long"),
        (("bands", "tiny.farm", "--csv", "tiny.farm/store.json"), "lies in store"),
        (("bands", "tiny.farm", "--csv", "tiny.farm/results.zarr/b.csv"), "lies in store"),
        (("bands", "tiny.farm", "--csv", "/proc/bands.csv"), "cannot be written"),
        (("bands", "tiny.farm", "--csv", "no/bands.csv"), "there is no folder no"),
        (("bands", "tiny.farm", "--plot", "tiny.farm/figures/b.png"), "tiny.farm"),
        (("bands", "tiny.farm", "--plot", "b.txt"), ".png"),
        (("bands", "tiny.farm", "--plot", "b.png", "--csv", "b.png"), "give two files"),
        (("gains", "tiny.farm", "--csv", "tiny.farm/store.json"), "lies in store"),
        (("run", "c.toml", "--performance-report", "c.toml"), "it is read from"),
        (("run", "c.toml", "--performance-report", "tiny.farm/r.html"), "lies in store"),
    ],
    ids=" ".join,
)
def test_nothing_is_destroyed(here: Path, said: Said, words: tuple[str, ...], why: str) -> None:
    """Inputs, also under another name, stores and what is no file are refused before any work."""
    write(GOOD, Path("c.toml"))
    if "--performance-report" in words:
        pytest.importorskip("bokeh")
    text = said(*words)
    assert why in text
    assert words[-1] in text


@pytest.mark.parametrize("store", ["ftp://bucket/x", "https://bucket/x", "file:///x", ""])
@pytest.mark.parametrize("command", ["run", "plan", "status", "verify", "watch", "bands", "gains"])
def test_a_store_is_a_folder_or_in_a_bucket(said: Said, command: str, store: str) -> None:
    """Another address is not taken for a folder of that name, nor nothing for the current one."""
    write(GOOD, Path("c.toml"))
    words = (
        (command, "c.toml", "--store", store) if command in ("run", "plan") else (command, store)
    )
    text = said(*words)
    assert repr(store) in text if not store else store in text
    assert "folder" in text
    with pytest.raises(ValueError, match="folder"):
        farm.run(Campaign.from_dict(GOOD, Path()), store)


def test_dash_is_standard_output(here: Path) -> None:
    """Only the file goes there, and what else is said to standard error."""
    plain = farm_process(here, "simulate", "a.swf", "--policy", "easy", "--out", "b.swf")
    piped = farm_process(here, "simulate", "a.swf", "--policy", "easy", "--out", "-")
    assert piped.stdout == Path("b.swf").read_text()
    assert piped.stderr == plain.stdout
    table = farm_process(here, "bands", "tiny.farm", "--csv", "-")
    assert table.stdout.startswith("trace,")
    assert farm_process(here, "bands", "tiny.farm", "--csv", "b.csv").returncode == 0
    assert table.stdout == Path("b.csv").read_text()


def test_whole_or_not_at_all(tmp_path: Path) -> None:
    """Work that fails leaves what was there before, and nothing beside it."""
    file = tmp_path / "table.csv"
    file.write_text("before")
    target = output("--csv", file)

    def fail() -> None:
        with target.made() as part:
            part.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert snapshot(tmp_path).keys() == {"table.csv"}
    assert file.read_text() == "before"
    target.write(b"after")
    assert (file.read_text(), list(tmp_path.iterdir())) == ("after", [file])


def test_a_link_is_kept_and_its_file_replaced(tmp_path: Path) -> None:
    """The new content is where it was meant to be, under both names."""
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "table.csv").write_text("before")
    (tmp_path / "near.csv").symlink_to("far/table.csv")
    output("--csv", tmp_path / "near.csv").write(b"after")
    assert (tmp_path / "near.csv").is_symlink()
    assert (tmp_path / "far" / "table.csv").read_text() == "after"


def test_what_is_no_file_is_not_replaced_by_one(tmp_path: Path) -> None:
    """A device stays one; one that is full is said to be."""
    output("--csv", os.devnull).write(b"x")
    assert Path(os.devnull).is_char_device()
    with pytest.raises(ValueError, match=r"--csv /dev/full: cannot be written \(No space left"):
        output("--csv", "/dev/full").write(b"x")


@pytest.mark.parametrize(
    "words", [("policies",), ("bands", "tiny.farm"), ("run", "c.toml", "--store", "tiny.farm")]
)
def test_a_reader_that_leaves_is_no_failure(here: Path, words: tuple[str, ...]) -> None:
    """Nothing is said of it, as when `head` has seen enough."""
    write(FOUR, here / "c.toml")
    read, written = os.pipe()
    os.close(read)
    done = subprocess.run([FARM, *words], cwd=here, stdout=written, stderr=subprocess.PIPE)
    os.close(written)
    assert done.returncode == READER_GONE
    assert b"rror" not in done.stderr
    assert b"ipe" not in done.stderr
